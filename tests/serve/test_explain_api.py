"""Our own endpoints that look into a model, against the library that they stand on."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

import regard
from regard.bundle import bundled_models
from regard.explain.ablation import heads_of
from regard.explain.explanation import explain
from regard.serve.api.own import explain as explain_api
from regard.serve.api.own import tools
from regard.serve.api.own.explain_words import PROBABILITY_CAPTION
from regard.serve.app import create_app
from regard.serve.explain_service import ExplainedModel, SentenceQuery
from regard.serve.http.fields import REQUIRED
from regard.serve.settings import ServeConfig
from regard.translation.word_alternatives import KEPT, LOST
from regard.translator import Translator

MODEL = "en-fr-classic"
TEXT, TARGET = "The black cat sleeps.", "Le chat noir dort."
TWO = f"I see the dog. {TEXT}"


@pytest.fixture(scope="module")
def config() -> ServeConfig:
    return ServeConfig(models=(MODEL,))  # loaded for explanations alone


@pytest.fixture(scope="module")
def model() -> Translator:
    return regard.load(MODEL, device="cpu", engine="native")


def ask(client: TestClient, path: str, status: int = 200, **body: Any) -> Any:
    answer = client.post(f"/api/{path}", json={"model": MODEL, "text": TEXT} | body)
    assert answer.status_code == status, answer.text
    return answer.json() if status == 200 else answer.json()["error"]


def test_models(client: TestClient) -> None:
    (found,) = client.get("/api/models").json()["models"]
    assert (found["layers"], found["heads"], found["parameters"]) == ({"encoder": 6, "decoder": 3}, 4, 9_947_904)
    assert (found["view"]["layer"], found["view"]["head"], found["view"]["having_read"]) == (1, 2, True)


def test_words(client: TestClient, model: Translator) -> None:
    found = ask(client, "words", text=TWO, sentence=1)
    assert (found["translation"], found["sentence"]["span"]) == (TARGET, [15, 36])
    assert [TWO[slice(*word["span"])] for word in found["source_words"]] == ["The", "black", "cat", "sleeps", "."]
    assert [TARGET[slice(*word["span"])] for word in found["words"]] == ["Le", "chat", "noir", "dort", "."]
    score = model.score(TEXT, TARGET)
    assert found["log_prob"] == pytest.approx(score.log_prob, abs=1e-4)
    noir = found["words"][2]
    assert noir["links"] == [1]
    assert noir["tokens"] == [{"text": "▁noir", "probability": noir["probability"]}]
    assert "from_source" not in noir
    assert (found["loop"], found["uncovered"], found["reasons"]) == (None, [], [])
    assert found["view"]["aer"] == {"the embedded corpus": 8.78}
    assert 0.6 < noir["confidence"] < 1
    assert found["word_calibration"]["on"] in found["confidence_caption"]


def test_shares_are_computed_where_they_are_asked_for(client: TestClient) -> None:
    found = ask(client, "words", share=True)
    assert all(word["from_source"] + word["from_before"] == pytest.approx(1, abs=1e-5) for word in found["words"])
    assert found["words"][0]["from_source"] == 1.0
    assert found["share_caption"]
    without = [{name: word[name] for name in word if not name.startswith("from_")} for word in found["words"]]
    assert without == ask(client, "words")["words"]


def test_other_words_for_a_word_of_a_translation(client: TestClient) -> None:
    own = ask(client, "alternatives", position=1)
    words = ask(client, "words")["words"]
    assert (own["word"], own["reason"], own["position"]) == ("chat", None, 1)
    assert own["probability"] == words[1]["probability"]
    assert own["caption"] == PROBABILITY_CAPTION
    second = ask(client, "alternatives", text=TWO, sentence=1, translation=TARGET, position=1)
    assert second["alternatives"] == own["alternatives"]  # in a text of several sentences too
    other = ask(client, "alternatives", translation="Le chien noir dort.", position=1)
    assert (other["word"], other["alternatives"][0]["word"]) == ("chien", "chat")
    assert other["alternatives"][0]["text"] == TARGET
    assert all(one["probability"] >= 0.01 for one in other["alternatives"])
    assert len(ask(client, "alternatives", translation="Le chien noir dort.", position=1, count=1)["alternatives"]) == 1
    refused = ask(client, "alternatives", 400, position=99)
    assert (refused["field"], "counted from 0 to 4" in refused["message"]) == ("position", True)
    assert ask(client, "alternatives", 400)["field"] == "position"
    assert ask(client, "alternatives", 413, position=0, translation="chat " * 3000)["field"] == "translation"


def test_other_words_keep_the_terms_of_a_glossary(client: TestClient) -> None:
    text, translation, glossary = "The dog eats near the cat.", "Le chien mange près du matou.", "cat\tmatou"
    term = ask(client, "alternatives", text=text, translation=translation, position=5, glossary=glossary)
    assert (term["word"], term["alternatives"], term["reason"]) == ("matou", [], KEPT)
    given = "Un animal mange près du matou."
    with_term = ask(client, "alternatives", text=text, translation=given, position=1, glossary=glossary)
    without = ask(client, "alternatives", text=text, translation=given, position=1)["alternatives"]
    assert without
    assert all("matou" in one["text"] for one in with_term["alternatives"])
    assert with_term["alternatives"] or with_term["reason"] == LOST
    refused = ask(client, "alternatives", 400, position=1, glossary="cat")
    assert refused["field"] == "glossary"


def test_other_wordings_of_a_sentence(client: TestClient) -> None:
    found = ask(client, "wordings", text=f"I see the dog. {TEXT}", sentence=1)
    assert found["sentence"]["index"] == 1
    assert 1 <= len(found["wordings"]) <= 4
    assert TARGET not in [one["text"] for one in found["wordings"]]
    other = ask(client, "wordings", translation="Un chien mange.", count=1)
    assert [one["text"] for one in other["wordings"]] == [TARGET]
    assert ask(client, "wordings", 400, count=11)["field"] == "count"


def test_attention(client: TestClient, model: Translator) -> None:
    found = ask(client, "attention")
    grid = explain(model, TEXT).grid()
    assert found["caption"] == grid.caption
    assert [word["text"] for word in found["rows"]] == list(grid.rows)
    chosen = found["layers"][found["chosen"]["layer"] - 1][found["chosen"]["head"] - 1]
    np.testing.assert_allclose(chosen["values"], grid.values, atol=1e-4)
    assert chosen["aer"] == {"the embedded corpus": 8.78}
    other = found["layers"][2][3]
    assert (other["layer"], other["head"], other["aer"]) == (3, 4, None)
    assert "AER not evaluated" in other["caption"]
    for kind in ("encoder", "decoder", "cross"):
        pieces = ask(client, "attention", kind=kind, units="pieces", reading="predicting", layer=1, translation=TARGET)
        (maps,) = pieces["layers"]
        assert np.array(maps[0]["values"]).shape == (len(pieces["rows"]), len(pieces["columns"]))
        np.testing.assert_allclose(np.sum(maps[0]["values"], axis=1) + maps[0]["hidden"], 1, atol=2e-3)


def test_cut_and_steer(client: TestClient, model: Translator) -> None:
    heads = [
        [head.kind, head.layer + 1, head.head + 1] for head in heads_of(model.bundle.model) if head.kind == "cross"
    ]
    found = ask(client, "cut", heads=heads, beam=1)
    assert (found["own_translation"], found["cut"], found["changed"]) == (TARGET, "zero", True)
    assert found["drop"] == pytest.approx(sum(found["word_drops"]) + found["end_drop"], abs=1e-4)
    assert found["drop"] > 1
    own = ask(client, "attention", units="words", reading="predicting", beam=1, layer=1)
    weights = own["layers"][0][0]
    rows = [{"position": 1, "weights": weights["values"][1], "hidden": weights["hidden"][1]}]
    same = ask(client, "steer", layer=1, heads=[1], reading="predicting", rows=rows, beam=1)
    assert (same["steered_translation"], same["changed"]) == (TARGET, False)
    assert same["drop"] == pytest.approx(0, abs=0.01)  # weights have four decimals, a word may have several pieces
    other = ask(client, "steer", rows=[{"position": 1, "weights": [0, 0, 0, 1, 0]}], reading="predicting", beam=1)
    assert other["changed"]
    assert other["word_drops"][0] == pytest.approx(0, abs=1e-4)
    assert "".join(one["text"] for one in other["diff"] if one["kind"] != "removed").replace(" ", "") == (
        other["steered_translation"].replace(" ", "")
    )


def test_the_search_and_a_branch_of_it(client: TestClient) -> None:
    found = ask(client, "lattice", beam=2)
    assert found["nbest"][0]["text"] == TARGET
    dropped = next(node["node"] for node in found["nodes"] if node["fate"] == "crowded out")
    resumed = ask(client, "lattice", beam=2, resume=dropped)["resumed"]
    assert resumed["text"].startswith(resumed["prefix"])
    assert resumed["score"] < resumed["first_score"]


def test_the_parts_of_the_model_and_one_dot_product(client: TestClient) -> None:
    whole = ask(client, "anatomy", translation=TARGET)
    assert (whole["parameters"], whole["missing"], whole["vocabulary"]) == (9_947_904, "", len_of_vocabulary(client))
    names = [part["id"] for part in whole["parts"]]
    assert names[:4] == ["source.embedding", "source.positions", "source.input", "encoder.1"]
    assert names[-2:] == ["decoder.3", "output"] or names[-2:] == ["decoder.norm", "output"]
    layer = next(part for part in whole["parts"] if part["id"] == "decoder.2")
    assert len(layer["sample"]) == len(whole["target_tokens"]) == len(whole["predicted_tokens"])
    assert sum(part["parameters"] for part in layer["parts"]) == layer["parameters"]
    said = [step["top"][0]["token"] for step in whole["steps"]]
    assert said == whole["predicted_tokens"]  # the bundled model is sure of this sentence
    assert (whole["view"]["layer"], whole["view"]["head"]) == (1, 2)
    seen = ask(client, "anatomy/part", part="decoder.1.cross.2", translation=TARGET)["values"]
    np.testing.assert_allclose(whole["looks"], seen, atol=1e-3)
    head = ask(client, "anatomy/part", part="decoder.2.cross.3", query=2, key=1, translation=TARGET)
    own = {part["kind"]: part["values"] for part in head["inside"]}
    np.testing.assert_allclose(np.sum(own["weights"], axis=1), 1, atol=1e-4)  # the page draws no row that does not
    attention = ask(client, "attention", units="pieces", reading="predicting", layer=2, translation=TARGET)
    shown = attention["layers"][0][2]
    np.testing.assert_allclose(np.array(own["weights"])[:-1, :-1], shown["values"], atol=6e-4)  # without EOS
    dot = head["dot"]
    assert dot["score"] == pytest.approx(np.dot(own["query"][2], own["key"][1]), abs=0.1)  # of three decimals each
    assert dot["scaled"][1] == pytest.approx(own["scores"][2][1], abs=1e-3)
    assert dot["weights"][1] == pytest.approx(own["weights"][2][1], abs=6e-4)
    hidden = ask(client, "anatomy/part", part="encoder.1.feed_forward.hidden", first=1000, numbers=8)
    assert (hidden["shape"][1], hidden["first"], len(hidden["values"][0])) == (1024, 1000, 8)
    found = ask(client, "anatomy/part", part="encoder.1")
    np.testing.assert_allclose(found["parts"][-1]["sample"], np.array(found["values"])[:, :16], atol=0.006)
    every = found["inside"]
    assert [one["id"] for one in every] == [f"encoder.1.attention.{head}" for head in range(1, 5)]
    for wrong, field in (
        ({"part": "encoder.9"}, "part"),
        ({"part": "encoder.1", "query": 0, "key": 0}, "part"),
        ({"part": "decoder.2.cross.3", "query": 99, "key": 0}, "query"),
        ({"part": "decoder.2.cross.3", "query": 0, "key": 99}, "key"),
    ):
        assert ask(client, "anatomy/part", 400, **wrong)["field"] == field


def len_of_vocabulary(client: TestClient) -> int:
    model: Translator = client.app.state.services.explain._loaded[MODEL].translator  # type: ignore[attr-defined]
    return model.bundle.model.target_size


def test_the_model_as_pictures(client: TestClient) -> None:
    found = ask(client, "diagram")
    assert found["parameters"] == 9_947_904
    assert [row[1] for row in found["rows"]].count("Cross-attention") == 1
    texts = [item["text"] for picture in found["pictures"] for item in picture["items"] if "text" in item]
    assert {"masked, 4 heads of 64", "× 6", "× 3", "263,168 parameters"} <= set(texts)
    assert {item["fill"] for item in found["pictures"][0]["items"] if "box" in item} >= {"warm-soft", "accent-soft"}
    other = ask(client, "diagram", drawn="rnn-attention:notes")
    assert "Unrolled over the sentence" in [picture["title"] for picture in other["pictures"]]
    assert other["translation"] == TARGET
    assert ask(client, "diagram", 400, drawn="rnn:base")["field"] == "drawn"


def test_steps_layers_evidence_and_choices(client: TestClient) -> None:
    step = ask(client, "step", layer=1, head=2, position=3, translation=TARGET, numbers=4)
    weights = next(term for term in step["terms"] if term["name"] == "α")
    assert sum(weights["values"]) == pytest.approx(1, abs=1e-4)
    assert all(len(term["values"]) <= max(4, len(step["keys"])) for term in step["terms"])
    layers = ask(client, "lens", translation=TARGET, count=2)
    last = layers["layers"][-1]["positions"]
    assert [one["top"][0]["token"] for one in last] == [one["said"] for one in layers["positions"]]
    evidence = ask(client, "evidence", translation=TARGET)
    assert np.array(evidence["drops"]).argmax(axis=1).tolist()[1:4] == [2, 1, 3]
    tired, wide = (
        ask(
            client,
            "choice",
            text=f"The animal did not cross the street because it was too {word}.",
            words=["il", "elle"],
        )
        for word in ("tired", "wide")
    )
    assert [one["share"] > 0.9 for one in (tired["choices"][0], wide["choices"][1])] == [True, True]


def test_what_needs_no_explanation(client: TestClient, model: Translator) -> None:
    score = ask(client, "score", translation=TARGET)
    assert score["log_prob"] == pytest.approx(model.score(TEXT, TARGET).log_prob, abs=1e-4)
    assert [word["text"] for word in score["words"]] == ["Le", "chat", "noir", "dort", "."]
    tokens = ask(client, "tokens")
    assert [TEXT[slice(*piece["span"])] for piece in tokens["pieces"]] == ["The", "black", "cat", "sleeps", "."]
    assert ask(client, "detect", text="Le chat dort sur le tapis.")["languages"][0]["language"] == "fr"
    assert ask(client, "detect", text="12")["languages"] == []
    bleu = ask(client, "bleu", hypothesis="the the the cat", references=["the cat sleeps"])
    assert bleu["orders"][0]["ngrams"][0] == {"ngram": ["the"], "count": 3, "most": 1, "credit": 1}
    assert bleu["brevity_penalty"] * bleu["mean"] == pytest.approx(bleu["score"], abs=1e-4)
    assert np.array(ask(client, "positions", width=8, length=6)["sinusoids"]).shape == (6, 8)


@pytest.mark.parametrize(
    ("path", "status", "field", "body"),
    [
        ("words", 400, "sentence", {"text": TWO}),
        ("words", 413, "text", {"text": "cat " * 300}),
        ("words", 413, "text", {"text": "x" * 20_001}),
        ("words", 413, "translation", {"translation": "chat " * 300}),
        ("words", 400, "hypothesis", {"hypothesis": 15}),
        ("words", 400, "translation", {"translation": TARGET, "beam": 2}),
        ("words", 404, "model", {"model": "en-xx"}),
        ("words", 400, None, {"text": "12 34"}),
        ("attention", 400, "layer", {"layer": 9}),
        ("cut", 400, "heads", {"heads": [["cross", 1]]}),
        ("cut", 400, None, {"heads": [["cross", 9, 1]]}),
        ("steer", 400, "rows", {"rows": [{"position": 99, "weights": [1, 0, 0, 0, 0]}]}),
        ("steer", 400, "rows", {"rows": [{"position": 0, "weights": ["1"]}]}),
        ("steer", 400, None, {"rows": [{"position": 0, "weights": [1.0]}]}),
        ("steer", 400, "heads", {"heads": [7], "rows": [{"position": 0, "weights": [1, 0, 0, 0, 0]}]}),
        ("step", 400, "position", {"position": 50}),
        ("step", 400, "layer", {"layer": 4}),
        ("cut", 400, "heads", {"heads": [[["cross"], 1, 1]]}),
        ("cut", 400, "heads", {"heads": [["cross", 1, 1]] * 1001}),
        ("steer", 400, "rows", {"rows": [{"position": 0, "weights": [1, 0, 0, 0, 0]}] * 401}),
        ("choice", 413, "words", {"words": ["x" * 101, "y"]}),
        ("bleu", 413, "references", {"hypothesis": "a", "references": ["a " * 1001]}),
        ("choice", 400, None, {"words": ["il", "elle"]}),
        ("neighbours", 404, None, {}),
        ("evidence", 413, "text", {"text": "cat dog " * 55, "translation": "chat " * 90}),
        ("bleu", 400, "references", {"hypothesis": "a", "references": []}),
        ("positions", 400, None, {"width": 7}),
    ],
)
def test_refusals(client: TestClient, path: str, status: int, field: str | None, body: dict[str, Any]) -> None:
    found = ask(client, path, status, **body)
    assert (found["status"], found.get("field")) == (status, field)
    assert "\n" not in found["message"]


@pytest.mark.parametrize("place", [".", "best"])
def test_neighbours_of_a_training_run(tmp_path: Path, place: str) -> None:
    run = tmp_path / "mine"
    shutil.copytree(bundled_models.folder_of("en-fr-classic"), run / "best")
    (run / "recipe.toml").touch()
    (run / place / "pairs.tsv").write_text("The cat sleeps.\tLe chat dort.\nA dog.\tUn chien.\n", encoding="utf-8")
    app = create_app(ServeConfig(models=(str(run),)))
    with TestClient(app, base_url="http://127.0.0.1:8000") as client:
        found = ask(client, "neighbours", model="mine", text=TEXT)
    assert found["searched"] == 2
    assert [pair["target"] for pair in found["pairs"]] == ["Le chat dort."]


def test_a_sentence_is_searched_for_once(model: Translator) -> None:
    loaded = ExplainedModel(model)
    first = loaded.find_pair(SentenceQuery(TEXT), 200)
    assert loaded.find_pair(SentenceQuery(TEXT), 200) is first
    assert loaded.find_pair(SentenceQuery("The dog eats."), 200) is not first


def test_the_alternatives_of_a_word_are_searched_for_once(model: Translator) -> None:
    loaded = ExplainedModel(model)
    first = loaded.find_alternatives(SentenceQuery(TEXT, TARGET), 200, 2, 3)
    assert loaded.find_alternatives(SentenceQuery(TEXT, TARGET), 200, 2, 3) is first
    assert loaded.find_alternatives(SentenceQuery(TEXT, "Le chien noir dort."), 200, 2, 3) != first


def test_the_document_names_every_endpoint() -> None:
    page = (Path(__file__).parents[2] / "docs" / "http-api.md").read_text(encoding="utf-8")
    for endpoint in (*explain_api.ENDPOINTS, *tools.ENDPOINTS):
        assert endpoint.path in page
        assert all(f"`{field.name}`" in page or field.default is not REQUIRED for field in endpoint.fields)
