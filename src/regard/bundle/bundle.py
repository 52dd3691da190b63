"""A trained translator as one folder: `config.json tokenizer.json model.safetensors card.json`. Never a pickle.

Each file is written to a temporary name, synced and renamed, so that a reader finds either the old or the new version.
`SHA256SUMS` has checksums of vocabulary and weights (`folder.py`). The card documents the origin of the model: data,
scores with their signatures, versions (`card.py`). The weights are float32, or stored in fewer bytes (`weights.py`).
A model with slots also has a list of known words (`words.txt.gz`, by `text/known_words.py`). A lexicon is optional
(`lexicon.json`, by `search/token_lexicon.py`).

`Bundle.read` reads everything except the model, which is loaded on first use; nothing else needs torch.

Two bundles in the same folder may share one set of weights (`folder.py`). With `"tag": "<en>"` in config.json that tag
is put before every source. A few bundles come with the package (`bundled_models.py`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, get_args

from regard.bundle import folder as places
from regard.bundle.card import Card, DecodeConfig, load_card, read_card
from regard.bundle.folder import Storage, find_bundle, one_line, part, read_json, verify, write_checksums, write_json
from regard.device import require_torch
from regard.errors import BundleError, InputError
from regard.files import write_atomically
from regard.text.known_words import KnownWords
from regard.text.language import language_code, tag_language
from regard.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from regard.bundle.tensors import ConfiguredModel
    from regard.models.base import Model
    from regard.models.table import ModelConfig

FORMAT = 1


@dataclass
class Bundle:
    """A trained translator. After `Bundle.read`, model and configuration are loaded on first use; everything else needs
    no torch."""

    architecture: str
    config: ModelConfig
    model: Model
    tokenizer: Tokenizer
    card: dict[str, Any] = field(default_factory=dict)
    weights: Storage = "float32"  # how they are stored; in memory they are always float32
    known_words: KnownWords | None = None  # source words of its training text, used to recognize names

    def __getattr__(self, name: str) -> Any:
        """Loads `config` and `model`, which `read` leaves unset, in the first thread that reads one of them."""
        if name not in ("config", "model") or "_lock" not in vars(self):
            raise AttributeError(name)
        with self._lock:
            if name not in vars(self):
                vars(self).update(self._load()._asdict())
        return vars(self)[name]

    @property
    def loaded(self) -> bool:
        return "model" in vars(self)

    @property
    def table(self) -> Mapping[str, Any]:
        """The configuration in config.json, without loading the model."""
        if self.loaded:
            return {} if self.config is None else dataclasses.asdict(self.config)
        table: Mapping[str, Any] = vars(self)["_table"]
        return table

    @property
    def known_card(self) -> Card:
        """The typed entries of the card; parsed again only after an entry was replaced."""
        if vars(self).get("_checked_card") != self.card:
            self._checked_card, self._known_card = dict(self.card), read_card(self.card)
        return self._known_card

    @property
    def tag(self) -> str | None:
        """The tag before every source, if any."""
        return self.tokenizer.mark

    @property
    def decode(self) -> DecodeConfig:
        """The default search settings, from its recipe."""
        return self.known_card.decode

    @property
    def slots(self) -> bool:
        """Whether the model has learnt to copy slots (`text/slots.py`)."""
        return self.known_card.slots and bool(self.tokenizer.slot_ids)

    @property
    def max_length(self) -> int:
        """The maximum tokens of a sentence, with EOS: the smaller of the limits of its recipe and of its positions."""
        trained, positions = self.known_card.max_length, self._max_positions()
        return trained if positions is None else min(trained, positions)

    def _max_positions(self) -> int | None:
        """Returns the model's `max_positions`; for a Transformer that is not loaded, from its configuration."""
        table = self.table if self.architecture == "transformer" and not self.loaded else {}
        if table.get("positions", "learned") != "learned":
            return None
        most = table.get("max_positions")
        return most if isinstance(most, int) else self.model.max_positions

    @property
    def languages(self) -> tuple[str | None, str | None]:
        """ISO codes of source and target, as identified in the training data, else as given in the card's `about`; None
        if unknown. A tag before every source may override the target."""
        card = self.known_card
        named = card.about.languages if card.about else ()
        found = card.languages if len(card.languages) == 2 else tuple(map(language_code, named))
        source, target = found if len(found) == 2 else (None, None)
        return source, (tag_language(self.tag) if self.tag else None) or target

    def save(self, folder: Path, beside: str | None = None, updates: Mapping[str, Tensor] | None = None) -> None:
        """Writes all four parts, each atomically. If `beside` names a folder next to this one with the same vocabulary
        and, except for `updates`, the same weights, these are not written but shared with it."""
        from regard.bundle.tensors import write_model, write_tensors

        folder.mkdir(parents=True, exist_ok=True)
        (folder / places.CHECKSUMS).unlink(missing_ok=True)
        if not beside:
            write_atomically(folder / places.TOKENIZER, self.tokenizer.save)
            write_model(folder / places.WEIGHTS, self.model, self.weights)
        about = {
            "format": FORMAT,
            "architecture": self.architecture,
            "config": dataclasses.asdict(self.config),
            "weights": self.weights,
            **({"tag": self.tag} if self.tag else {}),
            **({"beside": f"../{beside}"} if beside else {}),
        }
        write_atomically(folder / places.CONFIG, lambda path: write_json(path, about))
        if beside and updates:
            write_tensors(folder / places.UPDATES, updates, self.weights)
        if self.known_words is not None:
            self.known_words.save(folder / places.WORDS)
        old = () if self.known_words is not None else (places.WORDS,)
        for name in (*old, *(places.SHARED if beside else ()), *(() if beside and updates else (places.UPDATES,))):
            (folder / name).unlink(missing_ok=True)  # of a bundle stored here before
        write_atomically(folder / places.CARD, lambda path: write_json(path, self.card))
        write_checksums(folder, (*places.SHARED, places.UPDATES, places.WORDS))

    @classmethod
    def load(cls, folder: Path, device: torch.device | str = "cpu") -> Bundle:
        """Reads a bundle with its model; raises `BundleError` if anything is wrong with its files."""
        bundle = cls.read(folder, device)
        bundle.model  # noqa: B018  # loads it
        return bundle

    @classmethod
    def read(cls, folder: Path, device: torch.device | str = "cpu") -> Bundle:
        """Reads a bundle without its model; the model is loaded on first use."""
        folder = find_bundle(folder)
        about, (card, known) = read_json(folder / places.CONFIG), load_card(folder)
        if about.get("format") != FORMAT:
            found = one_line(repr(about.get("format")))
            raise BundleError(f"{folder} has bundle format {found}; this regard reads format {FORMAT}")
        weights = about.get("weights", "float32")
        if weights not in get_args(Storage):
            found, allowed = one_line(repr(weights)), ", ".join(get_args(Storage))
            raise BundleError(f"{folder} has its weights as {found}; allowed: {allowed}")
        architecture, table = about.get("architecture"), about.get("config")
        if not isinstance(architecture, str) or not isinstance(table, Mapping):
            raise BundleError(
                f'{folder / places.CONFIG} cannot be used: "architecture" must be text and "config" an object'
            )
        verify(part(folder, places.TOKENIZER))
        tokenizer = with_tag(Tokenizer.load(part(folder, places.TOKENIZER)), about.get("tag"), folder)

        def load_model() -> ConfiguredModel:
            require_torch("the native engine, which this request calls for,")
            from regard.bundle.tensors import read_model

            return read_model(folder, architecture, table, tokenizer, known, device)

        bundle = cls(architecture, None, None, tokenizer, card, weights, read_words(folder))  # type: ignore[arg-type]
        del bundle.config, bundle.model
        vars(bundle).update(_table=table, _load=load_model, _lock=Lock(), _checked_card=dict(card), _known_card=known)
        return bundle


def read_words(folder: Path) -> KnownWords | None:
    """Reads the known words of a model, if it has such a file."""
    path = folder / places.WORDS
    if (plain := path.with_suffix("")).is_file() and not path.is_file():  # names would be translated in silence
        raise BundleError(f"{plain} is the list of known words of an older version; compress it: gzip {plain}")
    if not path.is_file():
        return None
    verify(path)
    try:
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
