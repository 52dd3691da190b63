"""The options of `translate`, defined once: Python keywords, command-line flags and HTTP fields are derived from them.

Every option has a default, the sentence that help pages and the OpenAPI document print, and the bounds of a number
(`config.key`). `cli/options.py` makes flags of them and `serve` makes fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from regard.bundle.card import MAX_BEAM, MAX_LENGTH_PENALTY, DecodeConfig
from regard.config import OptionSpec, check_bounds, key, nearest, options_of
from regard.errors import InputError
from regard.search.options import BATCH_TOKENS, Precision, Sampling, SearchOptions, SearchSettings
from regard.text.language import Register
from regard.translation.translation import Marking

if TYPE_CHECKING:
    from regard.text.glossary import Glossary

Split = Literal["sentences", "wrapped", "lines"]
Unknown = Literal["keep", "copy", "lexicon"]
CHUNK = 2000  # texts or units at a time: enough to sort into full batches, with bounded memory


@dataclass(frozen=True, kw_only=True)
class TranslateOptions(SearchSettings):
    """The options of `Translator.translate`."""

    beam: int | None = key(
        None, "Hypotheses kept per sentence; 1 is greedy search.", 1, MAX_BEAM, otherwise="the model's"
    )
    length_penalty: float | None = key(
        None,
        "α of ((5 + length) / 6)^α; more favours longer translations.",
        0,
        MAX_LENGTH_PENALTY,
        otherwise="the model's",
    )
    steer: float = key(0.0, "Weight of the model's lexicon, from 0 (off) to below 1; regard lexicon learns one.")
    rules: float = key(0.0, "Weight of the embedded English–French grammar, for sentences that it can parse; try 0.5.")
    unknown: Unknown = key(
        "keep",
        "What replaces <unk>, in models that have it: nothing, a copy of the source word with the most attention, or "
        "that word's entry in the lexicon.",
    )
    tag: str | None = key(
        None,
        "One of the model's tags, put before every source sentence; of a multilingual model, the language to "
        'translate into: fra, fr or ">>fra<<".',
    )
    formality: Register | None = key(
        None,
        "How the reader is addressed: formal (vous, Sie, usted) or informal (tu, du, tú), for models with tags for it.",
        otherwise="the model's choice, the same for all sentences of a text",
    )
    in_context: bool | None = key(
        None,
        "Translate a sentence with a pronoun again, given the sentence before and its translation.",
        otherwise="the model's",
    )
    split: Split = key(
        "sentences",
        "What is translated at a time: the sentences of each line; the same, where line breaks within a paragraph are "
        "only wrapping; or whole lines, as they are.",
    )
    protect: bool = key(True, "Copy numbers, addresses, code, placeholders and unknown names unchanged.")
    mend: bool | None = key(
        None,
        "Read CAPITALS and Title Case in lower case, and misspelt words as the known word that is meant; a line in "
        "capitals is translated into capitals.",
        otherwise="the model's",
    )
    phrases: bool | None = key(
        None,
        "Translate labels, headings, greetings and the like by the phrase table, where it has all of them.",
        otherwise="on if mend is",
    )
    localize: bool = key(False, "Write numbers, times and amounts in the target language's form: 3:45 pm, 15 h 45.")
    glossary: Glossary | None = None  # terms with fixed translations; a dict of them becomes a Glossary
    guard: bool = key(True, "Judge every sentence, mark those that are perhaps wrong, and search some of them again.")
    thorough: bool = key(
        False, "Judge also by the source's probability given the translation, which takes about half as long again."
    )
    marks: Marking = key(
        "normal", "How readily sentences are marked as perhaps wrong: strict marks more, lenient fewer."
    )
    prefix: str | Sequence[str] = key(
        "", "How the translation of every text begins; it may end inside a word, or with a space."
    )
    batch_tokens: int = key(BATCH_TOKENS, "Most source tokens of a batch.", 1, 10_000_000)
    precision: Precision = key("auto", "Number format of searching on a GPU; auto is bfloat16 where it is native.")
    progress: Callable[[int], None] | None = None  # called with the number of newly finished sentences
    documents: Sequence[int] = ()  # the document of each text: its texts are one text; default: one for each text

    def __post_init__(self) -> None:
        if self.mbr is not None and self.sampling is None:
            object.__setattr__(self, "sampling", Sampling())
        check_bounds(self)
        if self.glossary is not None:
            object.__setattr__(self, "glossary", checked_glossary(self.glossary))
        for name in ("steer", "rules"):
            weight = getattr(self, name)
            if not isinstance(weight, int | float) or not 0 <= weight < 1:
                raise InputError(f"{name} must be a number from 0 (off) to below 1, but is {weight!r}; try 0.2")

    @classmethod
    def of(cls, options: TranslateOptions | None, changes: Mapping[str, Any]) -> TranslateOptions:
        """Returns `options`, or the defaults, with some of them changed. Raises InputError for an unknown name."""
        known = option_names(cls)  # type: ignore[arg-type]
        for name in changes:
            if name not in known:
                raise InputError(f'translate has no option "{name}"; {nearest(name, known)}')
        return replace(options, **changes) if options is not None else cls(**changes)

    def resolved(self, own: DecodeConfig) -> TranslateOptions:
        """Returns the options with the model's own defaults in place of None."""
        return replace(
            self,
            beam=own.beam if self.beam is None else self.beam,
            length_penalty=own.length_penalty if self.length_penalty is None else self.length_penalty,
            mend=own.mend if self.mend is None else self.mend,
            phrases=own.mend if self.phrases is None else self.phrases,
            in_context=own.in_context if self.in_context is None else self.in_context,
        )

    @property
    def supports_context(self) -> bool:
        """Whether these options have a meaning for a search from the translation of the sentence before."""
        plain = self.sampling is None and self.unknown == "keep" and not (self.steer or self.rules)
        return plain and not self.min_length and self.max_length is None

    def search(self) -> SearchOptions:
        """Returns the engine's options; these options must be resolved."""
        shared = option_names(SearchSettings)
        return SearchOptions(self.beam, self.length_penalty, **{name: getattr(self, name) for name in shared})  # type: ignore[arg-type]


