"""A plain request through CTranslate2 imports no torch, whatever is checked of its output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CALL = """
import sys
from regard.__main__ import main
try:
    main()
finally:
    unwanted = ("torch", "transformers", "pydantic", "regard.bulk.journal", "regard.formats.translate_document")
    heavy = [name for name in unwanted if name in sys.modules]
    print("imported:", *heavy, file=sys.stderr)
"""
LOADED = """
import sys
import regard
translator = regard.load("en-fr", device="cpu")
print(translator.translate("The black cat sleeps.").text)
print(*(one.text for one in translator.translate(["Where is the station?", "Tom has 3 dogs."], beam=1)))
assert "torch" not in sys.modules, "translating imports torch"
"""


def plain() -> dict[str, str]:
    """The environment without what is set for tests of other things."""
    return dict(os.environ) | {"REGARD_ENGINE": "auto"}


def called(*words: str) -> tuple[str, set[str]]:
    """What a command prints, and which of the large libraries it has imported."""
    done = subprocess.run(
        [sys.executable, "-c", CALL, *words], env=plain(), capture_output=True, text=True, encoding="utf-8", check=True
    )
    *_, last = done.stderr.splitlines()
    return done.stdout, {*last.split()[1:]}


@pytest.mark.parametrize(
    "texts",
    [
        ["Call Zoe Quimby at 3:45 pm, or see https://example.com/docs."],
        ["The cat is on the mat.", "The cat sleeps. The dog barks.\n\n- A list of 3 things.", "I AM HERE."],
        pytest.param(["--to", "fr", "The cat is on the mat."], marks=pytest.mark.long),
    ],
    ids=["protected spans", "several sentences", "by languages"],
)
def test_a_plain_request_imports_no_torch(texts: list[str]) -> None:
    out, imported = called("translate", *texts)
    assert out.count("\n") >= len([text for text in texts if " " in text])
    assert imported == set()


def test_nor_does_a_report_or_json(tmp_path: Path) -> None:
    out, imported = called("translate", "--device", "cpu", "--json", "--report", str(tmp_path / "r.jsonl"), "The cat.")
    assert json.loads(out)["text"].startswith("Le chat")
    assert (tmp_path / "r.jsonl").read_text(encoding="utf-8").count("\n") == 1
    assert "torch" not in imported


def test_nor_does_the_python_interface() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED], env=plain(), capture_output=True, text=True, encoding="utf-8", check=True
    )
    first, *_ = done.stdout.splitlines()
    assert first == "Le chat noir dort."
