"""The page as one file: what it allows is exactly what it holds, and no text can leave its place."""

from __future__ import annotations

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from regard.serve.page.build_page import hashes
from regard.serve.page.page_files import shell, with_answers
from support import needs_bundler

pytestmark = needs_bundler


def test_the_policy_allows_its_own_script_and_style_alone() -> None:
    document = shell()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', document)
    theme = re.search(r"<script>(.*?)</script>", document)
    script = re.search(r'<script type="module">(.*?)</script>', document, re.DOTALL)
    style = re.search(r"<style>(.*?)</style>", document, re.DOTALL)
    assert policy
    assert theme
    assert script
    assert style
    assert policy.start() < min(theme.start(), script.start(), style.start())  # a policy holds for what follows it
    parts = dict(part.strip().split(" ", 1) for part in policy[1].split(";"))
    assert parts == {
        "default-src": "'none'",
        "script-src": hashes([theme[1], script[1]]),
        "style-src": hashes([style[1]]),
        "img-src": "data:",
    }


def test_nothing_is_left_to_load() -> None:
    document = shell()
    assert not re.search(r'(?:src|href)="(?!data:|#)[^"]*"', document.split('<script type="module">')[0])
    assert not re.search(r'^(import|export) .* from "|\bimport\(', document, re.MULTILINE)
    assert document.index('id="answers"') < document.index('<script type="module">')  # which reads the answers


@given(st.text(), st.text())
def test_any_answer_stays_an_answer(text: str, place: str) -> None:
    answers = [{"path": "/api/words", "body": {"text": text}, "answer": {"translation": f"</script>{text}<!--"}}]
    document = with_answers(answers, f"#/inside?text={place}")
    block = re.search(r'id="answers">(.*?)</script>', document, re.DOTALL)
    assert block
    assert json.loads(block[1]) == answers
    assert document.count("<script") == shell().count("<script")
