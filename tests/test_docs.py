"""Documentation that is run: every doctest of the package, and the pages that compute something."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import regard

PAGES = ["notes.md"]
MODULES = sorted(m.name for m in pkgutil.walk_packages(regard.__path__, "regard.") if not m.name.endswith("__main__"))


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("page", PAGES)
def test_examples_of_a_page(page: str) -> None:
    path = Path(__file__).parent.parent / "docs" / page
    result = doctest.testfile(str(path), module_relative=False, encoding="utf-8")
    assert result.attempted > 0
    assert result.failed == 0
