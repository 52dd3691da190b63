"""The attending model against the papers' equations, one sentence, one word and one pair at a time.

What it must keep as a model is tested in `test_rnn.py`, with the model that does not attend.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from regard.batch import Batch
from regard.errors import RecipeError
from regard.layers.recurrent import gru_cell, lstm_cell
from regard.models.rnn_attention import PRESETS, RnnAttention, RnnAttentionConfig
from variants import scattered

V, E, D = 23, 9, 8


def make(**change: Any) -> RnnAttention:
    torch.manual_seed(7)
    sizes = {"width": D, "encoder_width": 5, "embedding": E, "encoder_layers": 1, "decoder_layers": 1}
    model = RnnAttention(RnnAttentionConfig(**{**sizes, "alignment": 6, **change}), V, V, False)
    return scattered(model, 0.5)


def annotations(model: RnnAttention, words: list[int]) -> tuple[list[torch.Tensor], torch.Tensor]:
    """[h→(i); h←(i)] of every word, and [h→(S); h←(1)], by torch's layer on each direction by itself."""
    read = model.source_embedding.weight[words] * 3  # (S, E), 3 = √E
    both, _ = model.encoder.stack(read)
    forward, backward = both.chunk(2, dim=-1)
    return list(both), torch.cat([forward[-1], backward[0]])


def weights_by_hand(
    model: RnnAttention, s: torch.Tensor, source: list[torch.Tensor], seen: torch.Tensor
) -> torch.Tensor:
    scores, part = [], model.scores
    for i, h in enumerate(source):
        if part.kind == "additive":
            inner = part.of_key.weight @ h + part.of_query.weight @ s + part.of_query.bias
            if model.of_coverage is not None:
                inner = inner + model.of_coverage * seen[i]
            scores.append(part.v.dot(inner.tanh()))
        elif part.kind == "general":
            scores.append(s.dot(part.of_key.weight @ h))
        else:
            scores.append(s.dot(h) / (D**0.5 if part.kind == "scaled" else 1))
    return torch.stack(scores).softmax(0)


def climb(model: RnnAttention, x: torch.Tensor, hidden: list[torch.Tensor], cell: list[torch.Tensor]) -> torch.Tensor:
    """One word up through the decoder's layers, whose states it changes."""
    for layer in range(len(hidden)):
        weights = model.decoder.weights(layer)
        if cell:
            hidden[layer], cell[layer] = lstm_cell(x, hidden[layer], cell[layer], weights)
        else:
            hidden[layer] = gru_cell(x, hidden[layer], weights)
        x = hidden[layer]
    return x


