"""The embedded corpus, and every fault that a corpus can have planted in it, each where a test knows it."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

from regard.data.config import DataConfig
from support import grammar

SIZE = 3000
SPANISH = [
    "El perro negro duerme en la casa de mi hermano todos los días.",
    "No sé dónde están las llaves que me diste ayer por la mañana.",
    "¿Puedes ayudarme a encontrar una buena biblioteca en esta ciudad?",
    "Los niños juegan en el parque mientras sus padres hablan.",
    "Quisiera comprar tres kilos de manzanas y una botella de leche.",
    "Hace mucho frío aquí, pero mañana brillará el sol otra vez.",
]
RUSSIAN = "Чёрная собака спит в доме моего брата каждый день."


@dataclass
class Text:
    """Lines of a corpus; `write` makes the files and a configuration that names them."""

    train: list[tuple[str, str]]
    dev: list[tuple[str, str]]
    test: list[tuple[str, str]]
    raw: dict[int, bytes] = field(default_factory=dict)  # target lines of train that no text can spell
    ends: str = "\n"
    start: bytes = b""

    def write(self, folder: Path) -> DataConfig:
        for name in ("train", "dev", "test"):
            pairs = getattr(self, name)
            for side, suffix in enumerate(("en", "fr")):
                lines = [pair[side].encode() for pair in pairs]
                if name == "train" and side == 1:
                    lines = [self.raw.get(i, line) for i, line in enumerate(lines)]
                    lines[0] = self.start + lines[0]
                end = self.ends.encode()
                (folder / f"{name}.{suffix}").write_bytes(b"".join(line + end for line in lines))
        files = {f"{p}{s}": f"{n}.{e}" for n, p in PREFIXES.items() for s, e in (("src", "en"), ("tgt", "fr"))}
        return DataConfig(**{key: str(folder / name) for key, name in files.items()})


PREFIXES = {"train": "", "dev": "dev_", "test": "test_"}


def clean() -> Text:
    splits = grammar(SIZE)
    parts = {name: [(e.src, e.tgt) for e in splits[name].examples] for name in ("train", "dev", "test")}
    return Text(**parts)


def some(count: int, seed: int = 1, until: int = SIZE) -> list[int]:
    return sorted(random.Random(seed).sample(range(until), count))
