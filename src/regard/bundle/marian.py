"""Imports Marian models in Hugging Face's format (OPUS-MT) as bundles.

    config.json          class, sizes                       → configuration of our Transformer
    model.safetensors    or pytorch_model.bin               → weights, float32 unless told otherwise
    vocab.json source.spm target.spm                        → tokenizer (`text/sentencepiece.py`)
    generation_config.json README.md tokenizer_config.json  → card (`marian_config.py`)

Our ids begin with PAD, BOS, EOS; BOS is Marian's <pad>, with which its decoder starts, and PAD is an additional entry
that is never generated. The other entries follow in their order. The model dimensions are reordered as described in
`marian_tensors.py`. Files are first compared with the configuration: a model that would not compute the same is
refused. No code of a model is ever run: a pickle is opened as data (torch's `weights_only`) or not at all.
"""

from __future__ import annotations

import math
import pickle
import warnings
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from regard.bundle.bundle import Bundle
from regard.bundle.folder import Storage, new_folder, one_line
from regard.bundle.marian_config import CLASS, MarianSizes, card_of, read_sizes
from regard.bundle.marian_tensors import PAD_BIAS, layer_pairs, layers_from_marian, rows_from_marian, width_order
from regard.bundle.tensors import NoInitialisation
from regard.config import build
from regard.errors import InputError
from regard.layers.positions import sinusoids
from regard.models.table import make_model
from regard.models.transformer_layers import TransformerConfig
from regard.text.language import tag_language
from regard.text.marian_vocabulary import read_marian_tokenizer
from regard.text.sentencepiece import SentencePieceVocabulary, imported_order
from regard.text.tokenizer import Tokenizer

SAFE, PICKLE = "model.safetensors", "pytorch_model.bin"
EMBEDDINGS = ("model.shared.weight", "model.decoder.embed_tokens.weight", "model.encoder.embed_tokens.weight")
OUTPUT, BIAS = "lm_head.weight", "final_logits_bias"
POSITIONS = tuple(f"model.{side}.embed_positions.weight" for side in ("encoder", "decoder"))


def import_marian(folder: Path, out: Path, weights: Storage = "float32", tag: str | None = None) -> list[str]:
    """Converts the model in `folder` to a bundle in the new folder `out`; returns lines that describe it."""
    with new_folder(out) as work:
        bundle = read_marian(folder)
        if tag is not None:
            bundle.tokenizer = bundle.tokenizer.marked(tag)
            bundle.card["languages"] = [bundle.card["languages"][0], tag_language(bundle.tokenizer.mark or "")]
        bundle.weights = weights
        bundle.save(work)
    beam, penalty, tags = bundle.decode.beam, bundle.decode.length_penalty, bundle.tokenizer.config.tags
    lines = [
        f"{CLASS}: {bundle.model.parameter_count():,} parameters, written to {out} as {weights}",
        f"vocabulary: {bundle.tokenizer.source_size:,} source, {bundle.tokenizer.target_size:,} target pieces",
    ]
    if tags:
        chosen = f", {bundle.tag} before every source" if tag else ", which a source must name"
        lines.append(f"target languages: {len(tags)} tags ({', '.join(tags[:3])}{', …' if tags[3:] else ''}){chosen}")
    return [*lines, f"search: beam {beam}, length penalty {penalty:g}, in our form ((5 + length) / 6)^α"]


def read_marian(folder: Path) -> Bundle:
    """Reads the model in a folder as a bundle in memory."""
    if not folder.is_dir():
        raise InputError(f"no folder at {folder}; give the folder of a model as Hugging Face stores it")
    for path in sorted(folder.iterdir()):
        if path.exists() and not path.is_file() and not path.is_dir():
            raise InputError(f"{path} is a pipe, a socket or a device; a model consists of regular files: copy it")
    sizes = read_sizes(folder)
    tokenizer = read_marian_tokenizer(folder)
    orders = find_orders(tokenizer, sizes, folder)
    theirs = read_tensors(folder)
    check_tensors(theirs, sizes, folder)
    config = sizes.model
    if config.tie == "all" and not tokenizer.config.joint:  # one matrix, two vocabularies
        config = build(TransformerConfig, {**vars(config), "tie": "target"}, "model")
    with NoInitialisation():
        model = make_model("transformer", config, tokenizer)
    with torch.no_grad():
        named = dict(model.state_dict(keep_vars=True))
        for name, tensor in to_ours(theirs, sizes, *orders).items():
            named[name].copy_(tensor)
    return Bundle("transformer", config, model.eval(), tokenizer, card_of(folder, config, sizes.positions))


def find_orders(tokenizer: Tokenizer, sizes: MarianSizes, folder: Path) -> tuple[list[int | None], list[int | None]]:
    """Returns the Marian ids of our ids, of source and target, after checking sizes and specials with config.json."""
    source, target = tokenizer.source, tokenizer.target
    assert isinstance(source, SentencePieceVocabulary)
    assert isinstance(target, SentencePieceVocabulary)
    for side, vocabulary, size in (("source", source, sizes.source), ("target", target, sizes.target)):
        if len(vocabulary) - 1 != size:
            found = len(vocabulary) - 1
            raise InputError(f"{folder} does not fit: config.json has {size:,} {side} entries, vocab.json {found:,}")
    if (target.pad, target.eos, source.eos) != (sizes.pad, sizes.eos, sizes.eos):
        raise InputError(
            f"{folder} does not fit: <pad> is {target.pad} and </s> is {target.eos} in the vocabulary, "
            f"but {sizes.pad} and {sizes.eos} in config.json"
        )
    orders = [imported_order(len(side) - 1, side.pad, side.eos) for side in (source, target)]
    return orders[0], orders[1]


