"""The model card: facts to know about a model before using it.

Training writes recipe, steps, cost, versions and scores. The section `about` is written by a person, in a TOML file
that is checked here:

    title = "English to French, short everyday sentences"
    languages = ["English", "French"]
    training = "One sentence on how it was trained."
    limits = ["What it cannot do."]

    [[data]]
    name = "Tatoeba"
    licence = "CC BY 2.0 FR"
    attribution = "who made it"
    url = "https://tatoeba.org"

The section `tests` has scores of exactly these weights, by the name of the test set; `benchmarks/box.py` measures them.
`calibration` has the coefficients with which features of a translation predict whether it is right, and the limits of
the marks: `translation/confidence.py` defines and fits them, `benchmarks/guard.py` measures them and writes them into a
card:

    "calibration": {"weights": {"surprise": -0.8, …}, "bias": -1.0, "ratio": 0.12, "ratio_spread": 0.13,
                    "unwritten": 0.04, "on": "Tatoeba dev, Europarl dev", "errors": {"Tatoeba test": 0.02},
                    "limits": {"sentence": [0.1, 0.2, 0.3, 0.4], …}, "found": {"sentence": [0.3, 0.5, 0.6, 0.8], …}}

"word_calibration" is the same for single words (`explain/word_confidence.py`, `benchmarks/word_confidence.py`). A card
may be untrusted: `read_card` returns the typed entries that the package uses, or raises an error.
"""

from __future__ import annotations

import dataclasses
import math
import types
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import MISSING, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from regard.bundle.folder import CARD, one_line, read_json
from regard.config import accept, build, describe, key, keys_of, parse_toml, require
from regard.errors import BundleError, InputError, RecipeError, RegardError

FALSE_ALARMS = (0.003, 0.01, 0.05, 0.1)  # shares of right translations below the limits of a calibration


@dataclass(frozen=True)
class Calibration:
    """P(right) ≈ σ(bias + Σ weight · feature). The defaults rank translations of any model, but the values are not
    calibrated, and there are no limits (`on` is empty)."""

    weights: dict[str, float] = field(
        default_factory=lambda: {"surprise": -3.0, "length": -0.5, "covered": 0.5, "invented": -0.5}
    )
    bias: float = 0.0
    ratio: float = 0.1  # the mean log of (characters of the target + 10) / (characters of the source + 10)
    ratio_spread: float = 0.25  # its standard deviation
    unwritten: float = 0.0  # nats per token lost to other languages' pieces, which a restricted search omits
    on: str = ""  # the text it was fitted on; empty: not fitted for this model
    errors: dict[str, float] = field(default_factory=dict)  # expected calibration error by test set
    # By kind, fragment or sentence: the confidences below which each share of FALSE_ALARMS of right translations lies,
    # and the shares of wrong ones below them.
    limits: dict[str, tuple[float, ...]] = field(default_factory=dict)
    found: dict[str, tuple[float, ...]] = field(default_factory=dict)
    thorough: Calibration | None = None  # used instead if the source was scored given the translation

    def __post_init__(self) -> None:
        limits = [limit for some in self.limits.values() for limit in some]
        numbers = (*self.weights.values(), *limits, self.bias, self.ratio, self.ratio_spread, self.unwritten)
        require(all(map(math.isfinite, numbers)), "calibration must hold finite numbers")
        require(self.ratio_spread > 0, f"calibration.ratio_spread must be above 0, but is {self.ratio_spread}")

    @property
    def fitted(self) -> bool:
        return bool(self.on)


IN_REFERENCE = "stand in a reference translation, too"


@dataclass(frozen=True)
class WordCalibration:
    """P(a word is right) ≈ σ(bias + Σ weight · feature)."""

    weights: dict[str, float]
    bias: float
    on: str  # the text it was fitted on
    errors: dict[str, float] = field(default_factory=dict)  # expected calibration error by test set
    right_if: str = IN_REFERENCE  # what right words do, to follow "words like this one"

    def __post_init__(self) -> None:
        require(all(map(math.isfinite, (*self.weights.values(), self.bias))), "word_calibration must be finite")


