"""How to call anything that translates, one model or a chain of them: `translate` and `translate_stream`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypedDict, Unpack, cast, overload

from regard.errors import InputError
from regard.search.options import Mbr, Precision, Sampling
from regard.text.glossary import Glossary
from regard.translation.job import CHUNK, Steps, run_steps
from regard.translation.prepare import Split
from regard.translation.translation import Translation

if TYPE_CHECKING:
    from regard.translation.unknown import Unknown


class TranslateOptions(TypedDict, total=False):
    """The options of `TextTranslator.translate`."""

    beam: int | None
    nbest: int
    length_penalty: float | None
    steer: float
    rules: float
    unknown: Unknown
    tag: str | None
    split: Split
    protect: bool
    mend: bool | None
    localize: bool
    glossary: Glossary | None
    guard: bool
    no_repeat: int
    repetition_penalty: float
    coverage_penalty: float
    min_length: int
    max_length: int | None
    exact: bool
    groups: int
    diversity: float
    sampling: Sampling | None
    mbr: Mbr | None
    prefix: str | Sequence[str]
    batch_tokens: int
    precision: Precision
    progress: Callable[[int], None] | None


class TranslateCall(Protocol):
    """Of a string its translation, of several strings the list of translations, in their order."""

    @overload
    def __call__(self, texts: str, **options: Unpack[TranslateOptions]) -> Translation: ...  # type: ignore[overload-overlap]

    @overload
    def __call__(self, texts: Iterable[str], **options: Unpack[TranslateOptions]) -> list[Translation]: ...


class TranslateMethod(Protocol):
    """The same as a method of a class."""

    def __get__(self, translator: Any, kind: type | None = None, /) -> TranslateCall: ...


class CallWork(Protocol):
    """The work of one call."""

    def steps(self) -> Steps: ...


def translate_method(make_job: Callable[..., CallWork]) -> TranslateMethod:
    """The method `translate` of a class that makes jobs: of a single text it gives one translation."""

    @wraps(make_job)
    def translate(self: Any, texts: str | Iterable[str], **options: Any) -> Translation | list[Translation]:
        found = run_steps(make_job(self, texts, **options).steps())
        return found[0] if isinstance(texts, str) else found

    translate.__name__ = "translate"
    translate.__qualname__ = make_job.__qualname__.replace(make_job.__name__, "translate")
    return cast(TranslateMethod, translate)


class StreamTranslation:
    """Texts in, translations out, however many there are."""

    translate: ClassVar[TranslateMethod]

    def translate_stream(self, texts: Iterable[str], **options: Unpack[TranslateOptions]) -> Iterator[Translation]:
        """As `translate`, of any number of texts, of which some are in memory at a time. Texts are read ahead.

        >>> import regard
        >>> translator = regard.load("en-fr", device="cpu")
        >>> [one.text for one in translator.translate_stream(iter(["The cat is black.", "Thank you!"]))]
        ['Le chat est noir.', 'Merci !']
        """
        waiting = iter(texts)
        while some := list(islice(waiting, CHUNK)):
            yield from self.translate(some, **options)


def checked_texts(texts: str | Iterable[str], method: str) -> list[str]:
    """One string or several as a list of strings."""
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
    """One prefix for each text: the same for all, or as many as there are texts."""
    if isinstance(prefix, str):
        return [prefix] * count
    found = checked_texts(prefix, "prefix")
    if isinstance(texts, str) or len(found) != count:
        raise InputError(f"prefix must be one text, or one for each of the {count} texts, but there are {len(found)}")
    return found


def _kind(value: object) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"
