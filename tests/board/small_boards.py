"""Small boards, of which data/joint.csv has the posterior.  A row is a model, a column a question: right answers of
`of` attempts or a score, and a dot where the model was not asked.  `tasks` has the task of each question."""


def _board(rows, of=1):
    return [[None if c == "." else int(c) / of for c in row] for row in rows]


SMALL = {
    "three models, 10 questions": _board(["1111111110", "1111101010", "1010101100"]),
    "four models, 15, nearly all right": _board(["111111111111111", "111111111111111", "111111111111110", "111011111011111"]),
    "four models, 12 x 4 attempts": _board(["444344421440", "443243420330", "342344310421", "221204100410"], 4),
    "four models, 14, different questions": _board(["11110111011011", "110101110.....", "....0111001011", "1001010.010010"]),
    "three models, 6 scores": [[.92, .85, .7, .95, .6, .88], [.9, .8, .72, .9, .55, .8], [.5, .82, .6, .7, .58, .75]],
    "six models, 20 questions": _board(["11111110111111011111", "11101111111011011101", "11111010110111111011",
                                        "10110111101010011101", "01101010101101001101", "10001010010001000010"]),
    "three models, all wrong": _board(["0000000000"] * 3),
    "three models, one question": _board(["1", "0", "0"]),
    "three models, always as far apart": [[.9, .5, .7, .6], [.8, .4, .6, .5], [.6, .2, .4, .3]],
    "four models, three tasks": _board(["11111110111101", "10111100101101", "01101011010101", "0110.0010.0101"]),
    "three scores, two tasks": [[.9, .8, None, .7, .6, .95], [.7, .85, .6, .5, .65, None], [.6, .4, .5, .7, .3, .55]],
}
TASKS = {"four models, three tasks": "aaaaaaaabbbbcc", "three scores, two tasks": "aaaabb"}
