"""How fast a GPU trains: our shared rows against Hugging Face's Marian on the same sentences (needs CUDA).

    python benchmarks/gpu_training.py --preset base --tokens 65536

Random ids with lengths as in WMT's sentences: the kernels do not care what the words mean. Tokens are target tokens,
padding not counted; operations are the model's own formula, forward and backward, against the chip's stated peak. The
batches lie on the GPU before the clock starts, for both: what is measured is the update. Marian is timed as it comes,
then on the same batches again (cuDNN's attention plans for every new shape), then with that attention turned off.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor

from regard.batch import Batch, FlatBatch, Places, flat_batch
from regard.data.batching import plan_epoch
from regard.data.rows import fill_batch
from regard.models.transformer import PRESETS, Transformer
from regard.training.cost import FlopCounter
from regard.training.loss import projected_nll
from regard.training.update import CudaGraphPass

VOCABULARY = 32_000
PEAK = 989e12  # dense bf16 of an H100 or H200, by its datasheet
LONGEST = 128
Step = Callable[[Batch, int], Tensor]  # a batch and its target tokens → the loss


def sentences(pairs: int, seed: int = 0) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Log-normal lengths around 23 subwords, a target about as long as its source."""
    rng = np.random.default_rng(seed)
    src = np.clip(rng.lognormal(np.log(23), 0.6, pairs), 2, LONGEST - 1).astype(int)
    tgt = np.clip(src * rng.lognormal(0.03, 0.2, pairs), 2, LONGEST - 1).astype(int)
    draw = lambda lengths: [rng.integers(3, VOCABULARY, n) for n in lengths]  # noqa: E731
    return draw(src), draw(tgt)


def row_batches(src: list[np.ndarray], tgt: list[np.ndarray], tokens: int) -> Iterator[FlatBatch]:
    lengths = [np.array([len(s) + 1 for s in side]) for side in (src, tgt)]
    at, rows = 0, tokens // LONGEST
    while at < len(src):
        count, laid = fill_batch(lengths[0][at:], lengths[1][at:], rows, LONGEST)
        places = Places(rows, LONGEST, *(torch.from_numpy(a) for a in (laid.row, laid.src_start, laid.tgt_start)))
        yield dataclasses.replace(flat_batch(src[at : at + count], tgt[at : at + count]), places=places)
        at += count


def padded_batches(src: list[np.ndarray], tgt: list[np.ndarray], tokens: int) -> Iterator[FlatBatch]:
    lengths = [np.array([len(s) + 1 for s in side]) for side in (src, tgt)]
    for rows in plan_epoch(*lengths, tokens, seed=1, epoch=0):
        yield flat_batch([src[i] for i in rows], [tgt[i] for i in rows])


def measure(step: Step, batches: list[tuple[Batch, int]], warm: int = 5) -> tuple[float, float]:
    """(target tokens/s, seconds/step)"""
    for batch, tokens in batches[:warm]:
        step(batch, tokens)
    torch.cuda.synchronize()
    began = time.perf_counter()
    for batch, tokens in batches[warm:]:
        loss = step(batch, tokens)
    torch.cuda.synchronize()
    seconds = time.perf_counter() - began
    assert torch.isfinite(loss)
    return sum(n for _, n in batches[warm:]) / seconds, seconds / (len(batches) - warm)


def ours(preset: str) -> tuple[Step, Transformer]:
    model = Transformer(PRESETS[preset], VOCABULARY, VOCABULARY, True).cuda().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, betas=(0.9, 0.98), fused=True)

    def work(batch: Batch, scale: Tensor) -> Tensor:
        with torch.autocast("cuda", torch.bfloat16):
            states = model.states(batch)
            loss = projected_nll(states, model.output.weight, batch.tgt_out, batch.tgt_mask, 0.1) * scale
        loss.backward()
        return loss.detach()

    parameters = list(model.parameters())
    recorded: list[CudaGraphPass] = []

    def step(batch: Batch, tokens: int) -> Tensor:
        if not recorded:
            recorded.append(CudaGraphPass(work, batch, parameters))
        loss = recorded[0](batch, 1 / tokens)
        torch.nn.utils.clip_grad_norm_(parameters, 1.0, foreach=True)
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)  # the recorded pass has them at fixed places
        return loss

    return step, model


