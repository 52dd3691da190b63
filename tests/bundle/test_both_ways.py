"""One set of weights as two models: the second has a tag before every source and reads the first one's files. Whatever
takes a model takes it, and what it says is what the first one says with that tag."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import regard
from regard.align.attention import View, word_attention
from regard.bundle import bundled_models
from regard.bundle.bundle import Bundle
from regard.bundle.folder import CHECKSUMS, PARTS
from regard.errors import InputError
from regard.explain.evidence import blanked_log_probs, evidence, gradient_times_input, source_in_words
from regard.explain.explanation import explain
from regard.explain.sentence_pair import BLANKS, Blank
from regard.explain.trace import forced_maps, trace_sentence
from regard.text.words import subword_shares, word_spans
from regard.training.job import fingerprint
from regard.translation.options import TranslateOptions
from regard.translation.prepare import Reader
from regard.translation.units import UnitMaker
from regard.translator import Translator
from support import LINES, Call

TAG = "<en>"
FRENCH, ENGLISH = [t for _, t in LINES], [s for s, _ in LINES]
LONG = " ".join(FRENCH)  # more tokens than the model reads at a time


@pytest.fixture(scope="module")
def pair(both_ways: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with en-fr, which is whole, and fr-en beside it."""
    home = tmp_path_factory.mktemp("pair")
    bundle = Bundle.load(both_ways)
    bundle.save(home / "en-fr")
    bundle.tokenizer = bundle.tokenizer.marked(TAG)
    bundle.save(home / "fr-en", beside="en-fr")
    return home


@pytest.fixture
def copy(pair: Path, tmp_path: Path) -> Path:
    shutil.copytree(pair, tmp_path / "pair")
    return tmp_path / "pair"


@pytest.fixture
def way_back(pair: Path) -> Bundle:
    return Bundle.load(pair / "fr-en")


# ------------------------------------------------------------------------------------------------ translating


def test_it_says_what_the_other_says_with_the_tag(pair: Path, call: Call) -> None:
    lines = [*FRENCH, "", LONG, "Le petit chien ne voit pas le chat noir.", LONG.upper()]
    wanted = call("translate", "--model", pair / "en-fr", "--tag", TAG, *lines)
    found = call("translate", "--model", pair / "fr-en", *lines)
    assert found.out.splitlines() == wanted.out.splitlines()
    assert found.err == wanted.err
    assert found.out.splitlines()[:8] == ENGLISH
    assert call("translate", "--model", pair / "en-fr", *ENGLISH).out.splitlines() == FRENCH


def test_every_part_of_a_long_line_has_the_tag_once(way_back: Bundle, pair: Path) -> None:
    """At the borders too, where one token more or less decides on a cut."""
    plain, marked = Bundle.load(pair / "en-fr").tokenizer, way_back.tokenizer
    tag = plain.tag_ids(TAG)
    lines = [LONG, FRENCH[4]]
    options, reader = TranslateOptions(split="lines"), Reader("fr", "en")
    for longest in range(9, 26):
        ours = list(UnitMaker(marked.plain, marked.mark_ids, longest, options, reader).units(enumerate(lines)))
        assert ours == list(UnitMaker(plain, tag, longest, options, reader).units(enumerate(lines)))
        assert all(unit.ids[:1] == (*tag,) and unit.ids.count(*tag) == 1 for unit in ours)
        assert all(len(unit.ids) < longest for unit in ours)


def test_a_second_tag_is_refused(pair: Path, call: Call) -> None:
    code, out, err = call("translate", "--model", pair / "fr-en", "--tag", TAG, FRENCH[0])
    assert (code, out) == (2, "")
    assert err == f'regard: the tag "{TAG}" is given, but this model has its tag already, {TAG}; leave it out\n'


def test_an_ensemble_reads_one_kind_of_source(pair: Path, call: Call) -> None:
    both = call("translate", "--model", pair / "fr-en", "--model", pair / "fr-en", *FRENCH)
    assert both.out.splitlines() == ENGLISH
    mixed = call("translate", "--model", pair / "fr-en", "--model", pair / "en-fr", FRENCH[0])
    assert mixed.code == 2
    assert f"fr-en {TAG} and {pair / 'en-fr'} none" in mixed.err


