"""`regard.Translator`: a model that translates, scores, explains and aligns.

It stands above `explain` because it uses it; `decode/translator.py` has the part that only needs search.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, overload

from regard.decode.translator import TextTranslator, checked_texts
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.explain.front import Explanation
    from regard.explain.word_alignment import WordAlignment


class Translator(TextTranslator):
    """What `regard.load` returns.

    >>> import regard
    >>> translator = regard.load("en-fr", device="cpu")
    >>> translator.translate("The cat is black.").text
    'Le chat est noir.'

    Threads may share a translator. So may processes that are forked from this one, on the CPU: they compute with one
    thread, because torch's threads do not survive a fork.
    """

    def explain(
        self,
        text: str,
        target: str | None = None,
        *,
        sentence: int | None = None,
        beam: int | None = None,
        nbest: int = 0,
    ) -> Explanation:
        """Translate a sentence, or take the given `target`, and keep all attention weights, ready to be shown:
        `.grid()`, `.sheet()`, `.arcs(word)`. Of a text of several sentences, `sentence` chooses one, from 0; `nbest`
        chooses a hypothesis of the search, 0 the best."""
        from regard.explain.front import explain

        for given in (text, target):
            if not isinstance(given, str) and (given is text or target is not None):
                raise InputError(f"explain takes one sentence and, if it is given, its target, but not {given!r}")
        return explain(self, text, target, sentence=sentence, beam=beam, nbest=nbest)

    @overload
    def align(self, sources: str, targets: str | None = None) -> WordAlignment: ...  # type: ignore[overload-overlap]

    @overload
    def align(self, sources: Iterable[str], targets: Iterable[str] | None = None) -> list[WordAlignment]: ...

    def align(
        self, sources: str | Iterable[str], targets: str | Iterable[str] | None = None
    ) -> WordAlignment | list[WordAlignment]:
        """Which words translate which, read from the model's attention: of a pair of strings one `WordAlignment`, of
        two lists a list. Without targets, of the model's own translations. Words are those of the texts as they are
        given; the model reads them as in `translate`."""
        from regard.explain.word_alignment import align_pairs, translation_words

        lines = checked_texts(sources, "align")
        if targets is None:
            aligned = [translation_words(self.bundle, one) for one in self.translate(lines)]
        else:
            if isinstance(sources, str) != isinstance(targets, str):
                raise InputError("align takes a source and a target: two strings, or two lists of the same length")
            others = checked_texts(targets, "align")
            if len(lines) != len(others):
                raise InputError(f"align needs as many targets as sources, but got {len(others)} and {len(lines)}")
            aligned = list(align_pairs(self, list(zip(lines, others, strict=True))))
        return aligned[0] if isinstance(sources, str) else aligned
