"""Translators chosen by their languages: four directions of one tiny model, packed beside each other as a box, from the
command line and from Python."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import regard
from regard.bundle import bundled_models
from regard.bundle.pack import PackOptions, pack_bundle
from regard.errors import InputError
from regard.translation.chain import TextChain
from support import ABOUT, TINY, Call

LINES = {
    "en": ["The cat sleeps.", "The dog eats.", "The black cat eats.", "I see the dog."],
    "fr": ["Le chat dort.", "Le chien mange.", "Le chat noir mange.", "Je vois le chien."],
    "de": ["Die Katze schläft.", "Der Hund isst.", "Die schwarze Katze isst.", "Ich sehe den Hund."],
}
WAYS = (("en", "fr"), ("fr", "en"), ("en", "de"), ("de", "en"))
THROUGH = "regard: by way of English, so that errors of both steps add up\n"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The box: en-fr is whole, the others have their tags and cards and use its weights."""
    folder = tmp_path_factory.mktemp("languages")
    for language, lines in LINES.items():
        (folder / language).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    corpora = [{"src": str(folder / a), "tgt": str(folder / b), "tag": f"<{b}>"} for a, b in WAYS]
    recipe = {
        "data": {"dev_size": 0, "max_length": 24, "corpus": corpora},
        "text": {"vocab_size": 420, "tags": ["<en>", "<fr>", "<de>"]},
        "model": TINY,
        "train": {"steps": 30, "batch_tokens": 1200, "optimizer": "muon", "learning_rate": 0.03, "label_smoothing": 0.0,
                  "schedule": "cosine", "warmup": 5, "save_every": 30, "device": "cpu"},
    }  # fmt: skip
    run = regard.train(recipe, folder / "run").run
    first = folder / "bundled" / "en-fr"
    for a, b in WAYS:
        about = folder / f"{a}-{b}.toml"
        about.write_text(ABOUT.replace('["English", "French"]', f'["{a}", "{b}"]'), encoding="utf-8")
        beside = first if first.is_dir() else None
        pack_bundle(run, first.parent / f"{a}-{b}", PackOptions("float32", True, about, f"<{b}>", beside))
    return first.parent


@pytest.fixture(autouse=True)
def _in_the_box(home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bundled_models, "HOME", home)
    monkeypatch.chdir(tmp_path)


# ------------------------------------------------------------------------------------------------ the command line


@pytest.mark.parametrize(
    ("source", "target", "line"),
    [("en", "fr", ""), ("fr", "en", "regard: texts 1, 2, 3, 4: read as French (--from sets the source language)\n")],
)
def test_the_source_is_found(call: Call, source: str, target: str, line: str) -> None:
    code, out, err = call("translate", "--to", target, *LINES[source])
    assert (code, out.splitlines()) == (0, LINES[target])
    assert err == line


def test_the_source_that_is_named_is_not_looked_for(call: Call) -> None:
    answer = call("translate", "--to", "en", "--from", "German", LINES["fr"][0])
    assert answer.code == 0
    assert "the model reads German" in answer.err


def test_each_text_is_looked_at_by_itself(call: Call) -> None:
    texts = [LINES[language][number] for number, language in enumerate(("de", "fr", "en", "de"))]
    code, out, err = call("translate", "--to", "English", *texts)
    assert (code, out.splitlines()) == (0, LINES["en"])
    assert err == (
        "regard: texts 1, 4: read as German; text 2: read as French; text 3: English already and is returned unchanged "
        "(--from sets the source language)\n"
    )


def test_a_file_is_in_one_language(call: Call, tmp_path: Path) -> None:
    lines = [*LINES["de"], LINES["fr"][0]]
    (tmp_path / "in").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    for words in (("--input", "in"), ("--input", "in", "--out", "out")):
        code, out, err = call("translate", "--to", "en", "--no-guard", "--report", "why.jsonl", *words)
        assert code == 0
        assert (out or (tmp_path / "out").read_text()).splitlines()[:4] == LINES["en"]
        assert err.startswith("regard: the text is read as German (--from sets the source language)\n")
        assert [
            json.loads(row)["source"] for row in Path("why.jsonl").read_text(encoding="utf-8").splitlines()
        ] == lines
    mixed = call("translate", "--to", "en", input="\n".join([*LINES["de"], *LINES["fr"]]).encode())
    assert "is in several languages, mostly" in mixed.err


