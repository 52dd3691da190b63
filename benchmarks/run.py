"""`make bench`: speed as ratios in one run against a peer on the same work, as a table and in docs/benchmarks.md.

Each pair of rivals is timed in turns, several rounds, and the median ratio is reported: machines are noisy, ratios
less so.
"""

from __future__ import annotations

import argparse
import math
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import engines
import sacrebleu
import scoring
import start_up
import torch
from torch import Tensor, nn

from regard.batch import Batch, flat_batch
from regard.course.grammar import generate
from regard.layers.attention import causal_mask
from regard.layers.positions import sinusoids
from regard.models.transformer import PRESETS, Transformer
from regard.models.transformer_layers import TransformerConfig
from regard.training.loss import smoothed_nll_fused


@dataclass(frozen=True)
class Row:
    what: str
    peer: str
    ours: float
    theirs: float
    spread: tuple[float, float]
    unit: str = "ms"

    @staticmethod
    def of(what: str, peer: str, measured: list[tuple[float, float]], unit: str = "ms") -> Row:
        """Medians of (ours, theirs), in seconds or MB; printed at once."""
        ratios = sorted(b / a for a, b in measured)
        factor = 1000 if unit == "ms" else 1
        ours, theirs = (factor * statistics.median(pair[i] for pair in measured) for i in (0, 1))
        row = Row(what, peer, ours, theirs, (ratios[0], ratios[-1]), unit)
        print(row.markdown(), flush=True)
        return row

    def markdown(self) -> str:
        low, high = self.spread
        return (
            f"| {self.what} | {self.peer} | {self.ours:,.0f} {self.unit} | {self.theirs:,.0f} {self.unit} "
            f"| {self.theirs / self.ours:.2f}× ({low:.2f}–{high:.2f}) |"
        )


def race(what: str, peer: str, ours: Callable[[], object], theirs: Callable[[], object], rounds: int = 7) -> Row:
    ours(), theirs()  # warm
    return Row.of(what, peer, [(clock(ours), clock(theirs)) for _ in range(rounds)])


def clock(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


class TorchTranslator(nn.Module):
    """The peer: torch.nn.Transformer with tied embeddings and the same sinusoids, as its tutorials build it."""

    def __init__(self, config: TransformerConfig, size: int) -> None:
        super().__init__()
        self.width = config.width
        self.embedding = nn.Embedding(size, config.width)
        # As ours: with torch's own start the logits are so large that the softmax drowns in denormal numbers.
        nn.init.normal_(self.embedding.weight, std=config.width**-0.5)
        self.layers = nn.Transformer(
            config.width,
            config.heads,
            config.encoder_layers,
            config.decoder_layers,
            config.inner,
            config.dropout,
            batch_first=True,
            norm_first=config.norm == "pre",
        )

    def forward(self, batch: Batch) -> Tensor:
        length = batch.tgt_in.shape[1]
        states = self.layers(
            self.embed(batch.src),
            self.embed(batch.tgt_in),
            tgt_mask=~causal_mask(length),
            src_key_padding_mask=~batch.src_mask,
            memory_key_padding_mask=~batch.src_mask,
        )
        return states @ self.embedding.weight.T

    def embed(self, tokens: Tensor) -> Tensor:
        return self.embedding(tokens) * math.sqrt(self.width) + sinusoids(torch.arange(tokens.shape[1]), self.width)


def training_step(model: nn.Module, batch: Batch) -> Callable[[], object]:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)

    def step() -> None:
        loss = smoothed_nll_fused(model(batch), batch.tgt_out, batch.tgt_mask, 0.1) / batch.target_tokens
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    return step


