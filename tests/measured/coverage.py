#!/usr/bin/python3
"""Measures the coverage of every 95% interval, in the settings of Bowyer, Aitchison and Ivanova (ICML 2025): make coverage.

    /usr/bin/python3 tests/measured/coverage.py build/evalci.so [--out DIR]

It measures how often each method's interval contains the truth, and how wide it is.  paper.py has the settings of the paper,
whose truths are drawn from a known prior; fixed truths are in outside.py, lumps.py, means.py, gates.py, spending.py,
labelled.py, repeats.py, arena.py and raters.py.  Sums over every data set are exact, and everything else is simulated and has
its Monte Carlo standard error.  Every interval comes from the extension, through SQL, except a few for comparison.

Seeds begin with settings.SEED, 20250.  What follows: in paper.py (1, T) clustered, (2, N) paired, and under another prior
(10, T, theta) and (11, N, theta, rho), with theta and rho in thousandths above -1; here (3, case, run) the sampler; in outside.py
(4, case); in fixed.py (5, CRC-32 of the case's name and size); in means.py (7, tasks), (8,), (13,) and CRC-32 of the scores; in
labelled.py (9, case) and (12,).  The seeds of bootstraps in raters.py and spending.py, and of the boards there, are their data or sizes.

Writes coverage.md and coverage.svg, the same bytes on every run.  A Bayesian method under its own prior must cover
its level: if one does not, or if a published figure is missed, the script says so and exits with status 1.
"""
import argparse
import math
import os
import sqlite3
import sys

try:
    import numpy as np

    import arena
    import fixed
    import gates
    import labelled
    import lumps
    import means
    import outside
    import paper
    import raters
    import repeats
    import samplers
    import spending
    from settings import LEVEL, SEED, Extension, progress
    sqlite3.Connection.enable_load_extension
except (ImportError, AttributeError) as e:
    sys.exit(f"coverage.py: {e}; it needs Debian's /usr/bin/python3 and python3-scipy (make coverage installs them)")

SAMPLER_RUNS = 10

# IID, uniform prior, N = 3, 10, 30, 100: known to four digits.
KNOWN_COVERAGE = {
    "clt": (0.4957, 0.7693, 0.8749, 0.9223),
    "wilson": (0.9560, 0.9541, 0.9524, 0.9511),
    "cp": (0.9946, 0.9838, 0.9734, 0.9646),
    "bayes": (0.95, 0.95, 0.95, 0.95),
}


# The paper's importance sampler


CLUSTERED_15 = (0, 1, 1, 2, 2, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4)
CLUSTERED_60 = (0,) * 6 + (1,) * 6 + (2,) * 8 + (3,) * 10 + (4,) * 12 + (5,) * 18
PAIRED_TABLES = ((12, 6, 0, 2), (600, 120, 80, 200), (3000, 600, 400, 1000))


def sampler_comparison(ext):
    """Rows of (data set, our interval, the sampler's runs as an array of lo, hi, ess)."""
    cases = []
    for counts, size in ((CLUSTERED_15, 4), (CLUSTERED_60, 5)):
        cases.append((f"clustered, {len(counts)} clusters of {size}", ext.clustered("clustered_ci_counts", counts, size),
                      lambda rng, counts=counts, size=size: samplers.clustered(rng, counts, [size] * len(counts))))
    for counts in PAIRED_TABLES:
        cases.append((f"paired, N = {sum(counts):,}", ext.interval("paired_diff_ci_counts", *counts),
                      lambda rng, counts=counts: samplers.paired(rng, counts)))
    compared = []
    for i, (name, ours, sample) in enumerate(cases):
        progress(f"the paper's sampler: {name}")
        generators = [np.random.default_rng((SEED, 3, i, run)) for run in range(SAMPLER_RUNS)]
        compared.append((name, ours, np.array([sample(rng) for rng in generators])))
    return compared


# Checks


