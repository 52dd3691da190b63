"""The plan of the chain for the box: minutes divided, texts to translate, recipes that hold together."""

from __future__ import annotations

import doctest
import json
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from converted import saved_transformer
from regard.data import encode
from regard.data.epochs import encode_epoch
from regard.errors import RunError
from regard.recipe.read import recipe_from_tables
from regard.text.known_words import KnownWords
from regard.text.tokenizer import TextConfig, Tokenizer
from support import LINES, load_script

BOX = Path(__file__).parents[2] / "recipes" / "box"
plan = load_script(BOX / "chain_plan.py")
mixture = load_script(BOX / "mixture.py")
cost = load_script(BOX / "chain_cost.py")
lines = load_script(BOX / "translate_lines.py")

FIXED = {
    "texts": 10.0,
    "encode": 50.0,
    "encode-translated": 20.0,
    "pack": 20.0,
    "views": 5.0,
    "calibrate": 5.0,
    "table": 60.0,
}


@pytest.mark.parametrize("script", [plan, lines], ids=["chain_plan", "translate_lines"])
def test_examples(script: object) -> None:
    assert doctest.testmod(script).failed == 0  # type: ignore[arg-type]


@given(
    minutes=st.floats(5, 60),
    wanted=st.lists(st.sampled_from(plan.STAGES), min_size=1, unique=True).map(sorted),
)
def test_all_of_the_time_is_divided_and_no_more(minutes: float, wanted: list[str]) -> None:
    shares = plan.divide(60 * minutes, wanted, FIXED)
    assert list(shares) == wanted
    assert all(seconds > 0 for seconds in shares.values())
    flexible = [stage for stage in wanted if stage in plan.SHARES]
    if flexible:
        assert sum(shares.values()) == pytest.approx(60 * minutes)
    assert all(shares[stage] == FIXED[stage] for stage in wanted if stage in FIXED)


def test_too_few_minutes_are_refused_with_what_takes_them() -> None:
    with pytest.raises(ValueError, match=r"2.0 minutes are too few: encode 50 s, table 60 s leave 10 s"):
        plan.divide(120, ["encode", "teacher", "table"], FIXED)


def test_a_file_is_measured_by_its_beginning(tmp_path: Path) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    small.write_bytes(b"four words are here\n" * 1000)
    large.write_bytes(b"four words are here\n" * 200_000)
    assert plan.measure(small) == plan.Text(1000, round(20_000 / plan.BYTES_OF_PIECE + 1000))
    assert plan.measure(large).lines == pytest.approx(200_000, rel=1e-3)


def test_a_part_of_a_corpus_has_the_same_lines_of_both_languages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of lines of a large file is only estimated, and differently for a language of longer sentences."""
    monkeypatch.syspath_prepend(str(BOX))
    texts = load_script(BOX / "chain_texts.py")
    long = [f"{i} {'a' * (i // 300)}" for i in range(30_000)]
    (tmp_path / "train.en").write_text("".join(f"{i}\n" for i in range(30_000)), encoding="utf-8")
    (tmp_path / "train.de").write_text("".join(f"{line}\n" for line in long), encoding="utf-8")
    parts = [texts.evenly(tmp_path, language, 5_000) for language in ("en", "de")]
    assert [line.split()[0] for line in parts[1]] == parts[0]
    assert 4_000 < len(parts[0]) < 7_000


@pytest.mark.long
def test_the_texts_of_a_chain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sorted by register, without labels among the sentences to translate, and without what models are judged by."""
    monkeypatch.syspath_prepend(str(BOX))
    texts = load_script(BOX / "chain_texts.py")
    corpora = {
        "en-fr": ("Mr President, you know it.", "Monsieur le Président, vous le savez."),
        "ui-en-fr": ("Save", "Enregistrer"),
        "tatoeba-en-fr": ("I love you.", "Je t'aime."),
        "news-en-fr": ("It rained all day.", "Il a plu toute la journée."),
    }
    for name, pair in corpora.items():
        (tmp_path / "data" / name).mkdir(parents=True)
        for language, line in zip(("en", "fr"), pair, strict=True):
            for part in ("train", "dev"):
                (tmp_path / "data" / name / f"{part}.{language}").write_text(f"{line}\n", encoding="utf-8")
    (tmp_path / "data" / "tests").mkdir()
    out = tmp_path / "out"
    texts.write_texts(tmp_path / "data", out, 1000, 10)
    lines = {path.name: path.read_text(encoding="utf-8").splitlines() for path in out.iterdir()}
    assert lines["general.en-fr.fr"] == ["Il a plu toute la journée."]
    assert "Monsieur le Président, vous le savez." in lines["formal.en-fr.fr"]
    assert "I love you." in lines["informal.en-fr.en"]
    assert not set(lines["formal.en-fr.fr"]) & set(lines["informal.en-fr.fr"])
    assert set(lines["words.en-fr.en"]) >= {"Save", "I love you.", "It rained all day."}
    assert len(lines["everyday.formal.de"]) == len(lines["everyday.formal.es"]) > 500
    labels = (BOX.parents[1] / "benchmarks" / "judged" / "labels.tsv").read_text(encoding="utf-8").splitlines()
    judged = {label.rpartition("\t")[2].casefold() for label in labels}
    assert not judged & {line.casefold() for line in lines["everyday.neutral.en"]}


