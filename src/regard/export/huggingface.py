"""Exports a Transformer as a folder that Hugging Face's `transformers` loads, with the same translations.

    norm = "post"    MarianMTModel                      (the class of OPUS-MT)
    norm = "pre"     PegasusForConditionalGeneration    (Marian's positions and names, LayerNorm before the sublayer)

`transformers` has no Marian with LayerNorm before the sublayer; Pegasus computes exactly that, whatever it was made
for. Only the order of dimensions and the names change (`bundle/marian_tensors.py`); logits are equal up to rounding.
Models that neither class supports are refused: rotary or learned positions, gates, experts, other architectures.

A learned vocabulary becomes a tokenizer.json of the Rust library `tokenizers`, with the same ids. Its steps are those
of `text/tokenizer.py`: NFC, visible spaces (`text/pieces.py`), pre-tokenization, BPE with byte fallback; EOS at the
end, and the mark, if the model has one, at the beginning. Two things differ: a special token that occurs in a text,
such as </s>, is read as that token, and slots are not supported.

An imported model is exported with its original files and order of ids. Hugging Face divides by lengthᵅ
where we divide by ((5 + length) / 6)ᵅ, so a beam search may rank hypotheses of unlike length differently; with a length
penalty of 0 both are the same.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import tokenizers
import torch
from safetensors.torch import save_file
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors
from torch import Tensor

from regard.batch import BOS, EOS, PAD
from regard.bundle.bundle import Bundle
from regard.bundle.folder import new_folder, write_json
from regard.bundle.marian_tensors import layers_to_marian, rows_to_marian, width_order
from regard.errors import InputError
from regard.layers.positions import sinusoids
from regard.models.transformer_layers import TransformerConfig
from regard.text.learned_vocabulary import LearnedVocabulary
from regard.text.marian_vocabulary import marian_files
from regard.text.pieces import CUTS, ESCAPE, ONE, SPACE, ZERO
from regard.text.sentencepiece import SentencePieceVocabulary, imported_order
from regard.text.tokenizer import Tokenizer
from regard.text.vocabulary import SPECIALS, UNKNOWN, Vocabulary
from regard.version import __version__


def fast_tokenizer(vocabulary: LearnedVocabulary, tags: Sequence[str], mark: str | None) -> tokenizers.Tokenizer:
    """Builds the tokenizer of a BPE or word vocabulary."""
    ids, merges = vocabulary.ids, vocabulary.merges
    model = models.WordLevel(ids, UNKNOWN) if merges is None else models.BPE(ids, merges, byte_fallback=True)
    made = tokenizers.Tokenizer(model)
    made.add_special_tokens([AddedToken(piece, special=True, normalized=False) for piece in (*SPECIALS, *tags)])
    made.normalizer = normalizers.Sequence(
        [
            normalizers.NFC(),
            normalizers.Replace(ESCAPE, ESCAPE + ZERO),
            normalizers.Replace(SPACE, ESCAPE + ONE),
            normalizers.Replace(" ", SPACE),
            normalizers.Prepend(SPACE),
        ]
    )
    made.pre_tokenizer = pre_tokenizers.Split(Regex(CUTS), "isolated")
    begin, special = ([mark] if mark else []), [(SPECIALS[EOS], EOS), *([(mark, ids[mark])] if mark else [])]
    made.post_processor = processors.TemplateProcessing(single=[*begin, "$A", SPECIALS[EOS]], special_tokens=special)
    made.decoder = decoders.Sequence(
        [
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Replace(SPACE, " "),
            decoders.Replace(ESCAPE + ONE, SPACE),
            decoders.Replace(ESCAPE + ZERO, ESCAPE),
            decoders.Strip(" ", 1, 0),
        ]
    )
    return made


CLASSES = {"post": ("MarianMTModel", "marian"), "pre": ("PegasusForConditionalGeneration", "pegasus")}
POSITIONS = 1024  # rows of the position table: the maximum tokens of a sentence in `transformers`
MAX_GENERATED_TOKENS = 512


@cache
def _stored_text() -> dict[str, Any]:
    """Reads the parts of the output that are the same for every model (`huggingface.toml`)."""
    return tomllib.loads(Path(__file__).with_name("huggingface.toml").read_text(encoding="utf-8"))


def export_huggingface(folder: Path, out: Path, weights: str) -> list[str]:
    """Exports the bundle in `folder` to the new folder `out`; returns lines that describe what was written."""
    bundle = Bundle.load(folder)
    check_exportable(bundle)
    with new_folder(out) as work:
        tensors = {
            name: tensor.to(getattr(torch, weights)).contiguous() for name, tensor in to_huggingface(bundle).items()
        }
        save_file(tensors, work / "model.safetensors", {"format": "pt"})
        write_json(work / "config.json", config_of(bundle) | {"dtype": weights})
        write_json(work / "generation_config.json", generation_of(bundle))
        write_tokenizer(bundle, work)
        (work / "README.md").write_text(readme_of(bundle), encoding="utf-8")
    name = CLASSES[bundle.config.norm][0]
    lines = [f"{name}: {sum(t.numel() for t in tensors.values()):,} numbers in {weights}, written to {out}"]
    if bundle.decode.length_penalty:
        alpha = bundle.decode.length_penalty
        lines.append(f"the length penalty {alpha:g} is an exponent of the length there, of (5 + length) / 6 here")
    return lines


def check_exportable(bundle: Bundle) -> None:
    """Raises if neither class computes the same as this model."""
    config = bundle.config
    if bundle.architecture != "transformer":
        why = f"its architecture is {bundle.architecture}"
    elif config.positions != "sinusoidal":
        why = f"its positions are {config.positions}"
    elif config.activation == "swiglu":
        why = "its feed-forward layers have gates (swiglu)"
    elif config.experts:
        why = "it has a mixture of experts"
    elif config.norm == "pre" and not is_shared(bundle):
        why = "its LayerNorm stands before the sublayer and its embeddings are not one matrix"
    else:
        return
    raise InputError(
        f"this model cannot be written for Hugging Face: {why}; those that can: a Transformer with sinusoidal "
        "positions, without gates and experts, with one vocabulary for both sides or with norm = post"
    )


def is_shared(bundle: Bundle) -> bool:
    """Whether source, target and output share one matrix."""
    return bool(bundle.tokenizer.config.joint) and bundle.config.tie in ("auto", "all")


def ids_of(tokenizer: Tokenizer) -> dict[str, int]:
    """Returns the exported ids of PAD, EOS and the token that decoding starts with."""
    if isinstance(tokenizer.target, SentencePieceVocabulary):
        pad, eos = tokenizer.target.pad, tokenizer.target.eos
        return {"pad_token_id": pad, "eos_token_id": eos, "decoder_start_token_id": pad}
    return {"pad_token_id": PAD, "eos_token_id": EOS, "decoder_start_token_id": BOS}


def in_their_order(rows: Tensor, vocabulary: Vocabulary) -> Tensor:
    """Reorders rows (V, …) by the ids of the exported vocabulary."""
    if not isinstance(vocabulary, SentencePieceVocabulary):
        return rows
    return rows_to_marian(rows, imported_order(len(vocabulary) - 1, vocabulary.pad, vocabulary.eos))


def to_huggingface(bundle: Bundle) -> dict[str, Tensor]:
    """Returns the tensors by their names in `transformers`; a shared tensor is included once, as it is there."""
    ours = {name: tensor.detach().cpu().float() for name, tensor in bundle.model.state_dict().items()}
    config, tokenizer = bundle.config, bundle.tokenizer
    back = width_order(config.width).argsort()
    source = in_their_order(ours["source_embedding.weight"], tokenizer.source)[:, back]
    target = in_their_order(ours["target_embedding.weight"], tokenizer.target)[:, back]
    output = in_their_order(ours["output.weight"], tokenizer.target)[:, back]
    bias = ours.get("output.bias", torch.zeros(len(tokenizer.target)))
    theirs = layers_to_marian(ours, config)
    theirs["final_logits_bias"] = in_their_order(bias, tokenizer.target)[None]  # (1, V)
    if is_shared(bundle):
        theirs["model.shared.weight"] = target
    else:
        theirs["model.encoder.embed_tokens.weight"], theirs["model.decoder.embed_tokens.weight"] = source, target
    if config.tie == "none":
        theirs["lm_head.weight"] = output
    table = sinusoids(torch.arange(POSITIONS), config.width)[:, back]  # (P, D)
    return theirs | {f"model.{side}.embed_positions.weight": table.clone() for side in ("encoder", "decoder")}


def config_of(bundle: Bundle) -> dict[str, Any]:
    config: TransformerConfig = bundle.config
    tokenizer = bundle.tokenizer
    name, kind = CLASSES[config.norm]
    drop = int(isinstance(tokenizer.target, SentencePieceVocabulary))  # our PAD is not in their vocabulary
    marian = {"decoder_vocab_size": tokenizer.target_size - drop, "share_encoder_decoder_embeddings": is_shared(bundle)}
    return {
        "architectures": [name],
        "model_type": kind,
        "vocab_size": tokenizer.source_size - drop,
        **(marian if kind == "marian" else {}),
        "d_model": config.width,
        "encoder_layers": config.encoder_layers,
        "decoder_layers": config.decoder_layers,
        **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), config.heads),
        **dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim"), config.inner),
        "activation_function": config.activation,
        "dropout": config.dropout,
        "attention_dropout": config.attention_dropout,
        "activation_dropout": 0.0,
        "max_position_embeddings": POSITIONS,
        "scale_embedding": True,
        "tie_word_embeddings": config.tie != "none",
        "is_encoder_decoder": True,
        "bos_token_id": None,
        "forced_eos_token_id": None,
        **ids_of(bundle.tokenizer),
    }


def generation_of(bundle: Bundle) -> dict[str, Any]:
    """Returns the generation config; tokens that are never generated here are suppressed there too."""
    ids = ids_of(bundle.tokenizer)
    return {
        **ids,
        "num_beams": bundle.decode.beam,
        "length_penalty": bundle.decode.length_penalty,
        "max_length": MAX_GENERATED_TOKENS,
        "suppress_tokens": sorted({ids["pad_token_id"], ids["decoder_start_token_id"]}),
    }


def write_tokenizer(bundle: Bundle, folder: Path) -> None:
    """Writes the tokenizer; with two vocabularies, the source's to the folder and the target's to `target/`."""
    tokenizer = bundle.tokenizer
    if isinstance(tokenizer.target, SentencePieceVocabulary):
        for name, content in marian_files(tokenizer).items():
            (folder / name).write_bytes(content)
        source, target = bundle.languages
        about = {
            "tokenizer_class": "MarianTokenizer",
            "separate_vocabs": not tokenizer.config.joint,
            **({"source_lang": source} if source else {}),
            **({"target_lang": target} if target else {}),
            **_stored_text()["marian_tokenizer"],
        }
        write_json(folder / "tokenizer_config.json", about)
        return
    sides = [(tokenizer.source, folder)] + ([] if tokenizer.config.joint else [(tokenizer.target, folder / "target")])
    for vocabulary, place in sides:
        place.mkdir(exist_ok=True)
        assert isinstance(vocabulary, LearnedVocabulary)
        mark = tokenizer.mark if vocabulary is tokenizer.source else None
        fast_tokenizer(vocabulary, tokenizer.config.tags, mark).save(str(place / "tokenizer.json"))
        write_json(place / "tokenizer_config.json", _stored_text()["fast_tokenizer"])


def licence_of(card: Mapping[str, Any]) -> str | None:
    """Returns the licence of the model that this one was imported or trained from."""
    imported, start = card.get("imported"), card.get("started_from")
    if isinstance(imported, Mapping) and isinstance(imported.get("licence"), str):
        return str(imported["licence"])
    return licence_of(start) if isinstance(start, Mapping) else None


def readme_of(bundle: Bundle) -> str:
    """Returns a README.md: the facts of the bundle's card, and how to use the model."""
    about, licence = bundle.known_card.about, licence_of(bundle.card)
    title = about.title if about and about.title else "A translator"
    data = [f"- {d.name}: {d.licence}; {d.attribution}" for d in about.data] if about else []
    terms = [f"license: {licence}"] if licence else []
    head = ["---", *terms, "library_name: transformers", "pipeline_tag: translation", "---"]
    return "\n".join([*head, f"# {title}", f"Written by regard {__version__}.", *data, _stored_text()["readme"]])
