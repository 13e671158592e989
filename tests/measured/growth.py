"""How time grows with size, as a picture: growth.svg, drawn by bench.py."""
import math

from coverage import BLUE, GREEN, ORANGE, PURPLE, RED, STYLE, marker, text

LOOKS = ((BLUE, "circle"), (RED, "cross"), (GREEN, "square"), (ORANGE, "up"), (PURPLE, "diamond"))
PANEL_W, PANEL_H, COLUMNS = 440, 430, 2
PLOT_X, PLOT_Y, PLOT_W, PLOT_H = 66, 40, 344, 264
LEGEND_Y, LEGEND_STEP, HEAD_H = 344, 17, 66
UNITS = ((1, "s"), (1e-3, "ms"), (1e-6, "µs"))


def short_time(seconds):
    unit, name = next(u for u in UNITS if seconds > 0.999 * u[0] or u == UNITS[-1])
    return f"{seconds / unit:g} {name}"


def short_size(size):
    return f"{size / 1e6:g}M" if size >= 1e6 else f"{size / 1e3:g}k" if size >= 1e3 else f"{size:g}"


def powers(least, most):
    """The powers of ten from below the least to above the most."""
    return [10.0 ** e for e in range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)]


def panel(title, lines):
    """Lines are {name: [(size, seconds), ...]}."""
    sizes = sorted({size for points in lines.values() for size, _ in points})
    times = powers(min(t for points in lines.values() for _, t in points), max(t for points in lines.values() for _, t in points))

    def x_of(size):
        return PLOT_X + 14 + (PLOT_W - 28) * math.log(size / sizes[0]) / math.log(sizes[-1] / sizes[0])

    def y_of(seconds):
        return PLOT_Y + PLOT_H * (1 - math.log(seconds / times[0]) / math.log(times[-1] / times[0]))

    right, bottom = PLOT_X + PLOT_W, PLOT_Y + PLOT_H
    parts = [text(PLOT_X, PLOT_Y - 14, title, "ink title")]
    for t in times:
        parts.append(f'<line class="grid" x1="{PLOT_X}" x2="{right}" y1="{y_of(t):.1f}" y2="{y_of(t):.1f}"/>')
        parts.append(text(PLOT_X - 6, y_of(t) + 4, short_time(t), "soft", "end"))
    parts += [text(x_of(size), bottom + 17, short_size(size), "soft", "middle") for size in sizes]
    # In proportion, through the last point of the slowest.
    last = max((points[-1] for points in lines.values()), key=lambda p: (p[0], p[1]))
    first = sizes[0], last[1] * sizes[0] / last[0]
    parts.append(f'<line class="level" clip-path="url(#plot)" x1="{x_of(first[0]):.1f}" y1="{y_of(first[1]):.1f}"'
                 f' x2="{x_of(last[0]):.1f}" y2="{y_of(last[1]):.1f}" stroke-dasharray="5 4" opacity="0.5"/>')
    for i, ((name, points), (colour, shape)) in enumerate(zip(lines.items(), LOOKS)):
        shown = [(x_of(size), y_of(seconds)) for size, seconds in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in shown)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
        parts += [marker(x, y, colour, shape) for x, y in shown]
        y = LEGEND_Y + LEGEND_STEP * i
        parts.append(f'<line x1="{PLOT_X}" x2="{PLOT_X + 22}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="1.6"/>')
        parts += [marker(PLOT_X + 11, y, colour, shape), text(PLOT_X + 29, y + 4, name)]
    return parts


def picture(panels):
    """An SVG document of {title: lines}."""
    width, height = COLUMNS * PANEL_W + 10, HEAD_H + PANEL_H * math.ceil(len(panels) / COLUMNS)
    size = f'width="{width}" height="{height}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {size} role="img">',
             "<title>How time grows with size</title>", f"<style>\n{STYLE}\n</style>", f'<rect class="paper" {size}/>',
             f'<clipPath id="plot"><rect x="{PLOT_X}" y="{PLOT_Y}" width="{PLOT_W}" height="{PLOT_H}"/></clipPath>',
             text(PLOT_X, 30, "How time grows", "ink head"),
             text(PLOT_X, 50, "One query, by the size of what it is over; both scales are logarithmic, and the dashed line grows in proportion", "soft")]
    for i, (title, lines) in enumerate(panels.items()):
        parts.append(f'<g transform="translate({i % COLUMNS * PANEL_W} {HEAD_H + i // COLUMNS * PANEL_H})">')
        parts += panel(title, lines) + ["</g>"]
    return "\n".join(parts + ["</svg>"]) + "\n"
