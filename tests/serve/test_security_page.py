"""The threat model of docs/operations.md: every test that it names exists."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "operations.md"


def test_every_row_names_an_existing_test() -> None:
    section = PAGE.read_text(encoding="utf-8").partition("\n## Security\n")[2]
    rows = [line for line in section.splitlines() if line.startswith("| ") and not line.startswith("| threat")]
    assert len(rows) > 20
    for row in rows:
        named = re.findall(r"`((?:\w+/)*test_\w+\.py)::(test_\w+)`", row)
        assert named, row
        for file, test in named:
            paths = [HERE.parent / file] if "/" in file else list(HERE.rglob(file))
            assert any(f"def {test}(" in path.read_text(encoding="utf-8") for path in paths), (file, test)
