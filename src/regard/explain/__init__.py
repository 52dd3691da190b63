"""The attention of a model while it translates, how to show it, and how reliable it is.

>>> import regard, regard.explain
>>> found = regard.explain.explain(regard.load(), "The black cat sleeps.")      # doctest: +SKIP
>>> found.grid().caption                                                       # doctest: +SKIP
'layer 2 · head 4 · predicting · AER 20.5% · EOS mass 0.01 · beam 4'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regard.bundle.bundle import Bundle
    from regard.explain.front import Explanation
    from regard.translation.translator import TextTranslator

__all__ = ["explain"]


def explain(
    model: TextTranslator | Bundle,
    text: str,
    target: str | None = None,
    *,
    sentence: int | None = None,
    beam: int | None = None,
    nbest: int = 0,
) -> Explanation:
    """Translate a sentence, or force the given translation, and keep all attention (`front.py`). Of a text of several
    sentences, `sentence` chooses one, from 0."""
    from regard.explain.front import explain as start

    return start(model, text, target, sentence=sentence, beam=beam, nbest=nbest)
