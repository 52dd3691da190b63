"""Scores, buckets and differences of systems as plain text for the terminal and as HTML.

Text is at most 100 cells wide, and wide scripts line up too; systems that do not fit beside each other follow in a
second block. "…" marks omitted text. All numbers come from `buckets.py` and `differences.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import takewhile

from regard.metrics.buckets import BucketTable, FrequencyTable
from regard.metrics.differences import Differences, DifferentLine, Spans
from regard.metrics.significance import ComparedScore
from regard.report.cells import cell_len, one_line, pad, shorten_middle, wrap_cells
from regard.report.table import Markup, Table

WIDTH = 100
NAME_CELLS = 24  # longer names of systems and tags are shortened
SPEAKER_CELLS = 16  # the same for the label before a sentence
SENTENCE_ROWS = 4  # longer sentences are cut
GAP = "  "
BAR = 80  # pixels


# ------------------------------------------------------------------------------------------------ text


def show_scores(names: Sequence[str], found: Mapping[str, Sequence[ComparedScore]], width: int = 2) -> str:
    """A line and its signature for one system, a table for several; `found` has one entry per system for each
    metric."""
    if len(names) == 1:
        return "\n".join(f"{_line(some[0], width)}\n{some[0].score.signature}" for some in found.values())
    tested = any(one.p_value is not None for some in found.values() for one in some)
    header = ["system", *found]
    rows = [[name, *(_cell(some[i], width, tested) for some in found.values())] for i, name in enumerate(names)]
    text = Table(header, rows).text()
    if tested:
        text += "\n\nEach system is held against the first. * p is below 0.05, not corrected for the number of systems."
    signatures = "\n".join(f"{name}  {some[0].score.signature}" for name, some in found.items())
    return f"{text}\n\n{signatures}"


def _line(one: ComparedScore, width: int) -> str:
    text, found = one.score.text(width), one.interval
    if found is None:
        return text
    mean, half, low, high = (f"{value:.{width}f}" for value in (found.mean, found.half, found.low, found.high))
    return f"{text}\n(μ = {mean} ± {half}; 95%: {low}–{high})"


def _cell(one: ComparedScore, width: int, tested: bool) -> str:
    """Formats one score: 38.01 ± 0.52 (p = 0.003*)"""
    text = f"{one.score.score:.{width}f}"
    if one.interval is not None:
        text += f" ± {one.interval.half:.{width}f}"
    if one.p_value is not None:
        text += f" (p = {one.p_value:.4f}{'*' if one.p_value < 0.05 else ' '})"
    elif tested:  # the baseline has no p-value; padding aligns its score with the others
        text += " " * len(" (p = 0.0000 )")
    return text


def bucket_text(shown: BucketTable, digits: int = 2) -> str:
    """One row per bucket, one column per system; the last row is the score of all lines."""
    names = short_names(shown.systems)
    rows = [*shown.rows, shown.whole]
    left = [["", "lines"], *([shorten_middle(row.label, NAME_CELLS), str(row.lines)] for row in rows)]
    scores = [names, *([f"{score.score:.{digits}f}" for score in row.scores] for row in rows)]
    blocks = "\n\n".join(Table(header, rest).text() for header, *rest in _beside(left, scores))
    signature = [f"signature: {shown.whole.scores[0].signature}"] if shown.systems else []
    return "\n".join([_heading(shown), blocks, *signature])


def frequency_text(shown: FrequencyTable, digits: int = 2) -> str:
    """One row per bucket and system."""
    header = ["occurs", "reference", "system", "words", "matches", "precision", "recall", "F1"]
    rows = []
    names = short_names(shown.systems)
    for label, counts in shown.rows:
        for n, (name, one) in enumerate(zip(names, counts, strict=True)):
            bucket = [label, str(one.reference)] if n == 0 else ["", ""]
            rates = [f"{rate:.{digits}f}" for rate in (one.precision, one.recall, one.f1)]
            rows.append([*bucket, name, str(one.hypothesis), str(one.matches), *rates])
    return "\n".join([shorten_middle(_frequency_heading(shown), WIDTH), Table(header, rows, left=(0, 2)).text()])


def differences_text(shown: Differences, digits: int = 2) -> str:
    """How often each system is better, then the lines and n-grams that favor each of the two most."""
    names = short_names(shown.systems)
    tally = [[who, str(lines)] for who, lines in _tally(shown, names)]
    parts = ["\n".join([_heading(shown), Table(["", "lines"], tally).text()])]
    for name, lines in zip(names, shown.lines, strict=True):
        if lines:
            parts.append(f"Lines where {name} is better by most")
            parts += ["\n".join(_line_rows(line, shown, digits)) for line in lines]
    room = WIDTH - sum(max(cell_len(name), 9) + len(GAP) for name in names)
    for name, ngrams in zip(names, shown.ngrams, strict=True):
        if ngrams:
            rows = [[shorten_middle(one.words, room), *map(str, one.matches)] for one in ngrams]
            parts.append("\n".join([f"N-grams that {name} gets right more often", Table(["", *names], rows).text()]))
    parts.append(f"signature of lines: {shown.signature}")
    return "\n\n".join(parts)


def _frequency_heading(shown: FrequencyTable) -> str:
    return f"Words by how often they occur in {shown.counted_in}"


def _heading(shown: BucketTable | Differences) -> str:
    how = f"by {shown.by}" if isinstance(shown, BucketTable) else "line by line"
    return f"{shown.metric} {how}" + ("" if shown.higher_is_better else " (lower is better)")


def _tally(shown: Differences, names: Sequence[str]) -> list[tuple[str, int]]:
    return [(f"{names[0]} better", shown.wins), (f"{names[1]} better", shown.losses), ("equal", shown.ties)]


def _line_rows(line: DifferentLine, shown: Differences, digits: int) -> Iterator[str]:
    names = [shorten_middle(name, SPEAKER_CELLS) for name in short_names(shown.systems)]
    scores = [f"{name} {score:.{digits}f}" for name, score in zip(names, line.scores, strict=True)]
    yield f"line {line.number}: {shown.metric} {', '.join(scores)}"
    source = [] if line.source is None else [("source", line.source)]
    references = [("reference", reference) for reference in line.references]
    said = [*source, *references, *zip(names, line.hypotheses, strict=True)]
    gutter = max(cell_len(speaker) for speaker, _ in said)
    for speaker, sentence in said:
        for n, row in enumerate(wrap_cells(sentence, WIDTH - gutter - 2 * len(GAP), SENTENCE_ROWS)):
            yield (GAP + pad(speaker if n == 0 else "", gutter) + GAP + row).rstrip()


def _beside(left: Sequence[Sequence[str]], right: Sequence[Sequence[str]]) -> Iterator[list[list[str]]]:
    """Yields tables of `left` with as many columns of `right` as fit, then with the next columns, and so on."""
    fixed = sum(max(map(cell_len, column)) + len(GAP) for column in zip(*left, strict=True))
    sizes = [max(map(cell_len, column)) + len(GAP) for column in zip(*right, strict=True)]
    begin = 0
    while begin < len(sizes):
        end = begin + 1
        while end < len(sizes) and fixed + sum(sizes[begin : end + 1]) <= WIDTH + len(GAP):
            end += 1
        yield [[*one, *other[begin:end]] for one, other in zip(left, right, strict=True)]
        begin = end


def short_names(names: Sequence[str]) -> list[str]:
    """Shortens long names: removes the parts that all names share, up to a dot or slash, then cuts what is still long.

    >>> short_names(["newstest2017.online-A.0.en-de", "newstest2017.online-B.0.en-de"])
    ['…online-A…', '…online-B…']
    """
    shown = [one_line(name) for name in names]
    if len(shown) > 1 and max(map(cell_len, shown)) > SPEAKER_CELLS:
        before = _shared_parts(shown)
        shown = ["…" * (before > 0) + name[before:] for name in shown]
        after = _shared_parts([name[::-1] for name in shown])
        shown = [name[: len(name) - after] + "…" * (after > 0) for name in shown]
    return [shorten_middle(name, NAME_CELLS) for name in shown]


def _shared_parts(names: Sequence[str]) -> int:
    """The number of leading characters that all names share, up to and including the last dot or slash among them."""
    same = sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False)))
    return max(names[0].rfind(".", 0, same), names[0].rfind("/", 0, same)) + 1


# ------------------------------------------------------------------------------------------------ HTML


def bucket_html(shown: BucketTable, digits: int = 2) -> str:
    rows = [*shown.rows, shown.whole]
    full = max((score.score for row in rows for score in row.scores), default=0.0)
    cells = [
        [row.label, str(row.lines), *(_with_bar(score.score, full, digits) for score in row.scores)] for row in rows
    ]
    header = [shown.by, "lines", *shown.systems]
    signature = escape(shown.whole.scores[0].signature) if shown.systems else ""
    caption = f'<p class="quiet">signature: <code>{signature}</code></p>'
    return f"<h2>{escape(_heading(shown))}</h2>\n{Table(header, cells).html()}\n{caption}"


def frequency_html(shown: FrequencyTable, digits: int = 2) -> str:
    cells = []
    for label, counts in shown.rows:
        for n, (name, one) in enumerate(zip(shown.systems, counts, strict=True)):
            rates = [f"{one.precision:.{digits}f}", f"{one.recall:.{digits}f}", _with_bar(one.f1, 100, digits)]
            bucket = [label, name, str(one.reference) if n == 0 else ""]
            cells.append([*bucket, str(one.hypothesis), str(one.matches), *rates])
    header = ["occurs", "system", "words in the reference", "words", "matches", "precision", "recall", "F1"]
    return f"<h2>{escape(_frequency_heading(shown))}</h2>\n{Table(header, cells, left=(0, 1)).html()}"


def differences_html(shown: Differences, digits: int = 2) -> str:
    tally = [[who, str(lines)] for who, lines in _tally(shown, shown.systems)]
    parts = [f"<h2>{escape(_heading(shown))}</h2>\n{Table(['', 'lines'], tally).html()}"]
    for system, lines in zip(shown.systems, shown.lines, strict=True):
        if lines:
            parts.append(f"<h3>Lines where {escape(system)} is better by most</h3>")
            parts += [_line_html(line, shown, digits) for line in lines]
    for system, ngrams in zip(shown.systems, shown.ngrams, strict=True):
        if ngrams:
            cells = [[Markup(f"<code>{escape(one.words)}</code>"), *map(str, one.matches)] for one in ngrams]
            parts.append(f"<h3>N-grams that {escape(system)} gets right more often</h3>")
            parts.append(Table(["n-gram", *shown.systems], cells).html())
    parts.append(f'<p class="quiet">signature of lines: <code>{escape(shown.signature)}</code></p>')
    return "\n".join(parts)


def _line_html(line: DifferentLine, shown: Differences, digits: int) -> str:
    above = [] if line.source is None else [("source", line.source)]
    above += [("reference", reference) for reference in line.references]
    sentences = "".join(f'<p dir="auto"><span class="quiet">{who}</span> {escape(text)}</p>\n' for who, text in above)
    header = [
        Markup(f'{escape(name)} <span class="quiet">{score:.{digits}f}</span>')
        for name, score in zip(shown.systems, line.scores, strict=True)
    ]
    pair = zip(line.hypotheses, line.matched, strict=True)
    cells = [Markup(f'<div class="text" dir="auto">{highlight(text, spans)}</div>') for text, spans in pair]
    return f"<h4>Line {line.number}</h4>\n{sentences}{Table(header, [cells], left=(0, 1)).html()}"


def highlight(text: str, spans: Spans) -> str:
    """
    >>> highlight("a <b> c", ((2, 5),))
    'a <mark>&lt;b&gt;</mark> c'
    """
    parts, end = [], 0
    for begin, stop in spans:
        parts += [escape(text[end:begin]), f"<mark>{escape(text[begin:stop])}</mark>"]
        end = stop
    return "".join([*parts, escape(text[end:])])


def _with_bar(value: float, full: float, digits: int) -> Markup:
    """The number, and a bar whose length is its share of `full`."""
    length = BAR * max(0.0, value) / full if full > 0 else 0.0
    drawn = f'<rect width="{length:.1f}" height="10" style="fill: var(--lit)"/>'
    return Markup(f'{value:.{digits}f} <svg width="{BAR}" height="10" aria-hidden="true">{drawn}</svg>')
