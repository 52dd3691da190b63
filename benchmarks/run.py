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
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import sacrebleu
import torch
from torch import Tensor, nn

from regard.batch import Batch, pack
from regard.data.grammar import generate
from regard.layers.masks import causal_mask
from regard.layers.positions import sinusoids
from regard.metrics.bleu import bleu
from regard.metrics.tokens import tokenizer
from regard.models.transformer import PRESETS, Transformer, TransformerConfig
from regard.training.loss import smoothed_nll_fused


@dataclass(frozen=True)
class Row:
    what: str
    peer: str
    ours: float  # seconds
    theirs: float
    spread: tuple[float, float]

    def markdown(self) -> str:
        ratio = self.theirs / self.ours
        low, high = self.spread
        return (
            f"| {self.what} | {self.peer} | {1000 * self.ours:,.0f} ms | {1000 * self.theirs:,.0f} ms "
            f"| {ratio:.2f}× ({low:.2f}–{high:.2f}) |"
        )


def race(what: str, peer: str, ours: Callable[[], object], theirs: Callable[[], object], rounds: int = 7) -> Row:
    ours(), theirs()  # warm
    times: list[tuple[float, float]] = []
    for _ in range(rounds):
        times.append((clock(ours), clock(theirs)))
    ratios = sorted(b / a for a, b in times)
    row = Row(
        what,
        peer,
        statistics.median(a for a, _ in times),
        statistics.median(b for _, b in times),
        (ratios[0], ratios[-1]),
    )
    print(row.markdown(), flush=True)
    return row


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
        return self.embedding(tokens) * math.sqrt(self.width) + sinusoids(0, tokens.shape[1], self.width)


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
    batch = pack(rows[0], rows[1]).pad()
    config = replace(PRESETS[preset], dropout=0.0)  # torch drops in more places; without it the work is the same
    ours, theirs = Transformer(config, size, size, True), TorchTranslator(config, size)
    what = f"training step, {preset}, {tokens:,} tokens, {size:,} pieces"
    return race(what, "torch.nn.Transformer", training_step(ours, batch), training_step(theirs, batch))


def scoring(lines: int) -> Row:
    references = [e.tgt for e in generate(max(1000, lines))["train"].examples][:lines]
    words = [r.split() for r in references]
    hypotheses = [" ".join(w[:-1] if i % 3 else w[::-1]) for i, w in enumerate(words)]
    scorer = sacrebleu.BLEU()
    ours = bleu(hypotheses, references).score
    theirs = scorer.corpus_score(hypotheses, [references]).score
    assert abs(ours - theirs) < 1e-9, (ours, theirs)

    def ours_afresh() -> object:
        tokenizer.cache_clear()  # lines already cut in the last round would be remembered
        return bleu(hypotheses, references)

    return race(
        f"corpus BLEU, {lines:,} lines",
        f"sacreBLEU {sacrebleu.__version__}",
        ours_afresh,
        lambda: sacrebleu.BLEU().corpus_score(hypotheses, [references]),
        rounds=3,
    )


def starting() -> Row:
    def run(*words: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, *words], capture_output=True, check=True)

    return race("--help", "sacrebleu --help", run("-m", "regard", "--help"), run("-m", "sacrebleu", "--help"))


HEADER = """# Benchmarks

Printed by `make bench`. Each ratio is the peer's time over ours on the same work in the same run: above 1 is faster
than the peer; in brackets the lowest and highest of the rounds.

| what | peer | regard | peer | peer / regard |
|---|---|---|---|---|
"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="smaller work, nothing written")
    quick = options.parse_args().quick
    about = f"{platform.machine()}, {torch.get_num_threads()} threads, Python {platform.python_version()}"
    about += f", torch {torch.__version__.partition('+')[0]}"
    print(HEADER + about)
    rows = [training("tiny", 512 if quick else 2048, 3200)]
    if not quick:
        rows.append(training("small", 4096, 8000))
    rows += [scoring(1000 if quick else 10_000), starting()]
    if not quick:
        text = HEADER + "\n".join(row.markdown() for row in rows) + f"\n\nMeasured on {about}.\n"
        Path("docs/benchmarks.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
