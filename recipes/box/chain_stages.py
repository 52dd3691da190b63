"""The stages of a chain (`chain.py`): each does its work and yields what it cost."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from chain_beside import encoding_beside
from chain_cost import StageCost
from chain_finish import about_of, calibrate, teacher_of, views
from chain_plan import DIRECTIONS, pair_of, training_minutes
from chain_texts import lines_of, write_texts
from chain_translate import publish_all, translate
from rich.console import Console

from regard.bundle.bundle import read_words
from regard.bundle.find_model import find_model
from regard.bundle.folder import CARD, TOKENIZER, WORDS, read_json
from regard.data.cache import cached_tokenizer
from regard.data.splits import Splits, find_splits
from regard.errors import InputError, RegardError
from regard.recipe.recipe import Recipe
from regard.text.tokenizer import Tokenizer
from regard.training.checkpoint import Progress, has_checkpoint
from regard.training.training_data import learn_known_words, learn_tokenizer, make_batches, read_held_out

if TYPE_CHECKING:
    from chain import Chain

HERE = Path(__file__).parent
GRAMMAR, PART = 60_000, 100_000  # pairs
Costs = Iterator[StageCost]


@dataclass(frozen=True)
class Sizes:
    """As much of a tokenizer as a model is made from."""

    size: int
    joint: bool = True

    @property
    def source_size(self) -> int:
        return self.size

    @property
    def target_size(self) -> int:
        return self.size

    @property
    def config(self) -> Sizes:
        return self


def results(chain: Chain, stage: str) -> list[Path]:
    """What must be there for a stage to be done."""
    names = {
        "texts": ["texts/dev.en"],
        "encode": [f"cache/teacher-{seed}.encoded" for seed in chain.seeds],
        "translate": ["translated"],
        "encode-translated": [f"cache/{chain.student}.encoded"],
        "student": [chain.student],
        **{stage: ["bundled"] for stage in ("pack", "views", "calibrate")},
        "table": ["results.json"],
    }
    return [chain.out / name for name in names[stage]]


def missing(chain: Chain, stage: str) -> str:
    """What a stage cannot do without, if it is not there: the stage before may have failed."""
    texts, bundled = chain.out / "texts" / "dev.en", [chain.out / "bundled" / way for way in DIRECTIONS]
    teacher, student = "a teacher", f"a model in {chain.out / chain.student}"
    needs = {
        "encode": {str(texts): texts.is_file()},
        "teacher": {str(texts): texts.is_file()},
        "translate": {teacher: bool(chain.teachers_there())},
        "encode-translated": {teacher: bool(chain.teachers_there())},
        "student": {str(texts): texts.is_file(), teacher: bool(chain.teachers_there()) or not chain.self_taught},
        "pack": {student: is_model(chain.out / chain.student)},
        **{later: {str(way): way.is_dir() for way in bundled} for later in ("views", "calibrate", "table")},
    }
    return ", ".join(name for name, there in needs.get(stage, {}).items() if not there)


def is_model(path: Path) -> bool:
    try:
        return path.exists() and find_model(path).is_dir()
    except RegardError:
        return False


def texts(chain: Chain, seconds: float) -> Costs:
    small = 1000 if chain.tiny else None
    write_texts(chain.data, chain.out / "texts", small or GRAMMAR, small or PART)
    found = lines_of(chain.out / "texts")
    yield StageCost("texts", "cpu", note=f"{found.lines:,} lines")


def encode(chain: Chain, seconds: float) -> Costs:
    """The teacher's text. Vocabulary and known words are those given, those of the model to start from, or learnt."""
    given = chain.vocabulary
    if given is None and chain.start_from is not None:
        given = find_model(chain.start_from)
    for seed, done in zip(chain.seeds, results(chain, "encode"), strict=True):  # slots are drawn from the seed
        recipe = chain.recipe("teacher")
        note = encoded(chain, replace(recipe, train=replace(recipe.train, seed=seed)), given)
        done.touch()
        given = chain.out / "vocabulary"
        yield StageCost("encode", "cpu", note=note)


