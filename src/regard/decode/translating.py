"""How to call anything that translates, one model or a chain of them: `translate` and `translate_stream`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypedDict, Unpack, cast, overload

from regard.decode.job import CHUNK, Steps, run_steps
from regard.decode.options import Mbr, Precision, Sampling
from regard.decode.prepare import Split
from regard.decode.translation import Translation
from regard.text.glossary import Glossary

if TYPE_CHECKING:  # what needs torch is imported where it is used
    from regard.decode.unknown import Unknown


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
