"""A step of greedy search as one Triton kernel: the same as `Beams.advance` with one row for each sentence."""

from __future__ import annotations

import torch
from torch import Tensor

from regard.batch import EOS
from regard.layers.kernels import HAS_TRITON
from regard.search.beam import Beams

if HAS_TRITON:
    import triton
    import triton.language as tl
    from triton.language.extra import libdevice

    @triton.jit
    def _advance(
        best, best_token, step, limit, token, total, done, end_score, end_length, end_log_prob, broken,
        generated, generated_log_prob, sentences, room, alpha: tl.constexpr, eos: tl.constexpr, block: tl.constexpr,
    ):  # fmt: skip
        s = tl.program_id(0) * block + tl.arange(0, block)
        here = s < sentences
        log_prob = tl.load(best + s, mask=here, other=0.0)
        word = tl.load(best_token + s, mask=here, other=0)
        before = tl.load(step + s, mask=here, other=0)
        old_total = tl.load(total + s, mask=here, other=0.0)
        was_done = tl.load(done + s, mask=here, other=1) != 0
        tl.store(generated + s * room + before, word.to(tl.int32), mask=here)
        tl.store(generated_log_prob + s * room + before, log_prob, mask=here)
        tl.store(token + s, word, mask=here)
        new_total = old_total + log_prob.to(tl.float64)
        real = new_total > -float("inf")
        ends = real & (word == eos)
        length = before + 1
        penalty = libdevice.pow((length.to(tl.float64) + 5) / 6, tl.full([block], alpha, tl.float64))
        fresh = ends & ~was_done
        score = tl.where(fresh, new_total / penalty, tl.load(end_score + s, mask=here, other=0.0))
        tl.store(end_score + s, score, mask=here)
        tl.store(end_length + s, before, mask=here & fresh)
        tl.store(end_log_prob + s, log_prob, mask=here & fresh)
        tl.store(broken + s, 1, mask=here & ~real & ~was_done)
        search = tl.where(was_done, old_total, tl.where(real & (word != eos), new_total, -float("inf")))
        tl.store(total + s, search, mask=here)
        tl.store(step + s, tl.where(was_done, before, length), mask=here)
        at_limit = length >= tl.load(limit + s, mask=here, other=0)
        stops = was_done | (score > -float("inf")) | ~real | at_limit | (search == -float("inf"))
        tl.store(done + s, stops.to(tl.uint8), mask=here)


def advance_greedy(best: Tensor, best_token: Tensor, beams: Beams) -> None:
    """Advances the search in place by each sentence's best token and its log-probability, each (B, 1)."""
    sentences, room = beams.history.token.shape[:2]
    ends, history = beams.ends, beams.history
    _advance[(triton.cdiv(sentences, 128),)](
        best, best_token, beams.step, beams.limit, beams.token, beams.total, beams.done.view(torch.uint8),
        ends.score, ends.length, ends.log_prob, ends.broken.view(torch.uint8), history.token, history.log_prob,
        sentences, room, alpha=beams.strategy.alpha, eos=EOS, block=128, num_warps=4,
    )  # fmt: skip