MAX_BEAM = 1000  # hypotheses; more would only take memory
MAX_LENGTH_PENALTY = 20.0  # so that powers of lengths stay finite


@dataclass(frozen=True)
class DecodeConfig:
    """Section [decode] of a recipe."""

    beam: int = key(4, "hypotheses kept per sentence; 1 is greedy search")
    length_penalty: float = key(0.6, "α of lp(Y) = ((5 + |Y|) / 6)^α; 0 ranks by plain probability")
    mend: bool = key(
        False, "normalize informal input: lower case for CAPITALS, misspellings, emoji aside (text/normalize_input.py)"
    )
    in_context: bool = key(False, "translate pronouns given the sentence before; for a model trained with join_pairs")

    def __post_init__(self) -> None:
        require(self.beam >= 1, f"decode.beam must be at least 1, but is {self.beam}")
        require(self.beam <= MAX_BEAM, f"decode.beam must be at most {MAX_BEAM}, but is {self.beam}")
        require(
            0 <= self.length_penalty <= MAX_LENGTH_PENALTY,
            f"decode.length_penalty must be from 0 to {MAX_LENGTH_PENALTY:g}, but is {self.length_penalty}",
        )


MAX_LENGTH = 256  # tokens, the default of a card
SCORES = ("dev_bleu", "test_bleu", "tests")  # valid for exactly these weights
# A tag before every source may change these.
MEASURED = (*SCORES, "attention_view", "calibration", "word_calibration", "languages")


@dataclass(frozen=True)
class Data:
    """One collection of the training data."""

    name: str = key("", "what it is called")
    licence: str = key("", "the terms it may be used under")
    attribution: str = key("", "who made it, as the licence wants it stated")
    url: str = key("", "where it is found")


@dataclass(frozen=True)
class About:
    """The description of a model, written by a person."""

    title: str = key("", "what it is, in a line")
    languages: tuple[str, ...] = key((), "from which to which")
    data: tuple[Data, ...] = key((), "what it was trained on")
    training: str = key("", "how it was trained, in a sentence or two")
    limits: tuple[str, ...] = key((), "what it is not for")


def check_about(about: About) -> None:
    """Raises unless every field of a model's description is filled in."""
    for section, where in ((about, "about"), *((data, "data") for data in about.data)):
        for name in keys_of(type(section)):
            require(bool(getattr(section, name)), f"{where}.{name} must be given for a model's card, but is missing")
    require(len(about.languages) == 2, f"about.languages must be two, from and to, but there are {about.languages}")