def training(preset: str, tokens: int, size: int) -> Row:
    torch.manual_seed(1)
    length = 15
    rows = torch.randint(3, size, (2, tokens // length, length - 1)).tolist()
    batch = flat_batch(rows[0], rows[1]).pad()
    config = replace(PRESETS[preset], dropout=0.0)  # torch drops in more places; without it the work is the same
    ours, theirs = Transformer(config, size, size, True), TorchTranslator(config, size)
    what = f"training step, {preset}, {tokens:,} tokens, {size:,} pieces"
    return race(what, "torch.nn.Transformer", training_step(ours, batch), training_step(theirs, batch))


def scoring_rows(folder: Path, text: str, systems: str, rounds: int) -> list[Row]:
    """Each rival in a process of its own, in turns: seconds, and at the end peak memory."""
    lines, counted = _count(folder / "ref"), _count(folder / "system-ref")
    outputs = len(list(folder.glob("system-[0-9]*")))
    sacre = f"sacreBLEU {sacrebleu.__version__}"
    rows = []
    for what, name, parts in (
        (f"corpus BLEU, {lines:,} lines of {text}", "corpus", ("seconds", "peak_mb")),
        (f"chrF, {min(10_000, lines):,} lines of {text}", "chrf", ("seconds",)),
        (f"paired bootstrap, {outputs} {systems} × {counted:,} lines", "paired", ("seconds", "resampling", "peak_mb")),
    ):
        reports = [
            (scoring.run(f"{name}_regard", folder), scoring.run(f"{name}_sacrebleu", folder)) for _ in range(rounds)
        ]
        answers = [abs(x - y) for a, b in reports for x, y in zip(*(_list(r["answer"]) for r in (a, b)), strict=True)]
        assert max(answers) < 1e-9, (name, max(answers))
        for part in parts:
            times = [(a[part], b[part]) for a, b in reports]
            said = {"seconds": what, "resampling": f"{what}: resampling alone", "peak_mb": f"{what}: peak memory"}[part]
            rows.append(Row.of(said, sacre, times, "MB" if part == "peak_mb" else "ms"))
    return rows


def _list(answer: float | list[float]) -> list[float]:
    return answer if isinstance(answer, list) else [answer]


def _count(path: Path) -> int:
    return path.read_bytes().count(b"\n")


def starting() -> Row:
    def run(*words: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, *words], capture_output=True, check=True)

    return race("--help", "sacrebleu --help", run("-m", "regard", "--help"), run("-m", "sacrebleu", "--help"))


HEADER = """# Benchmarks

Measured speeds and scores, each with the command that prints them. Scores of the bundled models are
in [bundled-models.md](bundled-models.md#evaluation); every dated run, failures included, is in [log.md](log.md).

The first table is printed by `make bench`. Each ratio is the peer's time (or memory) divided by regard's on the same
work in the same run, so values above 1 favor regard; the range over the rounds is in parentheses. Scoring runs in one
process per system on one core, from text files to equal scores (checked to 1e-9), without the time of imports.

| what | peer | regard | peer | peer / regard |
|---|---|---|---|---|
"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="smaller work, nothing written")
    options.add_argument(
        "--only", choices=("training", "scoring", "starting", "start-up", "engines"), help="one part, nothing written"
    )
    options.add_argument("--text", type=Path, help="score this text instead of the embedded corpus")
    options.add_argument("--systems", type=Path, nargs="*", default=[], help="real systems' outputs for paired tests")
    options.add_argument("--reference", type=Path, help="of the systems")
    options.add_argument("--lines", type=Path, help="a file to translate with each engine; without it, none is timed")
    options.add_argument("--quality", type=Path, nargs=2, help="a test set and its reference, for each engine's BLEU")
    options.add_argument("--huggingface", action="store_true", help="time transformers' generate beside the engines")
    given = options.parse_args()
    about = f"{platform.machine()}, {torch.get_num_threads()} threads, Python {platform.python_version()}"
    about += f", torch {torch.__version__.partition('+')[0]}"
    print(HEADER + about)
    rows = []
    if given.only in (None, "training"):
        rows.append(training("tiny", 512 if given.quick else 2048, 3200))
        if not given.quick:
            rows.append(training("small", 4096, 8000))
    if given.only in (None, "scoring"):
        lines, counted = (2000, 500) if given.quick else (100_000, 3004)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            text = scoring.read(given.text) if given.text else [e.tgt for e in generate(lines)["train"].examples]
            scoring.prepare(folder, text, lines, 0 if given.systems else 16, counted)
            if given.systems:
                scoring.prepare_systems(folder, given.systems, given.reference)
            called = given.text.name if given.text else "the embedded corpus"
            rows += scoring_rows(folder, called, "systems", 1 if given.quick else 3)
    if given.only in (None, "starting"):
        rows.append(starting())
    if given.only in (None, "start-up"):
        started = start_up.section(2 if given.quick else 7)
    compared = None
    if given.only in (None, "engines") and given.lines:
        size = {"lines": 100, "quality_lines": 100, "alone": 10, "rounds": 1} if given.quick else {}
        compared = engines.section(engines.Given(given.lines, given.quality, huggingface=given.huggingface, **size))
    if not (given.quick or given.only):
        text, page = HEADER + "\n".join(row.markdown() for row in rows), Path("docs/benchmarks.md")
        others = "".join(page.read_text(encoding="utf-8").partition("\n## ")[1:])  # sections of other scripts stay
        page.write_text(f"{text}\n\nMeasured on {about}.\n{others}", encoding="utf-8")
        start_up.write(page, started)
        if compared is not None:
            start_up.write(page, compared)


if __name__ == "__main__":
    main()
