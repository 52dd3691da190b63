"""One HTML file that needs nothing else: no script, no font and no picture from anywhere."""

from __future__ import annotations

from html import escape

_STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1a; --paper: #fbfaf7; --quiet: #6d6a62; --line: #d9d5ca; --lit: #cfe8d5;
        --dark-lit: #8fcb9e; --bad: #f3d9d0; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e5dc; --paper: #1b1b19; --quiet: #a19d92; --line: #3c3a35; --lit: #24482f; --dark-lit: #3c7a50;
          --bad: #58302a; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem;
       margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line); }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
code, .text { font-family: ui-monospace, monospace; font-size: .95em; }
.quiet { color: var(--quiet); }
.text { line-height: 2; overflow-wrap: anywhere; }
mark { color: inherit; background: var(--lit); border-radius: .2em; padding: .1em .15em; }
mark.full { background: var(--dark-lit); }
mark.bad { background: var(--bad); }
"""


def page(title: str, body: str) -> str:
    """A whole document; `title` is plain text, `body` is HTML."""
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{escape(title)}</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n{body}\n</body>\n</html>\n"
    )


def table(header: list[str], rows: list[list[str]], numbers: int = 1) -> str:
    """`header` and cells are HTML already; columns from `numbers` on are set as numbers."""
    kinds = [' class="n"' if i >= numbers else "" for i in range(len(header))]
    lines = ["".join(f"<th{kind}>{cell}</th>" for kind, cell in zip(kinds, header, strict=True))]
    lines += ["".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(kinds, row, strict=True)) for row in rows]
    return "<table>\n" + "\n".join(f"<tr>{line}</tr>" for line in lines) + "\n</table>"
