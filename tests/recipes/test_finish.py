"""What the cards of the six say: the description, the view for all, the text that confidence is fitted on."""

from __future__ import annotations

import doctest
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.align.attention import View
from regard.bundle.bundle import Bundle
from regard.bundle.card import read_about, read_card
from regard.explain.aligners import GoldAlignments
from regard.translator import Translator
from support import LINES, load_script

BOX = Path(__file__).parents[2] / "recipes" / "box"
cost = load_script(BOX / "chain_cost.py")
views = load_script(BOX / "views.py")
WAYS = ("en-fr", "fr-en", "en-de", "de-en", "en-es", "es-en")


@pytest.fixture
def finish(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BOX))
    return load_script(BOX / "chain_finish.py")


def test_examples() -> None:
    assert doctest.testmod(cost).failed == 0


@pytest.mark.parametrize("teacher", ["", "the model itself"])
@pytest.mark.parametrize("way", WAYS)
def test_each_direction_is_described(finish: ModuleType, way: str, teacher: str, tmp_path: Path) -> None:
    file = tmp_path / "about.toml"
    file.write_text(finish.about_of(way, teacher), encoding="utf-8")
    about = read_about(file)
    names = [finish.NAMES[language] for language in way.split("-")]
    assert about["languages"] == tuple(names)
    assert about["title"] == f"{names[0]} to {names[1]}, general text"
    assert ("the model itself" in about["training"]) == bool(teacher)
    assert ("from no translations by models" in about["training"]) == (not teacher)
    assert any(data["name"].startswith("Common Voice") for data in about["data"]) == bool(teacher)
    assert not any(mark in file.read_text(encoding="utf-8") for mark in ("SOURCE", "TARGET", "TEACHER", "# only"))
    limits = " ".join(about["limits"])
    assert ("was not evaluated" in limits) == ("fr" not in way)


def test_who_taught_a_model_is_in_its_card(finish: ModuleType) -> None:
    def card(source: str, start: str | None) -> dict[str, Any]:
        begun = {"started_from": {"folder": start}} if start else {}
        return {"recipe": {"data": {"corpus": [{"src": "train.en"}, {"src": source}]}}} | begun

    assert doctest.testmod(finish).failed == 0
    assert finish.teacher_of(card("grammar.en", "runs/teacher-1")) == ""
    assert "the model itself" in finish.teacher_of(card("runs/translated/voice.en-fr.en", "runs/half"))
    assert "a larger model" in finish.teacher_of(card("europarl.en-fr.en", "student-0"))
    assert "a larger model" in finish.teacher_of(card("voice.en-fr.en", None))


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_fitted_on_a_set_that_is_reported(finish: ModuleType, way: str, tmp_path: Path) -> None:
    source, target = way.split("-")
    for name in (*finish.FITTED_ON.values(), *finish.MEASURED_ON.values()):
        for other in ("fr", "de", "es"):
            for language in ("en", other):
                file = tmp_path / f"{name.format(pair=f'en-{other}', other=other)}.{language}"
                file.parent.mkdir(exist_ok=True)
                file.touch()
    fit, test = finish.held_out(tmp_path, way)
    assert [sources.suffix for _, sources, _ in (*fit, *test)] == [f".{source}"] * len([*fit, *test])
    assert {references.suffix for *_, references in (*fit, *test)} == {f".{target}"}
    assert not {sources for _, sources, _ in fit} & {sources for _, sources, _ in test}
    assert ("newstest2013" in [name for name, *_ in test]) == ("es" in way)
    (tmp_path / "en-fr" / "dev.fr").unlink()
    assert ("Europarl dev" in [name for name, *_ in finish.held_out(tmp_path, way)[0]]) == ("fr" not in way)


FLAT, HEAD = View(0), View(1, 2, "having-read")


def direction(name: str, flat: float, head: float) -> Any:
    rates = {"a text": {FLAT: flat, HEAD: head}}
    return views.Direction(name, rates, rates)


def test_one_view_for_all_unless_it_costs_much() -> None:
    ways = [direction("en-fr", 0.30, 0.10), direction("fr-en", 0.20, 0.21)]
    assert views.shared_view(ways) == HEAD
    assert [views.view_of(way, HEAD) for way in ways] == [HEAD, HEAD]
    assert views.view_of(direction("fr-en", 0.20, 0.23), HEAD) == FLAT
    assert views.shared_view([direction("en-fr", 0.1, 0.1)]) == FLAT  # of equals the plainer


def test_where_no_links_are_known_nothing_is_said_of_errors(tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text(json.dumps({"step": 3}), encoding="utf-8")
    views.write(tmp_path, views.entry(HEAD, None))
    card = read_card(json.loads((tmp_path / "card.json").read_text(encoding="utf-8")))
    assert card.step == 3
    assert card.attention_view is not None
    assert (card.attention_view.head, card.attention_view.aer) == (2, None)
    measured = views.entry(HEAD, direction("en-fr", 0.3, 0.12345))
    assert (measured["aer"], measured["on"]) == (pytest.approx(0.12345, abs=1e-4), "a text")


LINKS = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=4)
WORDS = st.sampled_from(["a cat", "un chat", ""])


@given(st.lists(st.tuples(WORDS, WORDS, LINKS, LINKS), max_size=3))
def test_gold_turned_round_twice_is_the_same(lines: list[Any]) -> None:
    gold = GoldAlignments([(s, t) for s, t, _, _ in lines], [a for *_, a, _ in lines], [b for *_, b in lines])
    once = views.turned(gold)
    assert views.turned(once) == gold
    assert once.pairs == [(t, s) for s, t in gold.pairs]
    assert all((j, i) in after for before, after in zip(gold.sure, once.sure, strict=True) for i, j in before)


def test_error_rates_of_every_view(translator: Translator) -> None:
    bundle: Bundle = translator.bundle
    links = {(i, i) for i in range(4)}
    gold = GoldAlignments([LINES[0], LINES[3]], [links, links], [links, links])
    rates = views.rates_of(bundle, gold, views.word_spans)
    layers, heads = bundle.table["decoder_layers"], bundle.table["heads"]
    assert len(rates) == layers * (heads + 1) * 2
    assert all(0 <= rate <= 1 for rate in rates.values())


def test_a_page_without_marks_is_refused() -> None:
    with pytest.raises(SystemExit, match="the page must have the lines"):
        cost.put_between("nothing here", "table")


def test_costs_name_no_place_and_say_what_the_gpu_took(tmp_path: Path) -> None:
    log = cost.CostLog(tmp_path / "cost.json")
    log.add(cost.StageCost("student", "cuda", seconds=600, flops=1e17, note="student: large, from /home/me/teacher-1"))
    log.add(cost.StageCost("pack", "cpu", seconds=60, note="29.1 MB"))
    shown = log.table().markdown()
    assert "from teacher-1 |" in shown
    assert "on the GPU |  | 10.0 min" in shown
    assert "together |  | 11.0 min" in shown