def logits_by_hand(model: RnnAttention, words: list[int], said: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    config, layers = model.config, model.config.decoder_layers
    source, final = annotations(model, words)
    first = list((model.bridge.weight @ final + model.bridge.bias).tanh().split(D))
    hidden, cell = first[:layers], first[layers:]
    attentional, seen, logits, maps = torch.zeros(D), torch.zeros(len(words)), [], []
    for word in said:
        x = model.target_embedding.weight[word] * 3
        if config.attend == "before":
            weights = weights_by_hand(model, hidden[-1], source, seen)
            x = torch.cat([x, sum(w * h for w, h in zip(weights, source, strict=True))])
        elif config.input_feeding:
            x = torch.cat([x, attentional])
        s = climb(model, x, hidden, cell)
        if config.attend == "after":
            weights = weights_by_hand(model, s, source, seen)
        context = sum(w * h for w, h in zip(weights, source, strict=True))
        seen = seen + weights
        attentional = (model.combine.weight @ torch.cat([context, s])).tanh()
        logits.append(model.output.weight @ attentional)
        maps.append(weights)
    return torch.stack(logits), torch.stack(maps)


@torch.inference_mode()
@pytest.mark.parametrize(
    "change",
    [
        {},
        {"cell": "gru", "score": "general"},
        {"encoder_layers": 2, "decoder_layers": 2},
        {"encoder_layers": 2, "decoder_layers": 2, "attend": "before", "cell": "gru"},
        {"decoder_layers": 2, "attend": "before"},
        {"score": "dot", "encoder_width": D // 2},
        {"score": "scaled", "encoder_width": D // 2, "input_feeding": True},
        {"coverage": True},
        {"input_feeding": True},
        {"input_feeding": True, "coverage": True, "cell": "gru"},
        {"attend": "before"},
        {"attend": "before", "cell": "gru", "coverage": True},
        {"attend": "before", "score": "general"},
    ],
    ids=lambda change: "-".join(f"{k}={v}" for k, v in change.items()) or "default",
)
def test_it_is_the_equations_of_its_page(batch: Batch, change: dict[str, Any]) -> None:
    model = make(**change)
    logits, maps = model(batch), model.attention(batch).cross[0]
    for row in range(len(batch)):
        words = batch.src[row][batch.src_mask[row]].tolist()
        by_hand, weights = logits_by_hand(model, words, batch.tgt_in[row].tolist())
        torch.testing.assert_close(logits[row], by_hand, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(maps[row, 0, :, : len(words)], weights, rtol=1e-4, atol=1e-5)


@torch.inference_mode()
def test_one_fused_call_where_the_paper_allows_it(batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("went step by step")

    models = {name: make(**change) for name, change in (("after", {}), ("before", {"attend": "before"}))}
    for model in models.values():
        monkeypatch.setattr(model.decoder, "step", refuse)
    models["after"](batch)
    with pytest.raises(AssertionError, match="step by step"):
        models["before"](batch)


@torch.inference_mode()
def test_coverage_turns_the_look_away_from_words_already_seen(batch: Batch) -> None:
    model = make(coverage=True)
    assert model.of_coverage is not None
    model.scores.v.fill_(1.0)
    model.of_coverage.fill_(-5.0)
    shy = model.attention(batch).cross[0][2, 0]  # (T, S)
    model.of_coverage.fill_(0.0)
    plain = model.attention(batch).cross[0][2, 0]
    torch.testing.assert_close(shy[0], plain[0])  # nothing was seen yet
    assert shy.sum(0).std() < plain.sum(0).std()  # in the end all words were looked at more alike


def test_bahdanaus_sizes() -> None:
    """Appendix A.2.3: 1000 units each way, m = 620, n' = 1000, and the matrices of the formulas there."""
    with torch.device("meta"):
        model = RnnAttention(PRESETS["bahdanau"], 30_000, 30_000, False)
    n, m, aligned = 1000, 620, 1000
    matrices = [p.numel() for p in model.parameters() if p.dim() == 2]
    encoder, decoder = 2 * 3 * (n * m + n * n), 3 * (n * m + n * n + n * 2 * n)
    alignment, readout = aligned * n + aligned * 2 * n, n * 3 * n
    start = n * 2 * n  # the paper's takes the backward half alone
    assert sum(matrices) == encoder + decoder + alignment + readout + start + 30_000 * (2 * m + n)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"encoder_width": 0}, "model.encoder_width must be at least 1, but is 0"),
        ({"dropout": -0.1}, "model.dropout must be at least 0 and below 1, but is -0.1"),
        (
            {"score": "dot", "encoder_width": 384},
            'needs model.width = 2 × model.encoder_width, but they are 384 and 384; use score = "general"',
        ),
        ({"input_feeding": True, "attend": "before"}, 'needs model.attend = "after"'),
        (
            {"coverage": True, "score": "general"},
            'model.coverage = true needs model.score = "additive", but it is "general"',
        ),
        ({"embedding": 8, "tie": "all"}, 'model.tie = "all" needs model.embedding = model.width'),
    ],
)
def test_impossible_values_are_named(change: dict[str, Any], says: str) -> None:
    with pytest.raises(RecipeError, match=says):
        RnnAttentionConfig(**change)


@torch.inference_mode()
def test_the_notes_preset_is_equations_4_to_8(batch: Batch) -> None:
    """Every step of file 003 in numpy: no bias, no gate, no second direction, the start from the encoder's end."""
    torch.manual_seed(7)
    sizes = {"width": D, "encoder_width": D, "embedding": E, "alignment": 6}
    model = scattered(RnnAttention(replace(PRESETS["notes"], **sizes), V, V, False), 0.5)
    named = {name: tensor.double().numpy() for name, tensor in model.named_parameters()}
    source, target = 3 * named["source_embedding.weight"], 3 * named["target_embedding.weight"]  # 3 = √E
    w_1, w_2, v = named["scores.of_key.weight"], named["scores.of_query.weight"], named["scores.v"]
    w_x, w_s, w_y = named["decoder.stack.weight_ih_l0"], named["decoder.stack.weight_hh_l0"], named["output.weight"]
    u_x, u_h = named["encoder.stack.weight_ih_l0"], named["encoder.stack.weight_hh_l0"]
    assert len(named) == 10  # those and no others
    logits, maps = model(batch).numpy(), model.attention(batch).cross[0].numpy()
    for row in range(len(batch)):
        h, states = np.zeros(D), []
        for word in batch.src[row][batch.src_mask[row]].tolist():
            h = np.tanh(u_x @ source[word] + u_h @ h)
            states.append(h)
        s = states[-1]  # s(0) = h(Tx)
        for t, word in enumerate(batch.tgt_in[row].tolist()):
            scores = np.array([v @ np.tanh(w_1 @ h + w_2 @ s) for h in states])  # (4), and v
            alpha = np.exp(scores) / np.exp(scores).sum()  # (5)
            c = sum(a * h for a, h in zip(alpha, states, strict=True))  # (6)
            s = np.tanh(w_x @ np.concatenate([target[word], c]) + w_s @ s)  # (7)
            np.testing.assert_allclose(logits[row, t], w_y @ s, rtol=1e-4, atol=1e-5)  # (8), before the softmax
            np.testing.assert_allclose(maps[row, 0, t, : len(states)], alpha, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"start": "end"}, 'model.start = "end" needs model.bidirectional = false'),
        ({"start": "end", "bidirectional": False}, "the decoder's width and layers"),
        ({"readout": "state"}, 'needs model.attend = "before"'),
        ({"score": "dot", "bidirectional": False}, "needs model.width = model.encoder_width"),
    ],
)
def test_parts_that_do_not_fit_are_refused(change: dict[str, Any], says: str) -> None:
    with pytest.raises(RecipeError, match=says):
        make(**change)
