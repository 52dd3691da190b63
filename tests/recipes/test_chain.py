"""The plan of the chain for the box: minutes divided, what is to be said, recipes that hold together."""

from __future__ import annotations

import doctest
import json
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from converted import saved_transformer
from regard.recipe.read import recipe_from_tables
from regard.text.tokenizer import TextConfig, Tokenizer
from support import LINES, load_script

BOX = Path(__file__).parents[2] / "recipes" / "box"
plan = load_script(BOX / "chain_plan.py")
cost = load_script(BOX / "chain_cost.py")
say = load_script(BOX / "say.py")

FIXED = {
    "texts": 10.0,
    "encode": 50.0,
    "encode-said": 20.0,
    "pack": 20.0,
    "views": 5.0,
    "calibrate": 5.0,
    "table": 60.0,
}


@pytest.mark.parametrize("script", [plan, say], ids=["chain_plan", "say"])
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


def test_the_teacher_says_single_sentences_first_and_english_into_spanish(tmp_path: Path) -> None:
    for name in ("mono/en.txt", "mono/es.txt", "tatoeba-en-de/train.en", "tatoeba-en-de/train.de", "en-es/train.es"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x\n", encoding="utf-8")
    found = plan.to_be_said(tmp_path, beam=5)
    said = [(one.name, one.direction, str(one.path.relative_to(tmp_path)), one.beam) for one in found]
    assert said[:4] == [
        ("voice", "en-fr", "mono/en.txt", 5),
        ("voice", "en-de", "mono/en.txt", 5),
        ("voice", "en-es", "mono/en.txt", 5),
        ("voice", "es-en", "mono/es.txt", 5),
    ]
    assert ("tatoeba", "en-es", "tatoeba-en-de/train.en", 5) in said
    assert ("tatoeba", "de-en", "tatoeba-en-de/train.de", 5) in said
    assert said[-1] == ("europarl", "es-en", "en-es/train.es", 1)


@pytest.mark.parametrize("name", ["teacher", "student"])
def test_each_corpus_of_a_recipe_has_the_tag_of_the_language_that_it_writes(name: str) -> None:
    recipe = recipe_from_tables(tomllib.loads((BOX / f"general-{name}.toml").read_text(encoding="utf-8")))
    ways = set()
    for corpus in recipe.data.corpus:
        assert corpus.src
        assert corpus.tgt
        source, target = corpus.src.rpartition(".")[2], corpus.tgt.rpartition(".")[2]
        assert corpus.tag == f"<{target}>"
        assert corpus.src.rpartition(".")[0] == corpus.tgt.rpartition(".")[0]
        ways.add(f"{source}-{target}")
    assert ways == set(plan.DIRECTIONS)
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
    recipes = {name: BOX / f"general-{name}.toml" for name in ("teacher", "student")}

    def make(**keys: Any) -> Any:
        given = {"minutes": 25, "wanted": list(plan.STAGES), "device": "cuda", "cores": 16, "recipes": recipes}
        return script.Chain(tmp_path / "data", tmp_path / "out", **{**given, **keys})

    return make


def test_corpora_that_are_not_there_are_left_out(small: Callable[..., Any], capsys: pytest.CaptureFixture[str]) -> None:
    chain = small()
    assert [c.tag for c in chain.recipe("teacher").data.corpus] == ["<de>", "<en>"]
    assert chain.recipe("teacher").data.corpus[0].src == str(chain.data / "en-de" / "train.en")
    assert [(one.name, one.direction) for one in chain.to_be_said()] == [
        ("voice", "de-en"),
        ("europarl", "en-de"),
        ("europarl", "de-en"),
    ]
    assert [one.name for one in small(self_taught=True).to_be_said()] == ["voice"]
    small(wanted=["translate", "pack"]).print_plan()
    assert "translate 1,440 s, pack 60 s" in capsys.readouterr().out


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
    monkeypatch.setattr(say, "looks_right", lambda *lengths: True)  # of random weights nothing does
    sayer, tally = say.Sayer([tmp_path / "model"], "cpu"), say.Tally()

    def jobs() -> list[Any]:
        words = [("voice", "1"), ("tatoeba", "2")]
        outs = [(str(tmp_path / f"{name}.en"), str(tmp_path / f"{name}.fr"), "<fr>", beam) for name, beam in words]
        return [say.Job(str(tmp_path / "a.en"), *out, 3) for out in outs]

    say.translate(sayer, jobs(), time.time() - 1, tally)
    assert not tally.finished
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.en", "model"]
    tally = say.Tally()
    say.translate(sayer, jobs(), time.time() + 100, tally)
    assert tally.finished
    assert tally.lines == 2 * 4
    assert tally.tokens > 0
    assert tally.flops > 0
    for name in ("voice", "tatoeba"):
        assert (tmp_path / f"{name}.en").read_text("utf-8") == (tmp_path / "a.en").read_text("utf-8")
        assert (tmp_path / f"{name}.fr").read_text("utf-8").count("\n") == 4
    say.translate(sayer, jobs(), time.time() + 100, tally)
    assert tally.lines == 2 * 4