def test_texts_are_translated_in_the_order_of_the_table_where_their_files_exist(tmp_path: Path) -> None:
    for name in ("mono/en.txt", "mono/wiki.es.txt", "tatoeba-en-de/train.de", "en-es/train.es"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x\n", encoding="utf-8")
    found = plan.texts_to_translate(BOX / "general-texts.toml", tmp_path, tmp_path)
    assert [(one.name, one.direction, str(one.path.relative_to(tmp_path)), one.beam) for one in found] == [
        ("wiki", "es-en", "mono/wiki.es.txt", 0),
        ("voice", "en-fr", "mono/en.txt", 5),
        ("voice", "en-de", "mono/en.txt", 5),
        ("voice", "en-es", "mono/en.txt", 5),
        ("tatoeba", "de-en", "tatoeba-en-de/train.de", 5),
        ("europarl", "es-en", "en-es/train.es", 1),
    ]


@pytest.mark.parametrize("name", ["teacher", "student"])
def test_each_corpus_of_a_recipe_has_a_tag_of_the_language_that_it_writes(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = tomllib.loads((BOX / f"general-{name}.toml").read_text(encoding="utf-8"))
    monkeypatch.setattr(Path, "is_file", lambda path: True)
    tables["data"]["corpus"] = mixture.expand(tables["data"]["corpus"])
    recipe = recipe_from_tables(tables)
    directions = set()
    for corpus in recipe.data.corpus:
        assert corpus.src
        assert corpus.tgt
        source, target = corpus.src.rpartition(".")[2], corpus.tgt.rpartition(".")[2]
        assert corpus.tag in (f"<{target}>", f"<{target}-formal>", f"<{target}-informal>")
        assert corpus.tag in recipe.text.tags
        assert corpus.src.rpartition(".")[0] == corpus.tgt.rpartition(".")[0]
        assert "{" not in corpus.src
        directions.add(f"{source}-{target}")
    assert directions == set(plan.DIRECTIONS)
    assert recipe.train.schedule_by == "budget"


def test_teacher_and_student_have_one_vocabulary() -> None:
    texts = [
        tomllib.loads((BOX / f"general-{n}.toml").read_text(encoding="utf-8"))["text"] for n in ("teacher", "student")
    ]
    assert texts[0] == texts[1]


def test_costs_of_all_sessions_are_kept(tmp_path: Path) -> None:
    log = cost.CostLog(tmp_path / "cost.json")
    log.add(
        cost.StageCost(
            "teacher", "cuda", seconds=600, tokens=5_000_000, working=500, flops=1e17, note="teacher-1: large"
        )
    )
    later = cost.CostLog(tmp_path / "cost.json")
    later.add(cost.StageCost("student", "cuda", seconds=300, flops=2e17))
    assert later.done("teacher")
    assert later.done("teacher", "teacher-1")
    assert not later.done("teacher", "teacher-2")
    assert not later.done("pack")
    assert len(json.loads((tmp_path / "cost.json").read_text(encoding="utf-8"))["stages"]) == 2
    shown = later.table().text()
    assert "10,000" in shown  # tokens/s
    assert "15.0 min" in shown
    assert "3e+17" in shown


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """A chain over a data folder that has one pair of languages."""
    monkeypatch.syspath_prepend(str(BOX))
    script = load_script(BOX / "chain.py")
    for name in ("en-de/train.en", "en-de/train.de", "mono/de.txt"):
        (tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / name).write_text("ein Satz\n" * 10, encoding="utf-8")
    (tmp_path / "out").mkdir()
    recipes = {name: BOX / f"general-{name}.toml" for name in ("teacher", "student", "texts")}

    def make(**keys: Any) -> Any:
        given = {"minutes": 25, "wanted": list(plan.STAGES), "device": "cuda", "cores": 16, "recipes": recipes}
        return script.Chain(tmp_path / "data", tmp_path / "out", **{**given, **keys})

    return make


def test_corpora_that_are_not_there_are_left_out(small: Callable[..., Any], capsys: pytest.CaptureFixture[str]) -> None:
    chain = small()
    assert [c.tag for c in chain.recipe("teacher").data.corpus] == ["<de>", "<en>"]
    assert chain.recipe("teacher").data.corpus[0].src == str(chain.data / "en-de" / "train.en")
    assert [(one.name, one.direction) for one in chain.texts_to_translate()] == [
        ("voice", "de-en"),
        ("europarl", "en-de"),
        ("europarl", "de-en"),
    ]
    assert [(one.name, one.beam) for one in small(self_taught=True).texts_to_translate()] == [("voice", 0)]
    small(wanted=["translate", "pack"]).print_plan()
    assert "translate 1,440 s, pack 60 s" in capsys.readouterr().out


def test_a_model_of_its_own_learns_only_to_write_what_people_wrote(small: Callable[..., Any]) -> None:
    folder = small().out / "translated"
    folder.mkdir()
    for name in ("voice.de-en.de", "voice.de-en.en", "general.de-en.de", "general.de-en.en"):
        (folder / name).write_text("ein Satz\n", encoding="utf-8")

    def directions(**keys: Any) -> list[str]:
        corpora = small(**keys).recipe("student").data.corpus
        found = [f"{Path(c.src).name} {c.tag}" for c in corpora if Path(c.src).parent == folder]
        return list(dict.fromkeys(found))  # some are there twice, clean and changed

    assert directions() == ["voice.de-en.en <de>", "voice.de-en.de <en>", "general.de-en.de <en>"]
    assert directions(self_taught=True) == ["voice.de-en.en <de>"]


def test_a_stage_is_done_when_it_was_and_its_result_is_there(small: Callable[..., Any]) -> None:
    chain = small(seeds=[1, 2])
    for stage, note in (("texts", ""), ("teacher", "teacher-1: large"), ("student", "student: small")):
        chain.costs.add(cost.StageCost(stage, "cuda", note=note))
    assert not any(chain.done(stage) for stage in plan.STAGES)  # another machine
    for name in ("texts/dev.en", "teacher-1/last", "student/last"):
        (chain.out / name).mkdir(parents=True)
    assert [stage for stage in plan.STAGES if chain.done(stage)] == ["texts", "student"]
    assert [stage for stage in plan.STAGES if small().done(stage)] == ["texts", "teacher", "student"]
    assert not small(again=True).done("student")
    assert not small(student="student-2").done("student")


def test_lines_are_said_as_far_as_there_is_time_and_not_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tagged = Tokenizer.train(lambda: iter(LINES * 3), TextConfig(vocab_size=360, tags=("<fr>",)))
    saved_transformer(tmp_path / "model", tagged)
    (tmp_path / "a.en").write_text("".join(f"{source}\n" for source, _ in LINES[:4]), encoding="utf-8")
    monkeypatch.setattr(lines, "looks_right", lambda *lengths: True)  # of random weights nothing does
    translator, tally = lines.LineTranslator([tmp_path / "model"], "cpu"), lines.Tally()

    def jobs() -> list[Any]:
        words = [("voice", "1"), ("tatoeba", "2")]
        outs = [(str(tmp_path / f"{name}.en"), str(tmp_path / f"{name}.fr"), "<fr>", beam) for name, beam in words]
        return [lines.Job(str(tmp_path / "a.en"), *out, 3) for out in outs]

    lines.translate(translator, jobs(), time.time() - 1, tally)
    assert not tally.finished
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.en", "model"]
    tally = lines.Tally()
    lines.translate(translator, jobs(), time.time() + 100, tally)
    assert tally.finished
    assert tally.lines == 2 * 4
    assert tally.tokens > 0
    assert tally.flops > 0
    for name in ("voice", "tatoeba"):
        assert (tmp_path / f"{name}.en").read_text("utf-8") == (tmp_path / "a.en").read_text("utf-8")
        assert (tmp_path / f"{name}.fr").read_text("utf-8").count("\n") == 4
    lines.translate(translator, jobs(), time.time() + 100, tally)
    assert tally.lines == 2 * 4


class Breaks:
    """A translator that fails at its third chunk."""

    def __init__(self) -> None:
        self.chunks = 0

    def translate(self, lines: list[str], tag: str, beam: int, tally: Any) -> list[tuple[str, str]]:
        self.chunks += 1
        if self.chunks == 3:
            raise RuntimeError("the device is gone")
        tally.seconds += 1.0
        return [(line, line.upper()) for line in lines if line != "b"]


def test_after_a_failure_a_text_goes_on_behind_its_last_whole_chunk(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a\nb\nc\nd\ne\nf\ng\n", encoding="utf-8")
    outs = [str(tmp_path / "translated" / f"voice.en-fr.{language}") for language in ("en", "fr")]
    (tmp_path / "translated").mkdir()

    def job() -> Any:
        return lines.Job(str(tmp_path / "text"), *outs, "<fr>", "1", 2)

    with pytest.raises(RuntimeError):
        lines.translate(Breaks(), [job()], time.time() + 100, lines.Tally())
    part = tmp_path / "translated" / "voice.en-fr.fr.part"
    assert part.read_text("utf-8") == "A\nC\nD\n"
    part.write_text("A\nC\nD\nhalf a li", encoding="utf-8")  # killed while it wrote
    lines.translate(Breaks(), [job()], time.time() + 100, lines.Tally())
    assert [Path(out).read_text("utf-8") for out in outs] == ["a\nc\nd\ne\nf\ng\n", "A\nC\nD\nE\nF\nG\n"]
    assert sorted(path.name for path in (tmp_path / "translated").iterdir()) == ["voice.en-fr.en", "voice.en-fr.fr"]


def test_what_a_failed_process_said_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BOX))
    chain_translate = load_script(BOX / "chain_translate.py")
    (tmp_path / "text").write_text("a\nb\nc\nd\ne\nf\ng\n", encoding="utf-8")
    outs = [str(tmp_path / f"voice.en-fr.{language}") for language in ("en", "fr")]
    with pytest.raises(RuntimeError):
        lines.translate(
            Breaks(), [lines.Job(str(tmp_path / "text"), *outs, "<fr>", "1", 2)], time.time() + 100, lines.Tally()
        )
    chain_translate.publish_all(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["text", "voice.en-fr.en", "voice.en-fr.fr"]
    assert Path(outs[0]).read_text("utf-8") == "a\nc\nd\n"


def test_a_process_that_fails_is_started_again_and_the_others_go_on(
    small: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    chain_translate = load_script(BOX / "chain_translate.py")
    codes = {"well": "0", "plain": "'--plain' not in sys.argv", "no": "1"}
    code_of = "import sys; print('{\"lines\": 1}'); sys.exit(int("
    commands = {name: [sys.executable, "-c", f"{code_of}{code}))"] for name, code in codes.items()}
    tallies, failed = chain_translate.side_by_side(small(), commands, time.monotonic() + 60)
    assert failed == ["no"]
    assert len(tallies) == 1 + 2 + 2
    alarms = [line for line in capsys.readouterr().out.splitlines() if "!!!!!" in line]
    assert len(alarms) == 3
    assert sum("goes on without recorded steps" in line for line in alarms) == 2


def test_a_stage_that_fails_is_followed_by_those_whose_needs_are_there(
    small: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chain = small(wanted=["encode", "translate", "student", "pack"], tiny=True)
    stages = sys.modules["chain_stages"]
    done = []

    def stage(name: str, breaks: bool) -> Any:
        def run(chain: Any, seconds: float) -> Any:
            done.append(name)
            if breaks:
                raise ZeroDivisionError("a bug")
            yield cost.StageCost(name, "cpu")

        return run

    table = {name: stage(name, name == "encode") for name in chain.wanted}
    monkeypatch.setattr(stages, "STAGE", table)
    (chain.out / "texts").mkdir()
    (chain.out / "texts" / "dev.en").touch()
    with pytest.raises(RunError, match=r"failed: encode, translate, pack"):
        chain.go()
    assert done == ["encode", "student"]
    shown = capsys.readouterr().out
    assert "!!!!! encode: failed after 0 s: a bug" in shown
    assert "ZeroDivisionError" in shown
    assert "!!!!! translate: left out, for it needs a teacher" in shown
    assert f"!!!!! pack: left out, for it needs a model in {chain.out / 'student'}" in shown


@pytest.mark.parametrize(
    ("planned", "spent", "minutes", "expected"),
    [
        (10.0, 240, 7.0, []),  # there is time for what is left
        (10.0, 240, 2.5, ["--minutes", "6.500", "--override"]),
        (None, 240, 2.5, []),
    ],
)
def test_a_run_that_was_cut_off_has_the_minutes_that_are_left(
    small: Callable[..., Any], planned: float | None, spent: float, minutes: float, expected: list[str]
) -> None:
    chain = small()
    card = {"recipe": {"train": {"minutes": planned} if planned else {}}, "training_seconds": spent}
    folder = chain.out / "student" / "last"
    folder.mkdir(parents=True)
    (folder / "card.json").write_text(json.dumps(card), encoding="utf-8")
    assert sys.modules["chain_stages"].resume_flags(chain.out / "student", minutes) == expected


def test_the_students_text_is_in_the_cache_when_it_begins(
    small: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Encoded beside other stages as training will look for it; known words are taken over, not learnt."""
    chain, stages, beside = small(tiny=True), sys.modules["chain_stages"], sys.modules["chain_beside"]
    for name in (
        "texts/dev.en",
        "texts/dev.fr",
        "texts/part.en-de.en",
        "texts/part.en-de.de",
        "translated/voice.de-en.de",
    ):
        (chain.out / name).parent.mkdir(exist_ok=True)
        (chain.out / name).write_text("ein Satz mit 12 Worten\n" * 20, encoding="utf-8")
    recipe = chain.recipe("student")
    tokenizer = Tokenizer.train(lambda: iter([("ein Satz mit 12 Worten", "noch ein Satz")]), recipe.text)

    class Here(beside.BackgroundEncoder):  # type: ignore[misc, name-defined]
        """In this process."""

        def __init__(self, *given: Any) -> None:
            self.begin = lambda epoch: encode_epoch(*given, epoch)

        def wait(self) -> None: ...

    monkeypatch.setattr(beside, "BackgroundEncoder", Here)
    first = beside.encode_new(chain, tokenizer, set())
    assert len(first) == 4  # two corpora, both ways
    (chain.out / "translated" / "voice.de-en.en").write_text("a sentence of 12 words\n" * 20, encoding="utf-8")
    assert len(beside.encode_new(chain, tokenizer, set(first))) == 2

    folder, recipe = chain.out / "teacher", chain.recipe("student")
    folder.mkdir()
    tokenizer.save(folder / "tokenizer.json")
    KnownWords.learn([("ein Satz", "noch einer")], "de").save(folder / "words.txt.gz")
    monkeypatch.setattr(encode, "_write", None)
    monkeypatch.setattr(KnownWords, "learn", None)
    stages.encoded(chain, recipe, folder)


def test_minutes_count_from_the_start_of_the_process() -> None:
    code = "import sys, time; sys.path.insert(0, sys.argv[1]); time.sleep(0.3); import chain_plan as plan; "
    code += "print(time.monotonic() - plan.process_began())"
    shown = subprocess.run([sys.executable, "-c", code, str(BOX)], capture_output=True, text=True, check=True).stdout
    assert 0.3 <= float(shown) < 30