def test_a_lexicon_is_its_own(copy: Path, call: Call, tmp_path: Path) -> None:
    """The other one's is of English sources. From the card, only the pairs with the tag are learnt from."""
    assert call("lexicon", "--model", copy / "en-fr").code == 0
    assert "has no lexicon" in call("translate", "--model", copy / "fr-en", "--steer", "0.2", FRENCH[0]).err
    learnt = call("lexicon", "--model", copy / "fr-en")
    assert learnt.code == 0, learnt.err
    assert "from 32 pairs of" in learnt.out
    entries = json.loads((copy / "fr-en" / "lexicon.json").read_text(encoding="utf-8"))["entries"]
    assert entries["▁chat"][0][0] == "▁cat"
    assert call("translate", "--model", copy / "fr-en", "--steer", "0.2", *FRENCH).out.splitlines() == ENGLISH
    shutil.copy(copy / "en-fr" / "lexicon.json", copy / "fr-en")
    assert "tokens of another model" in call("translate", "--model", copy / "fr-en", "--steer", "0.2", "Le").err


# ------------------------------------------------------------------------------------------------ looking


@pytest.mark.parametrize("kind", ["cross", "encoder"])
def test_attention_is_that_of_a_forced_pass_with_the_tag(
    pair: Path, way_back: Bundle, call: Call, tmp_path: Path, kind: str
) -> None:
    """The tag is the first column (of the encoder also the first row) of what the model computes, and no word."""
    source, target = FRENCH[2], ENGLISH[2]
    out, words = tmp_path / "map.json", ("--model", pair / "fr-en", source, "--target", target, "--kind", kind)
    assert call("explain", "attention", *words, "--layer", "1", "--head", "2", "--out", out).code == 0
    shown = json.loads(out.read_text(encoding="utf-8"))

    plain = Bundle.load(pair / "en-fr")
    (ids,), (target_ids,) = plain.tokenizer.encode_source([source]), plain.tokenizer.encode_target([target])
    maps = forced_maps(plain.model, [*plain.tokenizer.tag_ids(TAG), *ids], target_ids)
    weights = getattr(maps, kind)[0][0, 1].double().numpy()  # (queries, S), the tag first
    source_spans = [(t.start, t.end) for t in plain.tokenizer.source_tokens(source)]
    spans, text = (source_spans, source) if kind == "encoder" else (plain.tokenizer.target_pieces(target_ids), target)
    rows = weights[1:] if kind == "encoder" else weights
    wanted = word_attention(rows[:, 1:], source_spans, spans, source, text)
    tag_last = np.column_stack([rows[:, 1:-1], rows[:, 0]])
    of_tag = word_attention(tag_last, source_spans, spans, source, text)  # the tag in the place of EOS
    assert tuple(shown["columns"]) == wanted.source_words == ("Le", "chien", "voit", "le", "chat", ".")
    assert tuple(shown["rows"]) == wanted.target_words
    np.testing.assert_allclose(shown["values"], wanted.weights, atol=1e-5)
    assert of_tag.eos_mass.max() > 1e-3  # else nothing would be tested
    np.testing.assert_allclose(shown["hidden"], wanted.eos_mass + of_tag.eos_mass, atol=1e-5)
    assert shown["hidden_name"] == f"EOS and {TAG}"
    assert f"EOS and {TAG} mass" in shown["caption"]


def test_its_subwords_show_the_tag_only_when_asked(way_back: Bundle) -> None:
    seen = explain(way_back, FRENCH[0])
    for kind in ("cross", "encoder"):
        without = seen.grid(kind, words=False)  # type: ignore[arg-type]
        whole = seen.grid(kind, words=False, specials=True)  # type: ignore[arg-type]
        assert whole.columns == (TAG, *without.columns, "<eos>")
        assert whole.rows == ((TAG, *without.rows, "<eos>") if kind == "encoder" else (*without.rows, "<eos>"))
        inner = whole.values[1:-1] if kind == "encoder" else whole.values[:-1]
        np.testing.assert_array_equal(inner[:, 1:-1], without.values)
        np.testing.assert_allclose(inner[:, 0] + inner[:, -1], without.hidden)
    assert TAG not in seen.grid("decoder", words=False, specials=True).columns


