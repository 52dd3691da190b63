"""How fast a CPU trains: our real update against plain PyTorch and Hugging Face's Marian, in turns, in one run.

    python benchmarks/cpu_training.py --src train.en --tgt train.de

All do the same work: 3 + 3 layers, width 256, 4 heads, 1024 inner units, dropout and label smoothing 0.1, clipping,
fused AdamW, on the very same batches of like lengths, about 4,096 target tokens each. Ours makes its batches from the
encoded corpus as it goes; the rivals find theirs ready and padded, which is kind to them. Tokens are target tokens,
padding not counted. Without files the embedded corpus is used, whose sentences are short and whose vocabulary is small.
Marian takes part where `transformers` is installed, as by PYTHONPATH; regard does not need it.
"""

from __future__ import annotations

import argparse
import math
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import torch
import torch.nn.functional as F
from rich.console import Console
from torch import Tensor, nn

from regard.batch import PAD, Batch
from regard.course.grammar import generate, write_corpus
from regard.layers.positions import sinusoids
from regard.models.transformer import PRESETS
from regard.recipe.read import read_recipe
from regard.recipe.recipe import Recipe
from regard.training.cost import peak_bytes
from regard.training.feed import PreparedBatch
from regard.training.folder import RunFolder
from regard.training.job import prepare
from regard.training.rehearsal import Trial
from regard.training.update import Update

