"""Rows as a DataFrame where pandas is there, else as a list of dicts.  Both show a selection of the columns, and draw
the intervals in a notebook."""
import html
import math

try:
    import pandas
except ImportError:
    pandas = None

# The columns shown of a table, in this order: text, numbers with their intervals, and more text.
BEFORE = ("rank", "model", "model_a", "model_b", "task", "item", "k")
BARS = (("accuracy", "lo", "hi"), ("diff", "lo", "hi"), ("difficulty", "lo", "hi"), ("pass_at_k", "at_lo", "at_hi"),
        ("pass_hat_k", "hat_lo", "hat_hi"), ("rating", "lo", "hi"), ("task_share", "task_lo", "task_hi"),
        ("question_share", "question_lo", "question_hi"), ("rerun_share", "rerun_lo", "rerun_hi"))
AFTER = ("p_best", "p_average", "first_place", "p_all", "p", "p_bh", "verdict_all", "verdict", "models", "questions", "n", "votes", "rank_note", "note")
INSTEAD = {"n": "questions"}  # columns not shown if the other one has values
CHANCES = ("p_best", "p_all", "p", "p_bh")
NAMES = ("model", "model_a", "model_b", "task", "item")  # wrapped where there is little room, so that bars are in sight
MOST = 100
WIDTH, HEIGHT = 180, 16


def is_number(x):
    return isinstance(x, (int, float)) and math.isfinite(x)


def text(x):
    """A cell's text: empty for a missing value, of which pandas has several."""
    if not is_number(x):
        return "" if str(x) in ("None", "nan", "<NA>", "NaT") and not isinstance(x, str) else str(x)
    return (f"{x:.0f}" if x == int(x) or abs(x) >= 100 else f"{x:.3f}").replace("-", "−")


def chance(name, x):
    """A probability; what would round to 0 or 1 is below .001 or above .999, but the p of a test is often 1."""
    if not is_number(x):
        return text(x)
    return "<0.001" if x < 0.0005 else ">0.999" if x >= 0.9995 and (x < 1 or name == "p_best") else f"{x:.3f}"


def judged(rows):
    """Pairs with one p and one verdict each: those of all pairs, but of a pair that is alone its own."""
    if "verdict_all" not in rows[0]:
        return [{**row, "p": None} for row in rows]
    if len(rows) == 1:
        return [{**row, "p_all": None, "verdict_all": None} for row in rows]
    return [{**row, "p": None, "verdict": None,
             "verdict_all": row["verdict"] if str(row["verdict"]).startswith(f"{row['verdict_all']} unless") else row["verdict_all"]}
            for row in rows]


def percent(x):
    return f"{100 * x:.1f}%".replace("-", "−")


def interval(lo, hi):
    """A range of two texts; with a minus sign it is written with "to"."""
    return f"{lo}{' to ' if '−' in lo + hi else '–'}{hi}"


def ranked(row):
    """The table with the range of ranks as a text."""
    ends = dict.fromkeys(text(row[end]) for end in ("rank_lo", "rank_hi")) if "rank_lo" in row else ()
    return {**row, "rank": "–".join(ends)} if ends else row


def bar(point, lo, hi, low, high):
    """An interval with its point, on a scale from low to high; 0 of a difference is marked."""
    def at(x):
        return round((min(max(x, low), high) - low) / (high - low) * (WIDTH - 10) + 5, 1)

    middle = HEIGHT // 2
    zero = f'<line x1="{at(0)}" x2="{at(0)}" y1="0" y2="{HEIGHT}" stroke="currentColor" stroke-opacity=".3"/>' if low < 0 else ""
    return (f'<svg width="{WIDTH}" height="{HEIGHT}" style="max-width:none" aria-hidden="true">{zero}'
            f'<line x1="{at(lo)}" x2="{at(hi)}" y1="{middle}" y2="{middle}" stroke="#4c8dca" stroke-width="6" stroke-opacity=".6"/>'
            f'<circle cx="{at(point)}" cy="{middle}" r="3" fill="#1f5f9f"/></svg>')


def measured(rows, names):
    """A number with its interval, as three columns of text: the number, its bar and the interval. Shares are in per
    cent on an axis from 0 to 1, differences on an axis symmetric about 0, and ratings on one from the least to the
    greatest."""
    found = [[row[name] for name in names] for row in rows]
    found = [values if all(map(is_number, values)) else None for values in found]
    every = [x for values in found if values for x in values] or [0, 1]
    reach = max(map(abs, every))
    show = percent if reach <= 1.5 else text
    low, high = (min(every), max(every) + 1e-9) if reach > 1.5 else (-reach, reach) if min(every) < 0 else (0, 1)
    return [(names[0], [show(values[0]) if values else "" for values in found]),
            ("", [bar(*values, low, high) if values else "" for values in found]),
            ("interval", [interval(*map(show, values[1:])) if values else "" for values in found])]


def columns(rows):
    """The headings with their texts; bars have no heading. Empty if there is no interval to show."""
    drawn = [names for names in BARS if rows and all(name in rows[0] for name in names)]
    if not drawn:
        return []
    rows = [ranked(row) for row in judged(rows)]
    texts = {name: [chance(name, row[name]) if name in CHANCES else text(row[name]) for row in rows] for name in (*BEFORE, *AFTER)
             if name in rows[0] and INSTEAD.get(name) not in rows[0]}
    before, after = ([(name, texts[name]) for name in names if any(texts.get(name, ()))] for names in (BEFORE, AFTER))
    return [*before, *(column for names in drawn for column in measured(rows, names)), *after]


def wrapped(texts):
    return f"min-width:{min(14, max(map(len, texts)))}ch;overflow-wrap:anywhere"


def page(rows):
    """As HTML; None where there is nothing to draw."""
    shown = columns(rows[:MOST])
    if not shown:
        return None
    styles = [f'style="text-align:left;{wrapped(texts) if name in NAMES else "white-space:nowrap"}"' for name, texts in shown]
    cells = [[f"<td {style}>{cell if name == '' else html.escape(cell)}</td>" for cell in texts] for style, (name, texts) in zip(styles, shown)]
    head = "".join(f"<th {style}>{html.escape(name)}</th>" for style, (name, _) in zip(styles, shown))
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in zip(*cells))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" + ("<p>and more rows</p>" if len(rows) > MOST else "")


class Rows(list):
    """A list of dicts, one per row; rows["model"] is a column, as of a DataFrame."""

    def __getitem__(self, at):
        return [row[at] for row in self] if isinstance(at, str) else super().__getitem__(at)

    def _repr_html_(self):
        return page(list(self))


if pandas:
    class Frame(pandas.DataFrame):
        """A DataFrame that shows the columns to read, and in a notebook draws its intervals."""

        @property
        def _constructor(self):
            return Frame

        def __repr__(self):
            shown = [(name, texts) for name, texts in columns(self.head(MOST).to_dict("records")) if name]
            if not shown:
                return super().__repr__()
            brief = pandas.DataFrame(list(zip(*(texts for _, texts in shown))), self.index[:MOST], [name for name, _ in shown])
            return f"{brief.to_string()}\n\n[{len(self)} rows x {len(self.columns)} columns]"

        def _repr_html_(self):
            return page(self.head(MOST + 1).to_dict("records")) or super()._repr_html_()


def table(names, rows):
    """What a verb returns."""
    if pandas:
        return Frame(rows, columns=names)
    return Rows(dict(zip(names, row)) for row in rows)
