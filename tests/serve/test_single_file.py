"""The page as one file: what it allows is exactly what it holds, and no text can leave its place."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import RegardError
from regard.serve.page.page_files import bundle, shell, with_answers


def hashed(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def test_the_policy_allows_its_own_script_and_style_alone() -> None:
    document = shell()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', document)
    script = re.search(r'<script type="module">(.*?)</script>', document, re.DOTALL)
    style = re.search(r"<style>(.*?)</style>", document, re.DOTALL)
    assert policy
    assert script
    assert style
    parts = dict(part.strip().split(" ", 1) for part in policy[1].split(";"))
    assert parts == {
        "default-src": "'none'",
        "script-src": hashed(script[1]),
        "style-src": hashed(style[1]),
        "img-src": "data:",
    }


def test_nothing_is_left_to_load() -> None:
    document = shell()
    assert not re.search(r'(?:src|href)="(?!data:|#)[^"]*"', document.split('<script type="module">')[0])
    assert not re.search(r'^(import|export) .* from "', document, re.MULTILINE)


@given(st.text(), st.text())
def test_any_answer_stays_an_answer(text: str, place: str) -> None:
    answers = [{"path": "/api/words", "body": {"text": text}, "answer": {"translation": f"</script>{text}<!--"}}]
    document = with_answers(answers, f"#/inside?text={place}")
    block = re.search(r'id="answers">(.*?)</script>', document, re.DOTALL)
    assert block
    assert json.loads(block[1]) == answers
    assert document.count("<script") == shell().count("<script")


def test_a_module_is_run_once_and_before_those_that_import_it() -> None:
    modules = {
        "a.js": 'import { c } from "./c.js";\nimport * as b from "./b.js";\nb.x();',
        "b.js": 'import { c, d } from "./c.js";\nexport const x = () => c;',
        "c.js": "export function c() {}\nexport class d {}",
    }
    script = bundle(modules, "a.js")
    assert [script.index(f"const {name}_js") for name in "cba"] == sorted(script.index(f"const {n}_js") for n in "cba")
    assert script.count("function c()") == 1
    assert "const b = b_js;" in script
    assert "return { c, d };" in script


@pytest.mark.parametrize(
    ("modules", "said"),
    [
        ({"a.js": 'import { b } from "./b.js";', "b.js": 'import { a } from "./a.js";'}, "a.js → b.js → a.js"),
        ({"a.js": 'import { b } from "./b.js";'}, "a.js imports b.js"),
        ({"a.js": 'import b from "./b.js";'}, "another form"),
    ],
)
def test_what_cannot_be_bundled_is_named(modules: dict[str, str], said: str) -> None:
    with pytest.raises(RegardError, match=said):
        bundle(modules, "a.js")
