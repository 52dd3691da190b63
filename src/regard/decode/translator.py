"""Text in, text out: a bundle, or several as an ensemble, as a translator.

A text is cut into units (`units.py`), each prepared for the model (`prepare.py`), translated, checked and judged
(`pipeline.py`), and put together again (`assemble.py`). The result for a text does not depend on the other texts. A
lexicon and a rule system may be mixed in (`steering.py`), and unknown words replaced (`unknown.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack, overload

from regard.bundle import box
from regard.bundle.bundle import Bundle
from regard.bundle.calibration import Calibration
from regard.bundle.card import read_card
from regard.bundle.find import find_model
from regard.bundle.search_config import DecodeConfig
from regard.bundle.stored import read_stored
from regard.config import build
from regard.decode.alignment_heads import (
    AlignmentHeads,
    alignment_heads_of,
    ensemble_alignment_heads,
    heads_by_card,
)
from regard.decode.assemble import assembled
from regard.decode.converted import EngineName, checked_engine, converted_for
from regard.decode.engine import Engine
from regard.decode.forced_pair import ForcedPair, forced_pair
from regard.decode.hypothesis import check_log_probs
from regard.decode.options import (
    BATCH_TOKENS,
    Mbr,
    Precision,
    Sampling,
    SearchOptions,
    check_weight,
    checked_precision,
)
from regard.decode.pipeline import FillUnknown, Pipeline, UnitResult
from regard.decode.prefix import PrefixReader
from regard.decode.prepare import Reader, Split, TextOptions
from regard.decode.required_terms import RequiredTerms
from regard.decode.translation import Translation, in_one_line
from regard.decode.units import Unit, UnitMaker
from regard.decode.word_links import AlignmentView, alignment_view
from regard.device import device_name
from regard.errors import InputError
from regard.text.glossary import Glossary
from regard.text.language_tags import tag_language
from regard.text.normalize import check_characters
from regard.text.tokenizer import Tokenizer

if TYPE_CHECKING:  # what needs torch is imported where it is used
    from regard.decode.alternatives import Alternative
    from regard.decode.converted_model import ConvertedModel
    from regard.decode.likelihood import Likelihood
    from regard.decode.steering import RuleSystem
    from regard.decode.token_lexicon import IdTable, TokenLexicon
    from regard.decode.unknown import Unknown
    from regard.models.base import Model

CHUNK = 2000  # units at a time: enough to sort into full batches, and memory does not grow with a long text

ModelPath = str | PathLike[str]
Self = TypeVar("Self", bound="TextTranslator")


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


class MeasuringOptions(TypedDict):
    """The options that leave a model alone with its lines."""

    split: Split
    protect: bool
    guard: bool
    precision: Precision


# For measuring a model on lines that are sentences, as test sets are.
AS_LINES: MeasuringOptions = {"split": "lines", "protect": False, "guard": False, "precision": "float32"}


class TextTranslator:
    """A bundle that translates and scores text. `regard.Translator` adds explanation and alignment."""

    def __init__(
        self,
        bundle: Bundle,
        config: DecodeConfig | None = None,
        max_length: int | None = None,
        lexicon: TokenLexicon | None = None,
        alignment_heads: AlignmentHeads | None = None,
        folders: Sequence[Path] = (),
        converted: ConvertedModel | None = None,
    ) -> None:
        """Lines of `max_length` tokens or more are translated in parts. `config`, `max_length` and `alignment_heads`
        are by default what the bundle's card says; the lexicon in `folders` is loaded when it is first needed.
        `converted` is the same model for CTranslate2, which then searches where it can."""
        self.bundle = bundle
        self.config = bundle.decode if config is None else config
        self.max_length = bundle.max_length if max_length is None else max_length
        self._lexicon, self._alignment_heads, self._folders = lexicon, alignment_heads, folders
        self.converted = converted
        self.load_options: dict[str, Any] = {}  # what `load` was called with, so that another process can do the same
        self.rule_system: RuleSystem | None = None  # what the option `rules` of translate is the weight of

    @classmethod
    def load(
        cls: type[Self],
        paths: ModelPath | Sequence[ModelPath] | None = None,
        device: str = "auto",
        engine: str = "auto",
    ) -> Self:
        """The model in a folder, the ensemble of those in several, or the model in the box. The first one's recipe says
        how to search, `engine` with what: "auto", "native" or "ctranslate2" (`converted.py`)."""
        paths = box.boxed() if paths is None else paths
        several = [paths] if isinstance(paths, str | PathLike) else paths
        if not isinstance(several, Iterable) or not all(isinstance(path, str | PathLike) for path in several):
            raise InputError(f"a model is named by a folder, or an ensemble by a list of folders, but not by {paths!r}")
        folders = [find_model(Path(path)) for path in several]
        if not folders:
            raise InputError("a translator needs a model, but no folder is given")
        chosen, place = engine_and_device(engine, device, len(folders))
        if len(folders) == 1 and place == "cpu":
            converted = converted_for(folders[0], chosen)
            if converted is not None:
                return cls(Bundle.read(folders[0]), folders=folders, converted=converted)._loaded(device, engine)
        bundles = [Bundle.load(folder, place) for folder in folders]
        first = bundles[0]
        if len(bundles) == 1:
            return cls(first, folders=folders)._loaded(device, engine)
        check_tokenizers(folders, bundles)
        from regard.models.ensemble import Ensemble

        models = [bundle.model for bundle in bundles]
        card = {"members": [bundle.card for bundle in bundles]}
        ensemble = Bundle("ensemble", None, Ensemble(models), first.tokenizer, card)
        max_length = min(bundle.max_length for bundle in bundles)
        made = cls(ensemble, first.decode, max_length, None, ensemble_alignment_heads(models), folders)
        return made._loaded(device, engine)

    def _loaded(self: Self, device: str, engine: str) -> Self:
        self.load_options = {"paths": self._folders, "device": device, "engine": engine}
        return self

    def __repr__(self) -> str:
        names = "+".join(f.parent.name if f.name in ("best", "last") else f.name for f in self._folders)
        name = f"{names}, " if names else ""
        if self.bundle.loaded:
            size, device = self.bundle.model.parameter_count(), str(self.bundle.model.device)
        else:  # CTranslate2 runs it, on the CPU
            size = sum(stored.numbers.size for stored in read_stored(self._folders[0]).values())
            device = "cpu"
        return f"{type(self).__name__}({name}{self.bundle.architecture}, {size:,} parameters, {device})"

    @property
    def folders(self) -> list[Path]:
        """Where the model is, or the models of an ensemble; none of a model that was made in memory."""
        return list(self._folders)

    @property
    def tokenizer(self) -> Tokenizer:
        return self.bundle.tokenizer

    @cached_property
    def lexicon(self) -> TokenLexicon | None:
        from regard.decode.token_lexicon import TokenLexicon

        beside = (TokenLexicon.load(folder, self.tokenizer) for folder in self._folders)
        return self._lexicon or next((lexicon for lexicon in beside if lexicon), None)

    @cached_property
    def alignment_heads(self) -> AlignmentHeads:
        if self._alignment_heads is not None:
            return self._alignment_heads
        if self.bundle.architecture == "transformer" and not self.bundle.loaded:
            return heads_by_card(self.bundle.table["decoder_layers"], self.bundle.card)
        return alignment_heads_of(self.bundle.model, self.bundle.card)

    @cached_property
    def alignment_view(self) -> AlignmentView:
        return alignment_view(self.bundle, self.alignment_heads)

    @cached_property
    def reader(self) -> Reader:
        source, target = self.bundle.languages
        slots = len(self.tokenizer.slot_ids) if self.bundle.slots else 0
        return Reader(source, target, slots, self.bundle.known_words)

    @cached_property
    def _calibration(self) -> Calibration:
        return read_card(self.bundle.card).calibration

    @cached_property
    def required_terms(self) -> RequiredTerms:
        return RequiredTerms(self.tokenizer)

    @cached_property
    def prefixes(self) -> PrefixReader:
        return PrefixReader(self.tokenizer)

    @cached_property
    def _table(self) -> IdTable:
        from regard.decode.token_lexicon import known

        return known(self.lexicon).in_ids(self.tokenizer)

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

    @overload
    def translate(self, texts: str, **options: Unpack[TranslateOptions]) -> Translation: ...  # type: ignore[overload-overlap]

    @overload
    def translate(self, texts: Iterable[str], **options: Unpack[TranslateOptions]) -> list[Translation]: ...

    def translate(
        self,
        texts: str | Iterable[str],
        *,
        beam: int | None = None,
        nbest: int = 1,
        length_penalty: float | None = None,
        steer: float = 0.0,
        rules: float = 0.0,
        unknown: Unknown = "keep",
        tag: str | None = None,
        split: Split = "sentences",
        protect: bool = True,
        mend: bool | None = None,
        localize: bool = False,
        glossary: Glossary | None = None,
        guard: bool = True,
        no_repeat: int = 0,
        repetition_penalty: float = 1.0,
        coverage_penalty: float = 0.0,
        min_length: int = 0,
        max_length: int | None = None,
        exact: bool = False,
        groups: int = 1,
        diversity: float = 0.5,
        sampling: Sampling | None = None,
        mbr: Mbr | None = None,
        prefix: str | Sequence[str] = "",
        batch_tokens: int = BATCH_TOKENS,
        precision: Precision = "auto",
        progress: Callable[[int], None] | None = None,
    ) -> Translation | list[Translation]:
        """The translation of a string, or the list of translations of several, in their order.

        beam            hypotheses kept per sentence, 1 for greedy search; default: the model's own
        nbest           candidates per translation, at most `beam`; with `sampling` how many are drawn
        length_penalty  α of ((5 + length) / 6)^α; default: the model's own
        steer, rules    weights, from 0 to below 1, of the model's lexicon and of `rule_system`
        unknown         what becomes of <unk>: "keep", "copy" the source word, or look it up in the "lexicon"
        tag             one of the model's tags, put before every source; of a multilingual model, the language to
                        translate into: ">>fra<<", "fra" or "fr"
        split           what is translated at a time: "sentences" of each line; "wrapped": of each paragraph, whose line
                        breaks are only wrapping; "lines": each text as it is, as one sentence
        protect         whether numbers, addresses, placeholders and unknown names must survive as they are
        mend            whether CAPITALS and Title Case are read in small letters; default: the model's own
        localize        numbers, times and amounts in the form of the target language
        glossary        terms that must be translated as it says (`regard.Glossary.read`)
        guard           judge every sentence: its confidence, and the reasons to doubt it; doubtful ones are tried again
        no_repeat       forbid a run of so many tokens twice; 0 forbids none
        repetition_penalty, coverage_penalty
                        against tokens that were said before, and against source tokens that nothing attends to
        min_length, max_length
                        tokens of each sentence, fewest and most
        exact           stop only when no other hypothesis of the beam can still be among the best
        groups, diversity
                        a diverse beam: groups that avoid each other's tokens, and how strongly
        sampling        draw `nbest` translations at random instead of searching for the best
        mbr             of several samples the one that is most like all of them (`regard.Mbr`)
        prefix          how the translation of every text, or of each of them, begins: in its first sentence. It may end
                        inside a word
        batch_tokens    the most source tokens of a batch
        precision       of searching on a GPU: "float32", "bfloat16", or the GPU's best, "auto"
        progress        called after each batch with the number of sentences that were finished in it

        Paragraphs, line breaks, list marks and spaces between sentences are as in the text. Several threads may
        translate at a time with one translator; results are the same as one after another.
        """
        lines = checked_texts(texts, "translate")
        for line in lines:
            check_characters(line)
        config = self._config(beam, length_penalty, mend)
        search = SearchOptions(
            config.beam, config.length_penalty, nbest, sampling if mbr is None else sampling or Sampling(), no_repeat,
            coverage_penalty, repetition_penalty, groups, diversity, min_length, max_length, exact, mbr,
        )  # fmt: skip
        if batch_tokens < 1:
            raise InputError(f"batch_tokens must be at least 1, but is {batch_tokens}; try 4096")
        text = TextOptions(split, protect, config.mend, localize, glossary, guard)
        starts = checked_prefixes(prefix, texts, len(lines))
        engine = self.engine(self._steered(steer, rules), batch_tokens, checked_precision(precision))
        found: list[list[tuple[Unit, UnitResult]]] = [[] for _ in lines]
        for own, group in self.tokenizer.by_tag(lines, tag).items():
            filling = self._fill_unknown(unknown, own)
            pipeline = replace(self.pipeline(search, text, own), engine=engine, fill_unknown=filling)
            units = self.unit_maker(text, own).units(group.items())
            units = self._with_starts(units, starts, search) if any(starts) else units
            while some := list(islice(units, CHUNK)):
                for unit, result in zip(some, pipeline.results(some, progress), strict=True):
                    found[unit.text].append((unit.without_reading(), result))
            for number, line in group.items():
                lines[number] = line
        translations = [assembled(line, parts, nbest) for line, parts in zip(lines, found, strict=True)]
        return translations[0] if isinstance(texts, str) else translations

    def _with_starts(self, units: Iterable[Unit], prefixes: Sequence[str], search: SearchOptions) -> Iterator[Unit]:
        """The first unit of each text with its prefix."""
        last = -1
        for unit in units:
            first, last = unit.text != last, unit.text
            yield self.started(unit, prefixes[unit.text], search) if first else unit

    def started(self, unit: Unit, prefix: str, search: SearchOptions) -> Unit:
        """A unit whose translation begins with a text, as the model would say it."""
        if not prefix.strip() or not unit.ids:
            return unit
        room = self.max_length - 1 if search.max_length is None else min(self.max_length - 1, search.max_length)
        said = unit.prepared.as_said(in_one_line(prefix).lstrip()).text
        return replace(unit, start=self.prefixes.start(said, room))

    def pipeline(self, search: SearchOptions, text: TextOptions, tag: str | None = None) -> Pipeline:
        """What translates the units of `unit_maker(text, tag)`."""
        return Pipeline(
            self.bundle,
            self.engine(),
            search,
            text,
            self.alignment_view,
            self.required_terms,
            self.prefixes,
            self._calibration if text.guard else None,
            self.languages(tag),
            tag or self.bundle.tag,
        )

    def engine(
        self, steered: Model | None = None, batch_tokens: int = BATCH_TOKENS, precision: Precision = "auto"
    ) -> Engine:
        """What searches: with the bundle's model, or with that model with a lexicon and rules mixed in."""
        if steered is None and self.converted is not None:
            from regard.decode.ctranslate2_engine import CTranslate2Engine

            native = partial(self._native_engine, None, batch_tokens, precision)
            return CTranslate2Engine(self.converted, self.alignment_view, native, batch_tokens)
        return self._native_engine(steered, batch_tokens, precision)

    def _native_engine(self, steered: Model | None, batch_tokens: int, precision: Precision) -> Engine:
        from regard.decode.native import NativeEngine

        plain = self.bundle.model
        model = plain if steered is None else steered
        return NativeEngine(model, self.alignment_view, plain, batch_tokens, precision=precision)

    def _config(self, beam: int | None, length_penalty: float | None, mend: bool | None) -> DecodeConfig:
        """The model's own search, but for what is given."""
        given = {"beam": beam, "length_penalty": length_penalty, "mend": mend}
        own = {name: getattr(self.config, name) for name, value in given.items() if value is None}
        return build(DecodeConfig, given | own, "decode")

    def unit_maker(self, options: TextOptions, tag: str | None = None) -> UnitMaker:
        """What makes units of texts for this model: one preparation for translation, scores and explanations."""
        reader = self.reader if tag is None else replace(self.reader, target=self.languages(tag)[1])
        return UnitMaker(self.tokenizer.plain, self.tokenizer.prefix(tag), self.max_length, options, reader)

    def for_text(self: Self, text: str) -> tuple[Self, str]:
        """Of a text that begins with the tag of a language: the translator with this tag before every source, and the
        rest of the text. Of any other, both as they are."""
        ((tag, rest),) = self.tokenizer.by_tag([text], None).items()
        if tag is None:
            return self, text
        bundle = replace(self.bundle, tokenizer=self.tokenizer.marked(tag))
        marked = type(self)(bundle, self.config, self.max_length, None, self._alignment_heads, self._folders)
        return marked, rest[0]

    def languages(self, tag: str | None = None) -> tuple[str | None, str | None]:
        """ISO codes of source and target, None where they are not known; a tag may say the target."""
        source, target = self.reader.source, self.reader.target
        return source, (tag_language(self.tokenizer.find_tag(tag)) if tag else None) or target

    @overload
    def score(self, sources: str, targets: str, *, tag: str | None = None) -> Likelihood: ...  # type: ignore[overload-overlap]

    @overload
    def score(self, sources: Iterable[str], targets: Iterable[str], *, tag: str | None = None) -> list[Likelihood]: ...

    def score(
        self, sources: str | Iterable[str], targets: str | Iterable[str], *, tag: str | None = None
    ) -> Likelihood | list[Likelihood]:
        """How probable the model finds given translations (forced decoding): of a pair of strings one `Likelihood`,
        of two lists a list. Sources are read as `translate` reads them, each as one sentence; a target stands with its
        slots where the source has them."""
        if isinstance(sources, str) != isinstance(targets, str):
            raise InputError("score takes a source and a target: two strings, or two lists of the same length")
        read, written = (checked_texts(side, "score") for side in (sources, targets))
        if len(read) != len(written):
            raise InputError(f"score needs as many targets as sources, but there are {len(written)} and {len(read)}")
        found = list(self.scores(zip(read, written, strict=True), tag=tag))
        return found[0] if isinstance(sources, str) else found

    def scores(self, pairs: Iterable[tuple[str, str]], *, tag: str | None = None) -> Iterator[Likelihood]:
        """As `score`, of any number of pairs, of which some are in memory at a time."""
        from regard.decode.likelihood import Likelihood, forced_log_probs

        waiting, done = iter(pairs), 0
        while some := [tuple(map(in_one_line, pair)) for pair in islice(waiting, CHUNK)]:
            forced = [self.forced_pair(source, target, tag) for source, target in some]
            for number, pair in enumerate(forced):
                pair.check_length(self.max_length, "score", done + number)
            ids = [pair.source_ids for pair in forced], [pair.target_ids for pair in forced]
            rows = forced_log_probs(self.bundle.model, *ids)
            for (source, target), pair, row in zip(some, forced, rows, strict=True):
                check_log_probs(row.tolist())
                tokens = self.tokenizer.target.labels(pair.target_ids, pair.slots.target)
                yield Likelihood(source, target, (*tokens, "</s>"), tuple(row.tolist()))
            done += len(some)

    def rank(
        self, source: str, targets: Iterable[str], *, length_penalty: float | None = None, tag: str | None = None
    ) -> list[Likelihood]:
        """Several translations of one source, the best first: by their score, as a search with this length penalty
        ranks (default: the model's own)."""
        alpha = self._config(None, length_penalty, None).length_penalty
        (read,), written = checked_texts(source, "rank"), checked_texts(targets, "rank")
        found = self.scores(((read, target) for target in written), tag=tag)
        return sorted(found, key=lambda one: -one.score(alpha))

    def alternatives(
        self, text: str, prefix: str = "", *, position: int | None = None, count: int = 5, tag: str | None = None
    ) -> list[Alternative]:
        """What else a sentence's translation could say after `prefix`, or at a word of the model's own translation
        (`position`, from 0): the `count` most probable next tokens, and how the sentence goes on from each. After a
        prefix that ends with a space it is the next word; otherwise the rest of its last word."""
        from regard.decode.alternatives import alternatives

        (sentence,) = checked_texts(text, "alternatives")
        if prefix and position is not None:
            raise InputError("alternatives come after a prefix, or at the position of a word; give one of them")
        search = SearchOptions(self.config.beam, self.config.length_penalty)
        options = TextOptions("lines", mend=self.config.mend, guard=False)
        units = list(self.unit_maker(options, tag).units([(0, sentence)]))
        if len(units) != 1 or not units[0].ids:
            raise InputError("alternatives are of one sentence with something to translate; give sentences one by one")
        unit = self.started(units[0], prefix, search)
        return alternatives(self.pipeline(search, options, tag), self.bundle.model, unit, position, count)

    def forced_pair(self, source: str, target: str, tag: str | None = None) -> ForcedPair:
        """A source as `translate` reads it, as one sentence, and a given translation of it."""
        return forced_pair(self.unit_maker(TextOptions("lines", mend=self.config.mend), tag), source, target)

    def _fill_unknown(self, unknown: Unknown, tag: str | None) -> FillUnknown | None:
        if unknown == "keep":
            return None
        from regard.decode.unknown import check_unknown, fill_unknown

        lexicon = self.lexicon if unknown == "lexicon" else None
        tokenizer = self.tokenizer.marked(tag) if tag else self.tokenizer
        check_unknown(unknown, tokenizer, self.alignment_heads, lexicon, self.bundle.architecture)
        return partial(fill_unknown, self.bundle.model, self.alignment_heads, tokenizer, lexicon)

    def _steered(self, steer: float, rules: float) -> Model | None:
        """None where both weights are 0."""
        check_weight("steer", steer)
        check_weight("rules", rules)
        if not (steer or rules):
            return None
        from regard.decode.steering import LexiconSteered, RuleSteered, rules_in_ids

        model = self.bundle.model
        if steer:
            model = LexiconSteered(model, self._table, self.alignment_heads, steer)
        if not rules:
            return model
        if self.rule_system is None:
            raise InputError(f"rules is {rules:g}, but this translator has no rule system; set translator.rule_system")
        return RuleSteered(model, rules_in_ids(self.rule_system, self.tokenizer), rules)


