"""The word-based translator: its language model sums to one, its search is exact, and it survives a file."""

from __future__ import annotations

import itertools
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.align.hmm import HmmConfig
from regard.align.ibm import NOTHING, count_translations
from regard.course.word_based import Bigrams, Orthography, WordBased, WordBasedConfig, search
from regard.errors import InputError, RecipeError
from regard.metrics.bleu import bleu
from support import grammar

TOY = [
    ("The cat sleeps.", "Le chat dort."),
    ("The dog sleeps.", "Le chien dort."),
    ("The cat eats.", "Le chat mange."),
    ("Now the dog eats.", "Maintenant le chien mange."),
    ("Does Paul sleep?", "Paul dort ?"),
    ("Does the cat eat?", "Le chat mange ?"),
    ("Does the man eat?", "L'homme mange ?"),
    ("The man sleeps.", "L'homme dort."),
    ("Now Paul sleeps.", "Maintenant Paul dort."),
] * 2
lines = st.lists(st.lists(st.sampled_from("abcd"), max_size=4), min_size=1, max_size=6)


@pytest.fixture(scope="module")
def toy() -> WordBased:
    return WordBased.train(TOY)


@given(lines)
@settings(max_examples=25, deadline=None)
def test_the_language_model_sums_to_one_after_any_word(text):
    language = Bigrams.count(text)
    for before in [*language.words, "never seen"]:
        seen = sum(language.probability(word, before) for word in language.words)
        assert seen + language.probability("unseen", before) == pytest.approx(1.0)


def test_the_language_model_prefers_what_it_has_seen():
    language = Bigrams.count([["le", "chat"], ["le", "chat"], ["le", "chien"]])
    assert language.probability("chat", "le") > language.probability("chien", "le") > language.probability("le", "le")
    assert language.probability("le", NOTHING) > language.probability(NOTHING, NOTHING)


@given(
    lines,
    st.lists(
        st.dictionaries(st.sampled_from(["a", "b", "c", NOTHING]), st.floats(0.1, 1.0), min_size=1, max_size=3),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from([0.0, 0.5, 1.0]),
)
@settings(max_examples=30, deadline=None)
def test_search_finds_the_best_of_all_translations(text, choices, weight):
    language = Bigrams.count(text)
    options = [list(words.items()) for words in choices]

    def score(chosen) -> float:
        words = [NOTHING, *(word for word, _ in chosen if word), NOTHING]
        read = sum(math.log(language.probability(word, before)) for before, word in itertools.pairwise(words))
        return sum(math.log(p) for _, p in chosen) + weight * read

    best = max(map(score, itertools.product(*options)))
    found = search(options, language, weight, beam=100)
    ways = [way for way in itertools.product(*options) if [word for word, _ in way if word] == found]
    assert max(map(score, ways)) == pytest.approx(best)


def test_a_toy_language_is_translated_word_for_word(toy):
    assert toy.translate(["Now the cat eats.", "The dog sleeps."]) == ["Maintenant le chat mange.", "Le chien dort."]
    assert toy.translate(["Does the dog sleep?"]) == ["Le chien dort ?"]  # "does" is nothing, "?" stands apart


def test_names_keep_their_capital_and_elisions_lean_on_the_next_word(toy):
    assert toy.translate_line("Now Paul eats.") == "Maintenant Paul mange."
    assert toy.translate_line("Now the man eats.") == "Maintenant l'homme mange."
    assert toy.translate_line("now paul eats.") == "maintenant Paul mange."


def test_unknown_words_are_copied_and_empty_lines_stay_empty(toy):
    assert toy.translate(["Now Zorro eats.", "", "  "]) == ["Maintenant Zorro mange.", "", ""]


def test_a_word_is_dropped_only_where_it_often_had_no_translation():
    pairs, links = [("a b", "x y"), ("a b", "x")], [[(0, 0), (1, 1)], [(0, 0)]]
    assert count_translations(pairs, links, 8, drop=0.5)["b"] == [(NOTHING, 0.5), ("y", 0.5)]
    assert count_translations(pairs, links, 8, drop=0.6)["b"] == [("y", 0.5)]


def test_writing_learns_which_marks_lean():
    writing = Orthography.learn(["Ah ! L'eau (froide) est là.", "Oui, l'eau."])
    assert writing.after == {")", ".", ","}
    assert writing.before == {"(", "l'"}
    assert writing.write(["l'", "eau", ",", "(", "là", ")", "!"], capital=True) == "L'eau, (là) !"


@pytest.mark.parametrize("name", ["floor.json", "floor.json.gz"])
def test_a_saved_translator_is_the_same_translator(toy, tmp_path, name):
    toy.save(tmp_path / name)
    loaded = WordBased.load(tmp_path / name)
    loaded.save(tmp_path / f"again-{name}")
    assert loaded.config == toy.config
    sources = [source for source, _ in TOY]
    assert loaded.translate(sources) == toy.translate(sources)
    assert (tmp_path / name).read_bytes() == (tmp_path / f"again-{name}").read_bytes()


def test_training_twice_gives_the_same_bytes(toy, tmp_path):
    toy.save(tmp_path / "one.json")
    WordBased.train(TOY).save(tmp_path / "two.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"format": "other"}', b"\x1f\x8bnot compressed", b"\xff"])
def test_what_is_no_translator_is_refused_in_one_sentence(tmp_path, content):
    path = tmp_path / "floor.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match="is not a word-based translator"):
        WordBased.load(path)


def test_a_damaged_or_missing_file_is_refused(toy, tmp_path):
    toy.save(tmp_path / "floor.json")
    stored = json.loads((tmp_path / "floor.json").read_bytes())
    (tmp_path / "bad.json").write_text(json.dumps(stored | {"config": {"beam": 0}}))
    with pytest.raises(InputError, match="is not a word-based translator"):
        WordBased.load(tmp_path / "bad.json")
    with pytest.raises(InputError, match="cannot read"):
        WordBased.load(tmp_path / "none.json")


@pytest.mark.parametrize(("setting", "value"), [("options", 0), ("drop", 1.5), ("lm_weight", -1.0), ("beam", 0)])
def test_impossible_settings_are_refused(setting, value):
    with pytest.raises(RecipeError, match=f"{setting} must be"):
        WordBasedConfig(**{setting: value})


@pytest.mark.long
def test_on_the_embedded_corpus_it_is_a_floor_but_far_above_nothing():
    splits = grammar()
    pairs, held_out = ([(e.src, e.tgt) for e in splits[name].examples] for name in ("train", "test"))
    sources, references = [source for source, _ in held_out], [target for _, target in held_out]
    system = WordBased.train(pairs, aligner=HmmConfig(iterations=3, model1_iterations=3))
    assert bleu(sources, [references]).score < 5
    assert 20 < bleu(system.translate(sources), [references]).score < 70
