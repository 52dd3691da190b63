"""Engines side by side, on the same weights: do they say the same, how good is it, and how fast are they?

python benchmarks/engines.py --src test_2016_flickr.en                              equal output, and speed
python benchmarks/engines.py --src test_2016_flickr.en --quality test.en test.fr    BLEU of each too
python benchmarks/engines.py --src test_2016_flickr.en --only speed --huggingface   with transformers' generate

Equality: CTranslate2 in float32 against the native engine, token for token, greedy and with a beam of 4, by the model's
own length penalty. Quality: BLEU of the native engine and of CTranslate2 in float32 and in 8 bits.

Speed: all systems take turns, several rounds; a figure is the median of the rounds, a ratio the median of the ratios
within a round. "lines" are given all at once, "one" is a call for each. Text to text is tokenising, searching and
detokenising; "with checks" adds what `regard translate` does by default: protected spans, alignment, guard. CTranslate2
called directly has workers of one thread, batches of 64 sentences, and its default patience: it may stop earlier than
ours. The length penalty is the model's own α in all of them, though others divide by lengthᵅ and we by
((5 + length) / 6)ᵅ; what they say has nearly the same length (tokens/s over sentences/s).
"""

from __future__ import annotations

import argparse
import lzma
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ctranslate2
import torch

from regard.bundle import bundled_models
from regard.bundle.bundle import Bundle
from regard.bundle.folder import find_bundle
from regard.export.ctranslate2 import export_ctranslate2
from regard.export.ctranslate2_file import Weights
from regard.export.table import export_model
from regard.metrics.bleu import bleu
from regard.search.ctranslate2_model import ConvertedModel
from regard.search.engine import SearchRequest
from regard.search.options import SearchOptions
from regard.translation.options import AS_LINES
from regard.translator import Translator
from regard.workers import thread_count

TITLE = "## Engines"
BATCH = 64
DIRECT = "CTranslate2 {}, called directly"
OURS = "CTranslate2 {}, through regard"
BARS = (  # what, against what, at least
    ("native", DIRECT.format("float32"), 0.9),
    (OURS.format("float32"), DIRECT.format("float32"), 0.95),
    (OURS.format("int8"), DIRECT.format("int8"), 0.95),
)
Say = Callable[[str], None]


@dataclass(frozen=True)
class Systems:
    """The same model in all engines."""

    native: Translator
    converted: dict[Weights, Translator]
    folders: dict[Weights, Path]

    @classmethod
    def of(cls, model: Path, work: Path) -> Systems:
        folder = find_bundle(model)
        kinds: tuple[Weights, ...] = ("float32", "int8")
        folders = {weights: work / weights for weights in kinds}
        converted = {}
        for weights, place in folders.items():
            made = export_ctranslate2(folder, place, weights)
            converted[weights] = Translator(Bundle.read(folder), converted=ConvertedModel(place, made))
        return cls(Translator.load(folder, "cpu", "native"), converted, folders)


# ── equality and quality ──────────────────────────────────────────────────────────────────────────────────────────────


def equality(systems: Systems, lines: Sequence[str], say: Say) -> None:
    alpha = systems.native.config.length_penalty
    requests = [SearchRequest(tuple(ids)) for ids in systems.native.tokenizer.encode_source(lines)]
    say("\n| search | lines | equal to native, CTranslate2 float32 |\n|---|---|---|")
    for beam in (1, 4):
        options = SearchOptions(beam, alpha)
        ours, theirs = (t.engine().search(requests, options) for t in (systems.converted["float32"], systems.native))
        same = sum(a[0].ids == b[0].ids for a, b in zip(ours, theirs, strict=True))
        name = "greedy" if beam == 1 else f"beam {beam}, length penalty {alpha:g}"
        say(f"| {name} | {len(lines):,} | {same / len(lines):.1%} |")


