"""One exercise of each kind, as a lesson has them."""

from __future__ import annotations

from typing import Any

COMMON = {"question": "What?", "answer": "That."}
NUMBER: dict[str, Any] = {
    **COMMON, "id": "weights", "kind": "number", "value": [0.665, 0.245, 0.090], "tolerance": 0.002,
    "hints": [
        {"value": [0.5, 0.333, 0.167], "text": "These are shares without exp."},
        {"above": 1.0, "text": "A weight is at most 1."},
        {"below": 0.0, "text": "A weight is not negative."},
        {"text": "Divide each exp by their sum."},
    ],
    "wrong": [{"given": [0.5, 0.333, 0.167], "hint": "without exp"}],
}  # fmt: skip
ONE: dict[str, Any] = {
    **COMMON, "id": "bleu", "kind": "number", "value": 0.65, "hints": [{"text": "Count again."}],
    "wrong": [{"given": 0.514, "hint": "again"}],
}  # fmt: skip
CHOICE: dict[str, Any] = {
    **COMMON, "id": "beam", "kind": "choice",
    "choices": [{"text": "several", "right": True}, {"text": "one", "hint": "That is greedy search."}],
    "wrong": [{"given": [2], "hint": "greedy"}],
}  # fmt: skip
SEVERAL: dict[str, Any] = {
    **COMMON, "id": "problems", "kind": "choice", "several": True,
    "choices": [
        {"text": "a", "right": True}, {"text": "b", "right": True}, {"text": "c", "right": True},
        {"text": "d", "hint": "It needs as much data."},
    ],
    "wrong": [{"given": [1, 4], "hint": "data"}],
}  # fmt: skip
CHANGE: dict[str, Any] = {
    **COMMON, "id": "rare", "kind": "change", "check": "bleu", "begin": "the cat",
    "arguments": {"reference": "the cat is on the mat", "above": 50}, "right": ["the cat is on the mat"],
    "hints": "Look at the brevity penalty.", "wrong": [{"given": "the cat", "hint": "brevity"}],
}  # fmt: skip
LINE: dict[str, Any] = {
    **COMMON, "id": "softmax", "kind": "line", "begin": "weights = ",
    "before": "from math import exp\nscores = [2.0, 1.0, 0.0]",
    "solution": "weights = [exp(s) / sum(map(exp, scores)) for s in scores]",
    "tests": [{"expression": "sum(weights)", "value": 1.0}, {"expression": "weights", "value": [0.6652, 0.2447, 0.09]}],
    "hints": [{"contains": "max", "text": "The largest is not needed."}, {"text": "exp, then divide."}],
    "wrong": [{"given": "weights = scores", "hint": "divide"}],
}  # fmt: skip
ALL = [NUMBER, ONE, CHOICE, SEVERAL, CHANGE, LINE]
