"""The contract of `models/base.py`, held over every architecture: the most valuable test of the repository."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import variants
from regard.batch import BOS, PAD, Batch, flat_batch, pad_sources
from regard.bundle.bundle import Bundle
from regard.errors import InputError, RecipeError
from regard.models.base import Model, State
from regard.models.bytenet import ByteNet, ByteNetConfig
from regard.models.convs2s import ConvS2S, ConvS2SConfig
from regard.models.deep_att import DeepAtt, DeepAttConfig
from regard.models.ensemble import Ensemble
from regard.models.gnmt import GNMT, GNMTConfig
from regard.models.moe import Moe, MoeConfig
from regard.models.rnn import Rnn, RnnConfig
from regard.models.rnn_attention import RnnAttention, RnnAttentionConfig
from regard.models.table import ARCHITECTURES, make_model
from regard.models.transformer import Transformer
from regard.models.transformer_layers import TransformerConfig
from regard.search.search import beam_search, greedy
from regard.text.tokenizer import Tokenizer
from variants import V, close, scattered, stepwise

SMALL = TransformerConfig(width=16, heads=2, inner=32, encoder_layers=2, decoder_layers=3, norm="post")
RNN = RnnConfig(width=12, layers=2, embedding=10)
LOOKING = RnnAttentionConfig(width=12, encoder_width=6, embedding=10, alignment=8)
GATED = MoeConfig(width=12, cells=12, inner=16, experts=3)
MODELS: dict[str, Callable[[], Model]] = {
    "transformer": lambda: Transformer(SMALL, V, V, True),
    "transformer-pre": lambda: Transformer(replace(SMALL, norm="pre", activation="swiglu"), V, V, True),
    "transformer-rotary": lambda: Transformer(replace(SMALL, positions="rotary", activation="gelu"), V, V, True),
    "transformer-learned": lambda: Transformer(replace(SMALL, positions="learned", tie="none"), V, V, False),
    "transformer-marian": lambda: Transformer(replace(SMALL, output_bias=True, activation="silu"), V, V, True),
    "transformer-experts": lambda: Transformer(replace(SMALL, experts=3), V, V, True),
    "rnn": lambda: Rnn(RNN, V, V, True),
    "rnn-gru-every": lambda: Rnn(replace(RNN, cell="gru", context="every", reverse_source=True), V, V, False),
    "rnn-attention": lambda: RnnAttention(LOOKING, V, V, True),
    "rnn-attention-before": lambda: RnnAttention(replace(LOOKING, attend="before", cell="gru"), V, V, True),
    "rnn-attention-feeding": lambda: RnnAttention(replace(LOOKING, input_feeding=True, coverage=True), V, V, False),
    "gnmt": lambda: GNMT(GNMTConfig(width=12, layers=3), V, V, True),
    "deep-att": lambda: DeepAtt(DeepAttConfig(width=8, embedding=10, encoder_layers=3, decoder_layers=2), V, V, True),
    "bytenet": lambda: ByteNet(ByteNetConfig(width=16, encoder_layers=3, decoder_layers=3), V, V, True),
    "convs2s": lambda: ConvS2S(ConvS2SConfig(width=12, embedding=10, encoder_layers=2, decoder_layers=2), V, V, True),
    "moe": lambda: Moe(GATED, V, V, True),
    "ensemble": lambda: Ensemble([Transformer(SMALL, V, V, True), Rnn(RNN, V, V, True)]),
}
WITHOUT_ATTENTION = {"rnn", "rnn-gru-every", "bytenet"}
for family, some in (
    ("bytenet", variants.BYTENET),
    ("convs2s", variants.CONVS2S),
    ("deep-att", variants.DEEP_ATT),
    ("gnmt", variants.GNMTS),
    ("moe", variants.MOE),
    ("rnn", variants.RNN),
    ("ensemble", variants.ENSEMBLES),
    ("hybrid", variants.HYBRIDS),
):
    MODELS |= {f"{family}, {name}": make for name, make in some.items()}
    WITHOUT_ATTENTION |= {f"{family}, {name}" for name in some if family == "bytenet"}
WITHOUT_ATTENTION |= {
    "rnn, lstm",
    "rnn, gru-every",
    "rnn, tanh",
    "rnn, lstm-reversed",
    "hybrid, lexicon without attention",
}


ONE_LOOK = ("rnn", "gnmt", "deep-att", "moe")  # families with one map of one head, if any
pytestmark = variants.PROJECTS


def test_every_architecture_is_here() -> None:
    assert set(ARCHITECTURES) <= set(MODELS)


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> Model:
    torch.manual_seed(7)
    model = MODELS[request.param]()
    return scattered(model)


@torch.inference_mode()
def test_steps_equal_teacher_forcing(model: Model, batch: Batch) -> None:
    forced = model(batch).log_softmax(-1)
    stepped, _ = stepwise(model, batch)
    assert stepped.dtype == torch.float32
    close(stepped[batch.tgt_mask], forced[batch.tgt_mask])


@torch.inference_mode()
def test_the_future_cannot_change_the_past(model: Model, batch: Batch) -> None:
    changed = batch.tgt_in.clone()
    changed[:, 3:] = (changed[:, 3:] + 5) % (V - 3) + 3
    before, after = model(batch), model(replace(batch, tgt_in=changed))
    close(after[:, :3], before[:, :3])
    assert not torch.allclose(after[:, 3:], before[:, 3:])


@torch.inference_mode()
def test_every_source_word_can_matter(model: Model, batch: Batch) -> None:
    for row, place in [(2, 0), (2, 6), (0, 2)]:
        changed = batch.src.clone()
        changed[row, place] = (changed[row, place] + 5) % (V - 3) + 3
        difference = (model(batch) - model(replace(batch, src=changed))).abs().amax(dim=(1, 2))
        assert difference[row] > 1e-4
        assert difference.sum() == difference[row]  # and to its own sentence alone


@torch.inference_mode()
def test_extra_padding_changes_nothing(model: Model, batch: Batch) -> None:
    def wider(rows: torch.Tensor) -> torch.Tensor:
        return torch.cat([rows, torch.full((len(rows), 4), PAD).to(rows.dtype)], dim=1)

    padded = Batch(*map(wider, batch.tensors()))
    length = batch.tgt_in.shape[1]
    close(model(padded)[:, :length][batch.tgt_mask], model(batch)[batch.tgt_mask])


@torch.inference_mode()
def test_batch_of_one_equals_batch_of_many(model: Model, batch: Batch) -> None:
    together = model(batch)
    for row in range(len(batch)):
        source = batch.src[row][batch.src_mask[row]][:-1].tolist()
        target = batch.tgt_out[row][batch.tgt_mask[row]][:-1].tolist()
        alone = flat_batch([source], [target]).pad()
        close(model(alone)[0], together[row][batch.tgt_mask[row]])


@torch.inference_mode()
def test_select_commutes_with_step(model: Model, batch: Batch) -> None:
    start, bos = model.start(model.encode(batch.src, batch.src_mask)), torch.full((len(batch),), BOS)
    first, token = model.step(bos, start), batch.tgt_in[:, 1]
    second = model.step(token, first.state).log_probs
    for rows in ([2, 0], [1, 1, 0, 2], [0, 1, 2], [2]):
        index = torch.tensor(rows)
        close(model.step(bos[index], start.select(index)).log_probs, first.log_probs[index])  # before the first step
        close(model.step(token[index], first.state.select(index)).log_probs, second[index])
        again = first.state.select(index).select(torch.arange(len(rows)).flip(0))  # and once more, reordered
        close(model.step(token[index].flip(0), again).log_probs, second[index].flip(0))
        close(model.step(token, first.state).log_probs, second)  # the old state is untouched


@torch.inference_mode()
@pytest.mark.parametrize(("room", "trace"), [(None, True), (9, False)])
def test_rows_and_sentences_change_places(model: Model, batch: Batch, room: int | None, trace: bool) -> None:
    """Rows are selected, sentences join and leave; every row goes on as teacher forcing does from its own words."""
    sources = [batch.src[i][batch.src_mask[i]][:-1].tolist() for i in range(3)]
    rows: list[tuple[int, tuple[int, ...]]] = []  # sentence and words of each row
    word = iter(range(1000))

    def begin(sentences: list[int]) -> State:
        rows.extend((i, ()) for i in sentences for _ in range(2))
        memory = model.encode(*pad_sources([sources[i] for i in sentences]))
        return model.start(memory, trace, beams=2, room=room)

    def step(state: State) -> State:
        last = torch.tensor([words[-1] if words else BOS for _, words in rows])
        found = model.step(last, state)
        forced = model(flat_batch([sources[i] for i, _ in rows], [words for _, words in rows]).pad())  # (N, T, V)
        expected = torch.stack([row[len(words)] for row, (_, words) in zip(forced, rows, strict=True)])
        close(found.log_probs, expected.log_softmax(-1))
        if trace and found.attention is not None:
            close(found.attention.sum(-1), torch.ones(found.attention.shape[:-1]))
        rows[:] = [(i, (*words, 3 + next(word) * 7 % (V - 3))) for i, words in rows]
        return found.state

    state = step(begin([2, 0]))
    state, rows[:] = state.select(torch.tensor([1, 0, 3, 3])), [rows[i] for i in (1, 0, 3, 3)]
    state = step(state)
    state = step(state.join(begin([1])))
    state, rows[:] = state.keep(torch.tensor([2, 0])), rows[4:6] + rows[0:2]
    state = step(state)
    state = state.join(begin([0, 2]))
    state, rows[:] = state.select(torch.tensor([0, 0, 2, 3, 5, 4, 6, 7])), [rows[i] for i in (0, 0, 2, 3, 5, 4, 6, 7)]
    state = step(step(state))
    state, rows[:] = state.keep(torch.tensor([3])), rows[6:8]
    step(state)


@torch.inference_mode()
def test_which_attention_there_is(model: Model, batch: Batch, request: pytest.FixtureRequest) -> None:
    maps = model.attention(batch)
    named = request.node.callspec.params["model"]
    assert bool(maps.cross) == (named not in WITHOUT_ATTENTION)
    if "transformer" in named:
        assert maps.encoder
        assert maps.decoder
    if named.startswith(ONE_LOOK):
        assert maps.encoder == maps.decoder == []
        assert [weights.shape[1] for weights in maps.cross] in ([], [1])


@torch.inference_mode()
def test_what_is_declared_of_attention_is_so(model: Model, batch: Batch) -> None:
    maps = model.attention(batch)
    assert model.has_attention == bool(maps.cross)
    if any(isinstance(part, Ensemble) for part in model.modules()):
        with pytest.raises(InputError, match="name one of its members"):
            model.attention_parts()
        return
    parts = model.attention_parts()
    if parts:
        assert {key: part.heads for key, part in parts.items()} == {
            (kind, layer): weights.shape[1]
            for kind in ("encoder", "decoder", "cross")
            for layer, weights in enumerate(getattr(maps, kind))
        }


@torch.inference_mode()
def test_attention_is_given_when_asked_and_sums_to_one(model: Model, batch: Batch) -> None:
    maps = model.attention(batch)
    keys = {"encoder": batch.src.shape[1], "decoder": batch.tgt_in.shape[1], "cross": batch.src.shape[1]}
    for name, size in keys.items():
        for weights in getattr(maps, name):
            assert weights.shape[0] == len(batch)
            assert weights.shape[-1] == size
            close(weights.sum(-1), torch.ones(weights.shape[:-1]))
    for weights in maps.cross + maps.encoder:  # nobody looks at padding
        assert (weights.masked_select(~batch.src_mask[:, None, None].expand_as(weights)) == 0).all()
    for weights in maps.decoder:  # nobody looks ahead
        assert (weights.triu(1) == 0).all()
    plain, untraced = stepwise(model, batch)
    assert untraced == [None] * batch.tgt_in.shape[1]
    recorded, traced = stepwise(model, batch, trace=True)
    close(plain[batch.tgt_mask], recorded[batch.tgt_mask])  # the fused kernel and the visible equation
    if not maps.cross:
        assert traced == untraced
        return
    stepped = torch.stack([a for a in traced if a is not None], dim=3)  # (B, L, H, T, S)
    forced = torch.stack(maps.cross, dim=1)
    mask = batch.tgt_mask[:, None, None].expand(forced.shape[:-1])
    close(stepped[mask], forced[mask])


def test_every_parameter_learns(model: Model, batch: Batch) -> None:
    model(batch).log_softmax(-1).gather(-1, batch.tgt_out[..., None])[batch.tgt_mask].sum().backward()
    silent = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    # A key's bias moves all scores of a row alike, and softmax does not see that: it may rest at zero but for rounding.
    # An expert that no token of this batch has chosen rests too, and so does noise, which is for training.
    resting = ("key.bias", "noise.weight")
    assert [n for n in silent if not n.endswith(resting) and ".experts." not in n] == []


def test_operations_grow_with_the_sentence(model: Model) -> None:
    assert 0 < model.flops(5, 5) < model.flops(10, 5) < model.flops(10, 10)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_bundle_round_trip_changes_nothing(tmp_path: Path, tokenizer: Tokenizer, architecture: str) -> None:
    torch.manual_seed(3)
    config = ARCHITECTURES[architecture].presets["tiny"]
    model = make_model(architecture, config, tokenizer).eval()
    Bundle(architecture, config, model, tokenizer, {"note": "é"}).save(tmp_path / "b")
    again = Bundle.load(tmp_path / "b")
    assert again.card == {"note": "é"}
    assert again.config == config
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.model.parameters(), strict=True))
    batch = flat_batch(tokenizer.encode_source(["The cat sleeps."]), tokenizer.encode_target(["Le chat dort."])).pad()
    with torch.inference_mode():
        assert torch.equal(model(batch), again.model(batch))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_presets_can_be_made(architecture: str) -> None:
    section, presets, constructor = ARCHITECTURES[architecture]
    assert {"tiny", "small"} < set(presets)
    assert section() == presets["small"]
    assert all(isinstance(config, section) for config in presets.values())
    for name in ("tiny", "small"):  # the others in test_architectures_page.py
        with torch.device("meta"):
            model = constructor(presets[name], 3200, 3200, True)
        assert model.flops(20, 20) > 0


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_tying_all_needs_a_joint_vocabulary(architecture: str) -> None:
    _, presets, constructor = ARCHITECTURES[architecture]
    config = replace(presets["tiny"], tie="all")
    assert constructor(config, 10, 10, True).source_embedding.weight.shape[0] == 10
    with pytest.raises(RecipeError, match="joint"):
        constructor(config, 10, 12, False)


@pytest.mark.parametrize(("tie", "matrices"), [("auto", 1), ("all", 1), ("target", 2), ("none", 3)])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_how_many_embedding_matrices_there_are(architecture: str, tie: str, matrices: int) -> None:
    _, presets, constructor = ARCHITECTURES[architecture]
    model: Any = constructor(replace(presets["tiny"], tie=tie), 10, 10, True)
    shared = {id(w) for w in (model.source_embedding.weight, model.target_embedding.weight, model.output.weight)}
    assert len(shared) == matrices


@pytest.mark.parametrize("name", ["transformer", "convs2s"])
def test_learned_positions_end_with_an_error_and_a_search_before_it(name: str) -> None:
    configs: dict[str, Model] = {
        "transformer": Transformer(replace(SMALL, positions="learned", max_positions=6), V, V, True),
        "convs2s": ConvS2S(replace(variants.SMALL_CONVS2S, max_positions=6), V, V, True),
    }
    model = scattered(configs[name])
    short, long = [5, 9, 4, 7, 3], [5, 9, 4, 7, 3, 8]  # with EOS 6 and 7 tokens
    assert model.max_positions == 6
    assert model(flat_batch([short], [short]).pad()).isfinite().all()
    for source, target in ((long, short), (short, long)):
        with pytest.raises(InputError, match="a sentence of 7 tokens is longer than the 6 learned positions"):
            model(flat_batch([source], [target]).pad())
    for found in (greedy(model, *pad_sources([short])), *beam_search(model, *pad_sources([short]), 3)):
        assert all(len(hypothesis.ids) <= 6 for hypothesis in found)


def test_a_wrapped_layer_still_counts() -> None:
    """Layers are taken as they are: none is left out because its class is another."""

    class Wrapped(torch.nn.Module):
        def __init__(self, inner: torch.nn.Module) -> None:
            super().__init__()
            self.inner = inner

        def __getattr__(self, name: str) -> Any:
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(self.inner, name)

        def forward(self, *args: Any, **more: Any) -> Any:
            return self.inner(*args, **more)

    batch = flat_batch([[5, 9, 4]], [[7, 3]]).pad()
    for make in (MODELS["transformer"], MODELS["deep-att"], MODELS["gnmt"], MODELS["convs2s"]):
        model: Any = scattered(make())
        before, flops = model(batch), model.flops(5, 5)
        parts = {key: part.heads for key, part in model.attention_parts().items()}
        model.decoder[-1] = Wrapped(model.decoder[-1])
        assert torch.equal(model(batch), before)
        assert model.flops(5, 5) == flops
        assert {key: part.heads for key, part in model.attention_parts().items()} == parts
