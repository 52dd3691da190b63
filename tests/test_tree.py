"""The tree in docs/design.md: every file of the package with the beginning of its docstring. To write it again:

REGARD_WRITE_DOCS=1 pytest tests/test_tree.py
"""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path

import regard

PAGE = Path(__file__).parent.parent / "docs" / "design.md"
PACKAGE = Path(regard.__file__).parent
TREE = re.compile(r"(?<=```\nsrc/regard/\n).*?(?=```\n)", re.DOTALL)


def summary(path: Path) -> str:
    """The first sentence of a module's docstring up to a colon or semicolon, without what is in parentheses."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert docstring, f"{path} has no docstring"
    sentence = re.split(r"(?<=[.?!])(?<!et al\.)\s", docstring.split("\n\n")[0].replace("\n", " "))[0]
    sentence = re.sub(r" \([^()]*\)", "", sentence).rstrip(".:")
    beginning = re.split(r"[:;] ", sentence)[0]
    return beginning if len(beginning.split()) > 2 else sentence


def tree() -> str:
    """Folders after the files beside them; a folder has the summary of its `__init__.py`."""
    lines = []

    def walk(folder: Path, depth: int) -> None:
        indent = "  " * depth
        for path in sorted(folder.glob("[!_]*.py")):
            lines.append(f"{indent}{path.name:<{28 - len(indent)}}{summary(path)}")
        for inner in sorted(path for path in folder.iterdir() if (path / "__init__.py").exists()):
            lines.append(f"{indent}{inner.name + '/':<{28 - len(indent)}}{summary(inner / '__init__.py')}")
            walk(inner, depth + 1)

    walk(PACKAGE, 1)
    return "\n".join(lines) + "\n"


def test_tree_is_up_to_date() -> None:
    text = PAGE.read_text(encoding="utf-8")
    if os.environ.get("REGARD_WRITE_DOCS"):
        text = TREE.sub(lambda _: tree(), text, count=1)
        PAGE.write_text(text, encoding="utf-8")
    drawn = TREE.search(text)
    assert drawn is not None
    assert drawn[0] == tree(), "run REGARD_WRITE_DOCS=1 pytest tests/test_tree.py"
