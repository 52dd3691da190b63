"""What a training of Table 2 reads: the kinds of tokens, and the files of a language pair."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from regard.data.compressed import COMPRESSED
from regard.data.config import DataConfig
from regard.text.tokenizer import TextConfig


@dataclass(frozen=True)
class Kind:
    """What a token is, for all models that share it: the text is encoded once."""

    text: TextConfig
    max_length: int  # tokens; longer pairs are left out
    batch: int  # tokens of a batch on either side
    search: int  # source tokens that are translated at a time
    lengths: tuple[int, int]  # tokens of a mean pair of Europarl, for the plan
    tiny: TextConfig = field(default_factory=lambda: TextConfig(vocab_size=400))


LONGEST = 126  # tokens, so that sentences with their ends fit into rows of 128
KINDS = {
    "pieces": Kind(TextConfig("bpe", 16_000), LONGEST, 4096, 32_768, (26, 29)),
    "words": Kind(
        TextConfig("word", 30_000, joint=False), LONGEST, 4096, 32_768, (23, 25), TextConfig("word", 300, joint=False)
    ),
    "characters": Kind(TextConfig("character", 512), 512, 8192, 131_072, (115, 130), TextConfig("character", 400)),
}


@dataclass(frozen=True)
class Setting:
    """One language pair at one budget and one rate, with the folders of its text and of its runs."""

    pair: str  # en-fr
    budget: float  # operations of each training
    data: Path  # has en-fr/train.en … and tests/newstest2014.fr.en …
    out: Path
    tiny: bool = False
    rate: float = 1.0  # times each model's own

    @property
    def languages(self) -> tuple[str, str]:
        source, target = self.pair.split("-")
        return source, target

    @property
    def runs(self) -> Path:
        return self.out / self.pair / f"{self.budget:g}{'' if self.rate == 1 else f'.rate{self.rate:g}'}"

    def files(self, part: str) -> list[Path]:
        """train, dev or test of Europarl, or newstest2014, in both languages."""
        folder = self.data / self.pair
        if part == "newstest2014":
            folder, part = self.data / "tests", f"newstest2014.{self.languages[1]}"
        return [existing(folder / f"{part}.{language}") for language in self.languages]

    def data_config(self, kind: str) -> DataConfig:
        (src, tgt), (dev_src, dev_tgt) = self.files("train"), self.files("dev")
        names = {"src": src, "tgt": tgt, "dev_src": dev_src, "dev_tgt": dev_tgt, "cache": self.out / "cache"}
        longest = 100 if self.tiny else KINDS[kind].max_length
        return DataConfig(**{name: str(path) for name, path in names.items()}, max_length=longest)

    def text_config(self, kind: str) -> TextConfig:
        return KINDS[kind].tiny if self.tiny else KINDS[kind].text


def existing(path: Path) -> Path:
    """The file as it is, or compressed."""
    found = [named for ending in ("", *COMPRESSED) if (named := path.with_name(path.name + ending)).exists()]
    if not found:
        raise SystemExit(f"{path} is not there, neither as it is nor compressed")
    return found[0]
