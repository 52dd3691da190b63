"""Where the time of a recurrent training step goes on a GPU: LSTMs by number format, and whole steps (needs CUDA).

    python benchmarks/recurrent_speed.py

First one LSTM layer, forward and backward over 30 positions, in float32, TF32, bfloat16 and float16, padded and packed.
Then training steps of the recurrent systems of table 2, and of its Transformer without CUDA graphs: milliseconds of a
step, milliseconds in which the GPU computes, and the number of kernels. If the GPU computes for a small part of a step,
faster kernels do not make it shorter; larger batches, CUDA graphs or several trainings at once do.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from collections.abc import Callable

import torch
import torch.nn.functional as F
from gpu_training import padded_batches, sentences
from table2_systems import MODELS
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence
from torch.profiler import ProfilerActivity, profile

from regard.batch import Batch
from regard.models.table import ARCHITECTURES

SYSTEMS = ("gnmt", "deep-att", "moe", "transformer")
SHAPES = ((128, 384), (512, 384), (128, 1024), (512, 1024))  # rows, width
FORMATS = {"float32": torch.float32, "tf32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
POSITIONS, VOCABULARY, STEPS, WARM = 30, 8000, 20, 3


def milliseconds(step: Callable[[], object], repeat: int = STEPS) -> float:
    for _ in range(WARM):
        step()
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(repeat):
        step()
    torch.cuda.synchronize()
    return 1000 * (time.perf_counter() - began) / repeat


def one_layer(rows: int, width: int, kind: str, packed: bool) -> float:
    """Milliseconds of one LSTM layer, forward and backward. Its weights are in the number format, too."""
    torch.backends.cudnn.allow_tf32 = kind != "float32"
    lstm = nn.LSTM(width, width, batch_first=True).to("cuda", FORMATS[kind])
    x = torch.randn(rows, POSITIONS, width, device="cuda", dtype=FORMATS[kind], requires_grad=True)
    lengths = torch.randint(5, POSITIONS + 1, (rows,))

    def step() -> None:
        given = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False) if packed else x
        states = lstm(given)[0]
        (states.data if isinstance(states, PackedSequence) else states).float().square().mean().backward()

    return milliseconds(step)


def whole_step(name: str, batches: list[tuple[Batch, int]]) -> str:
    sized = MODELS[name]
    model = ARCHITECTURES[sized.architecture].model(sized.config(), VOCABULARY, VOCABULARY, True).cuda().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    turn = itertools.cycle(batches)

    def step() -> None:
        batch, _ = next(turn)
        with torch.autocast("cuda", torch.bfloat16):
            loss = F.cross_entropy(model(batch).float().flatten(0, 1), batch.tgt_out.flatten(), ignore_index=0)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    took = milliseconds(step, len(batches))
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        for _ in batches:
            step()
        torch.cuda.synchronize()
    events = [event for event in seen.key_averages() if event.self_device_time_total]
    busy = sum(event.self_device_time_total for event in events) / 1000 / len(batches)
    rate = 1000 * sum(tokens for _, tokens in batches) / took / len(batches)
    kernels = sum(event.count for event in events) // len(batches)
    share = f"GPU computes {busy:5.1f} ms = {busy / took:.0%}"
    return f"{took:6.1f} ms  {rate:9,.0f} target tokens/s  {share}  {kernels:,} kernels"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    if not torch.cuda.is_available():
        parser.exit(2, "this needs a CUDA device; for a CPU: python benchmarks/cpu_training.py --help\n")
    warnings.filterwarnings("ignore", message="RNN module weights")  # one_layer changes their number format
    torch.manual_seed(1)
    print(f"one LSTM layer, {POSITIONS} positions, forward and backward, ms")
    for rows, width in SHAPES:
        found = [
            f"{kind}{' packed' if packed else ''} {one_layer(rows, width, kind, packed):.2f}"
            for packed in (False, True)
            for kind in FORMATS
        ]
        print(f"  {rows} rows of width {width}:", ", ".join(found), flush=True)
    torch.backends.cudnn.allow_tf32 = True
    src, tgt = sentences(60_000)
    src, tgt = ([line % (VOCABULARY - 3) + 3 for line in side] for side in (src, tgt))
    for tokens in (4096, 16384):
        made = itertools.islice(padded_batches(src, tgt, tokens), STEPS)
        batches = [(one.pad().to("cuda"), one.target_tokens) for one in made]
        for name in SYSTEMS:
            print(f"{tokens:6} {name:12}", whole_step(name, batches), flush=True)


if __name__ == "__main__":
    main()
