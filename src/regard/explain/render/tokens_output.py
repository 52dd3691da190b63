"""A text in pieces, as terminal text and as a page: the merges learnt, each word step by step, the pieces in a row."""

from __future__ import annotations

from regard.explain.tokens import TextInPieces, WordPieces, as_dict
from regard.report.deliver import Output
from regard.report.page import page, said
from regard.report.table import Markup, Table
from regard.report.text import printable

FIRST = 10  # merges that are always shown, used or not
ARROW = " → "


def tokens_output(found: TextInPieces) -> Output:
    return Output(text=lambda: tokens_text(found), data=lambda: as_dict(found), page=lambda: tokens_page(found))


def tokens_text(found: TextInPieces) -> str:
    parts = [f"Merges: {printable(found.origin)}"]
    if found.learnt:
        parts += [said_of_merges(found), learnt_table(found).text()]
    parts += ["Each word, from characters to pieces; a number is that of the merge", steps_table(found).text()]
    pieces = [printable(piece) for word in found.words for piece in word.pieces]
    parts += [f"{len(pieces)} pieces: " + " ".join(pieces)]
    return "\n\n".join(parts) + "\n"


def tokens_page(found: TextInPieces) -> str:
    parts = [f'<p class="quiet">Merges: {said(found.origin)}</p>', f'<p class="text">{marked(found)}</p>']
    parts += ["<h2>Each word, from characters to pieces</h2>", steps_table(found).html()]
    if found.learnt:
        parts += ["<h2>Merges learnt</h2>", f"<p>{said(said_of_merges(found))}</p>", learnt_table(found).html()]
    return page("A text in pieces", "\n".join(parts))


def said_of_merges(found: TextInPieces) -> str:
    return f"The first {min(FIRST, len(found.learnt))} of {len(found.learnt):,} merges, and those that the text needs"


def learnt_table(found: TextInPieces) -> Table:
    shown = sorted({*range(1, min(FIRST, len(found.learnt)) + 1), *found.used})
    rows = []
    for number in shown:
        merge = found.learnt[number - 1]
        needed = "yes" if number in found.used else ""
        rows.append([f"{number:,}", " + ".join(merge.pair), merge.piece, f"{merge.times:,}", needed])
    return Table(["merge", "pair", "piece", "times", "needed"], rows, left=(1, 2, 4))


def steps_table(found: TextInPieces) -> Table:
    has_ids = any(word.ids is not None for word in found.words)
    rows = [
        [word.word, _steps(word), *([" ".join(map(str, word.ids or ()))] if has_ids else [])] for word in found.words
    ]
    return Table(["word", "steps", *(["ids"] if has_ids else [])], rows, left=(0, 1, 2))


def _steps(word: WordPieces) -> str:
    return ARROW.join([" ".join(word.symbols), *(f"{' '.join(s.symbols)} ({s.number:,})" for s in word.steps)])


def marked(found: TextInPieces) -> Markup:
    """Every piece in a box of its own."""
    return Markup(" ".join(f"<mark>{said(piece)}</mark>" for word in found.words for piece in word.pieces))
