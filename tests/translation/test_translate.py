"""Text in, text out, on a model that was really trained."""

from __future__ import annotations

import copy
import math
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import regard
from regard.errors import BundleError, InputError, RegardError
from regard.search.engine import token_batches
from regard.search.mbr import expected_utilities
from regard.search.options import Mbr, Sampling
from regard.text.learned_vocabulary import LearnedVocabulary
from regard.text.tokenizer import Tokenizer
from regard.translation.options import TranslateOptions
from regard.translator import Translator
from support import LINES


def test_it_learnt_its_corpus(translator: Translator) -> None:
    found = translator.translate([s for s, _ in LINES])
    assert [t.text for t in found] == [t for _, t in LINES]
    assert all(t.score <= 0 for t in found)


def test_finished_sentences_are_a_copy_that_later_ones_do_not_change(translator: Translator) -> None:
    """A server counts the sentences that it has sent while another thread adds further ones."""
    job = translator.job("The cat sleeps. The dog sees the cat.")
    before = job.final_sentences(0)
    job.run()
    assert len(before) == 0
    assert job.final_sentences(0)[0].text == "Le chat dort."


def test_order_and_empty_lines_are_kept(translator: Translator) -> None:
    lines = ["", "The cat sleeps.", "   ", "The dog sees the cat.", ""]
    assert [t.text for t in translator.translate(lines)] == ["", "Le chat dort.", "   ", "Le chien voit le chat.", ""]


@pytest.mark.parametrize("beam", [1, 4])
def test_the_batch_does_not_matter(translator: Translator, beam: int) -> None:
    lines = [s for s, _ in LINES] * 2 + ["Cat", "sleeps dog the and eats a cat", "Ü 😀 x"]
    alone = [translator.translate([line], beam=beam)[0].text for line in lines]
    for budget in (1, 16, 64, 10_000):
        assert [t.text for t in translator.translate(lines, beam=beam, batch_tokens=budget)] == alone


def test_n_best(translator: Translator) -> None:
    found = translator.translate(["The cat sleeps."], beam=4, nbest=3)[0]
    assert len(found.candidates) == 3
    assert found.candidates[0].text == found.text
    scores = [c.score for c in found.candidates]
    assert scores == sorted(scores, reverse=True)
    with pytest.raises(InputError, match="between 1 and the beam"):
        translator.translate(["x"], beam=2, nbest=3)


def test_mbr_takes_the_sample_with_the_least_risk(translator: Translator) -> None:
    lines = ["The cat sleeps.", "The dog sees the cat."]
    warm = Sampling(temperature=2.0, top_k=2, seed=1)
    drawn = translator.translate(lines, sampling=warm, nbest=12, guard=False)
    found = translator.translate(lines, sampling=warm, mbr=Mbr(12), nbest=3)
    for samples, best in zip(drawn, found, strict=True):
        texts = [c.text for c in samples.candidates]
        utilities = dict(zip(texts, expected_utilities(texts), strict=True))
        ranked = sorted(utilities, key=lambda text: -utilities[text])[:3]
        assert [c.text for c in best.candidates] == ranked
        assert [c.score for c in best.candidates] == pytest.approx([utilities[text] for text in ranked])
    assert len(found[0].candidates) > 1  # they do differ
    alone = [translator.translate(line, sampling=warm, mbr=Mbr(12)).text for line in lines]
    assert [t.text for t in found] == alone
    assert translator.translate(lines[0], mbr=Mbr(4, "bleu")).text == "Le chat dort."  # samples as they come


def test_one_string_gives_one_translation(translator: Translator) -> None:
    assert translator.translate("The cat sleeps.") == translator.translate(["The cat sleeps."])[0]


def test_sentences_are_translated_one_by_one_and_what_is_between_them_stays(translator: Translator) -> None:
    text = "The cat sleeps.  The dog sees the cat.\n\n  - The cat does not eat.\n"
    found = translator.translate(text)
    assert found.text == "Le chat dort.  Le chien voit le chat.\n\n  - Le chat ne mange pas.\n"
    assert [(s.source, s.text) for s in found.sentences] == [
        ("The cat sleeps.", "Le chat dort."),
        ("The dog sees the cat.", "Le chien voit le chat."),
        ("The cat does not eat.", "Le chat ne mange pas."),
    ]
    for sentence in found.sentences:
        assert text[slice(*sentence.source_span)] == sentence.source
        assert found.text[slice(*sentence.target_span)] == sentence.text
        assert {text[slice(*a)] for a, _ in sentence.alignment or ()} <= set(sentence.source.replace(".", " .").split())


def test_line_breaks_may_be_only_wrapping(translator: Translator) -> None:
    text = "The cat\nsleeps. The dog sees\nthe cat.\n\nThe cat sleeps."
    assert translator.translate(text, split="wrapped").text == "Le chat dort. Le chien voit le chat.\n\nLe chat dort."


