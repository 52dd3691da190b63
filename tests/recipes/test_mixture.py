"""recipes/box/mixture.py: one line of a recipe becomes a corpus for each direction whose files exist."""

from pathlib import Path

import pytest

from support import load_script

mixture = load_script(Path(__file__).parents[2] / "recipes" / "box" / "mixture.py")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (
        "ui-en-fr/train.en",
        "ui-en-fr/train.fr",
        "ui-en-de/train.en",
        "ui-en-de/train.de",
        "own.en",
        "own.es",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("a\n", encoding="utf-8")
    return tmp_path


def shown(corpora: list[dict[str, object]], folder: Path) -> list[tuple[str, str, str, object]]:
    return [
        (str(Path(str(c["src"])).relative_to(folder)), Path(str(c["tgt"])).suffix, str(c["tag"]), c["weight"])
        for c in corpora
    ]


def test_both_directions_of_every_pair_that_exists(folder: Path) -> None:
    found = mixture.expand([{"both": f"{folder}/ui-{{pair}}/train", "weight": 2.0, "rough": 0.0}])
    assert shown(found, folder) == [
        ("ui-en-fr/train.en", ".fr", "<fr>", 2.0),
        ("ui-en-fr/train.fr", ".en", "<en>", 2.0),
        ("ui-en-de/train.en", ".de", "<de>", 2.0),
        ("ui-en-de/train.de", ".en", "<en>", 2.0),
    ]
    assert all(corpus["rough"] == 0.0 for corpus in found)


def test_weights_by_the_language_written_and_one_direction_alone(folder: Path) -> None:
    by_target = mixture.expand([{"both": f"{folder}/own", "weight": {"es": 3.0}}])
    assert shown(by_target, folder) == [("own.en", ".es", "<es>", 3.0)]
    into = mixture.expand([{"into_english": f"{folder}/own"}])
    assert shown(into, folder) == [("own.es", ".en", "<en>", 1.0)]


def test_a_register_has_its_own_tag_and_none_into_english(folder: Path) -> None:
    found = mixture.expand([{"both": f"{folder}/own", "register": "formal"}])
    assert shown(found, folder) == [("own.en", ".es", "<es-formal>", 1.0)]


def test_an_ordinary_corpus_is_left_as_it_is(folder: Path) -> None:
    plain = {"src": f"{folder}/own.en", "tgt": f"{folder}/own.es", "tag": "<es>"}
    assert mixture.expand([plain, {**plain, "src": f"{folder}/none.en"}]) == [plain]