def test_a_document_is_in_one_language(call: Call, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        f"<meta charset=utf-8><h1>OK</h1><p>{LINES['fr'][0]} <b>{LINES['fr'][1]}</b></p>", encoding="utf-8"
    )
    code, out, err = call("translate", "--to", "de", "--through", "en", "--input", "a.html")
    assert code == 0
    assert f"<p>{LINES['de'][0]} <b>{LINES['de'][1]}</b></p>" in out
    assert err.startswith(THROUGH + "regard: the text is read as French")
    (tmp_path / "a.tsv").write_text(f"id\ttext\n1\t{LINES['de'][0]}\n", encoding="utf-8")
    assert call("translate", "--to", "en", "--input", "a.tsv", "--column", "text").out.endswith(
        f"1\t{LINES['en'][0]}\n"
    )


def test_by_way_of_english(call: Call) -> None:
    texts = [" ".join(LINES["fr"][:2]), LINES["en"][2]]
    asked = call("translate", "--to", "de", *texts)
    assert (asked.code, asked.out) == (2, "")
    assert asked.err == (
        "regard: there is no translator from French to German; --through en translates by way of English, which loses "
        "more (--from says what the text is in, if not that)\n"
    )
    code, out, err = call("translate", "--to", "de", "--through", "en", *texts)
    assert (code, out.splitlines()) == (0, [" ".join(LINES["de"][:2]), LINES["de"][2]])
    assert err.startswith(THROUGH)
    words = ("translate", "--to", "de", "--from", "fr", "--through", "en")
    for flags in (("--attention",), ("--nbest", "2"), ("--alignments",), ("--alternatives", "2"), ("--prefix", "Die")):
        refused = call(*words, *flags, texts[0])
        assert (refused.code, refused.out) == (2, "")
        assert (
            refused.err
            == f"regard: {flags[0]} needs a single model, but fr-en and en-de are two; translate in two steps\n"
        )


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--to", "it", "x"), "there is no translator to Italian; bundled are de-en, en-de, en-fr, fr-en"),
        (("--to", "fr", "Il gatto dorme sul tappeto."), "there is no translator from Italian to French; bundled are"),
        (("--to", "fr", "--from", "it", "x"), "there is no translator from Italian to French; bundled are"),
        (("--to", "fr", "--from", "fra", "x"), "--from fra and --to fr are the same language"),
        (("--to", "french fries", "x"), '"french fries" is not a language that is known'),
        (("--from", "fr", "x"), "--from fr goes with the language to translate into; add it, as in --to fr"),
        (("--to", "fr", "--model", "en-fr", "x"), "--to chooses a model by its languages and --model names one"),
        (("--to", "fr", "--tag", "<fr>", "x"), "--to chooses a model by its languages and --tag names one"),
    ],
)
def test_what_cannot_be_is_one_line(call: Call, words: tuple[str, ...], line: str) -> None:
    code, out, err = call("translate", *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"regard: {line}")


def test_a_folder_of_the_same_name_is_not_in_the_way(call: Call, tmp_path: Path) -> None:
    (tmp_path / "de-en").mkdir()
    assert call("translate", "--to", "en", LINES["de"][0]).out == LINES["en"][0] + "\n"