@given(st.lists(st.integers(1, 30), max_size=30), st.integers(1, 100))
def test_budgets_hold_and_nothing_is_lost(lengths: list[int], budget: int) -> None:
    groups = list(token_batches(lengths, budget))
    assert sorted(i for g in groups for i in g) == list(range(len(lengths)))
    assert all(len(g) == 1 or len(g) * (max(lengths[i] for i in g) + 1) <= budget for g in groups)


def test_loading_says_what_is_missing(tmp_path: Path, run_folder: Path) -> None:
    assert Translator.load(run_folder).translate(["The cat sleeps."])[0].text == "Le chat dort."


def test_drawn_translations_do_not_depend_on_the_batch(translator: Translator) -> None:
    lines = [s for s, _ in LINES] + ["", "Cat dog."]
    hot = Sampling(temperature=2.0, seed=1)
    alone = [translator.translate([line], sampling=hot, nbest=2)[0] for line in lines]
    together = translator.translate(lines, sampling=hot, nbest=2)
    assert [[c.ids for c in t.candidates] for t in together] == [[c.ids for c in t.candidates] for t in alone]
    assert all(len(t.candidates) == 2 for t in together if t.source)
    others = translator.translate(lines, sampling=Sampling(temperature=2.0, seed=2), nbest=2)
    assert [t.text for t in together] != [t.text for t in others]
    cold = translator.translate([s for s, _ in LINES], sampling=Sampling(temperature=0.01))
    assert [t.text for t in cold] == [t for _, t in LINES]


def test_a_tag_must_be_known(translator: Translator) -> None:
    with pytest.raises(InputError, match='unknown tag "<bt>"; this vocabulary has none'):
        translator.translate(["The cat sleeps."], tag="<bt>")


def test_a_tag_changes_what_the_model_reads(translator: Translator) -> None:
    """The last entry of the vocabulary, taken for a tag: every part of a line has it in front."""
    plain = translator.tokenizer
    *pieces, last = plain.source.pieces
    merges = [(a, b) for a, b in plain.source.merges or [] if a + b != last]
    source = LearnedVocabulary(pieces, merges).with_tags(["<x>"])
    tagged = Tokenizer(source, source, replace(plain.config, tags=("<x>",)))
    bundle = replace(translator.bundle, tokenizer=tagged)
    other = Translator(bundle, translator.config, max_length=12)
    lines = ["The cat sleeps.", "The cat sleeps. The dog eats and a cat sees the dog and the cat eats."]
    read = [unit.ids for unit in other.unit_maker(TranslateOptions(), "<x>").units(enumerate(lines))]
    assert len(read) > 3
    assert len(other.translate(lines, tag="<x>")) == 2
    assert all(ids[0] == len(source) - 1 and len(ids) < 12 for ids in read)


# ------------------------------------------------------------------------------------------------ what may be given


def test_any_iterable_of_strings(translator: Translator) -> None:
    listed = translator.translate([s for s, _ in LINES])
    assert translator.translate(s for s, _ in LINES) == listed
    assert translator.translate(tuple(s for s, _ in LINES)) == listed
    assert translator.translate([]) == []


@pytest.mark.parametrize("given", [None, b"The cat.", 3, [None], ["The cat.", b"dog"]])
def test_what_is_not_text_is_refused_in_one_line(translator: Translator, given: Any) -> None:
    for method in (translator.translate, lambda text: translator.score(text, text)):
        with pytest.raises(InputError, match="takes a string or an iterable of strings") as problem:
            method(given)
        assert "\n" not in str(problem.value)


@pytest.mark.parametrize("text", ["a\ud800", "é \udcff 😀 https://a.example"])
def test_half_a_character_is_refused(translator: Translator, text: str) -> None:
    for mend in (False, True):
        with pytest.raises(InputError, match="lone surrogate"):
            translator.translate(["The cat sleeps.", text], mend=mend)


@pytest.mark.parametrize(
    "options",
    [{"beam": "4"}, {"beam": 2.5}, {"length_penalty": "a"}, {"nbest": 1.5}, {"sampling": {"seed": 1}}, {"steer": "a"}],
)
def test_options_of_the_wrong_type_are_refused(translator: Translator, options: Any) -> None:
    with pytest.raises(RegardError, match=next(iter(options))):
        translator.translate("The cat sleeps.", **options)


def test_a_glossary_may_be_a_dict(translator: Translator) -> None:
    terms = {"cat": "chien"}
    found = translator.translate("The cat sleeps.", glossary=terms)
    assert found.text == translator.translate("The cat sleeps.", glossary=regard.Glossary.of(terms)).text
    assert "chien" in found.text
    assert translator.translate("The cat sleeps.", glossary={}).text == "Le chat dort."


@pytest.mark.parametrize("glossary", ["terms.tsv", Path("terms.tsv"), [("cat", "chat")], 7])
def test_other_glossaries_are_refused(translator: Translator, glossary: Any) -> None:
    with pytest.raises(InputError, match=r"glossary must be a regard.Glossary, or a dict .*, but is a value") as caught:
        translator.translate("The cat sleeps.", glossary=glossary)
    assert ("read_glossary" in str(caught.value)) == isinstance(glossary, str | Path)