SMALL = PRESETS["small"]
Step = Callable[[PreparedBatch], object]


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query, self.key_value = nn.Linear(SMALL.width, SMALL.width), nn.Linear(SMALL.width, 2 * SMALL.width)
        self.output = nn.Linear(SMALL.width, SMALL.width)

    def forward(self, x: Tensor, seen: Tensor, mask: Tensor | None, causal: bool) -> Tensor:
        heads = lambda t: t.unflatten(-1, (SMALL.heads, -1)).transpose(1, 2)  # (B, T, D) → (B, H, T, K)  # noqa: E731
        key, value = self.key_value(seen).chunk(2, dim=-1)
        out = F.scaled_dot_product_attention(heads(self.query(x)), heads(key), heads(value), mask, is_causal=causal)
        return self.output(out.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    """Pre-norm, as a tutorial writes it; with `across`, a decoder's."""

    def __init__(self, across: bool) -> None:
        super().__init__()
        self.attentions = nn.ModuleList(Attention() for _ in range(1 + across))
        self.norms = nn.ModuleList(nn.LayerNorm(SMALL.width) for _ in range(2 + across))
        self.expand, self.contract = nn.Linear(SMALL.width, SMALL.inner), nn.Linear(SMALL.inner, SMALL.width)
        self.dropout = nn.Dropout(SMALL.dropout)

    def forward(self, x: Tensor, mask: Tensor, memory: Tensor | None = None) -> Tensor:
        y = self.norms[0](x)
        x = x + self.dropout(self.attentions[0](y, y, None if memory is not None else mask, memory is not None))
        if memory is not None:
            x = x + self.dropout(self.attentions[1](self.norms[1](x), memory, mask, False))
        return x + self.dropout(self.contract(F.relu(self.expand(self.norms[-1](x)))))


class Plain(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(size, SMALL.width)
        nn.init.normal_(self.embedding.weight, std=SMALL.width**-0.5)
        self.encoder = nn.ModuleList(Layer(False) for _ in range(SMALL.encoder_layers))
        self.decoder = nn.ModuleList(Layer(True) for _ in range(SMALL.decoder_layers))
        self.norms = nn.ModuleList(nn.LayerNorm(SMALL.width) for _ in range(2))
        self.dropout = nn.Dropout(SMALL.dropout)

    def forward(self, batch: Batch) -> Tensor:
        mask = batch.src_mask[:, None, None]
        x = self.embed(batch.src)
        for layer in self.encoder:
            x = layer(x, mask)
        memory, x = self.norms[0](x), self.embed(batch.tgt_in)
        for layer in self.decoder:
            x = layer(x, mask, memory)
        return F.linear(self.norms[1](x), self.embedding.weight)

    def embed(self, tokens: Tensor) -> Tensor:
        places = sinusoids(torch.arange(tokens.shape[1]), SMALL.width)
        return self.dropout(self.embedding(tokens) * math.sqrt(SMALL.width) + places)


def marian(size: int) -> nn.Module:
    from transformers import MarianConfig, MarianMTModel

    config = MarianConfig(
        vocab_size=size, d_model=SMALL.width, encoder_layers=SMALL.encoder_layers, activation_function="relu",
        decoder_layers=SMALL.decoder_layers, encoder_attention_heads=SMALL.heads, decoder_attention_heads=SMALL.heads,
        encoder_ffn_dim=SMALL.inner, decoder_ffn_dim=SMALL.inner, dropout=SMALL.dropout, pad_token_id=PAD,
        eos_token_id=2, decoder_start_token_id=1, forced_eos_token_id=2, max_position_embeddings=512,
        attn_implementation="sdpa",
    )  # fmt: skip
    model = MarianMTModel(config).train()

    class Wrapped(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, batch: Batch) -> Tensor:
            return self.model(
                input_ids=batch.src, attention_mask=batch.src_mask.long(), decoder_input_ids=batch.tgt_in,
                use_cache=False,
            ).logits  # fmt: skip

    return Wrapped()


def plain_step(model: nn.Module, half: bool) -> Step:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, betas=(0.9, 0.98), fused=True)

    def step(ready: PreparedBatch) -> None:
        batch = ready.batch
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            logits = model(batch)
        targets = batch.tgt_out.masked_fill(~batch.tgt_mask, -100)
        F.cross_entropy(logits.float().flatten(0, 1), targets.flatten(), label_smoothing=0.1).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    return step


def rate(step: Step, batches: Iterator[PreparedBatch], count: int) -> float:
    """Target tokens per second over `count` updates. One thread is timed by its own clock, so that other work on the
    machine counts less."""
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    began, tokens = clock(), 0
    for _ in range(count):
        ready = next(batches)
        step(ready)
        tokens += ready.tokens
    return tokens / (clock() - began)


def recipe_for(src: Path, tgt: Path, precision: str, cache: Path) -> Recipe:
    settings = {
        "src": src, "tgt": tgt, "preset": "small", "vocab-size": 8000, "batch-tokens": 4096, "max-length": 128,
        "device": "cpu", "precision": precision, "cache": cache,
    }  # fmt: skip
    return read_recipe(None, [(name, str(value)) for name, value in settings.items()])


def rivals(trial: Trial, wanted: Sequence[str]) -> dict[str, Step]:
    size = trial.job.bundle.model.target_size
    found: dict[str, Step] = {}
    for half in (False, True):
        kind = "bfloat16" if half else "float32"
        if kind not in wanted:
            continue
        ours = trial.job.update
        loss = replace(ours.loss, autocast=torch.autocast("cpu", torch.bfloat16, enabled=half))
        update = Update(loss, ours.optimizer, ours.objective, ours.group)
        found[f"regard, {kind}"] = lambda ready, update=update: update([ready])
        found[f"plain PyTorch, {kind}"] = plain_step(Plain(size), half)
        try:
            found[f"Marian, {kind}"] = plain_step(marian(size), half)
        except ImportError:
            print("transformers is not there: without Marian")
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--src", type=Path, help="text to train on (default: the embedded corpus)")
    options.add_argument("--tgt", type=Path)
    options.add_argument("--steps", type=int, default=6, help="updates of each rival in a round")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--precision", nargs="*", default=["float32", "bfloat16"])
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if given.src is None:
            write_corpus(folder, generate(40_000))
        src, tgt = given.src or folder / "train.en", given.tgt or folder / "train.fr"
        recipe = recipe_for(src, tgt, "float32", folder / "cache")
        torch.manual_seed(1)
        trial = Trial(prepare(recipe, RunFolder(folder / "run"), Console(quiet=True)))
        measure(trial, given.precision, given.steps, given.rounds)


def measure(trial: Trial, precisions: Sequence[str], steps: int, rounds: int) -> None:
    ready = [next(trial.batches) for _ in range(steps)]
    found: dict[str, list[float]] = {}
    contestants = rivals(trial, precisions)
    for step in contestants.values():
        rate(step, iter(ready), 2)  # warm
    for number in range(rounds):
        for who, step in contestants.items():
            batches = iter(ready)
            if who.startswith("regard"):  # made from the corpus, the same ones again
                trial.job.data.batches.index = 0
                batches = trial.batches
            found.setdefault(who, []).append(rate(step, batches, steps))
        print(
            f"round {number + 1}: " + " · ".join(f"{who} {rates[-1]:,.0f}" for who, rates in found.items()), flush=True
        )
    filled = sum(r.tokens for r in ready) / sum(r.batch.tgt_out.numel() for r in ready)
    tokens = statistics.mean(r.tokens for r in ready)
    peak = (peak_bytes(torch.device("cpu")) or 0) / 2**30
    print(f"\n{torch.get_num_threads()} threads, torch {torch.__version__}, {tokens:,.0f} target tokens a batch")
    print(f"filled {filled:.1%}, peak of the process {peak:.1f} GiB")
    print(
        "| system | target tokens/s, median (lowest – highest) | regard of the same precision / this |\n|---|---|---|"
    )
    for who, rates in found.items():
        ours = found[f"regard, {who.rpartition(', ')[2]}"]
        ratio = statistics.median(a / b for a, b in zip(ours, rates, strict=True))
        print(f"| {who} | {statistics.median(rates):,.0f} ({min(rates):,.0f} – {max(rates):,.0f}) | {ratio:.2f}× |")


if __name__ == "__main__":
    main()
