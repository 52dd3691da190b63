"""Trains the quality estimator on the examples of examples.py, for a number of seconds.

    python recipes/box/quality/train.py --examples OUT/examples --seconds 500 --out OUT/quality.safetensors

The rate warms up and then falls linearly to zero with the time. A part of the examples, whole sentences with all their
translations, is kept out and measured at the end: the area under the ROC curve, for sentences and for tokens.
"""

from __future__ import annotations

import argparse
import copy
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor

from regard.bundle.bundle import Bundle
from regard.bundle.bundled_models import folder_of
from regard.bundle.find_model import find_model
from regard.device import pick_device
from regard.explain.evidence import ranks
from regard.models.transformer_layers import TransformerConfig
from regard.quality.network import WRONG_SENTENCE, WRONG_TOKEN, QualityNetwork

UNKNOWN = 2  # label of a token, examples.py
TOKEN_SHARE = 1.0  # weight of the tokens' loss
WRONG_WEIGHT = 3.0  # of a wrong token in it
KEPT_OUT = 20_000  # about so many examples
BLOCK = 700  # consecutive examples that are kept out together: those of one sentence follow each other
WARM_UP = 400  # updates
POOL = 400_000  # examples that are sorted by length together


class Examples:
    """Examples in the memory of the device; `begin` and `lengths` say where the tokens of each are."""

    def __init__(self, folders: Sequence[Path], device: torch.device) -> None:
        def read(name: str) -> NDArray[Any]:
            return np.concatenate([np.load(folder / f"{name}.npy") for folder in folders])

        self.lengths, self.right = read("lengths"), read("right")
        self.begin = np.cumsum(self.lengths, dtype=np.int64) - self.lengths
        self.ids = torch.from_numpy(read("ids").astype(np.int32)).to(device)
        self.labels = torch.from_numpy(read("labels")).to(device)
        self.device = device

    def only(self, chosen: NDArray[np.int64]) -> Examples:
        part = copy.copy(self)
        part.begin, part.lengths, part.right = self.begin[chosen], self.lengths[chosen], self.right[chosen]
        return part

    def __len__(self) -> int:
        return len(self.lengths)

    def batch(self, some: NDArray[np.int64]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Ids, labels and reality of tokens (B, N), and how wrong each pair is (B,)."""
        longest = -(-int(self.lengths[some].max()) // 8) * 8
        begin = torch.from_numpy(self.begin[some]).to(self.device)[:, None]
        size = torch.from_numpy(self.lengths[some]).to(self.device)[:, None]
        place = torch.arange(longest, device=self.device)[None]
        real = place < size
        where = (begin + place).clamp(max=len(self.ids) - 1)
        ids = self.ids[where].masked_fill(~real, 0).long()
        labels = self.labels[where].masked_fill(~real, UNKNOWN).long()
        return ids, labels, real, 1 - torch.from_numpy(self.right[some]).to(self.device)

    def batches(self, tokens: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        order = rng.permutation(len(self))
        for at in range(0, len(order), POOL):
            pool = order[at : at + POOL]
            pool = pool[np.argsort(self.lengths[pool] + rng.random(len(pool)), kind="stable")]
            found, start = [], 0
            while start < len(pool):
                size = max(1, tokens // int(self.lengths[pool[min(start + tokens // 64, len(pool) - 1)]]))
                found.append(pool[start : start + size])
                start += size
            for i in rng.permutation(len(found)):
                yield found[i]


def loss_of(logits: Tensor, labels: Tensor, wrong: Tensor) -> tuple[Tensor, Tensor]:
    logits = logits.float()
    known = labels != UNKNOWN
    token = logits[..., WRONG_TOKEN][known]
    target = labels[known].float()
    weight = 1 + (WRONG_WEIGHT - 1) * target
    tokens = F.binary_cross_entropy_with_logits(token, target, weight)
    sentences = F.binary_cross_entropy_with_logits(logits[:, 0, WRONG_SENTENCE], wrong)
    return sentences, tokens


def auc(values: NDArray[np.float64], wrong: NDArray[np.bool_]) -> float:
    above = ranks(values)[wrong].sum() - wrong.sum() * (wrong.sum() + 1) / 2
    return float(above / (wrong.sum() * (~wrong).sum()))


@torch.inference_mode()
def measure(network: QualityNetwork, examples: Examples) -> str:
    network.eval()
    logits, wrong, token, label = [], [], [], []
    for at in range(0, len(examples), 500):
        ids, labels, real, bad = examples.batch(np.arange(at, min(at + 500, len(examples))))
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=ids.is_cuda):
            out = network(ids, real).float()
        logits.append(out[:, 0, WRONG_SENTENCE].cpu())
        wrong.append(bad.cpu())
        known = labels != UNKNOWN
        token.append(out[..., WRONG_TOKEN][known].cpu())
        label.append(labels[known].cpu())
    network.train()
    values, bad = torch.cat(logits).double().numpy(), torch.cat(wrong).numpy()
    sure = (bad == 0) | (bad == 1)
    each, is_wrong = torch.cat(token).double().numpy(), torch.cat(label).numpy() == 1
    good = np.sort(values[bad == 0])
    found = [(values[bad == 1] > good[int((1 - share) * len(good))]).mean() for share in (0.01, 0.03, 0.1)]
    return (
        f"AUC of sentences {auc(values[sure], bad[sure] == 1):.4f}, of tokens {auc(each, is_wrong):.4f}, "
        f"found at 1%, 3%, 10%: {found[0]:.1%}, {found[1]:.1%}, {found[2]:.1%}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=Path, nargs="+", required=True)
    parser.add_argument("--model", type=Path, default=folder_of())
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=500)
    parser.add_argument("--width", type=int, default=192)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--heads", type=int, default=6)
    parser.add_argument("--rate", type=float, default=1.5e-3)
    parser.add_argument("--batch-tokens", type=int, default=130_000)
    parser.add_argument("--start-from", type=Path, help="weights of an earlier run")
    parser.add_argument("--device", default="auto")
    given = parser.parse_args()
    device = pick_device(given.device)
    torch.manual_seed(1)
    weights = Bundle.load(find_model(given.model), "cpu").model.source_embedding.weight.detach().clone()
    weights = weights / weights.std()
    config = TransformerConfig(
        given.width, given.heads, 4 * given.width, given.layers, 1, dropout=0.05, norm="pre", positions="sinusoidal"
    )
    network = QualityNetwork(config, weights).to(device)
    if given.start_from:
        network.load_state_dict(load_file(given.start_from))
    examples = Examples(given.examples, device)
    block = np.arange(len(examples)) // BLOCK
    is_held = block % max(2, len(examples) // KEPT_OUT) == 0
    held, examples = examples.only(np.flatnonzero(is_held)), examples.only(np.flatnonzero(~is_held))
    decay = [p for p in network.parameters() if p.dim() > 1]
    plain = [p for p in network.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW(
        [{"params": decay, "weight_decay": 0.05}, {"params": plain, "weight_decay": 0.0}],
        lr=given.rate, betas=(0.9, 0.98), fused=device.type == "cuda",
    )
    sizes = sum(p.numel() for p in network.parameters())
    print(f"{sizes:,} parameters, {len(examples):,} examples, {len(held):,} kept out", flush=True)
    rng = np.random.default_rng(1)
    began, update, seen, epoch, shown = time.time(), 0, 0, 0, 0.0
    done = False
    while not done:
        epoch += 1
        for some in examples.batches(given.batch_tokens, rng):
            part = (time.time() - began) / given.seconds
            if part >= 1:
                done = True
                break
            rate = given.rate * min(1, (update + 1) / WARM_UP) * max(0.01, min(1, (1 - part) / 0.7))
            for group in optimizer.param_groups:
                group["lr"] = rate
            ids, labels, real, wrong = examples.batch(some)
            with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
                logits = network(ids, real)
            sentences, tokens = loss_of(logits, labels, wrong)
            optimizer.zero_grad(set_to_none=True)
            (sentences + TOKEN_SHARE * tokens).backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            update += 1
            seen += int(examples.lengths[some].sum())
            if time.time() - shown > 20:
                shown = time.time()
                print(
                    f"{shown - began:4.0f} s, update {update}, epoch {epoch}, {seen / (shown - began):,.0f} tokens/s, "
                    f"losses {sentences.item():.4f} {tokens.item():.4f}; {measure(network, held)}",
                    flush=True,
                )
    print(f"{update} updates, {seen:,} tokens; {measure(network, held)}")
    about = {"config": json.dumps({"width": given.width, "heads": given.heads, "layers": given.layers})}
    given.out.parent.mkdir(parents=True, exist_ok=True)
    save_file({k: v.contiguous() for k, v in network.state_dict().items()}, given.out, about)


if __name__ == "__main__":
    main()
