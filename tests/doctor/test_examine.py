"""Every planted fault is found, where it is; a sound corpus has nothing serious."""

from __future__ import annotations

import random
from pathlib import Path
from typing import NamedTuple

import pytest

from damage import RUSSIAN, SIZE, SPANISH, Text, clean, some
from regard.doctor import examine as examine_module
from regard.doctor.examine import Examination, examine
from regard.doctor.findings import Finding

SAMPLE = 20_000
HALF = SIZE // 2  # where every line is at fault, and all offsets are tried


def look(text: Text, folder: Path) -> Examination:
    return examine(text.write(folder), SAMPLE)


def named(found: Examination, name: str, part: str = "train") -> Finding:
    matching = [f for f in found.findings if f.name == name and f.part == part]
    assert len(matching) == 1, [(f.part, f.name) for f in found.findings]
    return matching[0]


def lines(found: Finding) -> list[int]:
    """Line numbers, from 0, of the places shown."""
    return [int(place.where.split()[0].rpartition(":")[2]) - 1 for place in found.places]


@pytest.fixture
def without_pairing(monkeypatch: pytest.MonkeyPatch) -> None:
    """For faults of another kind: to learn which lines belong together takes four fifths of the time."""
    monkeypatch.setattr(examine_module, "judge_pairs", lambda *_: None)


def test_a_sound_corpus_has_nothing_serious(tmp_path: Path) -> None:
    found = look(clean(), tmp_path)
    assert found.pairs["train"] == SIZE
    assert [f for f in found.findings if f.serious] == []
    assert not found.stops


class Plant(NamedTuple):
    """A fault in some lines of one side of train."""

    name: str
    side: int
    count: int
    by: str | bytes  # in the line's place, {} being the line; bytes as they are
    serious: bool
    corpus: int  # faults of one name, and those that would count as each other, are not planted in one corpus


COPY = "the source"
PLANTS = [
    Plant("encoding", 1, 3, "été".encode("latin-1"), True, 0),
    Plant("control", 0, 80, "{}\x07", True, 0),
    Plant("control", 1, 80, "a\x00{}", True, 1),
    Plant("invisible", 1, 400, "{}\u200b", True, 0),
    Plant("invisible", 0, 5, "soft\u00adhyphen {}", False, 1),
    Plant("replaced", 1, 30, "\ufffdtait {}", True, 0),
    Plant("mojibake", 1, 30, "Ã©tÃ© {}", True, 0),
    Plant("mojibake", 0, 30, "{} â€œyesâ€", True, 1),
    Plant("html", 0, 400, "<b>{}</b>", True, 0),
    Plant("html", 1, 4, "{} &amp; more", False, 1),
    Plant("normal form", 1, 4, "e\u0301te\u0301 {}", False, 0),
    Plant("empty", 1, 200, " ", True, 0),
    Plant("copies", 1, 200, COPY, True, 0),
    Plant("too long", 1, 100, "{} " * 120, True, 0),
    Plant("ratio", 1, 100, "{} " * 12, True, 1),
    Plant("script", 0, 60, RUSSIAN, True, 0),
]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> dict[Plant, tuple[Examination, list[int]]]:
    """What is found in the corpus of each plant, and its lines; no two plants share a line."""
    found = {}
    for corpus in (0, 1):
        text, free = clean(), random.Random(1).sample(range(SIZE), SIZE)
        places = {}
        for plant in (plant for plant in PLANTS if plant.corpus == corpus):
            places[plant], free = sorted(free[: plant.count]), free[plant.count :]
            for at in places[plant]:
                if isinstance(plant.by, bytes):
                    text.raw[at] = plant.by
                    continue
                pair = list(text.train[at])
                pair[plant.side] = pair[0] if plant.by == COPY else plant.by.replace("{}", pair[plant.side])
                text.train[at] = (pair[0], pair[1])
        seen = look(text, tmp_path_factory.mktemp("planted"))
        found |= {plant: (seen, lines) for plant, lines in places.items()}
    return found