def encode_translated(chain: Chain, seconds: float) -> Costs:
    """The student's text, with the teacher's vocabulary: what the teacher was trained on, and what was encoded beside
    other stages, is not encoded again."""
    publish_all(chain.out / "translated")
    note = encoded(chain, chain.recipe("student"), find_model(chain.teachers_there()[0]))
    results(chain, "encode-translated")[0].touch()
    yield StageCost("encode-translated", "cpu", note=note)


def encoded(chain: Chain, recipe: Recipe, given: Path | None) -> str:
    """Put vocabulary, known words and all ids into the cache, where training looks for them; the first two into
    OUT/vocabulary too, to be given to another chain."""
    splits = find_splits(recipe.data)
    console = Console(quiet=True)
    if given is None:
        tokenizer = learn_tokenizer(recipe.data, recipe.text, splits, console)
    else:
        tokenizer = remember_vocabulary(recipe, splits, given)
    batches = make_batches(recipe.data, recipe.train, splits.train, tokenizer, Progress(), console)
    assert splits.dev is not None
    known = learn_known_words(recipe.data, splits, read_held_out(splits.dev), batches.corpus.report.read)
    folder = chain.out / "vocabulary"
    folder.mkdir(exist_ok=True)
    tokenizer.save(folder / TOKENIZER)
    known.save(folder / WORDS)
    return f"{tokenizer.target_size:,} pieces; {batches.corpus.report.summary()}"


def remember_vocabulary(recipe: Recipe, splits: Splits, folder: Path) -> Tokenizer:
    """Put the vocabulary and the known words of a model into the cache as those of this text: learning the words again
    would take a minute or two in one process, while the GPU waits."""
    tokenizer = cached_tokenizer(recipe.data, recipe.text, splits.fingerprint(), lambda: vocabulary_in(folder, recipe))
    words = read_words(folder)
    if words is not None and splits.dev is not None:
        learn_known_words(recipe.data, splits, read_held_out(splits.dev), 1, words)
    return tokenizer


def vocabulary_in(folder: Path, recipe: Recipe) -> Tokenizer:
    found = Tokenizer.load(folder / TOKENIZER)
    if found.config != recipe.text:
        raise InputError(f"{folder} was not made with the [text] of the recipe: {found.config}, not {recipe.text}")
    return found


def teachers_missing(chain: Chain) -> list[int]:
    """Seeds whose teacher is not there yet."""
    names = {seed: f"teacher-{seed}" for seed in chain.seeds if not chain.teachers}
    return [s for s, name in names.items() if not (chain.costs.done("teacher", name) and (chain.out / name).is_dir())]


def teacher(chain: Chain, seconds: float) -> Costs:
    seeds = teachers_missing(chain)
    for seed in seeds:
        minutes = training_minutes(seconds, chain.device, len(seeds))
        start = chain.start_from if seed == seeds[0] else None
        with encoding_beside(chain, chain.out / "vocabulary"):
            cost = trained(chain, "teacher", chain.out / f"teacher-{seed}", minutes, seed, start)
        yield cost


def student(chain: Chain, seconds: float) -> Costs:
    start = chain.start_from if "teacher" not in chain.wanted else None
    if chain.self_taught and start is None:
        start = chain.teachers_there()[0]
    run, minutes = chain.out / chain.student, training_minutes(seconds, chain.device)
    if not has_checkpoint(run):
        publish_all(chain.out / "translated")  # where translating was ended
    yield trained(chain, "student", run, minutes, chain.recipe("student").train.seed, start)


