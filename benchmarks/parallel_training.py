"""Tokens a second in training by the length of the sentences, where positions can be computed at once: on a GPU.

    PYTHONPATH=src python benchmarks/parallel_training.py

The same number of tokens, in many short sentences or a few long ones, forward and backward, in float32. The claim
`parallel-training` (regard claims) times one thread of a CPU, which computes nothing at once.
"""

from __future__ import annotations

import argparse
import time

import torch

from regard.batch import flat_batch
from regard.models.base import Model
from regard.models.table import ARCHITECTURES
from regard.report.table import Table

MODELS = ("rnn", "rnn-attention", "transformer")
VOCABULARY = 8000
WARM_UP, ROUNDS = 3, 10


def speed(model: Model, tokens: int, length: int, device: str) -> float:
    """Tokens a second over `tokens` // S sentences of S tokens, the median of the rounds."""
    generator = torch.Generator().manual_seed(length)
    sentences = torch.randint(3, VOCABULARY, (tokens // length, length), generator=generator).tolist()
    batch = flat_batch(sentences, sentences).pad().to(device)
    seconds = []
    for _ in range(WARM_UP + ROUNDS):
        finish(device)
        began = time.perf_counter()
        loss = torch.nn.functional.cross_entropy(model(batch).flatten(0, 1), batch.tgt_out.flatten())
        loss.backward()
        finish(device)
        seconds.append(time.perf_counter() - began)
        model.zero_grad()
    return tokens / sorted(seconds[WARM_UP:])[ROUNDS // 2]


def finish(device: str) -> None:
    """Wait until the device has done what it was asked for."""
    if device == "cuda":
        torch.cuda.synchronize()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="small")
    parser.add_argument("--tokens", type=int, default=16_384, help="of a batch")
    parser.add_argument("--lengths", type=int, nargs="+", default=[8, 16, 32, 64, 128, 256])
    given = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    name = torch.cuda.get_device_name() if device == "cuda" else f"a CPU, {torch.get_num_threads()} threads"
    rows = []
    for architecture in MODELS:
        torch.manual_seed(1)
        _, presets, make = ARCHITECTURES[architecture]
        model = make(presets[given.preset], VOCABULARY, VOCABULARY, True).train().to(device)
        found = [speed(model, given.tokens, length, device) for length in given.lengths]
        rows.append([architecture, *(f"{one:,.0f}" for one in found), f"{found[-1] / found[0]:.0%}"])
    header = ["model", *(f"{length} tokens" for length in given.lengths), "last of first"]
    print(f"{name}, torch {torch.__version__}, preset {given.preset}, {given.tokens:,} tokens a batch, tokens a second")
    print(Table(header, rows).markdown())


if __name__ == "__main__":
    main()