@pytest.mark.parametrize("plant", PLANTS, ids=[f"{plant.name}-{i}" for i, plant in enumerate(PLANTS)])
def test_faults_of_single_lines(planted: dict[Plant, tuple[Examination, list[int]]], plant: Plant) -> None:
    seen, places = planted[plant]
    found = named(seen, plant.name)
    assert found.count == len(places)
    assert found.serious is plant.serious
    assert lines(found) == places[: len(found.places)]
    assert len(found.places) == 3


@pytest.mark.usefixtures("without_pairing")
def test_what_is_mended_when_read_is_only_told(tmp_path: Path) -> None:
    text = clean()
    text.ends, text.start = "\r\n", b"\xef\xbb\xbf"
    found = look(text, tmp_path)
    assert named(found, "bom").count == 1
    assert named(found, "line ends").count == 2 * SIZE
    assert not any(f.serious for f in found.findings)


@pytest.mark.usefixtures("without_pairing")
def test_unequal_numbers_of_lines(tmp_path: Path) -> None:
    data = clean().write(tmp_path)
    path = tmp_path / "train.fr"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    found = examine(data, SAMPLE)
    assert found.stops
    assert f"train.en has {SIZE:,} lines but train.fr has {SIZE - 1:,}" in named(found, "unequal").message


def test_a_line_that_is_missing_shifts_all_that_follow(tmp_path: Path) -> None:
    text = clean()
    targets = [tgt for _, tgt in text.train]
    del targets[1000]
    targets.insert(2000, "Le chat dort.")
    text.train = [(src, tgt) for (src, _), tgt in zip(text.train, targets, strict=True)]
    found = named(look(text, tmp_path), "shifted")
    assert found.serious
    assert found.count == pytest.approx(1000, abs=40)
    assert "translates target line -1" in found.places[0].text
    assert lines(found)[0] == pytest.approx(1000, abs=20)


@pytest.mark.parametrize("offset", [1, pytest.param(-2, marks=pytest.mark.long)])
def test_a_file_that_is_shifted_from_its_first_line_on(tmp_path: Path, offset: int) -> None:
    text = clean()
    text.train = text.train[:HALF]
    targets = [tgt for _, tgt in text.train]
    targets = targets[-offset:] + targets[:-offset]
    text.train = [(src, tgt) for (src, _), tgt in zip(text.train, targets, strict=True)]
    found = named(look(text, tmp_path), "shifted")
    assert found.count > 0.95 * HALF
    assert f"translates target line {offset:+d}" in found.places[0].text


@pytest.mark.long
def test_a_test_set_that_is_shifted(tmp_path: Path) -> None:
    text = clean()
    text.test = [(src, tgt) for (src, _), (_, tgt) in zip(text.test, [*text.test[1:], text.test[0]], strict=True)]
    found = named(look(text, tmp_path), "shifted", "test")
    assert found.count > 0.5 * len(text.test)  # it begins with pairs that differ in one word, which hide a shift


def test_a_file_in_another_order(tmp_path: Path) -> None:
    text = clean()
    targets = [text.train[at][1] for at in random.Random(3).sample(range(HALF), HALF)]
    text.train = [(src, tgt) for (src, _), tgt in zip(text.train[:HALF], targets, strict=True)]
    text.dev = text.test = text.train[:100]
    assert named(look(text, tmp_path), "unrelated").serious


def test_pairs_that_do_not_belong_together(tmp_path: Path) -> None:
    text = clean()
    places = some(300)
    others = [text.train[at][1] for at in [*places[7:], *places[:7]]]
    for at, tgt in zip(places, others, strict=True):
        text.train[at] = (text.train[at][0], tgt)
    found = named(look(text, tmp_path), "misaligned")
    assert found.serious
    assert 100 < found.count < 250  # half of them, as it says
    assert set(lines(found)) <= set(places)


@pytest.mark.usefixtures("without_pairing")
def test_swapped_sides(tmp_path: Path) -> None:
    text = clean()
    places = some(60)
    for at in places:
        text.train[at] = (text.train[at][1], text.train[at][0])
    found = named(look(text, tmp_path), "swapped")
    assert found.serious
    assert found.count >= 57
    assert set(lines(found)) <= set(places)


