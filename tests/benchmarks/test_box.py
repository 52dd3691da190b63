"""`benchmarks/box.py`: figures made again, in every direction, beside other translators' outputs."""

from __future__ import annotations

import json
import lzma
import random
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.bundle import bundled_models
from regard.bundle.bundle import Bundle
from regard.bundle.card import card_rows
from regard.errors import InputError
from support import LINES, load_script

ROOT = Path(__file__).parents[2]
CAT, CHAT = LINES[0]


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    sys.path.insert(0, str(ROOT / "benchmarks"))  # as Python does for a script
    yield load_script(ROOT / "benchmarks" / "box.py")
    sys.path.remove(str(ROOT / "benchmarks"))


@pytest.fixture(scope="module")
def general(script: ModuleType) -> ModuleType:
    import general  # type: ignore[import-not-found]
    import general.matching

    return general  # type: ignore[no-any-return]


@pytest.fixture
def stand_in(tmp_path: Path, run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model that learnt eight sentences, in a box of its own."""
    monkeypatch.setattr(bundled_models, "HOME", tmp_path / "bundled")
    bundle = Bundle.load(run_folder)
    card = bundle.card | {"about": None, "languages": ["en", "fr"]}
    replace(bundle, weights="int8", card={k: v for k, v in card.items() if v is not None}).save(
        bundled_models.HOME / "en-fr"
    )
    return bundled_models.HOME / "en-fr"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Test sets in the layout of recipes/box, and what somebody else said to one of them."""
    for name, pairs in (("tatoeba-en-fr/dev", LINES[:3]), ("tatoeba-en-fr/test", LINES[3:]), ("en-fr/test", LINES)):
        write(tmp_path / "data" / name, pairs)
    write(tmp_path / "data/tests/flores-devtest", LINES, ".xz")
    peers = tmp_path / "data/peers"
    peers.mkdir()
    said = [french.replace("chat", "chien") for _, french in LINES]
    (peers / "en-fr.flores-test.bergamot-tiny.xz").write_bytes(lzma.compress(lines(said)))
    return tmp_path / "data"


def lines(some: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in some).encode()


def write(place: Path, pairs: list[tuple[str, str]], suffix: str = "") -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    for side, language in enumerate(("en", "fr")):
        text = lines([pair[side] for pair in pairs])
        Path(f"{place}.{language}{suffix}").write_bytes(lzma.compress(text) if suffix else text)


FIGURES = ["--only", "notes", "tatoeba test", "flores-devtest", "europarl test", "--samples", "100"]


@pytest.mark.long
def test_figures_are_made_again_or_said_to_differ(
    script: ModuleType, stand_in: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, results = tmp_path / "page.md", tmp_path / "results.json"
    page.write_text(f"# Table\n{script.page.BEGIN}\nold\n{script.page.END}\nend\n", encoding="utf-8")
    words = ["--tests", str(data), "--engine", "native", *FIGURES]
    assert script.main(words) == 1
    assert "not in the card" in capsys.readouterr().out
    assert script.main([*words, "--write", "--docs", str(page), "--results", str(results)]) == 0
    assert "BLEU   100.00   card 100.00   agrees   nrefs:1|case:mixed" in capsys.readouterr().out

    kept = json.loads(results.read_text(encoding="utf-8"))["en-fr"]
    (bleu, chrf) = kept["peers"]["flores-devtest"]["Firefox tiny"]["metrics"]
    assert bleu["ours"] == pytest.approx(100)
    assert bleu["score"] < 80 < chrf["ours"]
    assert bleu["score"] - bleu["ours"] == pytest.approx(bleu["difference"])
    text = page.read_text(encoding="utf-8")
    assert "old" not in text
    assert text.startswith("# Table\n")
    assert text.endswith("\nend\n")
    assert "| en-fr | flores-devtest | 8 | 100.00 / 100.00 | – | ≥ 37 |" in text
    assert "OPUS-MT" in text
    assert "tatoeba test, 5 sentences, beam 5" in " ".join(card_rows(Bundle.read(stand_in).card)["tests"])

    card = json.loads((stand_in / "card.json").read_text(encoding="utf-8"))
    for change, says in (
        (lambda t: t["metrics"][0].update(score=90.0), "DIFFERS"),
        (lambda t: t.update(fingerprint="0"), "another test set"),
    ):
        told = json.loads(json.dumps(card))
        change(told["tests"]["tatoeba test"])
        (stand_in / "card.json").write_text(json.dumps(told), encoding="utf-8")
        assert script.main([*words, "--only", "tatoeba test"]) == 1
        assert says in capsys.readouterr().out


@pytest.mark.long
def test_the_two_engines_and_the_speed_may_be_measured_in_two_runs(
    script: ModuleType, stand_in: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results.json"
    words = ["--tests", str(data), "--model", "en-fr", "--only", "flores-devtest", "--results", str(results)]
    script.main([*words, "--samples", "50", "--engine", "native"])
    before = json.loads(results.read_text(encoding="utf-8"))["en-fr"]
    script.main([*words, "--samples", "60", "--engine", "ctranslate2", "--speed", "--beside", str(stand_in)])
    found = json.loads(results.read_text(encoding="utf-8"))["en-fr"]
    test = found["tests"]["flores-devtest"]
    assert test["metrics"] == before["tests"]["flores-devtest"]["metrics"]
    assert test["ctranslate2"][0]["score"] > 90
    assert found["peers"] == before["peers"]  # tested against what the native engine said
    latency = found["speed"]["latency"]["flores-devtest"]
    assert latency["sentences"] == len(LINES)
    out = capsys.readouterr().out
    for way in ("checked", "bare"):
        assert latency[way]["ratio"] > 0
        assert f"{way}: latency ≤ 1.5 times the other's: {latency[way]['ratio']:.2f}" in out


def test_a_run_in_training_is_measured_in_the_directions_it_has_tags_for(
    script: ModuleType, data: Path, run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = Bundle.load(run_folder)
    tokenizer = bundle.tokenizer
    tagged = replace(tokenizer.config, tags=("<en>",))
    vocabulary = tokenizer.source.with_tags(("<en>",))
    grown = type(tokenizer)(vocabulary, vocabulary, tagged)
    assert len(vocabulary) == len(tokenizer.source) + 1
    model = type(bundle.model)(bundle.config, len(vocabulary), len(vocabulary), True)
    card = {"recipe": bundle.card["recipe"], "languages": ["en", "fr"]}
    replace(bundle, tokenizer=grown, model=model, card=card).save(tmp_path / "both")
    words = ["--all-directions", "--engine", "native", "--limit", "4", "--tests", str(data), "--only", "flores-devtest"]
    assert script.main(["--model", str(tmp_path / "both"), *words]) == 0
    out = capsys.readouterr().out
    assert "both, en-fr, float32, tag none" in out
    assert "both, fr-en, float32, tag <en>" in out
    assert "en-de: left out, the model has no tag <de>" in out
    assert out.count("flores-devtest: 4 sentences") == 2


def test_what_cannot_be_measured_is_one_line(
    script: ModuleType, stand_in: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.main(["--tests", str(tmp_path / "nowhere"), "--only", "notes"]) == 2
    assert capsys.readouterr().err.endswith("nowhere is not a folder\n")
    card = json.loads((stand_in / "card.json").read_text(encoding="utf-8")) | {"languages": ["en", "it"]}
    (stand_in / "card.json").write_text(json.dumps(card), encoding="utf-8")
    assert script.main(["--only", "notes"]) == 2
    assert "does not say which of en-fr, fr-en" in capsys.readouterr().err
    for bad in (["--limit", "5", "--write"], ["--direction", "en-fr"], ["--all-directions"], ["--beside", "x"]):
        with pytest.raises(SystemExit):
            script.parse(bad)


def test_other_models_of_the_box_are_measured_by_name_alone(script: ModuleType, stand_in: Path) -> None:
    shutil.copytree(stand_in, bundled_models.HOME / "en-fr-classic")
    assert [job.folder for job in script.jobs(script.parse([])) if job.folder] == [stand_in]
    (job,) = script.jobs(script.parse(["--model", "en-fr-classic"]))
    assert (job.folder, job.direction) == (bundled_models.HOME / "en-fr-classic", "en-fr")


def test_sets_are_cut_from_all_parts_and_turned(general: ModuleType, data: Path) -> None:
    from general import sets

    (found,) = sets.find_sets("fr-en", [data], ["flores-devtest"])
    assert found.sources[0] == CHAT
    assert found.references[0] == CAT
    assert found.cut(3).numbers == [0, 3, 6]
    assert "newstest2014" not in sets.wanted_names("en-es")
    assert "newstest2013" in sets.wanted_names("es-en")
    assert set(sets.OWN) <= set(sets.wanted_names("en-fr"))
    assert not set(sets.OWN) & set(sets.wanted_names("de-en"))
    with pytest.raises(InputError, match="a direction is one of"):
        sets.languages_of("en-it")
    gap = sets.TestSet.of("gap", [("a", "b"), ("", "c"), ("d", "e")])
    assert gap.numbers == [0, 2]


@settings(max_examples=20)
@given(st.permutations(range(5)), st.integers(0, 4), st.randoms(use_true_random=False))
def test_lines_are_found_whatever_the_order_of_documents(order: list[int], gone: int, rng: random.Random) -> None:
    """Documents of four lines, the words of each line its own but for two that all share; one document may lack."""
    from general.matching import lines_of

    documents = [[[f"w{d}x{i}x{k}" for k in range(6)] + ["the", "of"] for i in range(4)] for d in range(5)]
    references = [" ".join(line) for document in documents for line in document]
    numbers = [4 * d + i for d in order if d != gone for i in range(4)]
    said = [" ".join(rng.sample(references[n].split(), 5)) for n in numbers]
    assert lines_of([said], references) == numbers


def test_lines_of_something_else_are_refused(general: ModuleType) -> None:
    assert general.matching.lines_of([["alpha beta", "alpha beta"]], ["alpha beta", "gamma", "delta"]) is None
    assert general.matching.lines_of([["a"] * 4], ["a", "b", "c"]) is None