def read_about(path: Path) -> dict[str, Any]:
    """Reads the section `about` of a card from a TOML file."""
    try:
        tables = parse_toml(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise InputError(f"{path} cannot be read: {problem.strerror}") from None
    except ValueError as problem:  # invalid TOML or UTF-8
        raise InputError(f"{path} is no TOML file: {problem}") from None
    about = build(About, tables, "about")
    check_about(about)
    return dataclasses.asdict(about)


def without_places(value: Any) -> Any:
    """Removes the folders of the machine that a card was made on: only the last part of an absolute path is kept.

    >>> without_places({"data": {"src": "/home/me/train.en", "beam": 5}})
    {'data': {'src': 'train.en', 'beam': 5}}
    """
    if isinstance(value, Mapping):
        return {name: without_places(v) for name, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_places(v) for v in value]
    return Path(value).name if isinstance(value, str) and value.startswith("/") else value


# ── typed entries ─────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class StoredScore:
    score: float
    signature: str
    name: str = ""  # of the metric, if it is ambiguous


@dataclass(frozen=True)
class StoredTest:
    """Scores on one test set: the number of exactly correct sentences, or metrics."""

    sentences: int
    beam: int = 0
    exact: int | None = None
    metrics: tuple[StoredScore, ...] = ()  # by the native engine in float32
    ctranslate2: tuple[StoredScore, ...] = ()  # by CTranslate2 in 8 bits

    @property
    def scores(self) -> tuple[StoredScore, ...]:
        """The scores of the native engine, else those of CTranslate2."""
        return self.metrics or self.ctranslate2


@dataclass(frozen=True)
class StoredView:
    """The attention map that was chosen as the alignment."""

    layer: int
    head: int | None  # None: the mean of heads
    row: Literal["predicting", "having-read"]
    aer: float | None = None  # its alignment error rate, a fraction; None: not evaluated
    on: str = ""  # the text that it was evaluated on
    also: dict[str, float] = field(default_factory=dict)  # error rates on other texts

    def __post_init__(self) -> None:
        require(min(self.layer, self.head or 0) >= 0, "attention_view must count layers and heads from 0")


@dataclass(frozen=True)
class PairCounts:
    kept: int


@dataclass(frozen=True)
class Card:
    """The typed entries of a card that are used. Others are kept unchanged and only printed."""

    regard: str = "?"
    torch: str = "?"
    device: str = "?"
    pairs: PairCounts | None = None
    step: int = 0
    target_tokens: int = 0
    training_seconds: float = 0.0
    training_flops: float | None = None
    dev_bleu: StoredScore | None = None
    test_bleu: StoredScore | None = None
    tests: dict[str, StoredTest] = field(default_factory=dict)
    about: About | None = None
    attention_view: StoredView | None = None
    languages: tuple[str | None, ...] = ()  # ISO codes of source and target, identified in the data; None: uncertain
    calibration: Calibration = field(default_factory=Calibration)
    word_calibration: WordCalibration | None = None  # None: not fitted for this model
    slots: bool = False  # whether it learnt to copy slots (`text/slots.py`)
    recipe: dict[str, dict[str, Any]] = field(default_factory=dict)
    decode: DecodeConfig = field(default_factory=DecodeConfig)  # of the recipe
    max_length: int = MAX_LENGTH  # of the recipe

    def __post_init__(self) -> None:
        require(self.max_length >= 1, f"data.max_length must be at least 1, but is {self.max_length}")


def read_card(card: Mapping[str, Any]) -> Card:
    """Parses the entries that are used; raises `RecipeError` for one of the wrong type."""
    recipe = _typed(card.get("recipe", {}), dict[str, dict[str, Any]], "recipe")
    longest = recipe.get("data", {}).get("max_length", MAX_LENGTH)
    own = {"decode": build(DecodeConfig, recipe.get("decode", {}), "decode"), "max_length": longest}
    found: Card = _typed({**card, **own}, Card, "card")
    return found


def load_card(folder: Path) -> tuple[dict[str, Any], Card]:
    """Reads the card in a folder; returns it as stored and typed. A file is read again only after it has changed."""
    path = folder / CARD
    try:
        about = path.stat()
    except OSError as problem:
        raise BundleError(f"{path} cannot be read: {one_line(problem)}") from None
    stored, known = _load_card(path, about.st_size, about.st_mtime_ns)
    return deepcopy(stored), known


@lru_cache(maxsize=64)
def _load_card(path: Path, size: int, changed: int) -> tuple[dict[str, Any], Card]:
    stored = read_json(path)
    try:
        return stored, read_card(stored)
    except RegardError as problem:
        raise BundleError(f"{path} cannot be used: {one_line(problem)}") from None


def _typed(value: Any, kind: Any, where: str) -> Any:
    """Converts `value` to an instance of `kind`; table entries that `kind` does not have are left out."""
    if kind is Any or (isinstance(kind, type) and dataclasses.is_dataclass(kind) and isinstance(value, kind)):
        return value
    options = [option for option in get_args(kind) if option is not type(None)]
    if get_origin(kind) is types.UnionType and len(options) == 1:  # X | None
        return None if value is None else _typed(value, options[0], where)
    if get_origin(kind) is dict and isinstance(value, Mapping):
        return {name: _typed(inner, get_args(kind)[1], f"{where}.{name}") for name, inner in value.items()}
    if get_origin(kind) is tuple and isinstance(value, (list, tuple)):
        return tuple(_typed(inner, get_args(kind)[0], where) for inner in value)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type) and isinstance(value, Mapping):
        known = keys_of(kind)
        for wanted in dataclasses.fields(kind):
            has_default = wanted.default is not MISSING or wanted.default_factory is not MISSING
            require(has_default or wanted.name in value, f"{where}.{wanted.name} is missing")
        return kind(**{name: _typed(value[name], known[name], f"{where}.{name}") for name in known if name in value})
    try:
        return accept(value, kind)
    except ValueError:
        raise RecipeError(f"{where} must be {describe(kind)}, but is {value!r}") from None


