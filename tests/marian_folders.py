"""Small Marian models of the real class, made by `transformers`, in folders as Hugging Face stores them.

For the few test files that compare with `transformers`, because its import takes seconds.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from pieces_files import grammar_lines, write_vocabulary

SIZES = {
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "max_position_embeddings": 64,
    "init_std": 0.3,  # so that a random model is sure of something
    "activation_function": "swish",
    "scale_embedding": True,
}


def make_marian(folder: Path, joint: bool = True, tags: Sequence[str] = (), seed: int = 0, **changes: Any) -> Any:
    """A `MarianMTModel` with random weights, saved with its vocabularies; its output bias is random too."""
    transformers = pytest.importorskip("transformers")
    write_vocabulary(folder, size=200, tags=tags, joint=joint)
    if not joint:  # <pad> has one id in both
        level_vocabularies(folder)
    size = len(json.loads((folder / "vocab.json").read_text(encoding="utf-8")))
    ids = {"pad_token_id": size - 1, "decoder_start_token_id": size - 1, "eos_token_id": 0, "forced_eos_token_id": 0}
    torch.manual_seed(seed)
    shape = {"vocab_size": size, "share_encoder_decoder_embeddings": joint, **ids, **SIZES, **changes}
    model = transformers.MarianMTModel(transformers.MarianConfig(**shape)).eval()
    with torch.no_grad():
        model.final_logits_bias.normal_()
    model.generation_config.num_beams = 4
    model.generation_config.bad_words_ids = [[size - 1]]
    model.save_pretrained(folder)
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"source_lang": "en", "target_lang": "fr", "separate_vocabs": not joint}), encoding="utf-8"
    )
    return model


def level_vocabularies(folder: Path) -> None:
    """Fill the smaller of two vocabularies up, so that both have the same size."""
    paths = [folder / "vocab.json", folder / "target_vocab.json"]
    lists = [list(json.loads(path.read_text(encoding="utf-8"))) for path in paths]
    size = max(map(len, lists))
    for path, names in zip(paths, lists, strict=True):
        fill = [f"▁unused{i}" for i in range(size - len(names))]
        full = [*names[:-1], *fill, names[-1]]
        path.write_text(json.dumps({name: i for i, name in enumerate(full)}, ensure_ascii=False), encoding="utf-8")


def short_lines(count: int = 24) -> list[tuple[str, str]]:
    return sorted(grammar_lines(), key=lambda pair: len(pair[1]))[:count]


def train_marian(folder: Path, steps: int = 60, **changes: Any) -> Any:
    """The same, trained by torch alone on some short sentences, so that its searches say and end something."""
    transformers = pytest.importorskip("transformers")
    model = make_marian(folder, d_model=32, init_std=0.1, **changes).train()
    files = {"source_spm": "source.spm", "target_spm": "target.spm", "vocab": "vocab.json"}
    further = {} if changes.get("joint", True) else {"target_vocab_file": str(folder / "target_vocab.json")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tokenizer = transformers.MarianTokenizer(
            **{name: str(folder / file) for name, file in files.items()}, separate_vocabs=bool(further), **further
        )
        pairs = short_lines()
        batch = tokenizer([s for s, _ in pairs], text_target=[t for _, t in pairs], padding=True, return_tensors="pt")
    labels = batch.pop("labels")
    labels[labels == model.config.pad_token_id] = -100
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    torch.manual_seed(0)
    for _ in range(steps):
        model(**batch, labels=labels).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.eval().save_pretrained(folder)
    return model
