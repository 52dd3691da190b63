"""Models of ours in `transformers`: it loads the folder, and logits, ids, greedy and beam search are the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.batch import flat_batch
from regard.bundle import bundled_models
from regard.bundle.bundle import Bundle
from regard.errors import InputError
from regard.export.huggingface import export_huggingface
from regard.export.table import export_model
from regard.models.table import make_model
from regard.models.transformer_layers import TransformerConfig
from regard.search.alignment_heads import AlignmentHeads
from regard.search.engine import SearchRequest
from regard.search.forced_decoding import AlignmentView
from regard.search.native_engine import NativeEngine
from regard.search.options import SearchOptions
from regard.text.tokenizer import TextConfig, Tokenizer
from support import LINES, Call

SMALL = TransformerConfig(width=16, heads=2, inner=32, encoder_layers=2, decoder_layers=1, norm="post")
TEXTS = ["The black cat sleeps.", "  Two  spaces, l'homme n'est pas là…", "25 € ▁ 日本 \uf8f0 <br>", "cafe\u0301"]
BOXED = "en-fr-classic"  # it has learnt, so that its searches are not of nearly equal words, and is small
SENTENCES = ["The cat is on the mat.", "Where did you buy that book?", "She has been living in Paris for two years."]


def saved(folder: Path, config: TransformerConfig, text: TextConfig) -> Path:
    tokenizer = Tokenizer.train(lambda: iter(LINES), text)
    torch.manual_seed(2)
    model = make_model("transformer", config, tokenizer)
    if config.output_bias:
        torch.nn.init.normal_(model.output.bias)  # type: ignore[arg-type, union-attr]
    Bundle("transformer", config, model.eval(), tokenizer).save(folder)
    return folder


def loaded(folder: Path) -> tuple[Any, Any]:
    transformers = pytest.importorskip("transformers")
    model, info = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder, output_loading_info=True)
    assert not any(info.values()), info  # nothing is missing, left over or of another shape
    return model.eval(), transformers.AutoTokenizer.from_pretrained(folder)


@pytest.fixture(scope="module")
def exported_box(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    out = tmp_path_factory.mktemp("box") / "huggingface"
    export_model(bundled_models.folder_of(BOXED), "huggingface", out)
    return loaded(out)


@pytest.mark.parametrize(
    ("config", "text"),
    [
        (SMALL, TextConfig(vocab_size=300)),
        (replace(SMALL, norm="pre", activation="gelu", output_bias=True), TextConfig(vocab_size=300)),
        (replace(SMALL, tie="none", activation="silu"), TextConfig(vocab_size=300, joint=False)),
        (replace(SMALL, tie="target", output_bias=True), TextConfig(vocab_size=300, joint=False)),
    ],
)
def test_logits_are_the_same(config: TransformerConfig, text: TextConfig, tmp_path: Path) -> None:
    bundle = Bundle.load(saved(tmp_path / "model", config, text))
    export_huggingface(tmp_path / "model", tmp_path / "out", "float32")
    theirs, _ = loaded(tmp_path / "out")
    sources = bundle.tokenizer.encode_source([s for s, _ in LINES])
    targets = bundle.tokenizer.encode_target([t for _, t in LINES])
    batch = flat_batch(sources, targets).pad()
    with torch.inference_mode():
        ours = bundle.model(batch)
        found = theirs(input_ids=batch.src, attention_mask=batch.src_mask, decoder_input_ids=batch.tgt_in).logits
    torch.testing.assert_close(ours[batch.tgt_mask], found[batch.tgt_mask], atol=1e-4, rtol=0)


def test_the_box_reads_writes_and_computes_the_same(exported_box: tuple[Any, Any]) -> None:
    model, tokenizer = exported_box
    bundle = Bundle.load(bundled_models.folder_of(BOXED))
    sources = bundle.tokenizer.encode_source(TEXTS)
    assert [[*ids, 2] for ids in sources] == tokenizer(TEXTS)["input_ids"]
    for ids in sources:
        assert tokenizer.decode([*ids, 2], skip_special_tokens=True) == bundle.tokenizer.decode(ids)
    batch = flat_batch(sources, sources).pad()
    with torch.inference_mode():
        ours = bundle.model(batch)[batch.tgt_mask]
        found = model(input_ids=batch.src, attention_mask=batch.src_mask, decoder_input_ids=batch.tgt_in).logits
    torch.testing.assert_close(ours, found[batch.tgt_mask], atol=1e-3, rtol=0)


@pytest.mark.parametrize("beam", [1, 5])
def test_the_box_says_the_same(exported_box: tuple[Any, Any], beam: int) -> None:
    """With a length penalty of 0, where both formulas are the same."""
    model, tokenizer = exported_box
    bundle = Bundle.load(bundled_models.folder_of(BOXED))
    engine = NativeEngine(bundle.model, AlignmentView(AlignmentHeads(())), bundle.model)
    requests = [SearchRequest(tuple(ids)) for ids in bundle.tokenizer.encode_source(SENTENCES)]
    ours = [best[0].ids for best in engine.search(requests, SearchOptions(beam, 0.0))]
    given = tokenizer(SENTENCES, return_tensors="pt", padding=True)
    said = model.generate(
        given["input_ids"], attention_mask=given["attention_mask"], num_beams=beam, length_penalty=0.0
    )
    assert [tuple(i for i in row if i > 2) for row in said.tolist()] == ours


def test_a_mark_stands_before_every_source(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    tokenizer = Tokenizer.train(lambda: iter(LINES), TextConfig(vocab_size=300, tags=("<en>", "<fr>"))).marked("<fr>")
    model = make_model("transformer", SMALL, tokenizer)
    Bundle("transformer", SMALL, model.eval(), tokenizer).save(tmp_path / "model")
    export_model(tmp_path / "model", "huggingface", tmp_path / "out", "bfloat16")
    ids = transformers.AutoTokenizer.from_pretrained(tmp_path / "out")("The cat.")["input_ids"]
    assert ids == [*tokenizer.encode_source(["The cat."])[0], 2]


@pytest.mark.parametrize(
    ("changes", "joint", "why"),
    [
        ({"positions": "rotary"}, True, "its positions are rotary"),
        ({"positions": "learned"}, True, "its positions are learned"),
        ({"activation": "swiglu"}, True, "have gates"),
        ({"experts": 2}, True, "mixture of experts"),
        ({"norm": "pre"}, False, "not one matrix"),
    ],
)
def test_what_transformers_cannot_express_is_refused(
    changes: dict[str, Any], joint: bool, why: str, tmp_path: Path, call: Call
) -> None:
    folder = saved(tmp_path / "model", replace(SMALL, **changes), TextConfig(vocab_size=300, joint=joint))
    answer = call("export", folder, "--as", "huggingface", "--out", tmp_path / "out")
    assert answer.code == 2
    assert why in answer.err
    assert "those that can: a Transformer with sinusoidal positions" in answer.err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model"]


def test_bad_requests(tmp_path: Path, call: Call) -> None:
    folder = saved(tmp_path / "model", SMALL, TextConfig(vocab_size=300))
    with pytest.raises(InputError, match="unknown format"):
        export_model(folder, "onnx")
    answer = call("export", folder, "--as", "huggingface", "--weights", "int8")
    assert "weights must be one of float32, float16, bfloat16 for huggingface" in answer.err
    assert "nothing is written into a bundled model" in call("export", "--as", "huggingface").err
    assert call("export", folder, "--as", "huggingface").code == 0
    assert "is there already" in call("export", folder, "--as", "huggingface").err
