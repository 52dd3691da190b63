"""Small random Transformers, saved, and what the native engine says of them, to compare a conversion with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from regard.bundle.bundle import Bundle
from regard.export.ctranslate2 import export_ctranslate2
from regard.export.ctranslate2_file import Weights
from regard.models.table import make_model
from regard.models.transformer_layers import TransformerConfig
from regard.search.ctranslate2_engine import CTranslate2Engine
from regard.search.ctranslate2_model import ConvertedModel
from regard.search.engine import Engine
from regard.text.tokenizer import Tokenizer
from regard.translation.translator import TextTranslator

SMALL: dict[str, Any] = {"width": 16, "heads": 4, "inner": 24, "encoder_layers": 2, "decoder_layers": 3}


def saved_transformer(folder: Path, tokenizer: Tokenizer, card: dict[str, Any] | None = None, **config: Any) -> Bundle:
    """One whose weights, biases and norms are all random, so that none can be left out unnoticed."""
    torch.manual_seed(7)
    shape = TransformerConfig(**(SMALL | config))
    model = make_model("transformer", shape, tokenizer).eval()
    with torch.no_grad():
        for tensor in model.parameters():
            tensor += torch.randn_like(tensor) * (0.3 if tensor.dim() == 1 else 0.2)
    bundle = Bundle("transformer", shape, model, tokenizer, card or {})
    bundle.save(folder)
    return bundle


def engines(folder: Path, out: Path, weights: Weights = "float32") -> tuple[CTranslate2Engine, Engine]:
    """The engine of CTranslate2 for a bundle, and the native one."""
    translator = TextTranslator(Bundle.load(folder))
    converted = ConvertedModel(out, export_ctranslate2(folder, out, weights))
    native = translator.engine()
    return CTranslate2Engine(converted, translator.alignment_view, lambda: native), native
