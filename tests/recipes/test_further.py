"""recipes/box/further.py: small sources become few, and a dictionary keeps its default translations."""

from __future__ import annotations

import doctest
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from support import load_script, write

BOX = Path(__file__).parents[2] / "recipes" / "box"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BOX))
    return load_script(BOX / "further.py")


def test_its_examples(script: Any) -> None:
    assert doctest.testmod(script).failed == 0


@pytest.mark.parametrize(
    ("english", "other", "kept"),
    [
        ("beech marten", "Steinmarder", True),
        ("Allen key", "Innensechskantschlüssel", True),
        ("Turkish", "türkisch", True),
        ("John", "Johannes", False),
        ("co-", "mit-", False),
        ("side)", "achteraus", False),
        ("key", "husch!", False),
        ("marten", "USA", False),
        ("obsolete", "veraltet", False),  # not in the texts
    ],
)
def test_entries_of_a_dictionary(script: Any, english: str, other: str, kept: bool) -> None:
    counts = Counter(dict.fromkeys(("beech", "marten", "allen", "key", "turkish", "john", "co", "side"), 5))
    assert script.default_translations([(english, other)], counts) == ([(english, other)] if kept else [])


@pytest.mark.parametrize(
    ("line", "fine"),
    [
        ("The river rises in the north.", True),
        ("He wrote to The Times in 1920.", True),
        ("History The river rises in the north.", False),
        ("Audiology Audiology is a branch of science.", False),
        ("[citation needed] Most cases are mild.", False),
        ("Category:Rivers This category has 4 pages.", False),
    ],
)
def test_headings(script: Any, line: str, fine: bool) -> None:
    assert (script.HEADING.search(line) is None) == fine


def test_the_folder_that_is_made(script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw, more = tmp_path / "raw", tmp_path / "more"
    for name, english, french in (
        ("scratch", "Add a sound", "Ajoute un son"),
        ("rocketchat", "Leave", "Quitter"),
        ("umbrella", "Stay calm.", "Restez calme."),
        ("storybooks", "--- title ---", "--- titre ---"),
        ("wiktionary", "river", "rivière"),
    ):
        write(raw / "pairs" / f"{name}-en-fr.en", english)
        write(raw / "pairs" / f"{name}-en-fr.fr", french)
    write(raw / "mono" / "wiki.en.txt", "A river rises in the north of it.", "The river is long and wide.")
    write(raw / "mono" / "simplewiki.en.txt", "It flows to the sea in a wide valley.", "( ) a list")
    write(raw / "mono" / "novels-cidre.fr.txt", *(f"Il y a {n} ans." for n in range(30)))
    monkeypatch.setattr(sys, "argv", ["further.py", str(raw), str(more)])
    script.main()
    found = {str(path.relative_to(more)): path.read_text(encoding="utf-8") for path in more.rglob("*.t*")}
    assert found.pop("general-text/novels.fr.txt").count("Il y a") == 30
    assert sorted(found.pop("general-text/wiki.en.txt").splitlines()) == [
        "A river rises in the north of it.",
        "It flows to the sea in a wide valley.",
        "The river is long and wide.",
    ]
    assert found == {
        "general-pairs/apps.en-fr.tsv": "Leave\tQuitter\nAdd a sound\tAjoute un son\n",
        "general-pairs/wiktionary.en-fr.tsv": "river\trivière\n",
    }
