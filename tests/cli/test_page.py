"""`regard page` writes one file that holds all answers for its texts."""

from __future__ import annotations

import json
import re
from pathlib import Path

from support import LINES, Call

CAT, CHAT = LINES[0]


def test_a_page_is_one_file_with_its_answers(run_folder: Path, tmp_path: Path, call: Call) -> None:
    page = tmp_path / "lecture.html"
    code, out, err = call("page", run_folder, CAT, "--out", page)
    assert (code, out) == (0, f"{page}: {page.stat().st_size / 1e6:.1f} MB, texts: 1\n")
    assert f"text 1 of 1: {CAT}" in err
    text = page.read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="answers">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    kept = json.loads(found[1])
    (said,) = [one["answer"] for one in kept if one["path"] == "/api/translate"]
    assert said["translations"][0]["text"] == CHAT
    assert {"/api/words", "/api/attention", "/api/cut", "/api/lattice", "/api/lessons"} <= {one["path"] for one in kept}


def test_a_folder_is_no_file(run_folder: Path, tmp_path: Path, call: Call) -> None:
    code, _, err = call("page", run_folder, CAT, "--out", tmp_path)
    assert code == 2
    assert err.count("\n") == 1
    assert "is a folder" in err