def failures(settings, levels):
    """Descriptions of what a bug would break: methods that miss their level or a published figure."""
    wrong = []
    own_prior = {(design.label, method) for design in paper.DESIGNS for method in design.own_prior}
    for label, method in own_prior:
        for level, cells in levels[label, method].items():
            for cell in cells:
                if abs(cell.coverage - level) > (4 * cell.error or 1e-8):
                    wrong.append(f"{label}: {method} covers {cell.coverage:.10f} under its own prior at the level {level}")
    for setting in settings:
        for method in setting.own_prior:
            for size, cell in zip(setting.sizes, setting.rows[method]):
                if abs(cell.coverage - LEVEL) > (4 * cell.error or 1e-8):
                    wrong.append(f"{setting.title}: {method} covers {cell.coverage:.10f} under its own prior "
                                 f"at {setting.symbol} = {size}")
    for method, known in KNOWN_COVERAGE.items():
        for size, expected, cell in zip(paper.SIZES, known, settings[0].rows[method]):
            if abs(cell.coverage - expected) > 5e-5:
                wrong.append(f"IID: {method} covers {cell.coverage:.6f} at N = {size}, known to be {expected}")
    return wrong


# Markdown


INTRO = f"""\
# Do the error bars cover?

A 95% interval should contain the truth 95 times in 100. Here the truth is drawn from a known prior, the data are drawn from
the truth, and each method computes its interval. The tables say how often it contains the truth, and its mean width. The
settings are those of Bowyer, Aitchison and Ivanova (ICML 2025). `make coverage` writes this page and the figure; every
interval comes from the extension, through SQL, except those of other methods, which are named.

Exact figures are sums over every possible data set. Simulated ones carry their Monte Carlo standard error, ±; their
seeds begin with {SEED}, and the head of coverage.py says what follows.
The CLT's widths include the parts below 0 and above 1.

![Coverage of 95% intervals against sample size, one panel per setting](coverage.svg)
"""

OUTSIDE_INTRO = """\
# Fixed truths

The paper's settings draw the truth from the prior that the method assumes. In the tables below the truth is fixed, and the
methods do not know it: here an interval may cover less than its level, and the tables show where. They are true of these
populations; others, farther from what a method assumes, are covered less.
"""

CLOSING = """\
## Reading this

If the truth is drawn from the prior, the Bayesian intervals cover their level by construction, at every size and every level; the tables check
that the extension computes them correctly. If it is drawn from another distribution, coverage is off in either direction: by a few points at
N = 3, by up to 7 with two clusters at theta 0.95, by up to 4 with 30 pairs and fewer whose answers go against each other, and by a point or less at
N = 100 and T = 60. The CLT's intervals cover too little because they collapse to a point when every answer is the same, and because small
samples are not normal; more questions help slowly. If clusters are ignored, more clusters do not help. If a pairing is ignored, the
interval covers and is wider than necessary where the two models tend to be right on the same questions; where they are not, it covers less than its level.

For fixed truths, know these cases, on these populations:

- `bayes_ci` covers 79% and less at some accuracies near 0 or 1 with up to 100 questions, and 0% with 20 and fewer; `midp_ci`, about
  as wide, covers 92% and more at all of them with 10 questions or more.
- `mean_ci` covers 93% and more from N = 20 on, except where nearly all scores are at one end of the range: with 99% ones it covers
  82% at N = 20 and 91% at N = 50, as `bayes_ci` does. `mean_lmt_ci` is at 95% or more in every table, and up to a quarter wider.
- If scores are close together, `mean_ci` is two to seven times as wide as Student's interval, because nothing in the data
  excludes an unseen failure. If you can exclude failures, take `mean_t_ci` or a narrower range. If you cannot, Student's covers
  26 to 70% with 2 to 5% of zeros and N = 20 or fewer.
- `paired_mean_diff_ci` has Student's width and power, and its fault: if a few questions fail outright and the others gain a little, it covers
  22 to 68% with 20 questions and fewer, and calls the worse model better in 27 to 46% of evals with 15 and 25. Skewed differences of 20
  questions and fewer separate equal models in 6 to 8% of evals. `mean_ci` of the differences on [-1, 1] never calls the worse one better here; it is up
  to 1.3 times as wide where differences are right or wrong, and 4 to 18 times where they are close together.
- `mean_diff_ci` covers 96 to 100% and is up to six times as wide as Welch's interval if scores are close together.
- `clustered_mean_ci` covers 93% and more from 5 clusters on if sizes are independent of difficulty, and 88 to 93% if sizes are lognormal and
  large clusters harder; near an end of the range it is up to six times as wide as Student's.
- `clustered_ci` estimates the mean of the clusters, not of the questions, and does so for accuracies that are a Beta whatever the size. If large
  clusters are harder, it contains the clusters' own mean in 95 to 33% of evals, the fewer the more clusters there are; `mean_ci` of the
  clusters' means in 94% and more. Under its default prior it covers down to 23% if clusters are alike and theta is near 0 or 1: take `'icc'`.
- With several attempts, take `mean_ci` of the questions' means, which covers 92% and more here. Where difficulty comes in two lumps,
  `clustered_ci` by question covers 74 to 96% with 300 questions and 4 attempts, and 6 to 53% with 10; a gate on `clustered_prob_above` then passes
  up to 97% of the models at its threshold.
- `icc_ci` covers 94% and more with 20 to 300 questions of these populations, where the F interval covers 44 to 99%. The questions' share of
  `noise` takes difficulties for a Beta: where they come in two lumps it covers 22 to 86% with 300 questions and 10 attempts.
- `macro_ci` covers 92% and more, and 93% and more where tasks differ in size.
- `pass_at_k_ci` and `pass_hat_k_ci` cover 89% and more: the least is pass@4 of 4 attempts at 15 questions that are all
  right with probability 0.7.
- `no_worse_prob` passes a candidate that loses the margin in at most 5% of evals, whether the loss is rare or spread. Student's
  bound and the posterior tail pass up to 36 and 33% if a few questions fail outright. `prob_above` passes a model at the threshold in up to
  7.4%, and 6.3% from 50 questions on.
- `judged_ci` covers 90% and more with 20 to 200 labels if the model is nearly always right, with either judge.
- `judged_mean_ci` and `judged_diff_ci` cover 93% and more with 10 to 50 labels, where the normal interval of prediction-powered
  inference covers 61 to 97%, and the judge's scores taken for the truth 0 to 97%.
- `ratio_ci` covers 87% and more, 92% and more from 50 rows on, if the logarithms of costs have a standard deviation of at most 1; 78 to 91% if it
  is 1.5, and 65 to 86% if it is 2. The `cost_ci` of the board covers 88% and more up to 1, and 65 to 87% at 2.
- `kappa_ci` and `ac1_ci` cover 92% and more with 20 and 50 answers, `alpha_ci` 95% and more, also if raters nearly always agree, where Wald's interval
  and the bootstrap go down to 42%.
- A paired difference that ignores clusters covers 82% here, however many clusters there are.
"""


