"""An OPUS-MT model's way through this package, from the library that it comes from and back to it.

No weights are downloaded: the model is made here, of transformers' own class, with SentencePiece vocabularies learnt
from the given text, and trained for a while.

    python benchmarks/marian.py make --pairs tatoeba.tsv --work W       W/random (Hugging Face) → W/start (imported)
    python benchmarks/marian.py train --work W --device cuda            W/start → W/base → W/opus (Hugging Face)
    python benchmarks/marian.py measure --work W --multi30k DATA --gold GOLD

`--pairs` has English and French in two columns. DATA has train, val and test_2016_flickr in .en and .fr; GOLD has
enfr.src, enfr.tgt and enfr.gold.1indexed.talp; both may be compressed. `measure` imports W/opus, translates as
transformers does, measures its AER, draws its attention, fine-tunes it, and exports it to CTranslate2 and back to
Hugging Face. It prints each command and what came of it.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shlex
import subprocess
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard.data.text_files import read_lines
from regard.metrics.bleu import bleu

SENTENCE = "A young girl is riding a bicycle on the beach."


def shape(width: int, layers: int) -> dict[str, Any]:
    """The keys of a MarianConfig, as OPUS-MT's have them."""
    sides = {
        f"{side}_{name}": value
        for side in ("encoder", "decoder")
        for name, value in (("layers", layers), ("attention_heads", 4), ("ffn_dim", 4 * width))
    }
    further = {"activation_function": "swish", "scale_embedding": True, "max_position_embeddings": 512, "dropout": 0.1}
    return {"d_model": width, "init_std": width**-0.5, **sides, **further}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("make", "train", "measure"))
    parser.add_argument("--work", type=Path, required=True, help="a folder for everything that is made")
    parser.add_argument("--pairs", type=Path, help="make: English and French, a tab between")
    parser.add_argument("--width", type=int, default=256, help="make: d_model")
    parser.add_argument("--layers", type=int, default=3, help="make: of encoder and decoder each")
    parser.add_argument("--pieces", type=int, default=4000, help="make: of each language's vocabulary")
    parser.add_argument("--multi30k", type=Path, help="measure: the folder of the captions")
    parser.add_argument("--gold", type=Path, help="measure: the folder of hand-aligned sentences")
    parser.add_argument("--lines", type=int, help="measure: so many of the test set  [default: all]")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, default=4000, help="train: updates")
    parser.add_argument("--minutes", type=float, default=60, help="train: after which it ends, if steps do not end it")
    parser.add_argument("--rate", type=float, default=1e-3, help="learning rate of train; a third of it fine-tunes")
    parser.add_argument("--tune-steps", type=int, default=400, help="measure: updates of fine-tuning")
    parser.add_argument("--batch-tokens", type=int, default=4096)
    given = parser.parse_args()
    {"make": make, "train": train, "measure": measure}[given.step](given)


def regard(*words: object) -> str:
    """One command of the package, printed with what it says."""
    print(f"\n$ regard {shlex.join(map(str, words))}", flush=True)
    begun = time.perf_counter()
    ran = subprocess.run(
        [sys.executable, "-m", "regard", *map(str, words)], capture_output=True, text=True, check=False
    )
    if ran.returncode:
        sys.exit(ran.stderr)
    lines = ran.stdout.splitlines()
    print("\n".join([*lines[:3], "…", *lines[-12:]] if len(lines) > 16 else lines))
    print(f"({time.perf_counter() - begun:.0f} s)", flush=True)
    return ran.stdout


# ── a model of transformers' class ────────────────────────────────────────────────────────────────────────────────────


def make(given: argparse.Namespace) -> None:
    """W/random: vocabularies and a model with random weights, saved by transformers."""
    import torch
    from transformers import MarianConfig, MarianMTModel

    work: Path = given.work
    folder = work / "random"
    folder.mkdir(parents=True)
    pairs = [line.split("\t")[:2] for line in read_lines(given.pairs)]
    for side, name in enumerate(("en", "fr")):
        text = "".join(f"{pair[side]}\n" for pair in pairs)
        (work / f"train.{name}").write_text(text, encoding="utf-8")
    size = write_vocabularies(folder, pairs, given.pieces)
    torch.manual_seed(1)
    ids = {"pad_token_id": size - 1, "decoder_start_token_id": size - 1, "eos_token_id": 0, "forced_eos_token_id": 0}
    model = MarianMTModel(MarianConfig(vocab_size=size, **ids, **shape(given.width, given.layers)))
    model.generation_config.num_beams = 4
    model.generation_config.bad_words_ids = [[size - 1]]
    model.save_pretrained(folder)
    regard("import", folder, "--out", work / "start")


def write_vocabularies(folder: Path, pairs: Sequence[Sequence[str]], size: int) -> int:
    """source.spm, target.spm and vocab.json, as OPUS-MT has them; returns the entries."""
    import sentencepiece

    pieces: set[str] = set()
    for side, name in enumerate(("source.spm", "target.spm")):
        out = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter([pair[side] for pair in pairs]), model_writer=out, vocab_size=size, minloglevel=2
        )
        (folder / name).write_bytes(out.getvalue())
        learnt = sentencepiece.SentencePieceProcessor(model_proto=out.getvalue())
        pieces |= {learnt.id_to_piece(i) for i in range(3, learnt.get_piece_size())}
    entries = ["</s>", "<unk>", *sorted(pieces), "<pad>"]
    ids = {piece: i for i, piece in enumerate(entries)}
    (folder / "vocab.json").write_text(json.dumps(ids, ensure_ascii=False), encoding="utf-8")
    about = {"source_lang": "en", "target_lang": "fr", "tokenizer_class": "MarianTokenizer"}
    (folder / "tokenizer_config.json").write_text(json.dumps(about), encoding="utf-8")
    return len(ids)


