"""`benchmarks/labels.py`: what is drawn, and what is accepted."""

from __future__ import annotations

from pathlib import Path

from support import load_script

labels = load_script(Path(__file__).parents[2] / "benchmarks" / "labels.py")


def test_labels_are_drawn_from_held_out_files_and_always_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "ui-en-fr"
    folder.mkdir()
    (folder / "test.en").write_text("Settings\nThe cat sleeps.\n%1 files\nLog out\n", encoding="utf-8")
    (folder / "test.fr").write_text("Paramètres\nLe chat dort.\n%1 fichiers\nDéconnexion\n", encoding="utf-8")
    found = list(labels.pairs(tmp_path, "fr", "test"))
    assert sorted(labels.drawn(found)) == [("Log out", "Déconnexion"), ("Settings", "Paramètres")]
    assert labels.drawn(found, 1) == labels.drawn(found, 1)


def test_any_reference_is_accepted_without_regard_to_case_and_punctuation() -> None:
    accepted = labels.references([("Log out", "Déconnexion"), ("log out:", "Se déconnecter")], 0)
    assert labels.key("se déconnecter…") in accepted[labels.key("LOG OUT")]
    assert labels.key("Sortir") not in accepted[labels.key("Log out")]
    assert labels.same_end("Settings:", "Paramètres\u00a0:")
    assert not labels.same_end("Settings", "Paramètres.")
