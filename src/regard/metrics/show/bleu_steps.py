"""The steps of a BLEU score as plain text for a terminal or as an HTML page.

    The cat is on mat          a digit under a token: the longest n-gram that was credited there
      3   3  3  3   1          (on a page: a mark, darker for longer n-grams)

Both forms have the same content. Widths are in terminal cells, so wide scripts line up. Counting and scoring is in
`metrics/bleu_steps.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from regard.metrics.bleu_steps import BleuSteps, MarkedText, ShownLine
from regard.metrics.ngram_tables import NGramTable, OrderCounts, fraction
from regard.report.cells import cell_len, shorten
from regard.report.page import page
from regard.report.table import Markup, Table

TABLES = {"all": "", "lost": ", most credit lost first", "gained": ", most credit gained first"}
LINES = {"asked": "Text", "lowest": "Lines with the lowest scores", "highest": "Lines with the highest scores"}
ALONE = "A line's own score leaves out the orders that the line is too short for."
STEPS = ["n", "clipped/count", "p", "smoothed", "p", "weight w", "w · ln p"]
DIGITS = "A digit is the length of the longest n-gram credited there."
MARKS = "A mark is stronger where a longer n-gram was credited."


# ------------------------------------------------------------------------------------------------ shared text


def title(working: BleuSteps) -> str:
    if working.line is None:
        return f"BLEU of {working.lines:,} lines, step by step"
    which = "" if working.lines == 1 else f" of line {working.line:,} of {working.lines:,}"
    return f"BLEU{which}, step by step"


def legend(working: BleuSteps) -> str:
    each = " in each line" if working.line is None else ""
    return (
        "count: in the hypothesis. max ref: in the one reference that has it most often. "
        f"clipped: the smaller of the two{each}; this is the credit."
    )


def heading(order: OrderCounts, listed: NGramTable) -> str:
    return f"{order.n}-grams: {order.correct:,} of {order.total:,} credited{TABLES[listed.kind]}"


def ngram_rows(listed: NGramTable) -> tuple[list[str], list[list[str]]]:
    """Header and rows; the first cell of a row is the n-gram."""
    header = ["", "count", "max ref", "clipped", *(["lost"] if listed.kind == "lost" else [])]
    rows = []
    for row in listed.rows:
        numbers = [row.count, row.most, row.clipped, row.count - row.clipped][: len(header) - 1]
        rows.append([" ".join(row.ngram), *(f"{one:,}" for one in numbers)])
    return header, rows


def filled(order: OrderCounts) -> list[NGramTable]:
    """The tables of an order that are not empty."""
    return [listed for listed in order.tables if listed.rows or listed.more or listed.kind == "all"]


def not_listed(listed: NGramTable) -> str:
    if listed.more:
        return f"… and {listed.more:,} more, which {listed.kind} {listed.more_credit:,}"
    return "" if listed.rows else "none"


def number(value: float) -> str:
    """
    >>> number(-0.5), number(-0.0), number(-math.inf)
    ('−0.5000', '0.0000', '−∞')
    """
    digits = "∞" if math.isinf(value) else f"{abs(value):.4f}"
    return digits if value >= 0 or digits == "0.0000" else f"−{digits}"


def weighted_log_precision(order: OrderCounts) -> float:
    """w · ln p: the contribution of an order to the logarithm of the mean."""
    return order.weight * math.log(order.precision / 100) if order.precision > 0 else -math.inf


def steps(working: BleuSteps) -> list[list[str]]:
    """The rows under `STEPS`."""
    rows = []
    for order in working.orders:
        raw = order.correct / order.total if order.total else 0.0
        lifted = not math.isclose(raw, order.precision / 100, abs_tol=1e-12)
        row = [f"{order.n}", f"{order.correct}/{order.total}", f"{raw:.4f}", fraction(order) if lifted else ""]
        weight = "left out" if order.left_out else f"{order.weight:.4f}"
        added = number(weighted_log_precision(order)) if order.weight > 0 else ""
        rows.append([*row, f"{order.precision / 100:.4f}", weight, added])
    return rows


def formulas(working: BleuSteps) -> list[str]:
    """Lengths, penalty, mean and score, with their numbers filled in."""
    score, many = working.score, working.line is None
    c, r = score.hyp_len, score.ref_len
    refs = [f"{length:,}" for length in working.ref_lens if length is not None]
    rule = working.metric.ref_length + (" in each line, summed" if many else "")
    held = f"{' and '.join(refs)} in the reference{'s' if many or len(refs) > 1 else ''}"
    lengths = f"c = {c:,} tokens in the {'hypotheses' if many else 'hypothesis'}, {held}; r = {r:,.10g} ({rule})"
    if c == 0 < r:
        penalty = "c = 0, so BP = 0"
    elif c < r:
        penalty = f"c < r, so BP = e^(1 − r/c) = e^(1 − {r:.10g}/{c}) = e^({number(1 - r / c)}) = {score.bp:.4f}"
    else:
        penalty = f"c {'=' if c == r else '>'} r, so BP = 1"
    mean = "mean = 0, because nothing matches"
    if any(score.correct):
        first, *others = [weighted_log_precision(order) for order in working.orders if order.weight > 0]
        terms = number(first) + "".join(f" {'−' if one < 0 else '+'} {number(abs(one))}" for one in others)
        total = f" = e^({number(first + sum(others))})" if others else ""
        mean = f"mean = e^({terms}){total} = {working.mean / 100:.4f}"
    product = f"BLEU = BP · mean = {score.bp:.4f} · {working.mean / 100:.4f} = {score.score / 100:.4f}"
    return [lengths, penalty, mean, product]


def shown_by_reason(working: BleuSteps) -> Iterator[tuple[str, list[ShownLine]]]:
    for why in LINES:
        lines = [shown for shown in working.shown if shown.why == why]
        if lines:
            yield why, lines


# ------------------------------------------------------------------------------------------------ plain text


def render_text(working: BleuSteps, width: int = 80) -> str:
    """Renders the steps for a terminal of `width` cells, at least 72. No final newline; signatures are not wrapped."""
    head = [title(working), ""]
    lines = [line for why, some in shown_by_reason(working) for line in _lines_text(why, some, width)]
    counting = ["n-grams", *_wrapped(legend(working), width), ""]
    for order in working.orders:
        for listed in filled(order):
            counting += [*_ngrams_text(order, listed, width), ""]
    lengths, penalty, mean, product = (_wrapped(formula, width) for formula in formulas(working))
    score = [f"  {part}" for part in (*_score_lines(working, width), working.score.signature)] + [""]
    arithmetic = ["Precisions", *_indented(Table(STEPS, steps(working), left=())), ""]
    arithmetic += ["Brevity penalty", *lengths, *penalty, "", "Score", *mean, *product, *score]
    why = ["Why", *(line for reason in working.reasons for line in _wrapped(reason, width, "- "))]
    parts = [head, lines, counting, arithmetic, why] if working.line else [head, counting, arithmetic, lines, why]
    return "\n".join(line.rstrip() for part in parts for line in part)


def _score_lines(working: BleuSteps, width: int) -> list[str]:
    """The score as sacreBLEU prints it, on two lines if one is too short."""
    score = str(working.score)
    return [score] if len(score) + 2 <= width else score.replace(" (", "\n(").split("\n")


def _wrapped(text: str, width: int, first: str = "  ") -> list[str]:
    """Wraps text at spaces; lines after the first are indented by the length of `first`."""
    lines: list[str] = []
    line, empty = first, True
    for word in (shorten(word, width - len(first)) for word in text.split(" ")):
        if not empty and cell_len(line) + 1 + cell_len(word) > width:
            lines.append(line)
            line, empty = " " * len(first), True
        line, empty = line + ("" if empty else " ") + word, False
    return [*lines, line]


def _indented(table: Table) -> list[str]:
    return [f"  {line}" for line in table.text().split("\n")]


def _ngrams_text(order: OrderCounts, listed: NGramTable, width: int) -> list[str]:
    header, rows = ngram_rows(listed)
    if listed.kind == "all" and rows:
        rows.append(["sum", f"{order.total:,}", "", f"{order.correct:,}"])
    numbers = sum(2 + max(map(cell_len, column)) for column in list(zip(header, *rows, strict=True))[1:])
    body = [[shorten(row[0], width - numbers - 2), *row[1:]] for row in rows]
    end = not_listed(listed)
    shown = _indented(Table(header, body)) if rows else []
    return [heading(order, listed), *shown, *([f"  {end}"] if end else [])]


def _lines_text(why: str, lines: Sequence[ShownLine], width: int) -> Iterator[str]:
    yield LINES[why]
    yield from _wrapped(DIGITS if why == "asked" else f"{DIGITS} {ALONE}", width)
    for shown in lines:
        if why != "asked":
            yield from ("", f"  line {shown.line:,}, alone {shown.score:.2f}")
        label = max(len(text.name) for text in shown.texts) + 2
        for text in shown.texts:
            yield from _highlighted_text(text, label, width)
    yield ""


def _highlighted_text(text: MarkedText, label: int, width: int) -> Iterator[str]:
    """Yields lines of tokens with a digit under each, wrapped to the terminal's width."""
    room = width - 2 - label
    tokens, digits = "", ""
    name = text.name
    for token, longest in zip(text.tokens, text.longest, strict=True):
        word, digit = shorten(token, room), f"{longest}" if longest else "·"
        cells = max(cell_len(word), len(digit))
        if tokens and cell_len(tokens) + 1 + cells > room:
            yield from (f"  {name:<{label}}{tokens}", f"  {'':<{label}}{digits}")
            name, tokens, digits = "", "", ""
        gap = " " if tokens else ""
        tokens += gap + " " * (cells - cell_len(word)) + word
        digits += gap + " " * (cells - len(digit)) + digit
    yield f"  {name:<{label}}{tokens or '(empty)'}"
    if digits:
        yield f"  {'':<{label}}{digits}"