def trained(chain: Chain, name: str, run: Path, minutes: float, seed: int, start: Path | None) -> StageCost:
    """Train, or go on with what was interrupted."""
    file = chain.out / f"{run.name}.toml"
    if has_checkpoint(run):
        chain.run("-m", "regard", "resume", run, *resume_flags(run, minutes))
    else:
        recipe = chain.recipe(name)
        file.write_text(recipe.to_toml(), encoding="utf-8")
        models = [start] if start else chain.teachers_there() if name == "student" else []
        if models:
            remember_vocabulary(recipe, find_splits(recipe.data), find_model(models[0]))
        flags = ["--minutes", f"{minutes:.3f}", "--seed", str(seed), "--device", chain.device]
        if start:
            flags += ["--start-from", str(start)]
        if start and chain.start_from:  # weights that have been at a rate of zero need no high one again
            flags += ["--learning-rate", f"{recipe.train.learning_rate * 2 / 3:g}"]
        if name == "teacher" and chain.self_taught:  # the rate comes down in the second half, the student's
            flags += ["--schedule", "constant", "--average", "ema", "--ema-decay", "0.999"]
        chain.run("-m", "regard", "train", file, *flags, "--out", run)
    card = json.loads((run / "last" / "card.json").read_text(encoding="utf-8"))
    dev = card.get("dev_bleu", {}).get("score")
    note = f"{run.name}: {card['parameters'] / 1e6:.1f} M parameters, {card['step']:,} updates, "
    note += f"dev BLEU {dev:.2f}" if dev is not None else "not evaluated"
    return StageCost(
        name, chain.device, tokens=card["target_tokens"], working=card["training_seconds"],
        flops=card["training_flops"], note=note + (f", from {start}" if start else ""),
    )  # fmt: skip


def resume_flags(run: Path, minutes: float) -> list[str]:
    """A run that was cut off has what is left of its minutes, but no more than there are now: its schedule is laid over
    the new sum, so that its rate still ends at zero."""
    file = run / "last" / "card.json"
    if not file.is_file():
        return []
    card = json.loads(file.read_text(encoding="utf-8"))
    planned, spent = card["recipe"]["train"].get("minutes"), card["training_seconds"] / 60
    if planned is None or planned <= spent + minutes:
        return []
    return ["--minutes", f"{spent + minutes:.3f}", "--override"]


def pack(chain: Chain, seconds: float) -> Costs:
    """The first direction has the files, the others lie beside it."""
    folder = chain.out / "bundled"
    if chain.again:
        shutil.rmtree(folder, ignore_errors=True)
    missing = [way for way in DIRECTIONS if not (folder / way).exists()]
    if DIRECTIONS[0] in missing:
        pack_one(chain, DIRECTIONS[0])
    with ThreadPoolExecutor(min(chain.cores, len(DIRECTIONS))) as pool:
        list(pool.map(lambda way: pack_one(chain, way), [way for way in missing if way != DIRECTIONS[0]]))
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    yield StageCost("pack", "cpu", note=f"{size / 1e6:.1f} MB for {len(DIRECTIONS)} directions")


def pack_one(chain: Chain, way: str) -> None:
    """Packs one direction with its description, and the words that it knows from its own pairs."""
    source, target = way.split("-")
    folder, texts = chain.out / "bundled", chain.out / "texts"
    about = texts / f"about-{way}.toml"
    about.write_text(
        about_of(way, teacher_of(read_json(find_model(chain.out / chain.student) / CARD))), encoding="utf-8"
    )
    words = ["--out", folder / way, "--tag", f"<{target}>", "--weights", "int8", "--about", about]
    words += ["--beside", folder / DIRECTIONS[0]] if way != DIRECTIONS[0] else []
    pairs = texts / f"words.{pair_of(source, target)}"
    if pairs.with_name(f"{pairs.name}.en").is_file():
        words += [
            word for side, language in (("--src", source), ("--tgt", target)) for word in (side, f"{pairs}.{language}")
        ]
    chain.run("-m", "regard", "pack", chain.out / chain.student, *words)


def table(chain: Chain, seconds: float) -> Costs:
    """The six, with torch alone on a GPU, on the test sets of the data."""
    script, results = HERE.parents[1] / "benchmarks" / "box.py", chain.out / "results.json"
    models = [chain.out / "bundled" / way for way in DIRECTIONS]
    words = ["--tests", chain.data, "--engine", "native", "--device", chain.device, "--results", results]
    chain.run(script, "--model", *models, *words, *(["--limit", "20"] if chain.tiny else ["--write"]))
    yield StageCost("table", chain.device, note=f"benchmarks/box.py, {results.name}")


STAGE: dict[str, Callable[[Chain, float], Costs]] = {
    "texts": texts,
    "encode": encode,
    "teacher": teacher,
    "translate": translate,
    "encode-translated": encode_translated,
    "student": student,
    "pack": pack,
    "views": views,
    "calibrate": calibrate,
    "table": table,
}