@pytest.mark.usefixtures("without_pairing")
def test_dev_files_that_were_given_the_wrong_way_round(tmp_path: Path) -> None:
    text = clean()
    text.dev = [(tgt, src) for src, tgt in text.dev]
    assert named(look(text, tmp_path), "swapped", "dev").count > 0.95 * len(text.dev)


@pytest.mark.usefixtures("without_pairing")
def test_targets_in_the_sources_language(tmp_path: Path) -> None:
    text = clean()
    places = some(60)
    for at in places:
        text.train[at] = (text.train[at][0], f"Well, {text.train[at][0]}")
    found = named(look(text, tmp_path), "untranslated target")
    assert found.serious
    assert found.count >= 55
    assert set(lines(found)) <= set(places)


@pytest.mark.usefixtures("without_pairing")
def test_lines_in_a_third_language(tmp_path: Path) -> None:
    text = clean()
    places = some(60)
    for number, at in enumerate(places):
        text.train[at] = (text.train[at][0], SPANISH[number % len(SPANISH)])
    found = named(look(text, tmp_path), "unlike")
    assert found.serious
    assert found.count >= 40
    assert set(lines(found)) <= set(places)


@pytest.mark.usefixtures("without_pairing")
def test_duplicates_and_sources_with_many_targets(tmp_path: Path) -> None:
    text = clean()
    text.train[1500:] = text.train[:1500]
    text.train += [(src, f"{tgt} Oui.") for src, tgt in text.train[:10]]
    found = look(text, tmp_path)
    assert named(found, "duplicates").count == 1500
    assert named(found, "many targets").count == 20
    first, second = named(found, "duplicates").places[:2]
    assert first.text == second.text
    # Examples come in the order of the file, not of their hashes, which differ from process to process.
    assert lines(named(found, "duplicates")) == [0, 1500, 1]
    assert lines(named(found, "many targets")) == [0, 1500, 3000]


@pytest.mark.usefixtures("without_pairing")
def test_leaks(tmp_path: Path) -> None:
    text = clean()
    size = len(text.test)
    text.train[:20] = text.test[:20]
    text.train[20:30] = [(f"{src.upper()} !", tgt.replace(".", " .")) for src, tgt in text.test[20:30]]
    text.train[30:35] = [(src, text.train[at][1]) for at, (src, _) in zip(range(30, 35), text.test[30:35], strict=True)]
    text.dev[:7] = text.test[100:107]
    found = look(text, tmp_path)
    leak = named(found, "leak", "test")
    assert leak.count == 30
    assert leak.serious
    assert f"30 of {size:,} pairs" in leak.message
    assert "; 20 of them letter by letter" in leak.message
    assert leak.places[0].where == "test.en:1 = train.en:1"
    side = named(found, "leak of a side", "test")
    assert "5 further sources" in side.message
    assert named(found, "shared", "test").count == 7


@pytest.mark.usefixtures("without_pairing")
def test_characters_that_train_does_not_have(tmp_path: Path) -> None:
    text = clean()
    text.test[0] = (text.test[0][0] + " ☃", text.test[0][1])
    found = named(look(text, tmp_path), "unseen characters", "test")
    assert (found.count, found.serious) == (1, False)
    assert lines(found) == [0]


@pytest.mark.usefixtures("without_pairing")
def test_a_table_with_a_row_too_many_tabs(tmp_path: Path) -> None:
    text = clean()
    rows = [f"{src}\t{tgt}\n" for src, tgt in text.train]
    rows[4] = "one\ttwo\tthree\n"
    path = tmp_path / "train.tsv"
    path.write_text("".join(rows), encoding="utf-8")
    data = text.write(tmp_path)
    from dataclasses import replace

    found = examine(replace(data, src=None, tgt=None, pairs=str(path)), SAMPLE)
    assert lines(named(found, "columns")) == [4]
    assert found.stops
