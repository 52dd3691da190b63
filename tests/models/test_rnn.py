"""The contract over every way of configuring the recurrent models; the model without attention against plain loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from regard.batch import EOS, Batch, flat_batch, pad_sources
from regard.errors import RecipeError
from regard.layers.recurrent import Recurrent, gru_cell, lstm_cell
from regard.models.base import Model
from regard.models.rnn import PRESETS, Rnn, RnnConfig
from regard.models.rnn_attention import RnnAttention, RnnAttentionConfig
from regard.search.search import beam_search, greedy
from variants import RNN as MODELS
from variants import attending, close, plain, scattered, stepwise


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> Model:
    torch.manual_seed(7)
    model = MODELS[request.param]()
    return scattered(model, 0.5)


def loss(model: Model, batch: Batch) -> torch.Tensor:
    log_probs = model(batch).float().log_softmax(-1)
    return -log_probs.gather(-1, batch.tgt_out[..., None])[batch.tgt_mask].mean()


@torch.inference_mode()
def test_beams_of_one_sentence_may_change_places(model: Model, batch: Batch) -> None:
    state = model.start(model.encode(batch.src[:1], batch.src_mask[:1])).select(torch.tensor([0, 0]))
    words = torch.tensor([5, 9])
    apart = model.step(words, state)
    swapped = apart.state.select(torch.tensor([1, 0]))
    close(model.step(words, swapped).log_probs, model.step(words.flip(0), apart.state).log_probs.flip(0))


def test_every_parameter_learns(model: Model, batch: Batch) -> None:
    model.train()
    loss(model, batch).backward()
    assert [n for n, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0] == []


def test_autocast_changes_little(model: Model, batch: Batch) -> None:
    plain = loss(model, batch)
    with torch.autocast("cpu", torch.bfloat16):
        half = loss(model, batch)
    half.backward()
    assert half.item() == pytest.approx(plain.item(), rel=0.03)
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
        stepped, _ = stepwise(model, batch)
    assert stepped.dtype == torch.float32


@pytest.mark.gpu
def test_the_gpu_computes_the_same(model: Model, batch: Batch) -> None:
    with torch.inference_mode():
        expected = model(batch)
    model.cuda()
    there = batch.to("cuda")
    with torch.inference_mode():
        forced, stepped = model(there).log_softmax(-1).cpu(), stepwise(model, there)[0].cpu()
    for found in (forced, stepped):  # cuDNN's layers round factors to TF32
        torch.testing.assert_close(found, expected.log_softmax(-1), rtol=0, atol=1e-2)
    model.train()
    with torch.autocast("cuda", torch.bfloat16):
        half = loss(model, there)
    half.backward()
    assert half.item() == pytest.approx(loss(model, there).item(), rel=0.05)
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


@pytest.mark.filterwarnings("ignore:TF32 acceleration")  # torch's word on switching a backend off
def test_flops_are_those_counted(model: Model) -> None:
    pair = flat_batch([[5, 6, 7, 8]], [[9, 10]]).pad()  # with EOS and BOS: 5 and 3
    # The counter sees neither the CPU's fused LSTM, which is switched off, nor a matrix times the additive score's v.
    with torch.backends.mkldnn.flags(enabled=False), FlopCounterMode(display=False) as counter:
        model(pair)
    unseen = 2 * 5 * 3 * 10 if isinstance(model, RnnAttention) and model.config.score == "additive" else 0
    assert model.flops(5, 3) == counter.get_total_flops() + unseen


# ── learning ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.long
@pytest.mark.parametrize("kind", ["every-gru-reversed", "before-coverage", "feeding"])
def test_it_learns_thirty_sentences_by_heart(kind: str) -> None:
    """The options beyond the plain models of test_overfit.py: turn a sentence round, read back by both searches."""
    torch.manual_seed(1)
    sizes = {"width": 48, "embedding": 48, "dropout": 0.0}
    attention = RnnAttentionConfig(encoder_width=24, encoder_layers=1, decoder_layers=1, alignment=32, **sizes)
    config = {
        "every-gru-reversed": RnnConfig(layers=1, cell="gru", context="every", reverse_source=True, **sizes),
        "before-coverage": replace(attention, attend="before", coverage=True, cell="gru"),
        "feeding": replace(attention, input_feeding=True),
    }[kind]
    constructor = Rnn if isinstance(config, RnnConfig) else RnnAttention
    model = constructor(config, 12, 12, True)
    sources = [torch.randint(3, 12, (3 + i % 4,)).tolist() for i in range(30)]
    targets = [source[::-1] for source in sources]
    batch = flat_batch(sources, targets).pad()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(250):
        optimizer.zero_grad()
        value = loss(model, batch)
        value.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if value < 0.01:
            break
    model.eval()
    assert [list(h.ids) for h in greedy(model, *pad_sources(sources))] == targets
    best = beam_search(model, *pad_sources(sources), beam=3)
    assert [list(hypotheses[0].ids) for hypotheses in best] == targets


# ── the model without attention ─────────────────────────────────────────────────────────────────────────────────────


def run_by_hand(layers: Recurrent, words: torch.Tensor, hidden: list, cell: list) -> tuple[list, list, list]:
    """The equations over one sentence (S, E), layer by layer: states of the top layer, last h and c of each."""
    for layer in range(len(hidden)):
        above = []
        for word in words:
            weights = layers.weights(layer)
            if layers.cell == "lstm":
                hidden[layer], cell[layer] = lstm_cell(word, hidden[layer], cell[layer], weights)
            else:
                hidden[layer] = gru_cell(word, hidden[layer], weights)
            above.append(hidden[layer])
        words = above
    return words, hidden, cell


@torch.inference_mode()
@pytest.mark.parametrize("reverse_source", [False, True])
@pytest.mark.parametrize(("cell", "context"), [("lstm", "start"), ("lstm", "every"), ("gru", "every")])
def test_it_is_the_equations_of_its_page(batch: Batch, cell: str, context: str, reverse_source: bool) -> None:
    torch.manual_seed(3)
    model = plain(cell=cell, context=context, reverse_source=reverse_source, embedding=9)().eval()
    logits = model(batch)
    for row in range(len(batch)):
        words = batch.src[row][batch.src_mask[row]].tolist()
        if reverse_source:
            words = [*words[:-1][::-1], EOS]
        read = [model.source_embedding.weight[w] * 3 for w in words]  # 3 = √9
        zeros = [torch.zeros(12), torch.zeros(12)]
        _, hidden, kept = run_by_hand(model.encoder, read, zeros[:], zeros[:])
        every = [hidden[-1]] if context == "every" else []
        said = [torch.cat([model.target_embedding.weight[w] * 3, *every]) for w in batch.tgt_in[row].tolist()]
        states, _, _ = run_by_hand(model.decoder, said, hidden[:], kept[:])
        close(logits[row], torch.stack(states) @ model.output.weight.T)


@torch.inference_mode()
def test_reversed_or_not_a_state_stands_at_its_word(batch: Batch) -> None:
    """Read backwards, the state of the word before EOS has seen that word alone."""
    model = plain(reverse_source=True)().eval()
    states = model.encode(batch.src, batch.src_mask).states
    for row, length in enumerate(batch.src_mask.sum(1).tolist()):
        last_word = batch.src[row : row + 1, length - 2 : length - 1]
        alone = model.encode(last_word, torch.ones_like(last_word, dtype=torch.bool)).states
        close(states[row, length - 2], alone[0, 0])


def test_the_papers_size() -> None:
    """Section 3.4 of the paper: 384 million with 160,000 and 80,000 words, 64 million of them recurrent."""
    with torch.device("meta"):
        model = Rnn(PRESETS["sutskever"], 160_000, 80_000, False)
    recurrent = sum(p.numel() for part in (model.encoder, model.decoder) for p in part.parameters() if p.dim() == 2)
    assert recurrent == 64_000_000
    assert model.parameter_count() == pytest.approx(384e6, rel=1e-3)  # the rest are biases


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"width": 0}, "model.width must be at least 1, but is 0"),
        ({"layers": 0}, "model.layers must be at least 1, but is 0"),
        ({"dropout": 1.0}, "model.dropout must be at least 0 and below 1, but is 1.0"),
        (
            {"embedding": 8, "tie": "target"},
            'model.tie = "target" needs model.embedding = model.width, but they are 8 and 384; use tie = "auto"',
        ),
    ],
)
def test_impossible_values_are_named(change: dict[str, Any], says: str) -> None:
    with pytest.raises(RecipeError, match=says):
        RnnConfig(**change)


@pytest.mark.parametrize("constructor", [plain, attending])
@pytest.mark.parametrize(
    ("tie", "embedding", "joint", "matrices"),
    [
        ("auto", 12, True, 1),
        ("all", 12, True, 1),
        ("auto", 12, False, 2),
        ("target", 12, True, 2),
        ("none", 12, True, 3),
        ("auto", 9, True, 2),
        ("auto", 9, False, 3),
    ],
)
def test_how_many_embedding_matrices_there_are(
    constructor: Callable[..., Callable[[], Any]], tie: str, embedding: int, joint: bool, matrices: int
) -> None:
    model = constructor(joint=joint, tie=tie, embedding=embedding)()
    shared = {id(w) for w in (model.source_embedding.weight, model.target_embedding.weight, model.output.weight)}
    assert len(shared) == matrices
