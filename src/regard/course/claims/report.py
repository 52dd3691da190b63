"""Claims and verdicts as text, as Markdown and as one HTML page."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape

from regard.course.claims.run import TestedClaim
from regard.metrics.show.scores import columns
from regard.report.page import page, table

TITLE = "What the notes claim, tested"


def note(quick: bool) -> str:
    size = "in the quick form, which shows that everything runs and proves nothing" if quick else "on one CPU"
    return f"Small experiments on the embedded corpus, {size}. What counts as shown was set before they were run."


def render_text(tested: Sequence[TestedClaim], quick: bool, width: int = 100) -> str:
    parts = [note(quick)]
    for one in tested:
        lines = [f"{one.claim.name} · {one.result.verdict}"]
        for label, text in _paragraphs(one):
            lines += textwrap.wrap(f"{label}: {text}", width, initial_indent="  ", subsequent_indent="    ")
        if one.result.rows:
            shown = columns([one.result.header, *one.result.rows])
            lines += ["", textwrap.indent(shown, "    "), ""]
        parts.append("\n".join(lines).rstrip())
    return "\n\n".join(parts)


def render_markdown(tested: Sequence[TestedClaim], quick: bool) -> str:
    rows = [[f"[{t.claim.name}](#{t.claim.name})", t.claim.statement, t.result.verdict] for t in tested]
    parts = [f"# {TITLE}", note(quick), _markdown(["claim", "what it says", "verdict"], rows)]
    for one in tested:
        parts.append(f"## {one.claim.name}")
        parts.append("\n".join(f"- **{label}** {text}" for label, text in _paragraphs(one)))
        if one.result.rows:
            parts.append(_markdown(one.result.header, one.result.rows))
    return "\n\n".join(parts) + "\n"


def render_html(tested: Sequence[TestedClaim], quick: bool) -> str:
    rows = [
        [
            f'<a href="#{escape(t.claim.name)}">{escape(t.claim.name)}</a>',
            escape(t.claim.statement),
            escape(t.result.verdict),
        ]
        for t in tested
    ]
    body = [f"<p>{escape(note(quick))}</p>", table(["claim", "what it says", "verdict"], rows, numbers=9)]
    for one in tested:
        body.append(f'<h2 id="{escape(one.claim.name)}">{escape(one.claim.name)}</h2>')
        body += [f"<p><strong>{escape(label)}</strong> {escape(text)}</p>" for label, text in _paragraphs(one)]
        if one.result.rows:
            cells = [[escape(cell) for cell in row] for row in one.result.rows]
            body.append(table([escape(name) for name in one.result.header], cells))
    return page(TITLE, "\n".join(body))


def _paragraphs(one: TestedClaim) -> list[tuple[str, str]]:
    paragraphs = [
        ("claim", one.claim.statement),
        ("experiment", one.claim.experiment),
        ("asked for", one.claim.criterion),
        ("figure", one.result.figure + "."),
        ("verdict", one.result.verdict + "."),
    ]
    return paragraphs + ([("also", one.result.remark)] if one.result.remark else [])


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
