"""What a person says in a model's card: read from TOML, all of it wanted, none of it misspelt."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.bundle.bundle import Bundle
from regard.bundle.card import card_rows, read_about, read_card
from regard.errors import InputError, RecipeError
from regard.text.tokenizer import Tokenizer
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
        "news": {
            "sentences": 9,
            "beam": 5,
            "ctranslate2": [{"name": "BLEU", "score": 20.0, "signature": "nrefs:1"}],
        },
    }
    assert card_rows({"tests": tests})["tests"] == [
        "notes: 6 of 7 sentences exactly as wanted",
        "tatoeba test, 5,000 sentences, beam 5",
        "BLEU 51.23  nrefs:1|case:mixed",
        "news, 9 sentences, beam 5, by CTranslate2 in 8 bits",
        "BLEU 20.00  nrefs:1",
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


CALIBRATION = {
    "weights": {"mean": 1.5},
    "bias": 0.5,
    "ratio": 0.1,
    "ratio_spread": 0.2,
    "on": "dev",
    "errors": {"test": 0.0123},
}


def test_the_calibration_of_a_card_is_read_and_shown() -> None:
    card = {"calibration": CALIBRATION}
    assert read_card(card).calibration.weights == {"mean": 1.5}
    assert card_rows(card)["confidence"] == ["fitted on dev; calibration error 0.012 on test"]
    assert not read_card({}).calibration.fitted
    assert "confidence" not in card_rows({})


def test_how_far_to_trust_attention_is_shown() -> None:
    view = {"layer": 0, "head": 1, "row": "having-read"}
    measured = view | {"aer": 0.262, "on": "the Hansards", "also": {"the corpus": 0.088}}
    where = "attention of layer 1 · head 2 · having read"
    assert card_rows({"attention_view": measured})["alignment"] == [
        f"{where}; AER 26.2% on the Hansards, 8.8% on the corpus"
    ]
    for none in (view, view | {"aer": None, "on": ""}):
        assert card_rows({"attention_view": none})["alignment"] == [f"{where}; AER not evaluated"]
    assert "alignment" not in card_rows({})


@pytest.mark.parametrize("wrong", [{"ratio_spread": -1.0}, {"weights": {"mean": "high"}}, {"bias": None}, 3])
def test_a_calibration_that_cannot_be_used(wrong: object) -> None:
    card = {"calibration": CALIBRATION | wrong if isinstance(wrong, dict) else wrong}
    with pytest.raises(RecipeError, match="calibration"):
        read_card(card)


@pytest.mark.parametrize(
    ("card", "languages"),
    [
        ({}, (None, None)),
        ({"languages": ["en", "fr"]}, ("en", "fr")),
        ({"languages": ["en", None]}, ("en", None)),
        ({"languages": ["en"]}, (None, None)),
        ({"about": {"languages": ["English", "French"]}}, ("en", "fr")),
        ({"about": {"languages": ["English", "Klingon"]}}, ("en", None)),
        ({"about": {"languages": ["German", "French"]}, "languages": ["en", "fr"]}, ("en", "fr")),
    ],
)
def test_languages_by_the_data_or_by_what_a_person_says(
    card: dict[str, object], languages: tuple[str | None, str | None], tokenizer: Tokenizer
) -> None:
    bundle = Bundle("transformer", None, None, tokenizer, card)  # type: ignore[arg-type]
    assert bundle.languages == languages