def card_rows(card: Mapping[str, Any]) -> dict[str, list[str]]:
    """Returns the card as lines under headings; headings without content are left out."""
    known = read_card(card)
    about = known.about or About()
    time = f"{known.training_seconds:,.0f} s"
    cost = "not counted" if known.training_flops is None else f"{known.training_flops:.3g} FLOPs"
    data = [line for d in about.data for line in (f"{d.name}, {d.licence}, {d.url}", d.attribution)]
    rows = {
        "title": [about.title] if about.title else [],
        "languages": [" → ".join(about.languages)] if about.languages else [],
        "data": data,
        "pairs": [f"{known.pairs.kept:,} to learn from"] if known.pairs else [],
        "training": [about.training] if about.training else [],
        "trained": [f"{known.step:,} steps, {known.target_tokens:,} target tokens, {time} on {known.device}"],
        "cost": [cost],
        "dev BLEU": _score(known.dev_bleu),
        "test BLEU": _score(known.test_bleu),
        "tests": [line for name, found in known.tests.items() for line in _test(name, found)],
        "confidence": [_fitted(known.calibration), *_curve(known.calibration)] if known.calibration.fitted else [],
        "of a word": [f"share of such words that {words.right_if}, {_fitted(words)}"]
        if (words := known.word_calibration)
        else [],
        "alignment": _view(known.attention_view),
        "limits": list(about.limits),
        "made with": [f"regard {known.regard}, torch {known.torch}"],
    }
    return {name: lines for name, lines in rows.items() if lines}


def _score(found: StoredScore | None) -> list[str]:
    return [f"{found.score:.2f}  {found.signature}"] if found else []


def _fitted(found: Calibration | WordCalibration) -> str:
    errors = ", ".join(f"{error:.3f} on {name}" for name, error in found.errors.items())
    return f"fitted on {found.on}; calibration error {errors or 'not measured'}"


def _curve(found: Calibration) -> list[str]:
    """Describes, for each kind of text, how many wrong translations are found at each share of false alarms."""
    lines = []
    for kind, shares in found.found.items():
        points = (f"{share:.0%} ({alarms:.1%})" for share, alarms in zip(shares, FALSE_ALARMS, strict=False))
        lines.append(f"of wrong {kind}s {', '.join(points)} are below a limit (of right ones)")
    return lines


def _view(found: StoredView | None) -> list[str]:
    """Describes the attention that gives the word links, and its error rate; layers and heads count from 1."""
    if found is None:
        return []
    head = "mean of heads" if found.head is None else f"head {found.head + 1}"
    measured = ({} if found.aer is None else {found.on: found.aer}) | found.also
    rates = ", ".join(f"{aer:.1%}" + (f" on {text}" if text else "") for text, aer in measured.items())
    where = f"layer {found.layer + 1} · {head} · {found.row.replace('-', ' ')}"
    return [f"attention of {where}; AER {rates or 'not evaluated'}"]


def _test(name: str, found: StoredTest) -> list[str]:
    """Describes a test set and its scores, each with its signature."""
    if found.exact is not None:
        return [f"{name}: {found.exact} of {found.sentences} sentences exactly as wanted"]
    by = "" if found.metrics else ", by CTranslate2 in 8 bits"
    first = f"{name}, {found.sentences:,} sentences, beam {found.beam}{by}"
    return [first, *(f"{m.name} {m.score:.2f}  {m.signature}" for m in found.scores)]
