"""A repeated search for a sentence, with a changed model or a forced prefix.

The settings are those of the search whose result `translate` returned: beam, length penalty and constraints. The model
may be changed: heads ablated (`ablation.py`) or attention edited (`edited_attention.py`). A new output is restored as
in `translate`, but not repaired.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from regard.batch import EOS
from regard.errors import InputError
from regard.explain.lattice import Lattice, path_to
from regard.explain.sentence_pair import ExplainedSource, SentencePair
from regard.models.base import Model
from regard.search.engine import Hypothesis
from regard.search.forced_decoding import forced_log_probs
from regard.text.words import split_words, word_spans


def rerun_translation(pair: SentencePair, model: Model, unchanged: Hypothesis) -> str:
    """Returns the translation by a changed model: that of the pair if the search finds the same tokens as that of the
    `unchanged` model, because the pair's may be by another engine, or changed after the search."""
    found = pair.source.search_again(model)
    return pair.target.translation if found.ids == unchanged.ids else pair.source.restore_text(found.ids)


def pair_log_probs(pair: SentencePair, model: Model) -> NDArray[np.float64]:
    """(T,): log-probabilities of the tokens of the pair's translation, EOS last."""
    return forced_log_probs(model, [pair.source_ids], [pair.target_ids])[0]


@dataclass(frozen=True)
class ResumedBranch:
    """The completion of a branch that the search had dropped, ranked by the length penalty of the n-best list."""

    node: int
    prefix: str  # the forced text
    text: str  # the best translation with that prefix
    log_prob: float
    score: float


def resume_branch(source: ExplainedSource, lattice: Lattice, node: int) -> ResumedBranch:
    """Returns the best translation that starts with the tokens up to `node`; `lattice` must be that of `source`."""
    if not 0 <= node < len(lattice.nodes):
        raise InputError(f"node must be from 0 to {len(lattice.nodes) - 1} in this lattice, but is {node}")
    last = lattice.nodes[node]
    tokens = [lattice.nodes[number].token for number in path_to(lattice.nodes, node)]
    if last.token == EOS:
        text = source.restore_text(tokens[:-1])
        return ResumedBranch(node, text, text, last.total, last.score)
    found = source.search_again(source.bundle.model, tokens)
    return ResumedBranch(node, source.restore_text(tokens), source.restore_text(found.ids), found.log_prob, found.score)


DiffKind = Literal["same", "removed", "added"]


def word_diff(old: str, new: str) -> list[tuple[DiffKind, str]]:
    """Runs of words that are in both texts, only in the old one, or only in the new one.

    >>> word_diff("Le chat noir dort.", "Le chat dort bien.")
    [('same', 'Le chat'), ('removed', 'noir'), ('same', 'dort'), ('added', 'bien'), ('same', '.')]
    """
    ours, theirs = word_spans(old), word_spans(new)
    found: list[tuple[DiffKind, str]] = []
    for kind, a, b, c, d in SequenceMatcher(None, split_words(old), split_words(new), autojunk=False).get_opcodes():
        removed = old[ours[a][0] : ours[b - 1][1]] if b > a else ""
        added = new[theirs[c][0] : theirs[d - 1][1]] if d > c else ""
        if kind == "equal":
            found.append(("same", added))
        else:
            found += [("removed", removed)] if removed else []
            found += [("added", added)] if added else []
    return found
