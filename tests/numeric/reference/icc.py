"""References for icc_ci: alpha of the attempts at each question, right or wrong, by ratings.py, and not below 0.

Questions with one attempt are left out; if no other is left the interval is the uniform distribution's.  Where every
question has two attempts the integral is exact; else it is that of the tilted functional.
"""
import hierarchy
import ratings

HEADER = ["method", "level", "lo", "hi", "rows"]


def icc(level, text):
    kept = [(k, n, m) for k, n, m in hierarchy.parse(text) if n > 1]
    if not kept:
        bounds = [(1 - level) / 2, 1 - (1 - level) / 2]
    elif all(n == 2 for _, n, _ in kept):
        bounds = ratings.pairs_interval([sum(m for k, _, m in kept if k == right) for right in (2, 1, 0)], level)
    else:
        units = ratings.Units([[n - k, k] for k, n, _ in kept], (0, 1), "nominal", [m for _, _, m in kept])
        bounds = units.interval(level, least=0.0)
    return ["icc", repr(level), *(repr(max(0.0, float(b))) for b in bounds), text]


LEVELS = (0.95, 0.5, 0.999999)
CASES = ["0/3x5 1/3x2 2/3x3 3/3x8", "5/5x20", "0/1x4 1/1x6", "2/4x12", "0/2 1/2 2/2",
         # one question, asked twice, often, very often; all wrong; one right of many
         "1/2", "2/2", "3/5", "371/1000", "500000000/1000000000", "0/1000000", "1/1000000",
         # mostly one attempt; different numbers of attempts; many questions; many attempts, with nearly equal and with very
         # different questions; two lumps of difficulty
         "1/2 0/1x20 1/1x79", "1/2x3 0/7 19/20 30/100", "0/5x1500 1/5x1000 2/5x1000 3/5x1500 4/5x2000 5/5x3000",
         "499/1000x30 501/1000x30 500/1000x40", "0/8x300 8/8x700", "0/8x300 1/8 8/8x699", "2/2x10000", "0/2x30 1/2x9 2/2x61",
         "2/10x180 10/10x120"]


def rows():
    return [(icc, (level, text)) for text in CASES for level in LEVELS]