def test_a_model_of_ones_own_is_one_of_the_directions(
    call: Call, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack_bundle(home / "en-fr", tmp_path / "mine" / "en-it", PackOptions("float32"))
    monkeypatch.setenv("REGARD_BOX", "mine")
    assert call("translate", "--to", "it", LINES["en"][0]).out == LINES["fr"][0] + "\n"
    assert regard.load("en-it", "cpu").translate(LINES["en"][0]).text == LINES["fr"][0]


def test_all_of_the_box_in_a_table(call: Call) -> None:
    rows = call("info", "--all").out.splitlines()
    assert [row.split()[0] for row in rows if row[:1].strip()] == ["model", "de-en", "en-de", "en-fr", "fr-en"]
    found = {row["name"]: row for row in json.loads(call("info", "--all", "--json").out)}
    assert found["de-en"]["languages"] == ["de", "en"]
    assert (found["de-en"]["beside"], found["de-en"]["tag"], found["en-fr"]["beside"]) == ("en-fr", "<en>", None)
    assert found["de-en"]["licences"] == ["CC BY 2.0 FR", "Apache-2.0"]
    assert found["de-en"]["bytes"] < found["en-fr"]["bytes"] / 10
    assert call("info", "--all", "en-fr").code == 2
    assert "languages     de → en" in call("info", "de-en").out


# ------------------------------------------------------------------------------------------------ Python


def test_from_python() -> None:
    assert regard.load("de-en", "cpu").translate(LINES["de"])[0].text == LINES["en"][0]
    found = regard.translate([LINES["de"][0], LINES["fr"][1], LINES["en"][2], "OK"], to="en", device="cpu")
    assert [one.text for one in found[:3]] == LINES["en"][:3]
    assert [one.warnings[:1] for one in found[:3]] == [
        (),
        (),
        ("the text is English already and is returned unchanged",),
    ]
    assert "which is uncertain" in found[3].warnings[0]
    assert regard.translate(LINES["fr"][0], to="German", through="English", device="cpu").text == LINES["de"][0]
    assert regard.translate([], to="en") == []
    with pytest.raises(InputError, match='through="en" translates by way of English'):
        regard.translate(LINES["fr"][0], to="de")


def test_a_chain_says_of_both_steps_what_a_translator_says_of_one(tmp_path: Path) -> None:
    chain = regard.load("fr-de", "cpu", through="en")
    assert [folder.name for folder in chain.folders] == ["fr-en", "en-de"]
    assert chain.languages() == ("fr", "de")
    text = f"- {LINES['fr'][0]}\n\n- {LINES['fr'][2]} {LINES['fr'][1]}\n"
    found = chain.translate(text)
    assert found.text == f"- {LINES['de'][0]}\n\n- {LINES['de'][2]} {LINES['de'][1]}\n"
    first, second = regard.load("fr-en", "cpu"), regard.load("en-de", "cpu")
    for sentence in found.sentences:
        assert found.source[slice(*sentence.source_span)] == sentence.source
        assert found.text[slice(*sentence.target_span)] == sentence.text
        one = first.translate(sentence.source)
        other = second.translate(one.text)
        assert sentence.confidence == pytest.approx(one.sentences[0].confidence * other.sentences[0].confidence)
        assert sentence.candidates[0].log_prob == pytest.approx(one.log_prob + other.log_prob)
        assert len(sentence.reasons) == len(one.warnings) + len(other.warnings)
        assert sentence.alignment
        for source, target in sentence.alignment:
            assert found.source[slice(*source)] in LINES["fr"][0] + LINES["fr"][1] + LINES["fr"][2]
            assert sentence.target_span[0] <= target[0] < target[1] <= sentence.target_span[1]
    (tmp_path / "in.txt").write_text(text, encoding="utf-8")
    chain.translate_file("in.txt", "out.txt")
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == found.text


def test_a_chain_refuses_what_is_of_one_model() -> None:
    chain = regard.load("fr-de", "cpu", through="en")
    for ask in (chain.explain, chain.align, chain.score, chain.alternatives):
        with pytest.raises(InputError, match=r"needs a single model, but this is a chain of 2; use .* fr-en, en-de"):
            ask("Le chat dort.")
    with pytest.raises(InputError, match="nbest is an option of one model"):
        chain.translate("Le chat dort.", nbest=2)
    with pytest.raises(InputError, match='load "de-en" without through'):
        regard.load("de-en", through="en")
    with pytest.raises(InputError, match='from French to German; through="en" translates by way of English'):
        regard.load("fr-de")
    with pytest.raises(InputError, match='a pair of languages, such as "fr-de"'):
        regard.load("model", through="en")


def test_a_chain_of_none_changes_nothing() -> None:
    for text in ("", "  ", "Le chat dort.\n\n- Oui !"):
        found = TextChain([]).translate(text)
        assert (found.text, found.source) == (text, text)