def engine_and_device(engine: str, device: str, models: int) -> tuple[EngineName, str]:
    """The engine that is asked for, and where the model is to be. CTranslate2 is used on the CPU, with one model."""
    chosen = checked_engine(engine)
    if chosen != "ctranslate2":
        return chosen, device_name(device)
    if models > 1:
        raise InputError(f"CTranslate2 translates with one model, but {models} are given; use engine native, or one")
    if device not in ("auto", "cpu"):
        raise InputError(f"CTranslate2 is used on the CPU, but the device is {device}; leave one of the two out")
    return chosen, "cpu"


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


def check_tokenizers(folders: Sequence[Path], bundles: Sequence[Bundle]) -> None:
    """The members of an ensemble must have the same vocabulary and tag."""
    for folder, bundle in zip(folders, bundles, strict=True):
        if bundle.tag != bundles[0].tag:
            tags = " and ".join(f"{f} {one.tag or 'none'}" for f, one in ((folders[0], bundles[0]), (folder, bundle)))
            raise InputError(f"the models of an ensemble must have the same tag before every source, but have {tags}")
        if bundle.tokenizer.fingerprint != bundles[0].tokenizer.fingerprint:
            raise InputError(
                f"the models of an ensemble must share one vocabulary, but {folders[0]} and {folder} have different "
                "ones; train them on the same files with the same [text]"
            )
