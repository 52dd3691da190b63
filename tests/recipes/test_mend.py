"""recipes/box/mend.py: small faults of pairs are mended on both sides, and what cannot be mended is dropped."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import pytest

from support import load_script

mend: Any = load_script(Path(__file__).parents[2] / "recipes" / "box" / "mend.py")


def test_its_examples() -> None:
    assert doctest.testmod(mend).failed == 0


@pytest.mark.parametrize(
    ("pair", "mended"),
    [
        (("&File", "&Fichier"), ("File", "Fichier")),
        (("Auto-&fit height", "Hauteur automatique (&f)"), ("Auto-fit height", "Hauteur automatique")),
        (("Research (R&D)", "Recherche (R&D)"), ("Research (R&D)", "Recherche (R&D)")),
        (("Copy & paste", "Copier & coller"), ("Copy & paste", "Copier & coller")),
        (("Retry ?", "Réessayer ?"), ("Retry?", "Réessayer ?")),
        (("So: a “pipe”", "Ainsi⋅: un «⋅tube⋅»"), ("So: a “pipe”", "Ainsi\u00a0: un «\u00a0tube\u00a0»")),
        (("By music , sports .", "Par musique , sports ."), ("By music, sports.", "Par musique, sports.")),
        (("Use the .git folder.", "Utilisez le dossier .git."), ("Use the .git folder.", "Utilisez le dossier .git.")),
        (('Click "confirm.', "Cliquez « confirmer »."), ('Click "confirm."', "Cliquez « confirmer ».")),
        (('"I know.', '"Je sais.'), ('"I know.', '"Je sais.')),  # a longer quotation
        ((":) Thanks", "Merci :)"), (":) Thanks", "Merci :)")),
        (("a) Thanks", "a) Merci"), ("a) Thanks", "a) Merci")),
    ],
)
def test_mended(pair: tuple[str, str], mended: tuple[str, str]) -> None:
    assert mend.mended(pair, ("en", "fr"), labels=True) == mended


@pytest.mark.parametrize(
    "pair",
    [
        ("Surround arguments with .", "Entourez les arguments par ."),
        ("pry sth. out of sb.", "aus jdm. etw. herausholen"),
        ("said Dr.", "a dit le Dr."),
        ("He came (in time", "Il est venu (à temps"),
        ('One or two" of them', "Un ou deux d'entre eux"),
        ("for i in range(10): x_i += self.a", "for i in range(10): x_i += self.a"),
        ("To deal with something is to manage it.", "To deal with something is es manejarlo."),
        ("Be careful with that function please", "Dire: Careful with that function please"),
    ],
)
def test_dropped(pair: tuple[str, str]) -> None:
    assert mend.mended(pair, ("en", "fr"), lessons=True) is None