def number(x):
    """Three digits."""
    if math.isinf(x):
        return "∞"
    return f"{x:,.0f}" if x >= 100 else f"{x:#.3g}"


def percent(cell):
    error = f" ± {100 * cell.error:.2f}" if cell.error else ""
    return f"{100 * cell.coverage:.2f}{error}%"


def setting_markdown(setting):
    heads = "".join(f" {setting.symbol} = {size} | {setting.width_name} |" for size in setting.sizes)
    lines = [f"## {setting.title}", "", setting.note, "", f"| method |{heads}", "|---|" + "---:|---:|" * len(setting.sizes)]
    for method, cells in setting.rows.items():
        lines.append(f"| {method} |" + "".join(f" {percent(cell)} | {number(cell.width)} |" for cell in cells))
    return "\n".join(lines) + "\n"


SAMPLER_INTRO = f"""\
## Where the exact posterior and the paper's sampler differ

The paper draws {samplers.K:,} points from the prior, weights each by its likelihood, resamples and takes percentiles. The
extension integrates the same posterior without random numbers. The table has the sampler as the paper describes it, but
with exact bivariate normal cells, over {SAMPLER_RUNS} seeds: the mean of each bound and, after ±, its standard deviation from
run to run; the width as a share of the exact one, mean and range; the median effective sample size.

| data | ours, exact | sampler, lower | sampler, upper | width / exact | effective points |
|---|---|---:|---:|---:|---:|"""

SAMPLER_NOTE = f"""
The data: clusters with 0, 1, 2, ... right, {', '.join(map(str, np.bincount(CLUSTERED_15)))} of the 15 and
{', '.join(map(str, np.bincount(CLUSTERED_60)))} of the 60;
pairs (both, only A, only B, neither) {', '.join(map(str, PAIRED_TABLES))}.

If the data say little, the two agree except for the sampler's noise. The more the data say, the fewer of the prior's points
lie where the posterior is. Once only a handful is effective, the sampler's interval is the spread of that handful: a
different one each run, sometimes a single point. The exact interval has no such limit.
"""


