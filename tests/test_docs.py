"""Documentation that is run: every doctest of the package, and the pages that compute something."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import pkgutil
import re
from pathlib import Path

import pytest

import regard

DOCS = Path(__file__).parent.parent / "docs"
PAGES = ["notes.md", "python.md"]
MODULES = sorted(m.name for m in pkgutil.walk_packages(regard.__path__, "regard.") if not m.name.endswith("__main__"))


def has_examples(name: str) -> bool:
    found = importlib.util.find_spec(name)
    return found is not None and ">>> " in Path(str(found.origin)).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name in ("regard", *MODULES) if has_examples(name)])
def test_examples_of_a_module(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0


def test_every_module_can_be_imported() -> None:
    for name in MODULES:
        importlib.import_module(name)


@pytest.mark.parametrize("page", PAGES)
def test_examples_of_a_page(page: str) -> None:
    path = DOCS / page
    result = doctest.testfile(str(path), module_relative=False, encoding="utf-8", optionflags=doctest.ELLIPSIS)
    assert result.attempted > 0
    assert result.failed == 0


def test_commands_of_the_readme_exist() -> None:
    text = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    from regard.cli.app import app

    known = {(command.name or command.callback.__name__) for command in app.registered_commands if command.callback}
    known |= {group.name for group in app.registered_groups if group.name}
    named = set(re.findall(r"^regard (\w+)", text, re.MULTILINE)) | set(re.findall(r"`regard (\w+)", text))
    assert named == known
    makefile = (DOCS.parent / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)", text, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for link in re.findall(r"\]\(([^)h][^)]*)\)", text):
        assert (DOCS.parent / link).exists(), link
