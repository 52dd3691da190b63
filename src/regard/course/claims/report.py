"""Formats claims and verdicts as text, as Markdown and as an HTML page."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import asdict

from regard.course.claims.run import TestedClaim
from regard.report.deliver import Output
from regard.report.page import escaped, page
from regard.report.table import Markup, Table

TITLE = "What the notes claim, tested"
HEADER = ("claim", "what it says", "verdict")
WORDS = range(len(HEADER))  # all columns are text
WIDTH = 100  # characters of a line of text


def claims_output(tested: Sequence[TestedClaim], quick: bool) -> Output:
    """Returns the results in every format that `regard claims` writes."""
    return Output(
        text=lambda: render_text(tested, quick),
        data=lambda: {one.claim.name: {"seconds": one.seconds, **asdict(one.result)} for one in tested},
        markdown=lambda: render_markdown(tested, quick),
        page=lambda: render_html(tested, quick),
    )


def note(quick: bool) -> str:
    """Describes the conditions of all experiments."""
    size = "in the quick form, which shows that everything runs and proves nothing" if quick else "on one CPU"
    return (
        f"Small experiments on the embedded corpus, {size}. The criterion of each claim was fixed before they ran, but "
        "for exploding and bottleneck (docs/claims.md)."
    )


def render_text(tested: Sequence[TestedClaim], quick: bool) -> str:
    parts = [note(quick)]
    for one in tested:
        lines = [f"{one.claim.name} · {one.result.verdict}"]
        for label, text in _paragraphs(one):
            lines += textwrap.wrap(f"{label}: {text}", WIDTH, initial_indent="  ", subsequent_indent="    ")
        if one.result.rows:
            lines += ["", textwrap.indent(_table(one).text(), "    "), ""]
        parts.append("\n".join(lines).rstrip())
    return "\n\n".join(parts)


def render_markdown(tested: Sequence[TestedClaim], quick: bool) -> str:
    rows = [[f"[{t.claim.name}](#{t.claim.name})", t.claim.statement, t.result.verdict] for t in tested]
    parts = [f"# {TITLE}", note(quick), Table(HEADER, rows, WORDS).markdown()]
    for one in tested:
        parts.append(f"## {one.claim.name}")
        parts.append("\n".join(f"- **{label}** {text}" for label, text in _paragraphs(one)))
        if one.result.rows:
            parts.append(_table(one).markdown())
    return "\n\n".join(parts) + "\n"


def render_html(tested: Sequence[TestedClaim], quick: bool) -> str:
    rows = [
        [Markup(f'<a href="#{escaped(t.claim.name)}">{escaped(t.claim.name)}</a>'), t.claim.statement, t.result.verdict]
        for t in tested
    ]
    body = [f"<p>{escaped(note(quick))}</p>", Table(HEADER, rows, WORDS).html()]
    for one in tested:
        body.append(f'<h2 id="{escaped(one.claim.name)}">{escaped(one.claim.name)}</h2>')
        body += [f"<p><strong>{label}</strong> {escaped(text)}</p>" for label, text in _paragraphs(one)]
        if one.result.rows:
            body.append(_table(one).html())
    return page(TITLE, "\n".join(body))


def _table(one: TestedClaim) -> Table:
    return Table(one.result.header, one.result.rows)


def _paragraphs(one: TestedClaim) -> list[tuple[str, str]]:
    paragraphs = [
        ("claim", one.claim.statement),
        ("experiment", one.claim.experiment),
        ("criterion", one.claim.criterion),
        ("figure", one.result.figure + "."),
        ("verdict", one.result.verdict + "."),
    ]
    return paragraphs + ([("also", one.result.remark)] if one.result.remark else [])