@pytest.mark.parametrize("mend", [False, True])
@pytest.mark.parametrize("text", ["The cat\nsleeps.", "The cat sleeps.\r\n😀\n", "\n😀 The cat sleeps.", "\n"])
def test_line_breaks_stay_where_they_are(translator: Translator, text: str, mend: bool) -> None:
    found = translator.translate([text], mend=mend)
    assert len(found) == 1
    assert re.findall(r"[\r\n]+", found[0].text) == re.findall(r"[\r\n]+", text)
    assert translator.translate("The cat\nsleeps.", split="lines").text == "Le chat dort."


@pytest.mark.parametrize("beam", [0, -1, 1001, 10**9])
def test_the_beam_is_bounded(translator: Translator, beam: int) -> None:
    with pytest.raises(RegardError, match=r"beam must be a whole number from 1 to 1,000, but is"):
        translator.translate("The cat sleeps.", beam=beam)


def test_the_widest_beam_and_many_samples_fit(translator: Translator) -> None:
    assert translator.translate("The cat sleeps.", beam=1000, nbest=3).text == "Le chat dort."
    assert len(translator.translate("The cat.", sampling=Sampling(), nbest=50).candidates) == 50
    with pytest.raises(InputError, match="from 1 to 1,000"):
        translator.translate("The cat.", sampling=Sampling(), nbest=1001)


# ------------------------------------------------------------------------------------------------ damaged models


@pytest.mark.parametrize("options", [{"beam": 1}, {"beam": 4}, {"sampling": Sampling()}])
def test_a_model_of_no_numbers_says_so(translator: Translator, options: Any) -> None:
    broken = copy.deepcopy(translator.bundle.model)
    with torch.no_grad():
        next(broken.parameters()).fill_(math.nan)
    lost = Translator(replace(translator.bundle, model=broken))
    with pytest.raises(BundleError, match="NaN instead of probabilities"):
        lost.translate("The cat sleeps.", **options)
    with pytest.raises(BundleError, match="NaN instead of probabilities"):
        lost.score("The cat sleeps.", "Le chat dort.")


# ------------------------------------------------------------------------------------------------ threads


def test_threads_share_a_translator(translator: Translator) -> None:
    """Each thread gets what it would get alone, whichever options the others use."""
    lines = [s for s, _ in LINES] + ["Cat", "sleeps dog the and eats a cat", ""]
    options: list[Any] = [{"beam": 1}, {"beam": 4, "nbest": 3}, {"sampling": Sampling(seed=3)}, {"mend": True}]
    alone = [translator.translate(lines, **option) for option in options]
    fresh = Translator(translator.bundle)  # nothing is cached yet
    with ThreadPoolExecutor(8) as pool:
        found = [pool.submit(fresh.translate, lines, **option) for option in options * 3]
        assert [future.result() for future in found] == alone * 3


# ------------------------------------------------------------------------------------------------ score


def test_the_score_of_a_translation_is_what_the_search_found(translator: Translator) -> None:
    for translation in translator.translate([s for s, _ in LINES]):
        found = translator.score(translation.source, translation.text)
        assert found.log_prob == pytest.approx(translation.log_prob, abs=1e-4)
        assert len(found.tokens) == len(found.token_log_probs) == len(translation.candidates[0].ids) + 1
        assert found.perplexity == pytest.approx(math.exp(-found.log_prob / len(found.tokens)))
    right, wrong = translator.score(["The cat sleeps."] * 2, ["Le chat dort.", "Le chien mange."])
    assert right.log_prob > wrong.log_prob
    assert right.perplexity < wrong.perplexity


def test_scores_are_of_pairs_that_fit(translator: Translator) -> None:
    with pytest.raises(InputError, match="as many targets as sources"):
        translator.score(["a", "b"], ["a"])
    with pytest.raises(InputError, match="two strings, or two lists"):
        translator.score("a", ["a"])
    with pytest.raises(InputError, match="fewer than 100 tokens, but pair 1"):
        translator.score(["a", "word " * 200], ["a", "b"])


# ------------------------------------------------------------------------------------------------ repr


def test_what_a_notebook_shows(translator: Translator) -> None:
    assert repr(translator).startswith("Translator(run, transformer, ")
    assert repr(translator).endswith(" parameters, cpu)")
    found = translator.translate("The cat sleeps.")
    assert repr(found).startswith("Translation('The cat sleeps.' → 'Le chat dort.', score=-0.")
    assert f"{found:>15}|" == "  Le chat dort.|"
    assert repr(translator.explain("The cat sleeps.")) == "Explanation('The cat sleeps.' → 'Le chat dort.')"
    assert repr(regard.chrf(["a b"], ["a b"])).startswith("ChrfScore(chrF2 = 100.00, nrefs:1|")
    assert repr(found.candidates[0]).startswith("Candidate('Le chat dort.', score=-0.")
    assert len(repr(replace(found, source="x" * 10_000))) < 300
    assert repr(translator.score("The cat sleeps.", "Le chat dort.")).startswith(
        "Likelihood('The cat sleeps.', 'Le chat dort.', log_prob=-0."
    )