def sampler_markdown(compared):
    lines = [SAMPLER_INTRO]
    for name, (lo, hi), runs in compared:
        bounds = " | ".join(f"{np.mean(bound):.4f} ± {np.std(bound, ddof=1):.4f}" for bound in runs.T[:2])
        shares = (runs[:, 1] - runs[:, 0]) / (hi - lo)
        share = f"{np.mean(shares):.2f} ({np.min(shares):.2f} to {np.max(shares):.2f})"
        lines.append(f"| {name} | [{lo:.6f}, {hi:.6f}] | {bounds} | {share} | {number(np.median(runs[:, 2]))} |")
    return "\n".join(lines + [SAMPLER_NOTE])


# SVG

# Okabe and Ito's colours, grey for their black.
BLUE, SKY, GREEN, ORANGE, RED, PURPLE, GREY = "#0072B2", "#56B4E9", "#009E73", "#E69F00", "#D55E00", "#CC79A7", "#8A8A8A"
LOOKS = {  # by method: colour, marker
    "bayes": (BLUE, "circle"), "hdi": (SKY, "ring"), "jeffreys": (PURPLE, "diamond"), "wilson": (GREEN, "square"),
    "cp": (ORANGE, "up"), "midp": (ORANGE, "diamond"), "agresti_coull": (GREY, "down"), "clt": (RED, "cross"),
    "clustered_ci": (BLUE, "circle"), "clustered_clt_ci": (RED, "cross"),
    "bayes_ci, ignoring clusters": (SKY, "ring"), "clt_ci, ignoring clusters": (ORANGE, "up"),
    "diff_ci": (BLUE, "circle"), "diff_clt_ci": (RED, "cross"),
    "odds_ratio_ci": (BLUE, "circle"), "fisher_or_ci": (GREEN, "square"),
    "paired_diff_ci": (BLUE, "circle"), "paired_diff_clt_ci": (RED, "cross"), "diff_ci, ignoring the pairing": (SKY, "ring"),
    "f1_ci": (BLUE, "circle"), "clt (delta method)": (RED, "cross"),
}
SHAPES = {
    "square": "M-3.5-3.5h7v7h-7z", "diamond": "M0-5L5 0L0 5L-5 0z", "up": "M0-5L4.5 3.5H-4.5z",
    "down": "M0 5L4.5-3.5H-4.5z", "cross": "M-4-4L4 4M-4 4L4-4",
}
STYLE = """\
.paper { fill: #ffffff } .ink { fill: #24292f } .soft { fill: #57606a } .grid { stroke: #d8dee4 } .level { stroke: #24292f }
@media (prefers-color-scheme: dark) {
  .paper { fill: #0d1117 } .ink { fill: #e6edf3 } .soft { fill: #9da7b1 } .grid { stroke: #30363d } .level { stroke: #e6edf3 }
}
text { font-family: system-ui, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 12px }
.title { font-size: 14px; font-weight: 600 } .head { font-size: 18px; font-weight: 600 }"""

PANEL_W, PANEL_H = 330, 400
PLOT_X, PLOT_Y, PLOT_W, PLOT_H = 46, 40, 264, 244
LEGEND_Y, LEGEND_STEP = 334, 17
DODGE = 4  # between the markers of two methods at one size
HEAD_H = 62
COLUMNS = 3


def text(x, y, content, kind="ink", anchor="start"):
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{content}</text>'


def marker(x, y, colour, shape):
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.8" fill="{colour}"/>'
    if shape == "ring":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="none" stroke="{colour}" stroke-width="1.8"/>'
    paint = f'fill="none" stroke="{colour}" stroke-width="2.2"' if shape == "cross" else f'fill="{colour}"'
    return f'<path transform="translate({x:.1f} {y:.1f})" d="{SHAPES[shape]}" {paint}/>'


