"""References for macro_ci_counts: tasks of right and wrong answers, by macro() of mean.py."""
import mean

HEADER = ["method", "level", "lo", "hi", "rows"]


def macro(level, text):
    scores, task = [], 0
    for row in text.split():
        counts, _, times = row.partition("x")
        k, n = map(int, counts.split("/"))
        for task in range(task, task + int(times or 1)):
            scores += [(x, task, count) for x, count in ((1, k), (0, n - k)) if count]
        task += 1
    found = mean.macro(level, (0, 1), scores)
    return ["macro", repr(level), found[5], found[6], text]


CASES = [
    "3/5 5/5 1/4 0/2", "18/20", "0/5", "7/7", "20/20 3/3 7/7", "0/4x5", "1/1x6 0/1x3", "1/1 3/5 30/40", "0/1 4/4 4/4", "1/1 3/4 2/4 4/4x2", "1/1 30/60 40/50x2 41/50", "2/3x20",
    "19/20x5", "1/3 2/6 9/12 20/24 45/48", "1/1x10 8/10x10", "9/10 10/10x4", "5/5 0/5",
    # groups of sizes within a factor 4
    "1/2 160/200x4", "0/1x3 80/100x9", "2/4 8/16 33/65", "1/2 2/8 9/9 60/80", "0/1 500/500x3", "1/1 0/5",
]
LOW = "1/6 9/60"  # at a low level the interval of a group lies beside its mean


def rows():
    return [(macro, (level, text)) for text in CASES for level in (0.95, 0.5, 0.999999)] + [(macro, (0.01, LOW))]
