"""The threat model of docs/security.md: every test that it names is there."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "security.md"


def test_every_line_names_a_test_that_is_there() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    threats = [row for row in rows if not row.startswith("| threat")]
    assert len(threats) > 20
    for row in threats:
        named = re.findall(r"`((?:\w+/)?test_\w+\.py)::(test_\w+)`", row)
        assert named, row
        for file, test in named:
            path = HERE.parent / file if "/" in file else HERE / file
            assert f"def {test}(" in path.read_text(encoding="utf-8"), (file, test)