def axes(setting, x_of, y_of, floor):
    """The grid, the 95% line and the labels of one panel."""
    parts = [text(PLOT_X, PLOT_Y - 14, setting.label, "ink title")]
    right, bottom = PLOT_X + PLOT_W, PLOT_Y + PLOT_H
    for tick in range(floor, 101, 10):
        y = y_of(tick / 100)
        parts.append(f'<line class="grid" x1="{PLOT_X}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(text(PLOT_X - 6, y + 4, f"{tick}%", "soft", "end"))
    y = y_of(LEVEL)
    parts.append(f'<line class="level" x1="{PLOT_X}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke-dasharray="5 4"/>')
    parts += [text(x_of(size), bottom + 17, size, "soft", "middle") for size in setting.sizes]
    parts.append(text(right, bottom + 32, f"{setting.symbol}, log scale", "soft", "end"))
    return parts


def legend(methods):
    """Below the plot: one column of up to four, or two."""
    rows = 4
    parts = []
    for i, method in enumerate(methods):
        x, y = PLOT_X + PLOT_W / 2 * (i // rows), LEGEND_Y + LEGEND_STEP * (i % rows)
        colour, shape = LOOKS[method]
        parts.append(f'<line x1="{x:.1f}" x2="{x + 22:.1f}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="1.6"/>')
        parts += [marker(x + 11, y, colour, shape), text(x + 29, y + 4, method)]
    return parts


def panel(setting, floor):
    first, last = math.log(setting.sizes[0]), math.log(setting.sizes[-1])
    x_of = lambda size: PLOT_X + 26 + (PLOT_W - 52) * (math.log(size) - first) / (last - first)
    y_of = lambda coverage: PLOT_Y + PLOT_H * (1 - (coverage - floor / 100) / (1 - floor / 100))
    parts = axes(setting, x_of, y_of, floor)
    for i, (method, cells) in reversed(list(enumerate(setting.rows.items()))):
        colour, shape = LOOKS[method]
        shift = DODGE * (i - (len(setting.rows) - 1) / 2)
        points = [(x_of(size) + shift, y_of(cell.coverage)) for size, cell in zip(setting.sizes, cells)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
        parts += [marker(x, y, colour, shape) for x, y in points]
    return parts + legend(setting.rows)


def figure(settings):
    floor = 10 * math.floor(10 * min(cell.coverage for s in settings for cells in s.rows.values() for cell in cells))
    width, height = COLUMNS * PANEL_W + 10, HEAD_H + PANEL_H * math.ceil(len(settings) / COLUMNS)
    size = f'width="{width}" height="{height}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {size} role="img">',
             "<title>Coverage of 95% intervals against sample size</title>", f"<style>\n{STYLE}\n</style>",
             f'<rect class="paper" {size}/>',
             text(PLOT_X, 30, "How often a 95% interval holds the truth", "ink head"),
             text(PLOT_X, 50, "Coverage, averaged over the model's own prior; the dashed line is 95%", "soft")]
    for i, setting in enumerate(settings):
        parts.append(f'<g transform="translate({i % COLUMNS * PANEL_W} {HEAD_H + i // COLUMNS * PANEL_H})">')
        parts += panel(setting, floor) + ["</g>"]
    return "\n".join(parts + ["</svg>"]) + "\n"


def write(directory, name, content):
    with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
        file.write(content)


def main():
    parser = argparse.ArgumentParser(description="Coverage of every method: writes coverage.md and coverage.svg.")
    parser.add_argument("extension")
    parser.add_argument("--out", default=os.path.dirname(os.path.abspath(__file__)), help="where to write, tests/measured/ unless given")
    arguments = parser.parse_args()
    ext = Extension(arguments.extension)
    fixed.NOW.path = arguments.extension

    own = [design.measured(ext) for design in paper.DESIGNS]
    mismatched = [design.measured(ext) for design in paper.IID_MISMATCHED]
    levels, other_priors = paper.at_levels(ext), paper.mismatch_section(ext)
    clusters = outside.settings(ext)
    sections = [section for part in (means, lumps, gates, spending, labelled, repeats, arena, raters) for section in part.sections()]
    compared = sampler_comparison(ext)
    progress("")
    print(file=sys.stderr)

    settings = [own[0], *mismatched, *own[1:]]
    page = [INTRO, *map(setting_markdown, settings), paper.level_section(levels), other_priors, sampler_markdown(compared),
            OUTSIDE_INTRO, *sections, *map(setting_markdown, clusters), CLOSING]
    write(arguments.out, "coverage.md", "\n".join(page))
    write(arguments.out, "coverage.svg", figure(own))
    wrong = failures(settings + clusters, levels)
    for line in wrong:
        print(f"WRONG: {line}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
