"""A trained translator as one folder: `config.json tokenizer.json model.safetensors card.json`. Never a pickle.

Each file is written to a temporary name, synced and renamed, so that a reader finds the old one or the new one, whole.
`SHA256SUMS` holds checksums of vocabulary and weights (`checksums.py`). The card says where the model comes from: data,
scores with their signatures, versions (`card.py`). The weights are float32, or stored in fewer bytes (`weights.py`).
A model that learnt slots has the words it knows beside it (`words.txt`, by `text/known_words.py`). A lexicon may lie
with them (`lexicon.json`, by `search/token_lexicon.py`); a model is complete without it.

`Bundle.read` reads all of it but the model, which is loaded when it is first used; nothing else needs torch.

One set of weights may serve two bundles that lie side by side (`folder.py`). With `"tag": "<en>"` in config.json that
tag stands before every source. A few bundles come with the package (`box.py`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_args

from regard.bundle.card import read_card
from regard.bundle.checksums import CHECKSUMS, verify, write_checksums
from regard.bundle.folder import CARD, CONFIG, SHARED, TOKENIZER, UPDATES, WEIGHTS, WORDS, Storage, find_bundle, part
from regard.bundle.json_file import one_line, read_json, write_json
from regard.bundle.search_config import DecodeConfig
from regard.errors import BundleError, InputError, RegardError
from regard.files import write_atomically
from regard.text.known_words import KnownWords
from regard.text.language import language_code
from regard.text.language_tags import tag_language
from regard.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from regard.bundle.stored_model import ConfiguredModel
    from regard.models.base import Model
    from regard.models.table import ModelConfig

FORMAT = 1
MOST_WORDS = 50_000_000  # bytes of the file of known words
Value = TypeVar("Value")


class InFolder:
    """A model that is still in its folder; `load` loads it once, whichever thread asks first."""

    def __init__(self, table: Mapping[str, Any], load: Callable[[], ConfiguredModel]) -> None:
        self.table, self._load, self._lock = table, load, Lock()
        self._loaded: ConfiguredModel | None = None

    def load(self) -> ConfiguredModel:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded


class WhenUsed(Generic[Value]):
    """A field of `Bundle` that may still be in the folder, and is loaded when it is read."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, bundle: object, owner: type | None = None) -> Value:
        if bundle is None:
            raise AttributeError(self.name)  # there is no default
        if isinstance(stored := vars(bundle)[self.name], InFolder):
            vars(bundle).update(stored.load()._asdict())
        found: Value = vars(bundle)[self.name]
        return found

    def __set__(self, bundle: object, value: Value | InFolder) -> None:
        vars(bundle)[self.name] = value