def test_a_search_shows_what_a_forced_pass_shows(way_back: Bundle) -> None:
    own = explain(way_back, FRENCH[2], beam=3).trace
    again = trace_sentence(way_back, FRENCH[2], own.target_ids)
    assert own.target == ENGLISH[2]
    for view, words in again.views().items():
        np.testing.assert_allclose(own.views()[view].weights, words.weights, atol=1e-5)
        np.testing.assert_allclose(words.weights, again.in_words(view).weights)
        np.testing.assert_allclose(words.weights.sum(axis=1) + words.eos_mass, 1, atol=1e-5)
    assert own.in_words(View(0), "decoder").hidden_name == "BOS"


@pytest.mark.parametrize("blank", BLANKS)
def test_evidence_is_about_words_and_leaves_the_tag_in_its_place(pair: Path, way_back: Bundle, blank: Blank) -> None:
    """The same with the tag counted as one more word, whose row is then dropped."""
    found = evidence(way_back, FRENCH[0], blank=blank)
    assert found.source_words == ("Le", "chat", "dort", ".")
    assert (found.target, found.hidden_name) == (ENGLISH[0], f"EOS and {TAG}")
    plain = Bundle.load(pair / "en-fr")
    (target,) = plain.tokenizer.encode_target([ENGLISH[0]])
    ids, of_word = source_in_words(plain, FRENCH[0])
    source, shifted = [*plain.tokenizer.tag_ids(TAG), *ids], np.concatenate([[0], of_word + 1])
    shares = subword_shares(plain.tokenizer.target_pieces(target), word_spans(plain.tokenizer.decode(target)))
    rows = blanked_log_probs(plain.model, source, target, shifted, 5, blank)[:, :-1] @ shares
    np.testing.assert_allclose(found.log_probs, rows[0], atol=1e-5)
    np.testing.assert_allclose(found.drops, (rows[0] - rows[2:]).T, atol=1e-5)
    gradients = gradient_times_input(plain.model, source, target, shifted, shares, 5)
    assert np.abs(gradients[:, 0]).max() > 1e-3  # else nothing would be tested
    np.testing.assert_allclose(found.gradients, gradients[:, 1:], atol=1e-5)


@pytest.mark.parametrize(
    "words",
    [
        ("attention",),
        ("attention", "--arrows"),
        ("heads",),
        ("heads", "--kind", "encoder"),
        ("arcs", "--word", "chat"),
        ("arcs", "--word", "cat", "--kind", "cross"),
        ("lattice", "--beam", "2"),
        ("evidence",),
        ("evidence", "--blank", "removed", "--cut", "each"),
    ],
)
def test_the_tag_is_shown_as_no_word(pair: Path, call: Call, words: tuple[str, ...]) -> None:
    answer = call("explain", words[0], "--model", pair / "fr-en", *words[1:], FRENCH[0])
    assert answer.code == 0, answer.err
    assert TAG not in answer.out.replace(f"EOS and {TAG}", "")


def test_one_look_in_numbers_has_the_tag_beside_the_end(pair: Path, call: Call, tmp_path: Path) -> None:
    """Every key is shown there, because the weights of all of them sum to 1."""
    out = tmp_path / "look.json"
    assert call("explain", "step", "--model", pair / "fr-en", FRENCH[0], "--out", out).code == 0
    keys = json.loads(out.read_text(encoding="utf-8"))["keys"]
    assert (keys[0], keys[-1]) == (TAG, "<eos>")