# ── weights ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def read_tensors(folder: Path) -> dict[str, Tensor]:
    """Reads the tensors of a folder by name, as they are stored."""
    if (folder / SAFE).is_file():
        try:
            return load_file(folder / SAFE)
        except (SafetensorError, OSError) as problem:
            raise InputError(f"{folder / SAFE} is damaged or cut short ({one_line(problem)}); copy it again") from None
    path = folder / PICKLE
    if not path.is_file():
        raise InputError(f"{folder} has no weights; they are in {SAFE} or {PICKLE}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's warnings about its older formats
            found = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        raise InputError(
            f"{path} is refused: it is damaged, or a pickle that wants to run code when it is opened; use {SAFE}"
        ) from None
    except Exception as problem:  # a damaged pickle or archive can raise anything
        raise InputError(f"{path} is damaged or cut short ({one_line(problem)[:100]}); copy it again") from None
    if not isinstance(found, dict) or not all(isinstance(v, Tensor) and isinstance(k, str) for k, v in found.items()):
        raise InputError(f"{path} does not hold tensors by name, as a model's weights are stored")
    return found


def check_tensors(theirs: dict[str, Tensor], sizes: MarianSizes, folder: Path) -> None:
    """Raises unless these are the tensors of the configuration, in their shapes, and all are finite numbers."""
    from regard.models.transformer import Transformer

    with torch.device("meta"):  # only shapes, no memory
        ours = Transformer(sizes.model, sizes.source + 1, sizes.target + 1, sizes.shared).state_dict()
    wanted = {pair.theirs: tuple(ours[pair.ours].shape) for pair in layer_pairs(sizes.model)}
    if missing := wanted.keys() - theirs.keys():
        raise InputError(f"{folder} does not fit: {min(missing)} is missing ({len(missing)} tensors in all)")
    width = sizes.model.width
    optional = {
        EMBEDDINGS[0]: (sizes.source, width),
        EMBEDDINGS[1]: (sizes.target, width),
        EMBEDDINGS[2]: (sizes.source, width),
        OUTPUT: (sizes.target, width),
        BIAS: (1, sizes.target),
        **dict.fromkeys(POSITIONS, (sizes.positions, width)),
    }
    for name, tensor in theirs.items():
        shape = wanted.get(name, optional.get(name))
        if shape is None:
            raise InputError(f"{folder} does not fit: {one_line(name)} is not a tensor of {CLASS}")
        if tuple(tensor.shape) != shape:
            raise InputError(
                f"{folder} does not fit: {name} has the shape {tuple(tensor.shape)}, and config.json says {shape}"
            )
        if not tensor.is_floating_point() or not tensor.isfinite().all():
            raise InputError(
                f"{folder}: {name} has NaN or infinite values, or is not floating-point; it cannot be used"
            )
    for name in POSITIONS:
        if name in theirs and not is_sinusoidal(theirs[name]):
            raise InputError(f"{folder}: {name} holds positions that are not Marian's sinusoids")


def is_sinusoidal(table: Tensor) -> bool:
    """Whether a table (P, D) has Marian's sinusoids, with the sines in the first half."""
    positions, width = table.shape
    expected = sinusoids(torch.arange(positions), width)  # (P, D)
    return torch.allclose(table.float()[:, width_order(width)], expected, atol=1e-3)


def to_ours(
    theirs: Mapping[str, Tensor], sizes: MarianSizes, source_order: list[int | None], target_order: list[int | None]
) -> dict[str, Tensor]:
    """Converts the tensors to our names and our order, in float32."""
    theirs = {name: tensor.float() for name, tensor in theirs.items()}
    source, target, output = find_matrices(theirs, sizes)
    order, root = width_order(sizes.model.width), math.sqrt(sizes.model.width)
    ours = layers_from_marian(theirs, sizes.model)
    if not sizes.scaled:  # our embeddings are multiplied by √D in the forward pass
        source, target = source / root, target / root
        if sizes.tied:  # the output uses the same matrix; the last norm compensates
            output = output / root
            last = f"decoder.{sizes.model.decoder_layers - 1}.around_feed_forward.norm"
            for part in ("weight", "bias"):
                ours[f"{last}.{part}"] = ours[f"{last}.{part}"] * root
    bias = theirs.get(BIAS, torch.zeros(1, sizes.target))[0]  # (V,)
    return ours | {
        "source_embedding.weight": rows_from_marian(source[:, order], source_order, 0.0),
        "target_embedding.weight": rows_from_marian(target[:, order], target_order, 0.0),
        "output.weight": rows_from_marian(output[:, order], target_order, 0.0),
        "output.bias": rows_from_marian(bias, target_order, PAD_BIAS),
    }


def find_matrices(theirs: Mapping[str, Tensor], sizes: MarianSizes) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the source and target embeddings and the output matrix; a shared one may be stored under any name."""
    shared, decoder, encoder = EMBEDDINGS

    def first(*names: str) -> Tensor:
        for name in names:
            if name in theirs:
                return theirs[name]
        raise InputError(f"the weights do not fit: {names[0]} is missing")

    if sizes.shared:
        one = first(*EMBEDDINGS, OUTPUT)
        return one, one, one
    source, target = first(encoder, shared), first(decoder, shared, *((OUTPUT,) if sizes.tied else ()))
    return source, target, target if sizes.tied else first(OUTPUT)