@dataclass
class Bundle:
    """A translator. Of one that was read by `Bundle.read`, model and configuration are loaded when they are first
    used; everything else needs no torch."""

    architecture: str
    config: WhenUsed[ModelConfig] = WhenUsed()  # a descriptor, and no default
    model: WhenUsed[Model] = WhenUsed()
    tokenizer: Tokenizer  # type: ignore[misc]  # the two above have no default
    card: dict[str, Any] = field(default_factory=dict)
    weights: Storage = "float32"  # how they are stored; in memory they are always float32
    known_words: KnownWords | None = None  # source words of its training text, by which names are told

    @property
    def table(self) -> Mapping[str, Any]:
        """The configuration as config.json holds it, without loading the model."""
        stored = vars(self)["config"]
        if isinstance(stored, InFolder):
            return stored.table
        return {} if stored is None else dataclasses.asdict(stored)

    @property
    def loaded(self) -> bool:
        return not isinstance(vars(self)["model"], InFolder)

    @property
    def tag(self) -> str | None:
        """What stands before every source."""
        return self.tokenizer.mark

    @property
    def decode(self) -> DecodeConfig:
        """How it searches unless told otherwise, as its recipe says."""
        return read_card(self.card).decode

    @property
    def slots(self) -> bool:
        """Whether it has learnt to carry slots through (`text/slots.py`)."""
        return read_card(self.card).slots and bool(self.tokenizer.slot_ids)

    @property
    def max_length(self) -> int:
        """Tokens of the longest sentence that it reads, EOS counted: as its recipe says, and as positions allow."""
        trained, positions = read_card(self.card).max_length, self._max_positions()
        return trained if positions is None else min(trained, positions)

    def _max_positions(self) -> int | None:
        """As the model says. Of a Transformer in its folder the configuration says it."""
        table = self.table if self.architecture == "transformer" and not self.loaded else {}
        if table.get("positions", "learned") != "learned":
            return None
        most = table.get("max_positions")
        return most if isinstance(most, int) else self.model.max_positions

    @property
    def languages(self) -> tuple[str | None, str | None]:
        """ISO codes of source and target: what was found in the training data, else what a person says of the model;
        None for one that is not known. The tag before every source may say the target."""
        card = read_card(self.card)
        named = card.about.languages if card.about else ()
        found = card.languages if len(card.languages) == 2 else tuple(map(language_code, named))
        source, target = found if len(found) == 2 else (None, None)
        return source, (tag_language(self.tag) if self.tag else None) or target

    def save(self, folder: Path, beside: str | None = None, updates: Mapping[str, Tensor] | None = None) -> None:
        """Write all four parts; an interruption leaves each part old or new, never torn. Where `beside` names a folder
        next to this one that has the same vocabulary and, but for these updates, weights, they are left to it."""
        from regard.bundle.tensors import write_model, write_tensors

        folder.mkdir(parents=True, exist_ok=True)
        (folder / CHECKSUMS).unlink(missing_ok=True)
        if not beside:
            write_atomically(folder / TOKENIZER, self.tokenizer.save)
            write_model(folder / WEIGHTS, self.model, self.weights)
        about = {
            "format": FORMAT,
            "architecture": self.architecture,
            "config": dataclasses.asdict(self.config),
            "weights": self.weights,
            **({"tag": self.tag} if self.tag else {}),
            **({"beside": f"../{beside}"} if beside else {}),
        }
        write_atomically(folder / CONFIG, lambda path: write_json(path, about))
        if beside and updates:
            write_tensors(folder / UPDATES, updates, self.weights)
        if self.known_words is not None:
            self.known_words.save(folder / WORDS)
        old = () if self.known_words is not None else (WORDS,)
        for name in (*old, *(SHARED if beside else ()), *(() if beside and updates else (UPDATES,))):
            (folder / name).unlink(missing_ok=True)  # of what was stored here before
        write_atomically(folder / CARD, lambda path: write_json(path, self.card))
        write_checksums(folder, (*SHARED, UPDATES, WORDS))

    @classmethod
    def load(cls, folder: Path, device: torch.device | str = "cpu") -> Bundle:
        """Whatever is wrong with its files is a `BundleError`."""
        bundle = cls.read(folder, device)
        bundle.model  # noqa: B018  # loads it
        return bundle

    @classmethod
    def read(cls, folder: Path, device: torch.device | str = "cpu") -> Bundle:
        """The same without the model, which is loaded when it is first used."""
        folder = find_bundle(folder)
        about, card = read_json(folder / CONFIG), read_json(folder / CARD)
        if about.get("format") != FORMAT:
            found = one_line(repr(about.get("format")))
            raise BundleError(f"{folder} has bundle format {found}; this regard reads format {FORMAT}")
        weights = about.get("weights", "float32")
        if weights not in get_args(Storage):
            found, allowed = one_line(repr(weights)), ", ".join(get_args(Storage))
            raise BundleError(f"{folder} has its weights as {found}; allowed: {allowed}")
        architecture, table = about.get("architecture"), about.get("config")
        if not isinstance(architecture, str) or not isinstance(table, Mapping):
            raise BundleError(f'{folder / CONFIG} cannot be used: "architecture" must be text and "config" an object')
        try:
            read_card(card)
        except RegardError as problem:
            raise BundleError(f"{folder / CARD} cannot be used: {one_line(problem)}") from None
        verify(part(folder, TOKENIZER))
        tokenizer = with_tag(Tokenizer.load(part(folder, TOKENIZER)), about.get("tag"), folder)

        def load_model() -> ConfiguredModel:
            from regard.bundle.stored_model import read_model

            return read_model(folder, architecture, table, tokenizer, card, device)

        model = InFolder(table, load_model)
        return cls(architecture, model, model, tokenizer, card, weights, read_words(folder))


def read_words(folder: Path) -> KnownWords | None:
    """The words that a model knows, if they lie with it."""
    path = folder / WORDS
    if not path.is_file():
        return None
    verify(path)
    try:
        if path.stat().st_size > MOST_WORDS:
            raise BundleError(f"{path} has more than {MOST_WORDS:,} bytes; it is not a file of known words")
        return KnownWords.load(path)
    except (InputError, OSError) as problem:
        raise BundleError(one_line(problem)) from None


def with_tag(tokenizer: Tokenizer, tag: object, folder: Path) -> Tokenizer:
    if tag is None:
        return tokenizer
    known = tokenizer.config.tags
    if tag not in known:
        found = one_line(repr(tag))
        raise BundleError(f"{folder} has the tag {found}, but its vocabulary has {', '.join(known) or 'none'}")
    return tokenizer.marked(str(tag))