def quality(systems: Systems, sources: Sequence[str], references: Sequence[str], say: Say) -> None:
    say("\n| engine | lines | BLEU, beam 5 |\n|---|---|---|")
    rows = {"native": systems.native} | {OURS.format(name): one for name, one in systems.converted.items()}
    for name, translator in rows.items():
        answers = [one.text for one in translator.translate(sources, beam=5, **AS_LINES)]
        say(f"| {name} | {len(sources):,} | {bleu(answers, references).score:.2f} |")


# ── speed ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

Work = Callable[[Sequence[str]], int]  # from lines to the number of tokens that were said


def text_to_text(translator: Translator, beam: int, checks: bool = False) -> Work:
    options: dict[str, Any] = {} if checks else {**AS_LINES, "mend": False}

    def work(lines: Sequence[str]) -> int:
        found = translator.translate(lines, beam=beam, **options)
        return sum(len(one.candidates[0].ids) + 1 for one in found)

    return work


def ids_to_ids(translator: Translator, beam: int) -> Work:
    engine, options = translator.engine(), SearchOptions(beam, translator.config.length_penalty)

    def work(lines: Sequence[str]) -> int:
        requests = [SearchRequest(tuple(ids)) for ids in translator.tokenizer.encode_source(lines)]
        return sum(len(found[0].ids) + 1 for found in engine.search(requests, options))

    return work


def directly(folder: Path, native: Translator, beam: int) -> Work:
    """As a program without regard's engine would do it."""
    tokenizer, model = (
        native.tokenizer,
        ctranslate2.Translator(str(folder), inter_threads=thread_count(), intra_threads=1),
    )
    pieces, ids, alpha = tokenizer.source.pieces, tokenizer.target.ids, native.config.length_penalty

    def work(lines: Sequence[str]) -> int:
        sources = [[*(pieces[i] for i in row), "</s>"] for row in tokenizer.encode_source(lines)]
        found = model.translate_batch(
            sources, max_batch_size=BATCH, beam_size=beam, length_penalty=alpha, max_decoding_length=400
        )
        answers = [tuple(ids[token] for token in one.hypotheses[0]) for one in found]
        assert all(isinstance(tokenizer.decode(answer), str) for answer in answers)
        return sum(len(answer) + 1 for answer in answers)

    return work


def generate(native: Translator, folder: Path, work_folder: Path, beam: int) -> Work:
    from transformers import AutoModelForSeq2SeqLM
    from transformers.utils import logging

    logging.set_verbosity_error()
    place = work_folder / "huggingface"
    if not place.exists():
        export_model(folder, "huggingface", place)
    model, tokenizer = AutoModelForSeq2SeqLM.from_pretrained(place).eval(), native.tokenizer
    alpha = native.config.length_penalty

    @torch.inference_mode()
    def work(lines: Sequence[str]) -> int:
        rows = sorted(([*row, 2] for row in tokenizer.encode_source(lines)), key=len)
        said = 0
        for start in range(0, len(rows), BATCH):
            some = rows[start : start + BATCH]
            width = max(map(len, some))
            ids = torch.tensor([row + [0] * (width - len(row)) for row in some])
            mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in some])
            out = model.generate(ids, attention_mask=mask, num_beams=beam, length_penalty=alpha, max_new_tokens=400)
            for row in out.tolist():
                answer = row[1 : row.index(2, 1)] if 2 in row[1:] else row[1:]
                tokenizer.decode(answer)
                said += len(answer) + 1
        return said

    return work


