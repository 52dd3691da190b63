"""/api/break: the real model loses what it should, and is whole afterwards."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from regard.serve.api.own.explain_break import SENTENCES, measured_sentences

TEXT = "The black cat sleeps on the old sofa."


def broken(client: TestClient, **body: Any) -> Any:
    answer = client.post("/api/break", json={"text": TEXT} | body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_sentences_are_many_and_short() -> None:
    found = measured_sentences()
    assert len({one.src for one in found}) == SENTENCES
    assert len({tag for one in found for tag in one.tags}) > 10  # of many kinds


def test_the_parts_and_the_whole_model(client: TestClient) -> None:
    found = client.get("/api/break").json()
    assert (found["key_size"], found["residual"], len(found["heads"])) == (64, {"encoder": 6, "decoder": 3}, 48)
    assert (found["scores"], found["mask"], found["positions"]) == (True, True, True)
    whole = found["measured"]["whole"]
    assert whole["bleu"] > 90
    assert whole["loss"] < 0.3
    unchanged = broken(client)
    assert (unchanged["drop"], unchanged["changed"]) == (0, False)
    assert unchanged["measured"]["broken"] == pytest.approx(whole, abs=1e-3)


@pytest.mark.parametrize("body", [{"scores": 8}, {"positions": 0, "heads": [["cross", 2, 1]]}])
def test_a_removed_part_costs_something(client: TestClient, body: dict[str, Any]) -> None:
    found = broken(client, **body)
    whole, after = found["measured"]["whole"], found["measured"]["broken"]
    assert found["changed"]
    assert after["loss"] > whole["loss"]
    assert after["bleu"] < whole["bleu"] - 10


def test_the_mask_matters_only_where_the_future_is_given(client: TestClient) -> None:
    found = broken(client, mask=False)
    whole, after = found["measured"]["whole"], found["measured"]["broken"]
    assert not found["changed"]
    assert after["bleu"] == pytest.approx(whole["bleu"], abs=0.1)
    assert after["loss"] > whole["loss"] + 1


def test_refusals(client: TestClient) -> None:
    for body, words in (
        ({"scores": -1}, "scores must be"),
        ({"residual": 0, "residual_at": "middle"}, 'a side or a layer, such as encoder.2, but is "middle"'),
        ({"residual": 0, "residual_at": "encoder.9"}, "layers 1 to 6, but not 9"),
        ({"heads": [["cross", 9, 1]]}, "there is no head cross:9:1"),
    ):
        answer = client.post("/api/break", json={"text": TEXT} | body)
        assert answer.status_code == 400
        assert words in answer.json()["error"]["message"]
