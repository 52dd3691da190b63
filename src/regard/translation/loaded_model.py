"""A loaded model: a bundle, or several as an ensemble, with its engine and everything that translation needs.

Its parts are created on first use and kept. Torch is not imported for a model that CTranslate2 runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from regard.bundle import bundled_models
from regard.bundle.bundle import Bundle
from regard.bundle.card import Calibration, DecodeConfig
from regard.bundle.find_model import find_model
from regard.bundle.folder import WORDS
from regard.bundle.numpy_weights import read_tensors
from regard.device import device_name, require_torch
from regard.errors import InputError
from regard.search.alignment_heads import (
    AlignmentHeads,
    AlignmentView,
    alignment_heads_of,
    alignment_view,
    ensemble_alignment_heads,
    heads_by_card,
)
from regard.search.ctranslate2_model import EngineName, checked_engine, converted_for
from regard.search.engine import Engine
from regard.search.options import (
    BATCH_TOKENS,
    Precision,
    SearchOptions,
)
from regard.search.prefix import PrefixReader
from regard.search.required_terms import RequiredTerms
from regard.text.known_words import KnownWords
from regard.text.language import tag_language
from regard.text.tokenizer import Tokenizer
from regard.translation.options import TranslateOptions
from regard.translation.pipeline import FillUnknown, Pipeline
from regard.translation.prepare import Reader
from regard.translation.translation import in_one_line
from regard.translation.units import Unit, UnitMaker

if TYPE_CHECKING:  # what needs torch is imported where it is used
    from regard.models.base import Model
    from regard.search.ctranslate2_model import ConvertedModel
    from regard.search.remote_engine import RemoteEngine
    from regard.search.steering import RuleSystem
    from regard.search.token_lexicon import IdTable, TokenLexicon
    from regard.translation.options import Unknown

ModelPath = str | PathLike[str]


class LoadedModel:
    """A model with its engine and text processing."""

    def __init__(
        self,
        bundle: Bundle,
        config: DecodeConfig | None = None,
        max_length: int | None = None,
        lexicon: TokenLexicon | None = None,
        alignment_heads: AlignmentHeads | None = None,
        folders: Sequence[Path] = (),
        converted: ConvertedModel | None = None,
        remote: RemoteEngine | None = None,
    ) -> None:
        """Lines of `max_length` tokens or more are translated in parts. `config`, `max_length` and `alignment_heads`
        default to the bundle's card; the lexicon in `folders` is loaded on first use. `converted` is the same model for
        CTranslate2, which then searches where it can; with `remote`, another process searches."""
        self.bundle = bundle
        self.config = bundle.decode if config is None else config
        self.max_length = bundle.max_length if max_length is None else max_length
        self._lexicon, self._alignment_heads, self._folders = lexicon, alignment_heads, folders
        self.converted, self.remote = converted, remote
        self.load_options: dict[str, Any] = {}  # the arguments of `load`, so that another process can repeat it
        self.rule_system: RuleSystem | None = None  # used with the weight `rules` of `translate`

    @classmethod
    def load(
        cls,
        paths: ModelPath | Sequence[ModelPath] | None = None,
        device: str = "auto",
        engine: str = "auto",
    ) -> Self:
        """Loads the model in a folder, an ensemble from several, or a bundled model. The first one gives the search
        defaults; `engine` is "auto", "native" or "ctranslate2" (`search/ctranslate2_model.py`)."""
        paths = bundled_models.folder_of() if paths is None else paths
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

    def _loaded(self, device: str, engine: str) -> Self:
        self.load_options = {"paths": self._folders, "device": device, "engine": engine}
        return self

    @classmethod
    def with_remote_engine(cls, folder: Path, engine: RemoteEngine) -> Self:
        """Returns the model in a folder without its weights: another process searches."""
        return cls(Bundle.read(folder), folders=[folder], remote=engine)

    def __repr__(self) -> str:
        names = "+".join(f.parent.name if f.name in ("best", "last") else f.name for f in self._folders)
        name = f"{names}, " if names else ""
        if self.bundle.loaded:
            size, device = self.bundle.model.parameter_count(), str(self.bundle.model.device)
        else:  # CTranslate2 runs it, on the CPU
            size = sum(stored.numbers.size for stored in read_tensors(self._folders[0]).values())
            device = "cpu"
        return f"{type(self).__name__}({name}{self.bundle.architecture}, {size:,} parameters, {device})"

    @property
    def folders(self) -> list[Path]:
        """The folders of the model, or of the members of an ensemble; empty for a model made in memory."""
        return list(self._folders)

    @property
    def engine_name(self) -> str:
        """The engine and its weights or device, as far as they may change a translation."""
        if self.converted is not None:
            return f"CTranslate2, {self.converted.made.weights}"
        return f"native, {str(self.load_options.get('device')).partition(':')[0]}"

    @property
    def on_gpu(self) -> bool:
        return self.bundle.loaded and self.bundle.model.device.type == "cuda"

    @property
    def tokenizer(self) -> Tokenizer:
        return self.bundle.tokenizer

    @cached_property
    def lexicon(self) -> TokenLexicon | None:
        from regard.search.token_lexicon import TokenLexicon

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
        return self.bundle.known_card.calibration

    @cached_property
    def target_words(self) -> KnownWords | None:
        """The known words of the model for the opposite direction, if it is in the folder beside this one."""
        beside = [folder.parent / "-".join(map(str, self.languages()[::-1])) / WORDS for folder in self._folders]
        return KnownWords.load(beside[0]) if beside and beside[0].is_file() else None

    def _back_tag(self) -> str:
        """Returns the tag of the source language. Raises InputError for a model of one direction."""
        tag = f"<{self.languages()[0]}>"
        if tag not in self.tokenizer.config.tags:
            raise InputError("thorough scores sources given translations, but this model has only one direction")
        return tag

    @cached_property
    def required_terms(self) -> RequiredTerms:
        return RequiredTerms(self.tokenizer)

    @cached_property
    def prefixes(self) -> PrefixReader:
        return PrefixReader(self.tokenizer)

    @cached_property
    def _table(self) -> IdTable:
        from regard.search.token_lexicon import known

        return known(self.lexicon).in_ids(self.tokenizer)

    def pipeline(
        self, search: SearchOptions, text: TranslateOptions, tag: str | None = None, kind: type[Pipeline] = Pipeline
    ) -> Pipeline:
        """Returns the pipeline that translates the units of `unit_maker(text, tag)`."""
        if text.glossary and kind is Pipeline and search.max_length is None:
            from regard.translation.term_placement import GlossaryPipeline

            kind = GlossaryPipeline
        return kind(
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
            self.target_words if text.guard and tag is None else None,
            self._back_tag() if text.guard and text.thorough and tag is None else None,
        )

    def engine(
        self, steered: Model | None = None, batch_tokens: int = BATCH_TOKENS, precision: Precision = "auto"
    ) -> Engine:
        """Returns the engine for the bundle's model, or for `steered`, with a lexicon and rules mixed in."""
        if steered is None and self.remote is not None:
            return self.remote
        if steered is None and self.converted is not None:
            from regard.search.ctranslate2_engine import CTranslate2Engine

            native = partial(self._native_engine, None, batch_tokens, precision)
            return CTranslate2Engine(self.converted, self.alignment_view, native, batch_tokens)
        return self._native_engine(steered, batch_tokens, precision)

    def _native_engine(self, steered: Model | None, batch_tokens: int, precision: Precision) -> Engine:
        require_torch("the native engine, which this request calls for,")
        from regard.search.native_engine import NativeEngine

        plain = self.bundle.model
        model = plain if steered is None else steered
        return NativeEngine(model, self.alignment_view, plain, batch_tokens, precision=precision)

    def unit_maker(self, options: TranslateOptions, tag: str | None = None) -> UnitMaker:
        """Returns the maker of this model's units: the same preparation for translation, scores and explanations."""
        reader = self.reader if tag is None else replace(self.reader, target=self.languages(tag)[1])
        prefix = self.tokenizer.prefix(tag, options.formality)
        return UnitMaker(self.tokenizer.plain, prefix, self.max_length, options, reader)

    def for_text(self, text: str) -> tuple[Self, str]:
        """For a text that begins with a language tag, returns a translator with this tag before every source, and the
        rest of the text. For any other, returns both unchanged."""
        ((tag, rest),) = self.tokenizer.by_tag([text], None).items()
        if tag is None:
            return self, text
        bundle = replace(self.bundle, tokenizer=self.tokenizer.marked(tag))
        marked = type(self)(bundle, self.config, self.max_length, None, self._alignment_heads, self._folders)
        return marked, rest[0]

    def languages(self, tag: str | None = None) -> tuple[str | None, str | None]:
        """Returns the ISO codes of source and target, None if unknown; a tag may determine the target."""
        source, target = self.reader.source, self.reader.target
        return source, (tag_language(self.tokenizer.find_tag(tag)) if tag else None) or target

    def started(self, unit: Unit, prefix: str, search: SearchOptions) -> Unit:
        """Returns the unit with a forced start: the prefix as the model would output it."""
        if not prefix.strip() or not unit.ids:
            return unit
        room = self.max_length - 1 if search.max_length is None else min(self.max_length - 1, search.max_length)
        said = unit.prepared.as_model_output(in_one_line(prefix).lstrip()).text
        return replace(unit, start=self.prefixes.start(said, room))

    def _fill_unknown(self, unknown: Unknown, tag: str | None, batch_tokens: int) -> FillUnknown | None:
        if unknown == "keep":
            return None
        from regard.translation.unknown import check_unknown, fill_unknown

        lexicon = self.lexicon if unknown == "lexicon" else None
        tokenizer = self.tokenizer.marked(tag) if tag else self.tokenizer
        check_unknown(unknown, tokenizer, self.alignment_heads, lexicon, self.bundle.architecture)
        known = self.bundle.model, self.alignment_heads, tokenizer, lexicon
        return partial(fill_unknown, *known, batch_tokens=batch_tokens)

    def _steered(self, steer: float, rules: float) -> Model | None:
        """Returns the model mixed with a lexicon or rules; None if both weights are 0."""
        if not (steer or rules):
            return None
        from regard.search.steering import LexiconSteered, RuleSteered, rules_in_ids

        model = self.bundle.model
        if steer:
            model = LexiconSteered(model, self._table, self.alignment_heads, steer)
        if not rules:
            return model
        if self.rule_system is None:
            raise InputError(f"rules is {rules:g}, but this translator has no rule system; set translator.rule_system")
        return RuleSteered(model, rules_in_ids(self.rule_system, self.tokenizer), rules)


