"""How to call anything that translates, one model or a chain of them: `translate` and `translate_stream`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypedDict, Unpack, cast, overload

from regard.decode.options import Mbr, Precision, Sampling
from regard.decode.prepare import Split
from regard.decode.translation import Translation
from regard.text.glossary import Glossary

if TYPE_CHECKING:  # what needs torch is imported where it is used
    from regard.decode.unknown import Unknown

CHUNK = 2000  # texts or units at a time: enough to sort into full batches, and memory does not grow with their number


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


def one_or_several(method: Callable[..., list[Translation]]) -> TranslateMethod:
    """A method `translate` that gives a list of translations as one that gives a single one of a single text."""

    @wraps(method)
    def translate(self: Any, texts: str | Iterable[str], **options: Any) -> Translation | list[Translation]:
        found = method(self, texts, **options)
        return found[0] if isinstance(texts, str) else found

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