def speed(systems: Systems, lines: Sequence[str], given: Given, work_folder: Path, say: Say) -> None:
    for beam in (1, 5):
        rows: dict[str, Work] = {"native": text_to_text(systems.native, beam)}
        rows["native, ids"] = ids_to_ids(systems.native, beam)
        for weights, translator in systems.converted.items():
            rows[DIRECT.format(weights)] = directly(systems.folders[weights], systems.native, beam)
            rows[OURS.format(weights)] = text_to_text(translator, beam)
            rows[f"{OURS.format(weights)}, ids"] = ids_to_ids(translator, beam)
            rows[f"{OURS.format(weights)}, with checks"] = text_to_text(translator, beam, checks=True)
        if given.huggingface:
            rows["Hugging Face generate"] = generate(systems.native, find_bundle(given.model), work_folder, beam)
        alone = lines[: given.alone]
        say(f"\n**Beam {beam}**, {len(lines):,} lines; one at a time: {len(alone)} lines.\n")
        say("| system | sentences/s | tokens/s | one at a time, ms |\n|---|---|---|---|")
        together, single = timed(rows, lines, given.rounds), timed(one_by_one(rows), alone, given.rounds)
        for name in rows:
            seconds, said = statistics.median(together[name][0]), together[name][1]
            each = 1000 * statistics.median(single[name][0]) / len(alone)
            say(f"| {name} | {len(lines) / seconds:,.0f} | {said / seconds:,.0f} | {each:.1f} |")
        for name, other, least in BARS:
            ratio = statistics.median(b / a for a, b in zip(together[name][0], together[other][0], strict=True))
            verdict = "reached" if ratio >= least else "missed"
            say(f"\n{name} / {other}: {ratio:.2f} (bar {least}: {verdict})")


def one_by_one(rows: dict[str, Work]) -> dict[str, Work]:
    return {name: lambda lines, work=work: sum(work([line]) for line in lines) for name, work in rows.items()}


def timed(rows: dict[str, Work], lines: Sequence[str], rounds: int) -> dict[str, tuple[list[float], int]]:
    """The seconds of each round, and the tokens that were said."""
    said = {name: work(lines[: 2 * BATCH]) for name, work in rows.items()}  # warm
    times: dict[str, list[float]] = {name: [] for name in rows}
    for _ in range(rounds):
        for name, work in rows.items():
            began = time.perf_counter()
            said[name] = work(lines)
            times[name].append(time.perf_counter() - began)
    return {name: (times[name], said[name]) for name in rows}


def read(path: Path, most: int) -> list[str]:
    data = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
    return data.decode().splitlines()[:most]


@dataclass(frozen=True)
class Given:
    """What is measured."""

    src: Path
    quality: tuple[Path, Path] | None = None
    model: Path = field(default_factory=bundled_models.folder_of)
    lines: int = 1000
    quality_lines: int = 2000
    alone: int = 100  # lines that are translated one at a time
    rounds: int = 3
    only: str | None = None
    huggingface: bool = False


def measure(given: Given, say: Say) -> None:
    threads = thread_count()
    torch.set_num_threads(threads)
    say(
        f"{find_bundle(given.model).name}; {platform.machine()}, {threads} threads; "
        f"CTranslate2 {ctranslate2.__version__}, torch {torch.__version__.partition('+')[0]}"
    )
    lines = read(given.src, given.lines)
    with tempfile.TemporaryDirectory() as name:
        systems = Systems.of(given.model, Path(name))
        if given.only in (None, "equality"):
            equality(systems, lines, say)
        if given.quality and given.only in (None, "quality"):
            sources, references = (read(path, given.quality_lines) for path in given.quality)
            quality(systems, sources, references, say)
        if given.only in (None, "speed"):
            speed(systems, lines, given, Path(name), say)


def section(given: Given) -> str:
    """The section of docs/benchmarks.md; every line is printed when it is known."""
    written: list[str] = [TITLE, ""]

    def say(line: str) -> None:
        print(line, flush=True)
        written.append(line)

    measure(given, say)
    return "\n".join(written) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--src", type=Path, required=True, help="lines to translate, such as Multi30k's test set (.xz)")
    parser.add_argument("--quality", type=Path, nargs=2, metavar=("SRC", "REF"), help="a test set with its reference")
    parser.add_argument(
        "--model", type=Path, default=bundled_models.folder_of(), help="a model folder; default: the model in the box"
    )
    parser.add_argument("--lines", type=int, default=1000, help="of --src")
    parser.add_argument("--quality-lines", type=int, default=2000)
    parser.add_argument("--alone", type=int, default=100, help="lines that are translated one at a time")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=("equality", "quality", "speed"))
    parser.add_argument("--huggingface", action="store_true", help="time transformers' generate too")
    measure(Given(**vars(parser.parse_args())), lambda line: print(line, flush=True))


if __name__ == "__main__":
    main()
