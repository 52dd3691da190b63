"""What a person says in a model's card: read from TOML, all of it wanted, none of it misspelt."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.bundle.card import card_rows, read_about
from regard.errors import InputError, RecipeError
from support import ABOUT


def about(folder: Path, text: str) -> Path:
    (folder / "about.toml").write_text(text, encoding="utf-8")
    return folder / "about.toml"


def test_all_that_was_said_is_in_the_rows(tmp_path: Path) -> None:
    rows = card_rows({"about": read_about(about(tmp_path, ABOUT)), "training_flops": 1.5e15})
    assert rows["title"] == ["English to French"]
    assert rows["languages"] == ["English → French"]
    assert rows["data"] == [
        "Tatoeba, CC BY 2.0 FR, https://tatoeba.org",
        "the contributors of tatoeba.org",
        "grammar, Apache-2.0, docs/corpus.md",
        "regard",
    ]
    assert rows["limits"] == ["Short sentences.", "No names."]
    assert rows["cost"] == ["1.5e+15 FLOPs"]
    assert "tests" not in rows


def test_scores_come_with_their_signatures() -> None:
    tests = {
        "notes": {"sentences": 7, "exact": 6, "beam": 5},
        "tatoeba test": {
            "sentences": 5000,
            "beam": 5,
            "metrics": [{"name": "BLEU", "score": 51.234, "signature": "nrefs:1|case:mixed"}],
        },
    }
    assert card_rows({"tests": tests})["tests"] == [
        "notes: 6 of 7 sentences exactly as wanted",
        "tatoeba test, 5,000 sentences, beam 5",
        "BLEU 51.23  nrefs:1|case:mixed",
    ]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('title = "English to French"', "", "about.title must be given"),
        ('licence = "CC BY 2.0 FR"', "", "data.licence must be given"),
        (
            'licence = "CC BY 2.0 FR"',
            'license = "CC BY 2.0 FR"',
            'unknown key "license" in data; did you mean "licence"',
        ),
        ('languages = ["English", "French"]', 'languages = ["French"]', "about.languages must be two"),
        ("limits = [", "limit = [", 'unknown key "limit" in about'),
        ('training = "On both collections together."', "training = 3", "about.training must be text, but is 3"),
    ],
)
def test_what_is_missing_or_misspelt_is_named(tmp_path: Path, old: str, new: str, says: str) -> None:
    with pytest.raises(RecipeError, match=says):
        read_about(about(tmp_path, ABOUT.replace(old, new)))


def test_a_file_that_is_no_toml(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"about\.toml is no TOML file"):
        read_about(about(tmp_path, "title ="))
    with pytest.raises(InputError, match=r"nix\.toml cannot be read: No such file"):
        read_about(tmp_path / "nix.toml")