def engine_and_device(engine: str, device: str, models: int) -> tuple[EngineName, str]:
    """Returns the requested engine, and the device of the model. CTranslate2 supports a single model, on the CPU."""
    chosen = checked_engine(engine)
    if engine == "auto" and (models > 1 or device not in ("auto", "cpu")):
        require_torch(f"the device {device}" if models == 1 else f"an ensemble of {models} models")
    if chosen != "ctranslate2":
        return chosen, device_name(device)
    if models > 1:
        raise InputError(f"CTranslate2 translates with one model, but {models} are given; use engine native, or one")
    if device not in ("auto", "cpu"):
        raise InputError(f"CTranslate2 is used on the CPU, but the device is {device}; leave one of the two out")
    return chosen, "cpu"


def check_tokenizers(folders: Sequence[Path], bundles: Sequence[Bundle]) -> None:
    """Raises InputError unless the members of an ensemble have the same vocabulary and tag."""
    for folder, bundle in zip(folders, bundles, strict=True):
        if bundle.tag != bundles[0].tag:
            tags = " and ".join(f"{f} {one.tag or 'none'}" for f, one in ((folders[0], bundles[0]), (folder, bundle)))
            raise InputError(f"the models of an ensemble must have the same tag before every source, but have {tags}")
        if bundle.tokenizer.fingerprint != bundles[0].tokenizer.fingerprint:
            raise InputError(
                f"the models of an ensemble must share one vocabulary, but {folders[0]} and {folder} have different "
                "ones; train them on the same files with the same [text]"
            )