def train(given: argparse.Namespace) -> None:
    """W/base by our trainer, from the random model; W/opus is that model as Hugging Face stores it."""
    work: Path = given.work
    regard(
        *("train", "--start-from", work / "start", "--src", work / "train.en", "--tgt", work / "train.fr"),
        *("--dev-size", 1000, "--steps", given.steps, "--minutes", given.minutes, "--device", given.device),
        *("--batch-tokens", given.batch_tokens, "--learning-rate", given.rate, "--warmup", 200),
        *("--eval-every", max(given.steps // 4, 1), "--out", work / "base"),
    )
    regard("export", work / "base", "--as", "huggingface", "--out", work / "opus")


# ── what the package does with it ─────────────────────────────────────────────────────────────────────────────────────


def measure(given: argparse.Namespace) -> None:
    work: Path = given.work
    data = copied(given.multi30k, work / "multi30k", ("train", "val", "test_2016_flickr"), ("en", "fr"))
    test, references = (list(read_lines(data / f"test_2016_flickr.{side}"))[: given.lines] for side in ("en", "fr"))
    regard("import", work / "opus", "--out", work / "mine")
    theirs = by_transformers(work / "opus", test)
    ours = by_regard(work / "mine", test, beam=1)
    said("greedy: transformers", theirs, references)
    said("greedy: imported", ours, references, theirs)
    before = said("beam 4: imported", by_regard(work / "mine", test), references)

    gold = copied(given.gold, work / "gold", ("enfr",), ("src", "tgt", "gold.1indexed.talp"))
    regard(
        *("align", "--model", work / "mine", "--src", gold / "enfr.src", "--tgt", gold / "enfr.tgt"),
        *("--gold", gold / "enfr.gold.1indexed.talp", "--gold-first", 1, "--words", "spaces", "--save-view"),
    )
    regard("explain", "attention", SENTENCE, "--model", work / "mine", "--out", work / "attention.png")

    regard(
        *("train", "--start-from", work / "mine", "--src", data / "train.en", "--tgt", data / "train.fr"),
        *("--dev-src", data / "val.en", "--dev-tgt", data / "val.fr", "--steps", given.tune_steps),
        *(
            "--batch-tokens",
            given.batch_tokens,
            "--learning-rate",
            given.rate / 3,
            "--warmup",
            50,
            "--device",
            given.device,
        ),
        *("--eval-every", max(given.tune_steps // 2, 1), "--out", work / "tuned"),
    )
    tuned = by_regard(work / "tuned", test)
    after = said("beam 4: fine-tuned", tuned, references)
    print(f"fine-tuning: {before:.1f} → {after:.1f} BLEU on the test set of Multi30k")

    for weights in ("float32", "int8"):  # each replaces the last, in the model's folder
        regard("export", work / "tuned", "--as", "ctranslate2", "--weights", weights)
        converted = by_regard(work / "tuned", test, engine="ctranslate2")
        said(f"beam 4: CTranslate2 {weights}", converted, references, tuned)
    regard("export", work / "tuned", "--as", "huggingface", "--out", work / "back")
    ours = by_regard(work / "tuned", test, beam=1)
    said("greedy: fine-tuned", ours, references)
    said("greedy: exported, transformers", by_transformers(work / "back", test), references, ours)


def copied(folder: Path, to: Path, names: Sequence[str], suffixes: Sequence[str]) -> Path:
    """The files of a data set, not compressed."""
    to.mkdir(exist_ok=True)
    for name in (f"{stem}.{suffix}" for stem in names for suffix in suffixes):
        found = next(
            path for path in (folder / name, *(folder / f"{name}.{end}" for end in ("xz", "gz"))) if path.exists()
        )
        (to / name).write_text("".join(f"{line}\n" for line in read_lines(found)), encoding="utf-8")
    return to


def said(name: str, texts: list[str], references: list[str], like: list[str] | None = None) -> float:
    score = bleu(texts, references).score
    same = "" if like is None else f", {sum(a == b for a, b in zip(texts, like, strict=True))} of {len(texts)} the same"
    print(f"{name}: {score:.2f} BLEU{same}", flush=True)
    return score


def by_regard(model: Path, texts: list[str], beam: int | None = None, engine: str = "native") -> list[str]:
    """Line by line, as they stand, so that transformers is given the same."""
    from regard.translation.options import AS_LINES
    from regard.translator import Translator

    translator = Translator.load(model, "cpu", engine=engine)
    return [found.text for found in translator.translate(texts, beam=beam, mend=False, **AS_LINES)]


def by_transformers(folder: Path, texts: list[str]) -> list[str]:
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that sacremoses is not installed
        tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    model: Any = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    found = []
    for at in range(0, len(texts), 64):
        given = tokenizer(texts[at : at + 64], return_tensors="pt", padding=True)
        with torch.inference_mode():
            ids = model.generate(**given, num_beams=1, do_sample=False)
        found += tokenizer.batch_decode(ids, skip_special_tokens=True)
    return found


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    main()
