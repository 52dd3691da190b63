"""Text in, text out: a bundle, or several as an ensemble, as a translator.

Lines are sorted by length into batches of a token budget and come back in their order, one translation per line. An
empty line stays empty. A long line is translated in parts (`source_parts.py`). The result for a line does not depend on
the other lines. A lexicon and a rule system may be mixed in (`steering.py`), unknown words replaced (`unknown.py`), and
rough text mended before it is read (`text/mend.py`); without them it is the model alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TypedDict, TypeVar, Unpack, overload

from regard.batch import budgeted, pad_sources
from regard.bundle import box
from regard.bundle.bundle import Bundle
from regard.bundle.folder import find_bundle
from regard.bundle.search_config import DecodeConfig
from regard.config import build
from regard.decode.alignment_heads import AlignmentHeads, alignment_heads_of, ensemble_alignment_heads
from regard.decode.hypothesis import Hypothesis, check_log_probs
from regard.decode.likelihood import Likelihood, forced_log_probs
from regard.decode.sampling import Sampling
from regard.decode.search import SearchOptions, search
from regard.decode.source_parts import SourcePart, source_parts
from regard.decode.steering import LexiconSteered, RuleSteered, RuleSystem, check_weight, rules_in_ids
from regard.decode.token_lexicon import IdTable, TokenLexicon, known
from regard.decode.translation import Candidate, Translation, in_one_line, joined_translation
from regard.decode.unknown import Unknown, check_unknown, fill_unknown
from regard.device import pick_device
from regard.errors import InputError
from regard.models.base import Model
from regard.models.ensemble import Ensemble
from regard.text.mend import Mended, mended
from regard.text.tokenizer import Tokenizer

FULL_BATCH = 16  # rows of a sentence up to which a batch has all its tokens; wider searches get smaller batches

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
    mend: bool | None
    sampling: Sampling | None
    batch_tokens: int
    progress: Callable[[int], None] | None


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
    ) -> None:
        """Lines of `max_length` tokens or more are translated in parts. `config`, `max_length` and `alignment_heads`
        are by default what the bundle's card says; the lexicon in `folders` is loaded when it is first needed."""
        self.bundle = bundle
        self.config = bundle.decode if config is None else config
        self.max_length = bundle.max_length if max_length is None else max_length
        self._lexicon, self._alignment_heads, self._folders = lexicon, alignment_heads, folders
        self.rule_system: RuleSystem | None = None  # what the option `rules` of translate is the weight of

    @classmethod
    def load(cls: type[Self], paths: ModelPath | Sequence[ModelPath] | None = None, device: str = "auto") -> Self:
        """The model in a folder, the ensemble of those in several, or the model in the box. The first one's recipe says
        how to search."""
        paths = box.boxed() if paths is None else paths
        several = [paths] if isinstance(paths, str | PathLike) else paths
        if not isinstance(several, Iterable) or not all(isinstance(path, str | PathLike) for path in several):
            raise InputError(f"a model is named by a folder, or an ensemble by a list of folders, but not by {paths!r}")
        folders = [find_bundle(Path(path)) for path in several]
        if not folders:
            raise InputError("a translator needs a model, but no folder is given")
        bundles = [Bundle.load(folder, pick_device(device)) for folder in folders]
        first = bundles[0]
        if len(bundles) == 1:
            return cls(first, folders=folders)
        check_tokenizers(folders, bundles)
        models = [bundle.model for bundle in bundles]
        card = {"members": [bundle.card for bundle in bundles]}
        ensemble = Bundle("ensemble", None, Ensemble(models), first.tokenizer, card)
        max_length = min(bundle.max_length for bundle in bundles)
        return cls(ensemble, first.decode, max_length, None, ensemble_alignment_heads(models), folders)

    def __repr__(self) -> str:
        model = self.bundle.model
        names = "+".join(f.parent.name if f.name in ("best", "last") else f.name for f in self._folders)
        name = f"{names}, " if names else ""
        size = f"{model.parameter_count():,} parameters"
        return f"{type(self).__name__}({name}{self.bundle.architecture}, {size}, {model.device})"

    @property
    def tokenizer(self) -> Tokenizer:
        return self.bundle.tokenizer

    @cached_property
    def lexicon(self) -> TokenLexicon | None:
        beside = (TokenLexicon.load(folder, self.tokenizer) for folder in self._folders)
        return self._lexicon or next((lexicon for lexicon in beside if lexicon), None)

    @cached_property
    def alignment_heads(self) -> AlignmentHeads:
        if self._alignment_heads is not None:
            return self._alignment_heads
        return alignment_heads_of(self.bundle.model, self.bundle.card)

    @cached_property
    def _table(self) -> IdTable:
        return known(self.lexicon).in_ids(self.tokenizer)

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
        mend: bool | None = None,
        sampling: Sampling | None = None,
        batch_tokens: int = 4096,
        progress: Callable[[int], None] | None = None,
    ) -> Translation | list[Translation]:
        """The translation of a string, or the list of translations of several, in their order.

        beam            hypotheses kept per sentence, 1 for greedy search; default: the model's own
        nbest           candidates per translation, at most `beam`
        length_penalty  α of ((5 + length) / 6)^α; default: the model's own
        steer, rules    weights, from 0 to below 1, of the model's lexicon and of `rule_system`
        unknown         what becomes of <unk>: "keep", "copy" the source word, or look it up in the "lexicon"
        tag             one of the model's tags, put before every source
        mend            whether rough text (CAPITALS, smileys) is mended before it is read; default: the model's own
        sampling        draw `nbest` translations at random instead of searching for the best
        batch_tokens    the most source tokens of a batch
        progress        called after each batch with the number of texts that were finished in it

        A text is one line: a line break in it is read as a space, and a translation has none. Several threads may
        translate at a time with one translator; results are the same as one after another.
        """
        lines = checked_texts(texts, "translate")
        given = {"beam": beam, "length_penalty": length_penalty, "mend": mend}
        own = {name: getattr(self.config, name) for name, value in given.items() if value is None}
        config = build(DecodeConfig, given | own, "decode")
        options = SearchOptions(config.beam, config.length_penalty, nbest, sampling)
        if unknown != "keep":
            self._check_unknown(unknown, tag)
        if batch_tokens < 1:
            raise InputError(f"batch_tokens must be at least 1, but is {batch_tokens}; try 4096")
        model = self._steered(steer, rules)
        sources = [mended(line) if config.mend else Mended("", line, "") for line in map(in_one_line, lines)]
        prefix = self.tokenizer.tag_ids(tag) or self.tokenizer.mark_ids
        parts = source_parts(self.tokenizer.plain, [source.read for source in sources], prefix, self.max_length)
        budget = batch_tokens * FULL_BATCH // max(FULL_BATCH, options.rows)

        def translate_batch(batch: list[SourcePart]) -> list[list[Candidate]]:
            src, mask = (t.to(model.device) for t in pad_sources([part.ids for part in batch]))
            return self._candidates(batch, search(model, src, mask, options), unknown)

        found = translate_parts(parts, translate_batch, budget, progress)
        translations = [joined_translation(*line) for line in zip(lines, sources, found, strict=True)]
        return translations[0] if isinstance(texts, str) else translations

    @overload
    def score(self, sources: str, targets: str, *, tag: str | None = None) -> Likelihood: ...  # type: ignore[overload-overlap]

    @overload
    def score(self, sources: Iterable[str], targets: Iterable[str], *, tag: str | None = None) -> list[Likelihood]: ...

    def score(
        self, sources: str | Iterable[str], targets: str | Iterable[str], *, tag: str | None = None
    ) -> Likelihood | list[Likelihood]:
        """How probable the model finds given translations (forced decoding): of a pair of strings one `Likelihood`,
        of two lists a list. Texts are read as they are: nothing is mended, steered or cut into parts."""
        if isinstance(sources, str) != isinstance(targets, str):
            raise InputError("score takes a source and a target: two strings, or two lists of the same length")
        read, written = ([in_one_line(text) for text in checked_texts(side, "score")] for side in (sources, targets))
        if len(read) != len(written):
            raise InputError(f"score needs as many targets as sources, but there are {len(written)} and {len(read)}")
        prefix = self.tokenizer.tag_ids(tag) or self.tokenizer.mark_ids
        source_ids = [[*prefix, *ids] for ids in self.tokenizer.plain.encode_source(read)]
        target_ids = self.tokenizer.encode_target(written)
        for number, lengths in enumerate(zip(map(len, source_ids), map(len, target_ids), strict=True)):
            if max(lengths) >= self.max_length:  # EOS takes the last position
                raise InputError(
                    f"score reads sentences of fewer than {self.max_length} tokens, but pair {number} has "
                    f"{lengths[0]} and {lengths[1]}; score its sentences one by one"
                )
        found = []
        pieces = self.tokenizer.target.pieces
        log_probs = forced_log_probs(self.bundle.model, source_ids, target_ids)
        for source, target, ids, row in zip(read, written, target_ids, log_probs, strict=True):
            check_log_probs(row.tolist())
            found.append(Likelihood(source, target, (*(pieces[i] for i in ids), "</s>"), tuple(row.tolist())))
        return found[0] if isinstance(sources, str) else found

    def _check_unknown(self, unknown: Unknown, tag: str | None) -> None:
        if tag is not None:
            raise InputError("unknown words are replaced in sources without a tag; give a tag or unknown, not both")
        lexicon = self.lexicon if unknown == "lexicon" else None
        check_unknown(unknown, self.tokenizer, self.alignment_heads, lexicon, self.bundle.architecture)

    def _steered(self, steer: float, rules: float) -> Model:
        """The model itself where both weights are 0."""
        check_weight("steer", steer)
        check_weight("rules", rules)
        model = self.bundle.model
        if steer:
            model = LexiconSteered(model, self._table, self.alignment_heads, steer)
        if not rules:
            return model
        if self.rule_system is None:
            raise InputError(f"rules is {rules:g}, but this translator has no rule system; set translator.rule_system")
        return RuleSteered(model, rules_in_ids(self.rule_system, self.tokenizer), rules)

    def _candidates(
        self, parts: list[SourcePart], found: list[list[Hypothesis]], unknown: Unknown
    ) -> list[list[Candidate]]:
        """The n-best list of every part as text, unknown words replaced if `unknown` says so."""
        rows = [(part, h) for part, hypotheses in zip(parts, found, strict=True) for h in hypotheses]
        texts = [self.tokenizer.decode(h.ids) for _, h in rows]
        gaps = [i for i, (_, h) in enumerate(rows) if unknown != "keep" and self.tokenizer.unknown in h.ids]
        lexicon = self.lexicon if unknown == "lexicon" else None
        for start in range(0, len(gaps), len(parts)):  # batches of the same size as in the search
            some = gaps[start : start + len(parts)]
            sources, targets = [rows[i][0].text for i in some], [rows[i][1].ids for i in some]
            filled = fill_unknown(self.bundle.model, self.alignment_heads, self.tokenizer, lexicon, sources, targets)
            for i, text in zip(some, filled, strict=True):
                texts[i] = text
        lines = map(in_one_line, texts)  # a model may produce line breaks
        return [[Candidate(next(lines), h.score, h.log_prob, h.ids) for h in hypotheses] for hypotheses in found]


def translate_parts(
    parts: Sequence[Sequence[SourcePart]],
    translate_batch: Callable[[list[SourcePart]], list[list[Candidate]]],
    batch_tokens: int,
    progress: Callable[[int], None] | None,
) -> list[list[list[Candidate]]]:
    """For each line the candidates of each of its parts. Parts of all lines are sorted by length into batches."""
    flat = [(line, i) for line, of_line in enumerate(parts) for i in range(len(of_line))]
    found: list[list[list[Candidate]]] = [[[] for _ in of_line] for of_line in parts]
    waiting = [len(of_line) for of_line in parts]
    if progress is not None:
        progress(waiting.count(0))
    for batch in budgeted([len(parts[line][i].ids) for line, i in flat], batch_tokens):
        places = [flat[k] for k in batch]
        for (line, i), candidates in zip(places, translate_batch([parts[line][i] for line, i in places]), strict=True):
            found[line][i] = candidates
            waiting[line] -= 1
        if progress is not None:
            progress(sum(waiting[line] == 0 for line in {line for line, _ in places}))
    return found


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