def theirs(preset: str) -> Step:
    from transformers import MarianConfig, MarianMTModel

    c = PRESETS[preset]
    config = MarianConfig(
        vocab_size=VOCABULARY, d_model=c.width, encoder_layers=c.encoder_layers, decoder_layers=c.decoder_layers,
        encoder_attention_heads=c.heads, decoder_attention_heads=c.heads, encoder_ffn_dim=c.inner,
        decoder_ffn_dim=c.inner, dropout=0.1, activation_function="relu", pad_token_id=0, eos_token_id=2,
        decoder_start_token_id=1, forced_eos_token_id=2, max_position_embeddings=512, attn_implementation="sdpa",
    )  # fmt: skip
    model = MarianMTModel(config).cuda().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, betas=(0.9, 0.98), fused=True)

    def step(batch: Batch, tokens: int) -> Tensor:
        with torch.autocast("cuda", torch.bfloat16):
            out = model(
                input_ids=batch.src, attention_mask=batch.src_mask.long(), decoder_input_ids=batch.tgt_in,
                decoder_attention_mask=batch.tgt_mask.long(),
            )  # fmt: skip
            loss = torch.nn.functional.cross_entropy(
                out.logits.flatten(0, 1), batch.tgt_out.flatten(), ignore_index=0, label_smoothing=0.1
            )
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.detach()

    return step


def profile(step: Step, batch: Batch, tokens: int) -> None:
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as seen:
        for _ in range(3):
            step(batch, tokens)
        torch.cuda.synchronize()
    print(seen.key_averages().table(sort_by="cuda_time_total", row_limit=45, max_name_column_width=90))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", default="base")
    parser.add_argument("--tokens", type=int, default=65536)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    torch.manual_seed(0)
    if not torch.cuda.is_available():
        parser.exit(2, "this needs a CUDA device; for a CPU: python benchmarks/cpu_training.py --help\n")
    src, tgt = sentences(int(given.steps * given.tokens / 26))
    batches = list(row_batches(src, tgt, given.tokens))[: given.steps]
    real = sum(b.target_tokens for b in batches) / (given.tokens * len(batches))
    began = time.perf_counter()
    on_gpu = [(b.pad().to("cuda"), b.target_tokens) for b in batches]
    step, model = ours(given.preset)
    step(*on_gpu[0])
    torch.cuda.synchronize()
    print(f"first step after {time.perf_counter() - began:.1f} s; rows filled {real:.3f}", flush=True)
    rate, seconds = measure(step, on_gpu)
    cost = FlopCounter(model)
    flops = sum(cost.of_batch(b) for b in batches[5:]) / (len(batches) - 5) / seconds
    memory = torch.cuda.max_memory_allocated() / 2**30
    print(f"regard {given.preset} {given.tokens}: {rate:,.0f} target tokens/s, {1000 * seconds:.1f} ms a step, "
          f"{flops / 1e12:.0f} TFLOP/s = {flops / PEAK:.1%} of peak, {memory:.1f} GiB", flush=True)  # fmt: skip
    if given.profile:
        profile(step, *on_gpu[0])
    if given.peer:
        del step, model, on_gpu
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        src, tgt = src[: sum(len(b) for b in batches)], tgt[: sum(len(b) for b in batches)]
        padded = [(b.pad().to("cuda"), b.target_tokens) for b in padded_batches(src, tgt, given.tokens)]
        their_step = theirs(given.preset)
        for how in ("as it comes", "shapes seen before", "without cuDNN's attention"):
            torch.backends.cuda.enable_cudnn_sdp("without" not in how)
            peer, _ = measure(their_step, padded)
            print(f"Hugging Face Marian, {how}: {peer:,.0f} target tokens/s; ours {rate / peer:.2f}×", flush=True)


if __name__ == "__main__":
    main()
