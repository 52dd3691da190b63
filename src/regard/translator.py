"""`regard.Translator`, a model that translates, scores, explains and aligns, and a chain of two translators.

This module is above `explain` because it uses it; `translation/translator.py` has the part that needs only search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, overload

from regard.errors import InputError
from regard.translation.chain import TextChain
from regard.translation.options import checked_texts
from regard.translation.translator import TextTranslator

if TYPE_CHECKING:
    from regard.bulk.chunks import TranslationCounts
    from regard.explain.explanation import ExplainOptions, Explanation
    from regard.explain.word_alignment import WordAlignment


class FileTranslation:
    """The method `translate_file`, shared by a translator and a chain of translators."""

    def translate_file(
        self,
        input: str | PathLike[str],
        out: str | PathLike[str],
        *,
        format: str | None = None,
        columns: Sequence[str] = (),
        report: str | PathLike[str] | None = None,
        workers: int = 1,
        restart: bool = False,
        lines_done: Callable[[int, int], None] | None = None,
        **options: Any,
    ) -> TranslationCounts:
        """Translates a file into another, in chunks, whatever its size; options are those of `translate`.

        format      "lines", "text", "csv", "tsv", "jsonl" or "parquet"; default: by the suffix
        columns     columns of a table, or keys of records, to translate
        report      a .jsonl with every sentence, its confidence and the reasons to doubt it
        workers     processes that translate in parallel; each loads the model. A script that uses them needs
                    `if __name__ == "__main__":`
        restart     discard the result of an interrupted call; otherwise the same call resumes it
        lines_done  called with the number of lines done and the total number of lines

        The output file appears when all is done. Returns the numbers of texts, sentences and doubtful sentences. Raises
        InputError for a file or an option that cannot be used.
        """
        from regard.bulk.rows import OutputForm
        from regard.bulk.translate_file import FileJob, RunOptions, translate_file
        from regard.formats.table import format_of_file

        assert isinstance(self, Translator | TranslatorChain)
        source = Path(input)
        form = OutputForm(options.get("nbest", 1))
        kind = format or format_of_file(source)
        job = FileJob(source, kind, tuple(columns), dict(options), form, None if report is None else Path(report))
        if workers > 1 and not (self.folders and self.rule_system is None):
            raise InputError("workers load the model from its folder, without rules; this one needs workers=1")
        run = RunOptions(workers, partial(_load_again, type(self), self.load_options), restart, progress=lines_done)
        return translate_file(self, job, Path(out), run)


class Translator(FileTranslation, TextTranslator):
    """A loaded model, returned by `regard.load`.

    >>> import regard
    >>> translator = regard.load("en-fr", device="cpu")
    >>> translator.translate("The cat is black.").text
    'Le chat est noir.'

    Threads may share a translator. Forked processes may share it on the CPU: they compute with one thread, because a
    forked process does not have torch's threads.
    """

    def explain(self, text: str, target: str | None = None, **options: Unpack[ExplainOptions]) -> Explanation:
        """Translates a sentence, or takes the given `target`, and keeps all attention weights for display: `.grid()`,
        `.sheet()`, `.arcs(word)`.

        sentence    index of a sentence of the text, from 0; needed where the text has several
        beam        beam size, by default the model's own
        nbest       index of the search hypothesis to explain, 0 for the best
        """
        from regard.explain.explanation import explain

        for given in (text, target):
            if not isinstance(given, str) and (given is text or target is not None):
                raise InputError(f"explain takes one sentence and, if it is given, its target, but not {given!r}")
        return explain(self, text, target, **options)

    @overload
    def align(self, sources: str, targets: str | None = None) -> WordAlignment: ...  # type: ignore[overload-overlap]

    @overload
    def align(self, sources: Iterable[str], targets: Iterable[str] | None = None) -> list[WordAlignment]: ...

    def align(
        self, sources: str | Iterable[str], targets: str | Iterable[str] | None = None
    ) -> WordAlignment | list[WordAlignment]:
        """Aligns words by the model's attention. Returns one `WordAlignment` for a pair of strings, and a list for two
        lists. Without targets, the model's own translations are aligned. Words are those of the given texts; the model
        preprocesses them as in `translate`."""
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


class TranslatorChain(FileTranslation, TextChain):
    """Two translators applied one after the other, returned by `regard.load("fr-de", through="en")`. It translates
    texts and files; methods that concern a single model, such as `explain`, raise an error."""

    @classmethod
    def load(cls, paths: Sequence[str | PathLike[str]], device: str = "auto", engine: str = "auto") -> TranslatorChain:
        """Loads the models in these folders, or the bundled models of these names, in this order."""
        made = cls([Translator.load(path, device, engine) for path in paths])
        made.load_options = {"paths": made.folders, "device": device, "engine": engine}
        return made


def _load_again(
    kind: type[Translator] | type[TranslatorChain], options: dict[str, Any], number: int
) -> Translator | TranslatorChain:
    """Loads a translator again in worker `number`; several GPUs are distributed over the workers."""
    from regard.device import nth_device

    return kind.load(**options | {"device": nth_device(options["device"], number)})