def test_links_and_heads(pair: Path, call: Call, tmp_path: Path) -> None:
    for name, lines in (("fr", FRENCH), ("en", ENGLISH)):
        (tmp_path / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    both = ("--src", tmp_path / "fr", "--tgt", tmp_path / "en")
    links = call("align", "--model", pair / "fr-en", *both).out.splitlines()
    assert len(links) == len(LINES)
    for line, source, target in zip(links, FRENCH, ENGLISH, strict=True):
        places = [tuple(map(int, link.split("-"))) for link in line.split()]
        assert len(places) == len(target.split()) + 1  # the full stop is a word
        assert all(i <= len(source.split()) for i, _ in places)
    (tmp_path / "gold").write_text("".join(line + "\n" for line in links), encoding="utf-8")
    table = call("align", "--model", pair / "fr-en", *both, "--gold", tmp_path / "gold", "--json")
    assert table.code == 0, table.err
    assert json.loads(table.out)["rows"][0]["aer"] < 0.5
    assert call("explain", "importance", "--model", pair / "fr-en", *both, "--draws", "2").code == 0


# ------------------------------------------------------------------------------------------------ its files


def test_both_are_in_the_box(pair: Path, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled_models, "HOME", pair)
    monkeypatch.chdir(tmp_path)
    assert call("translate", "--model", "fr-en", *FRENCH).out.splitlines() == ENGLISH
    assert call("translate", *ENGLISH).out.splitlines() == FRENCH
    assert regard.load("fr-en").translate(FRENCH[:1])[0].text == ENGLISH[0]
    assert "regard pack fr-en --out mine" in call("lexicon", "--model", "fr-en").err
    assert call("pack", "fr-en", "--out", "mine", "--weights", "float32").code == 0
    assert sorted(p.name for p in Path("mine").iterdir()) == sorted((*PARTS, CHECKSUMS))
    assert call("translate", "--model", "mine", *FRENCH).out.splitlines() == ENGLISH


def test_info_says_whose_files_it_uses(pair: Path, call: Call) -> None:
    rows = call("info", pair / "fr-en").out.splitlines()
    assert f"translates    as en-fr, with the tag {TAG}" in rows
    sizes = [next(r for r in call("info", pair / n).out.splitlines() if "in all" in r) for n in ("en-fr", "fr-en")]
    assert sizes[0] == sizes[1]
    known = json.loads(call("info", pair / "fr-en", "--json").out)
    assert (known["beside"], known["tag"]) == ("en-fr", TAG)
    assert "translates" not in call("info", pair / "en-fr").out


def test_a_loaded_one_is_saved_whole(way_back: Bundle, tmp_path: Path) -> None:
    way_back.save(tmp_path / "mine")
    assert sorted(p.name for p in (tmp_path / "mine").iterdir()) == sorted((*PARTS, CHECKSUMS))
    again = Bundle.load(tmp_path / "mine")
    assert again.tag == TAG
    assert [t.text for t in Translator(again).translate(FRENCH)] == ENGLISH


def test_training_goes_on_without_the_tag(pair: Path, tmp_path: Path) -> None:
    (tmp_path / "a.fr").write_text("".join(f"{t}\n" for _, t in LINES * 4), encoding="utf-8")
    (tmp_path / "a.en").write_text("".join(f"{s}\n" for s, _ in LINES * 4), encoding="utf-8")
    back = {"src": str(tmp_path / "a.fr"), "tgt": str(tmp_path / "a.en"), "tag": TAG}
    train = {"start_from": str(pair / "fr-en"), "steps": 1, "batch_tokens": 600, "learning_rate": 1e-9, "device": "cpu"}
    regard.train({"data": {"corpus": [back], "dev_size": 0}, "train": train}, tmp_path / "tuned")
    tuned = Bundle.load(tmp_path / "tuned")
    assert tuned.tag is None
    assert tuned.card["started_from"]["weights"] == fingerprint(pair / "en-fr" / "model.safetensors")
    assert [t.text for t in Translator(tuned).translate(FRENCH, tag=TAG)] == ENGLISH


def test_a_model_may_not_be_marked_twice(way_back: Bundle) -> None:
    with pytest.raises(InputError, match=f"has its tag already, {TAG}"):
        way_back.tokenizer.marked(TAG)