# ------------------------------------------------------------------------------------------------ HTML page


def render_html(working: BleuSteps) -> str:
    """Renders the steps as a self-contained HTML page."""
    lines = [
        part for why, some in shown_by_reason(working) for part in _lines_html(why, some, working.metric.max_order)
    ]
    counting = ["<h2>n-grams</h2>", f'<p class="quiet">{escape(legend(working))}</p>']
    for order in working.orders:
        for listed in filled(order):
            header, rows = ngram_rows(listed)
            cells = [[Markup(f"<code>{escape(row[0])}</code>"), *row[1:]] for row in rows]
            counting.append(f"<h3>{heading(order, listed)}</h3>")
            counting += [Table(header, cells).html()] if rows else []
            counting += [f'<p class="quiet">{not_listed(listed)}</p>'] if not_listed(listed) else []
    lengths, penalty, mean, product = (f"<p>{escape(formula)}</p>" for formula in formulas(working))
    arithmetic = ["<h2>Precisions</h2>", Table(STEPS, steps(working)).html()]
    arithmetic += ["<h2>Brevity penalty</h2>", lengths, penalty]
    arithmetic += ["<h2>Score</h2>", mean, product, f"<p><strong>{escape(str(working.score))}</strong></p>"]
    arithmetic.append(f'<p class="quiet"><code>{escape(working.score.signature)}</code></p>')
    why = ["<h2>Why</h2>", "<ul>", *(f"<li>{escape(reason)}</li>" for reason in working.reasons), "</ul>"]
    parts = [lines, why, counting, arithmetic] if working.line else [why, lines, counting, arithmetic]
    return page(title(working), "\n".join(line for part in parts for line in part))


def _lines_html(why: str, lines: Sequence[ShownLine], max_order: int) -> Iterator[str]:
    yield f"<h2>{LINES[why]}</h2>"
    yield f'<p class="quiet">{escape(MARKS if why == "asked" else f"{MARKS} {ALONE}")}</p>'
    for shown in lines:
        if why != "asked":
            yield f"<h3>line {shown.line:,}, alone {shown.score:.2f}</h3>"
        for text in shown.texts:
            marked = " ".join(map(lambda t, n: _mark(t, n, max_order), text.tokens, text.longest))
            yield f'<p class="text"><span class="quiet">{escape(text.name)}</span><br>{marked or "(empty)"}</p>'


def _mark(token: str, longest: int, max_order: int) -> str:
    """A token, with a stronger background for longer n-grams."""
    if longest == 0:
        return escape(token)
    depth = round(100 * (longest - 1) / max(1, max_order - 1))
    ground = f"background: color-mix(in oklab, var(--lit) {depth}%, var(--good-soft))"
    return f'<mark title="in a credited {longest}-gram" style="{ground}">{escape(token)}</mark>'
