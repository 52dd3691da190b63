"""Scripts outside the package import from each other only what is there; nothing else runs most of them in tests."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT / "benchmarks", ROOT / "recipes" / "box")
SCRIPTS = [path for folder in FOLDERS for path in sorted(folder.rglob("*.py"))]


def names_of(path: Path) -> set[str]:
    """What stands at the top of a module: assigned, defined or imported."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.update(alias.asname or alias.name for alias in node.names)
    return found


def imported_from_scripts(path: Path, folder: Path) -> Iterator[tuple[Path, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            for root in (folder, path.parent):
                module = root.joinpath(*node.module.split(".")).with_suffix(".py")
                if module.is_file():
                    yield from ((module, alias.name) for alias in node.names)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_a_script_imports_is_there(path: Path) -> None:
    folder = next(folder for folder in FOLDERS if path.is_relative_to(folder))
    missing = [(m.name, name) for m, name in imported_from_scripts(path, folder) if name not in names_of(m)]
    assert missing == []
