"""The guard: each reason with a translation that has it and one that has not, and what holds for any text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import regard
from regard.align.attention import WordAttention
from regard.bundle.card import FALSE_ALARMS, Calibration
from regard.errors import RecipeError
from regard.search.options import SearchOptions
from regard.text.known_words import KnownWords
from regard.text.words import split_words
from regard.translation.confidence import (
    LogProbSum,
    Observation,
    bins,
    calibration_error,
    features,
    fit_calibration,
    invented_words,
    mark_limits,
    rightness,
    word_rarities,
)
from regard.translation.guard import LIMITS, Judgement, is_better, judge, judge_unread, retry_options
from regard.translation.options import TranslateOptions
from regard.translation.pipeline import Pipeline
from regard.translation.repetition import loop
from regard.translation.translation import Reason, SentenceTranslation

PLAIN = Calibration()


def seen(source: str, target: str, mean: float = -0.2, end: float = -0.1, **more: object) -> Observation:
    tokens = len(target.split()) + 1
    found = Observation(source, target, [mean] * tokens + [end], len(source.split()) + 1, languages=("en", "fr"))
    return replace(found, **more)  # type: ignore[arg-type]


def diagonal(source: str, target: str, missed: tuple[str, ...] = ()) -> WordAttention:
    """Every source word is attended to, but for those missed."""
    words, said = split_words(source), split_words(target)
    weights = np.ones((len(said), len(words)))
    weights[:, [i for i, word in enumerate(words) if word in missed]] = 0.0
    weights /= weights.sum(axis=1, keepdims=True)
    return WordAttention(tuple(words), tuple(said), weights, np.zeros(len(said)))


def names(observation: Observation) -> list[str]:
    return [reason.name for reason in judge(observation, PLAIN).reasons]


GOOD = [
    ("The cat is on the mat.", "Le chat est sur le tapis."),
    ("We get up early.", "Nous nous levons tôt."),
    ("It's very, very late!", "Il est très, très tard !"),
    ("Bye-bye, my friend! Ha ha ha ha!", "Au revoir, mon ami ! Ha ha ha ha !"),
    ("Tom, Mary and John.", "Tom, Mary et John."),
    ("Paris 2024", "Paris 2024"),
    ("No.", "Non."),
    ("See https://example.com/docs?id=42 for details.", "Voir https://example.com/docs?id=42 pour les détails."),
    ("He laughed: hahahahaha!", "Il a ri : hahahahaha !"),
]

BAD = [
    ("language", "Le chat est sur le tapis.", "La discussion s'éclaircit."),
    ("loop", "See it for details, please.", "À la maison septembre, le septembre septembre."),
    ("loop", "Please do not feed them.", "PDNOOOOOOOOOONEA."),
    ("loop", "I want to go home now.", "Je veux je veux je veux je veux rentrer."),
    ("short", "I have never seen such a beautiful garden before, and I will not forget it.", "Jamais."),
    ("short", "Where are you?", ""),
    ("long", "No.", "Je ne sais pas ce que vous voulez me dire, et je ne veux pas le savoir non plus."),
    ("copied", "The cat is sleeping on the old mat.", "The cat is sleeping on the old mat."),
    ("copied", "The cat is sleeping on the old mat.", "The dog was running over our new carpet."),
]


@pytest.mark.parametrize(("source", "target"), GOOD)
def test_a_good_translation_has_no_reason(source: str, target: str) -> None:
    assert names(seen(source, target, attention=diagonal(source, target))) == []


@pytest.mark.parametrize(("name", "source", "target"), BAD)
def test_a_spoilt_translation_has_its_reason(name: str, source: str, target: str) -> None:
    assert name in names(seen(source, target))


def test_source_words_that_nothing_looked_at() -> None:
    source, target = "The young doctor visited Boston yesterday.", "Le jeune docteur est là."
    missed = ("visited", "Boston", "yesterday")
    assert "uncovered" in names(seen(source, target, attention=diagonal(source, target, missed)))
    assert names(seen(source, target, attention=diagonal(source, target, missed[:1]))) == []
    assert names(seen(source, target)) == []  # without attention nothing is known


@pytest.mark.parametrize("log_probs", [[-4.0] * 6, [-0.1] * 5 + [-9.0], [math.nan] * 3, [-math.inf, -1.0]])
def test_improbable_translations(log_probs: list[float]) -> None:
    source, target = GOOD[0]
    assert "improbable" in names(replace(seen(source, target), log_probs=log_probs))


@given(st.lists(st.floats(-0.8, -0.01), min_size=1, max_size=20))
def test_a_sum_tells_what_its_tokens_tell(log_probs: list[float]) -> None:
    by_token = seen(*GOOD[0], log_probs=log_probs)
    by_sum = replace(by_token, log_probs=LogProbSum(sum(log_probs), len(log_probs)))
    assert features(by_sum) == pytest.approx(features(by_token))
    assert names(by_sum) == []


def test_every_reason_is_a_sentence() -> None:
    for _, source, target in BAD:
        for reason in judge(seen(source, target, mean=-5), PLAIN).reasons:
            assert reason.text.endswith(".")
            assert "\n" not in reason.text


def test_without_languages_there_is_no_alarm_about_them() -> None:
    source, target = "Le chat est sur le tapis.", "La discussion s'éclaircit."
    assert names(seen(source, target, languages=(None, None))) == []


def test_words_in_another_script_are_foreign_only_if_they_are_most_of_the_sentence() -> None:
    few = seen("The sign reads ห้ามเข้า in Thai.", "Le panneau dit ห้ามเข้า.", bare="The sign reads   in Thai.")
    assert "language" not in names(few)
    assert "language" in names(replace(few, bare=None))
    most = "Вчера мы были дома и читали книгу, said Tom."
    assert "language" in names(seen(most, most, bare="  , said Tom."))


def test_an_unread_sentence_is_doubtful_if_it_is_in_another_script() -> None:
    found = judge_unread("Добрый день!", ["Latin"])
    assert found is not None
    assert (found.confidence, [reason.name for reason in found.reasons]) == (0.0, ["language"])
    assert judge_unread("5 kΩ, Łódź 😀", ["Latin"]) is None
    assert judge_unread("Добрый день!", ["Latin", "Cyrillic"]) is None
    assert judge_unread("Добрый день!", None) is None


def test_a_model_within_one_language_may_copy() -> None:
    text = "The cat is sleeping on the old mat."
    assert names(seen(text, text, languages=("en", "en"))) == []


def test_a_copy_inspires_no_confidence() -> None:
    text = "The cat is sleeping on the old mat."
    assert judge(seen(text, text, mean=0.0, end=0.0), PLAIN).confidence <= 0.2


ANY = st.text(alphabet=st.characters(exclude_categories=()), max_size=60)  # lone surrogates too


@given(ANY, ANY, st.lists(st.floats(-50, 0), max_size=8), st.integers(0, 50))
def test_any_text_is_judged(source: str, target: str, log_probs: list[float], tokens: int) -> None:
    found = judge(Observation(source, target, log_probs, tokens, diagonal(source, target), ("en", "fr")), PLAIN)
    assert 0 <= found.confidence <= 1
    assert len({reason.name for reason in found.reasons}) == len(found.reasons)


@given(st.lists(st.floats(-8, 0), min_size=1, max_size=10), st.floats(0.01, 5))
def test_confidence_rises_with_the_mean_log_probability(log_probs: list[float], step: float) -> None:
    first = Observation("The cat sleeps.", "Le chat dort.", log_probs, 4)
    second = replace(first, log_probs=[value - step for value in log_probs])
    assert judge(second, PLAIN).confidence < judge(first, PLAIN).confidence


def test_five_megabytes_of_one_word() -> None:
    long = "é" * 5_000_000
    assert [reason.name for reason in judge(Observation(long, long, [-0.1], 9), PLAIN).reasons] == []
    assert "loop" in names(seen("What?", long))


@pytest.mark.parametrize(
    ("source", "target", "found"),
    [
        ("a b", "très bien très bien", "très bien"),
        ("a b", "nous nous sommes vus", None),
        ("a b", "non non non", "non"),
        ("no no no", "non non non", None),
        ("very very good", "vraiment vraiment bon", None),
        ("a b", "hourra hourra", "hourra"),
        ("Aaaaah!", "Aaaaah !", None),
        ("a b", "bonjour à tous, bonjour mes bonjour et bonjour", "bonjour"),
    ],
)
def test_loops_are_repetitions_beyond_the_source(source: str, target: str, found: str | None) -> None:
    assert getattr(loop(source, target), "text", None) == found


# ── confidence ────────────────────────────────────────────────────────────────────────────────────────────────────────


def made(rng: np.random.Generator, count: int) -> tuple[list[Observation], list[float]]:
    """Observations whose quality depends on their mean log-probability, with noise."""
    observations = [
        seen("one two three four", "un deux trois quatre", mean=-float(rng.uniform(0, 4))) for _ in range(count)
    ]
    truth = [1 / (1 + math.exp(-(0.5 - features(one)["surprise"]))) for one in observations]
    return observations, np.clip(truth + rng.normal(0, 0.1, count), 0, 1).tolist()


def test_a_fit_is_calibrated_on_other_sentences() -> None:
    rng = np.random.default_rng(1)
    calibration = fit_calibration([made(rng, 800), made(rng, 200)], "made text")
    assert calibration.fitted
    observations, quality = made(rng, 1000)
    confidence = [judge(one, calibration).confidence for one in observations]
    assert calibration_error(bins(confidence, quality)) < 0.03
    shifted = replace(calibration, bias=calibration.bias + 1)  # the measure must notice
    assert calibration_error(bins([judge(one, shifted).confidence for one in observations], quality)) > 0.05


@pytest.mark.long
def test_limits_of_marks_hold_on_other_sentences() -> None:
    """As many right sentences are marked as the aim allows, about; more are marked if strict, fewer if lenient."""
    rng = np.random.default_rng(2)
    means = -rng.uniform(0, 4, 4000)
    observations = [seen("one two three four", "un deux trois quatre", mean=float(mean)) for mean in means]
    labels = (rng.uniform(size=4000) < 1 / (1 + np.exp(-3 * (means + 2)))).astype(float).tolist()
    calibration = fit_calibration([(observations[:2000], labels[:2000])], "made text")
    shares = []
    for marking in ("lenient", "normal", "strict"):
        judged = [judge(one, calibration, marking) for one in observations[2000:]]
        marks = [SentenceTranslation("", "", (0, 0), (0, 0), "", reasons=one.reasons).mark for one in judged]
        marked = {
            mark: np.mean([found in mark for found, label in zip(marks, labels[2000:], strict=True) if label == 1])
            for mark in (("doubtful",), ("check", "doubtful"))
        }
        doubtful, check = (FALSE_ALARMS[place] for place in LIMITS[marking])
        assert marked["doubtful",] == pytest.approx(doubtful, abs=0.02)
        assert marked["check", "doubtful"] == pytest.approx(check, abs=0.04)
        shares.append(np.mean([mark is not None for mark in marks]))
    assert shares == sorted(shares)
    assert shares[0] < shares[-1]


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from([0.0, 0.5, 1.0])), max_size=30))
def test_limits_rise_with_the_share_of_false_alarms(pairs: list[tuple[float, float]]) -> None:
    confidence, labels = (np.array([pair[side] for pair in pairs]) for side in (0, 1))
    limits, found = mark_limits(confidence, labels)
    assert limits == pytest.approx(mark_limits(confidence, labels, weights=np.full(len(pairs), 3.0))[0])
    if (labels == 1).any():
        assert limits == pytest.approx(np.quantile(confidence[labels == 1], FALSE_ALARMS))
    assert list(limits) == sorted(limits)
    assert list(found) == sorted(found)


@given(st.floats(0, 1), st.integers(0, 80), st.integers(0, 5))
def test_rightness_falls_with_length_and_invented_words(chrf: float, words: int, invented: int) -> None:
    assert 0 <= rightness(chrf, words + 1, invented) <= rightness(chrf, words, invented) <= 1
    assert rightness(chrf, words, invented + 1) <= rightness(chrf, words, invented)
    assert rightness(1.0, words) == 1


def test_invented_words_are_neither_known_nor_copied() -> None:
    known = KnownWords(["Katze", "Haus", "Tür", "die", "schlafen"], ["Tom"])
    assert invented_words("Tom, the cat", "Tom, die Katze Haustür schlafen", known, "de") == ()
    assert invented_words("the door of Zorba", "die Türlung von Zorba", known, "de") == ("Türlung",)


def test_known_probabilities_of_the_source_change_the_confidence() -> None:
    rng = np.random.default_rng(3)
    observations = [seen("one two", "un deux", back=[-float(rng.uniform(0, 4))] * 3) for _ in range(400)]
    labels = [float(one.back[0] > -2) for one in observations]
    calibration = fit_calibration([(observations, labels)], "made text")
    assert calibration.thorough is not None
    good, bad = (judge(seen("one two", "un deux", back=[mean] * 3), calibration.thorough) for mean in (-0.5, -3.5))
    assert good.confidence > 0.7 > 0.3 > bad.confidence
    assert set(calibration.thorough.weights) - set(calibration.weights) == {
        "back", "back_square", "back_both", "back_surprise", "back_lost",
    }  # fmt: skip


def test_the_words_of_the_source_that_the_translation_does_not_predict_are_said() -> None:
    translator = regard.load("en-fr", device="cpu")
    pipeline = translator.pipeline(SearchOptions(), TranslateOptions())
    [ids] = translator.tokenizer.encode_target(["The grey cat sleeps."])
    at = translator.tokenizer.decode(ids).index("cat")
    spans = translator.tokenizer.target_pieces(ids)
    log_probs = [-9.0 if start <= at < end else -0.1 for start, end in spans] + [-0.1]
    lost = pipeline._lost_words("The grey cat sleeps.", log_probs)
    assert lost == ("cat",)
    [reason] = judge(seen("The grey cat sleeps.", "Le chien gris dort.", mean=-4.0, lost=lost), PLAIN).reasons
    assert reason.text.endswith("Words of the source that do not follow from it: cat.")


def test_judged_sentences_weigh_as_much_as_all_sets() -> None:
    low = [seen("one two", "un deux")] * 30, [0.2] * 30
    judged = [seen("one two", "un deux")] * 10, [0.8] * 10
    calibration = fit_calibration([low, low, low], "sets and verdicts", judged=judged)
    assert judge(low[0][0], calibration).confidence == pytest.approx(0.5, abs=0.01)


def test_rare_words_are_those_of_high_rank() -> None:
    known = KnownWords([f"w{n}ord" for n in range(9_000)] + ["Haus"], ["Tom"], by_frequency=True)
    known_ranks = dict(zip(["haus", "Tom", "unbekannt"], word_rarities("haus Tom unbekannt", known), strict=True))
    assert known_ranks["Tom"] < known_ranks["haus"] < known_ranks["unbekannt"]
    assert word_rarities("any words", KnownWords(["any"])) == []  # without frequencies


def test_thorough_scores_the_sources_of_all_that_the_model_read(monkeypatch: pytest.MonkeyPatch) -> None:
    scored: list[str] = []
    plain = Pipeline.back_log_probs

    def recorded(self: Pipeline, pairs: Sequence[tuple[str, str]]) -> Sequence[NDArray[np.float64]]:
        scored.extend(read for read, _ in pairs)
        return plain(self, pairs)

    monkeypatch.setattr(Pipeline, "back_log_probs", recorded)
    texts = ["", "Thank you so much for your patience.", "The gaffer's sprocket wrench galls the flibber."]
    translator = regard.load("en-fr", device="cpu")
    first = translator.translate(texts, guard=True)
    assert not scored
    second = translator.translate(texts, thorough=True)
    assert set(scored) == set(texts[1:])
    assert [one.text for one in first] == [one.text for one in second]
    sentences = [(one.sentences[0], two.sentences[0]) for one, two in zip(first[1:], second[1:], strict=True)]
    assert all(one.confidence != two.confidence for one, two in sentences)
    assert sentences[-1][1].mark is not None


def test_sets_weigh_the_same_however_large() -> None:
    low = [seen("one two", "un deux")] * 1000, [0.2] * 1000
    high = [seen("one two", "un deux")] * 10, [0.8] * 10
    calibration = fit_calibration([low, high], "two sets")
    assert judge(low[0][0], calibration).confidence == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("wrong", [{"bias": math.nan}, {"ratio_spread": 0.0}, {"weights": {"mean": math.inf}}])
def test_constants_must_be_usable(wrong: dict[str, object]) -> None:
    with pytest.raises(RecipeError, match="calibration"):
        Calibration(**wrong)  # type: ignore[arg-type]


# ── the second try ────────────────────────────────────────────────────────────────────────────────────────────────────


def reasons(*named: str) -> tuple[Reason, ...]:
    return tuple(Reason(name, "") for name in named)


def test_second_tries() -> None:
    assert retry_options((), 5) is None
    assert retry_options(reasons("language", "loop"), 5) is None
    assert retry_options(reasons("improbable"), 5) is None  # a wider beam does not help
    changes = {
        name: retry_options(reasons(name), 100) or {} for name in ("loop", "short", "long", "uncovered", "copied")
    }
    assert changes["short"]["length_penalty"] > changes["long"]["length_penalty"]
    assert "no_repeat" in changes["loop"]
    assert "no_repeat" in (retry_options(reasons("loop", "short"), 5) or {})
    assert all(change.get("beam", 100) >= 100 for change in changes.values())  # never narrower


def test_the_result_with_fewer_reasons_is_taken_then_the_more_confident_one() -> None:
    doubtful, sure, surer = Judgement(0.9, reasons("loop")), Judgement(0.3, ()), Judgement(0.4, ())
    assert is_better(doubtful, sure)
    assert not is_better(sure, doubtful)
    assert is_better(sure, surer)
    assert not is_better(sure, sure)


def test_a_foreign_name_does_not_make_a_foreign_sentence() -> None:
    both = "Mrs Merkel is here.", "Mme Merkel est ici."
    english = Observation(*both, [-0.1] * 6, 5, None, ("en", "fr"), "Mrs  is here.")
    assert [reason.name for reason in judge(english, Calibration()).reasons] == []
    german = "Die Katze sitzt auf der Matte."
    seen = Observation(german, "La chatte.", [-0.1] * 6, 9, None, ("en", "fr"), "Die  sitzt auf der .")
    assert "language" in [reason.name for reason in judge(seen, Calibration()).reasons]
