"""The tree in docs/design.md: every file of the package with the first sentence it says of itself. To write it again:

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


def first_sentence(path: Path) -> str:
    """Without what stands in brackets, which is mostly a paper."""
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert said, f"{path} says nothing of itself"
    sentence = re.split(r"(?<=[.?!])(?<!et al\.)\s", said.split("\n\n")[0].replace("\n", " "))[0]
    return re.sub(r" \([^()]*\)", "", sentence).rstrip(".:")


def tree() -> str:
    """Folders after the files beside them; `__init__.py` speaks for its folder."""
    lines = []

    def walk(folder: Path, depth: int) -> None:
        indent = "  " * depth
        for path in sorted(folder.glob("[!_]*.py")):
            lines.append(f"{indent}{path.name:<{28 - len(indent)}}{first_sentence(path)}")
        for inner in sorted(path for path in folder.iterdir() if (path / "__init__.py").exists()):
            lines.append(f"{indent}{inner.name + '/':<{28 - len(indent)}}{first_sentence(inner / '__init__.py')}")
            walk(inner, depth + 1)

    walk(PACKAGE, 1)
    return "\n".join(lines) + "\n"


def test_the_tree_says_what_the_files_say() -> None:
    text = PAGE.read_text(encoding="utf-8")
    if os.environ.get("REGARD_WRITE_DOCS"):
        text = TREE.sub(lambda _: tree(), text, count=1)
        PAGE.write_text(text, encoding="utf-8")
    drawn = TREE.search(text)
    assert drawn is not None
    assert drawn[0] == tree(), "REGARD_WRITE_DOCS=1 pytest tests/test_tree.py writes it"