@cache
def option_names(kind: type) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind))


def translate_option(name: str) -> OptionSpec:
    """Returns the specification of an option, from which flags and fields are made."""
    return options_of(TranslateOptions)[name]


# For evaluating a model on test sets, where each line is a sentence.
AS_LINES: dict[str, Any] = {
    "split": "lines",
    "protect": False,
    "phrases": False,
    "guard": False,
    "precision": "float32",
}


def checked_texts(texts: str | Iterable[str], method: str) -> list[str]:
    """Returns one string or several as a list of strings. Raises InputError for anything else."""
    if isinstance(texts, str):
        texts = [texts]
    wanted = f'{method} takes a string or an iterable of strings, such as ["The cat sleeps."]'
    if texts is None or isinstance(texts, bytes | bytearray | memoryview) or not isinstance(texts, Iterable):
        remedy = '; decode it first: .decode("utf-8")' if isinstance(texts, bytes | bytearray | memoryview) else ""
        raise InputError(f"{wanted}, but was given {_kind(texts)}{remedy}")
    lines = list(texts)
    for number, line in enumerate(lines):
        if not isinstance(line, str):
            raise InputError(f"{wanted}, but item {number} is {_kind(line)}")
    return lines


def checked_prefixes(prefix: str | Sequence[str], texts: object, count: int) -> list[str]:
    """Returns one prefix for each text: the same for all, or as many as there are texts."""
    if isinstance(prefix, str):
        return [prefix] * count
    found = checked_texts(prefix, "prefix")
    if isinstance(texts, str) or len(found) != count:
        raise InputError(f"prefix must be one text, or one for each of the {count} texts, but there are {len(found)}")
    return found


def checked_glossary(glossary: object) -> Glossary:
    """Returns a glossary, or a dict of terms and translations as one. Raises InputError for anything else."""
    from regard.text.glossary import Glossary

    if isinstance(glossary, Glossary):
        return glossary
    if isinstance(glossary, Mapping):
        return Glossary.of(glossary)
    hint = "; read_glossary of regard.data.text_files reads a file" if isinstance(glossary, str | PathLike) else ""
    wanted = 'glossary must be a regard.Glossary, or a dict such as {"credit card": "carte de crédit"}'
    raise InputError(f"{wanted}, but is {_kind(glossary)}{hint}")


def check_documents(documents: Sequence[int], count: int) -> None:
    """Raises InputError unless there is a document for each text."""
    if len(documents) != count:
        raise InputError(f"documents must have a number for each of the {count} texts, but has {len(documents)}")


def _kind(value: object) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"
