"""One look in lines: every term is there, shortened, and the softmax column adds up."""

from __future__ import annotations

import pytest

from regard.explain.mechanisms import Query
from regard.explain.render.text import step_text
from regard.explain.step import step_numbers
from regard.translator import Translator


def test_the_lines_of_a_look(translator: Translator) -> None:
    (ids,) = translator.tokenizer.encode_target(["Le chat dort."])
    found = step_numbers(translator.bundle, "The cat sleeps.", ids, Query("decoder", 0, 1, 2))
    text = step_text(found)
    for term in found.numbers.terms:
        assert any(line.strip().startswith(f"{term.name} ") for line in text.splitlines()), term.name
    rows = [line for line in text.splitlines() if line.startswith("  ") and len(line.split()) == 5 and "=" not in line]
    assert len(rows) == len(found.keys)
    assert sum(float(row.split()[-1]) for row in rows) == pytest.approx(1, abs=1e-4)
    assert [row.split()[-2] == "−∞" for row in rows] == [key >= 3 for key in range(len(rows))]  # the future
    assert "held against the model's own forward pass" in text
    assert max(map(len, text.splitlines())) < 140
