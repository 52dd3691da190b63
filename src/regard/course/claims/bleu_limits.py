"""What BLEU does not see, in numbers (the notes on its weaknesses): synonyms, order, and whether a sentence is right.

The examples are ours and few. Which of two translations says what the reference says is part of an example: a person
who reads both decides it at once, and no metric is asked.
"""

from __future__ import annotations

from regard.course.claims.claim import Claim, ClaimResult, judge
from regard.course.claims.experiment import ExperimentSetup
from regard.metrics.bleu import bleu
from regard.metrics.chrf import chrf

# the reference, a word of it, a synonym in this sentence, a word that makes it wrong
SYNONYMS = (
    ("the doctor arrived at the hospital early this morning", "doctor", "physician", "butcher"),
    ("we bought a small car with the money from the bank", "small", "little", "large"),
    ("she began to sing as soon as the lights went out", "began", "started", "refused"),
    ("the film was so boring that half of us fell asleep", "film", "movie", "meal"),
    ("he answered every question of the judge without a lawyer", "answered", "replied to", "ignored"),
    ("the road to the village is closed because of the snow", "closed", "shut", "open"),
    ("it is almost impossible to find a cheap flat in this city", "almost", "nearly", "hardly"),
    ("the children hid behind the big tree in the garden", "big", "large", "small"),
)

# the reference, the same words in another order that is right too
ORDERS = (
    ("yesterday the committee approved the new law", "the committee approved the new law yesterday"),
    ("in the evening we sat on the old bridge", "we sat on the old bridge in the evening"),
    ("she slowly opened the door of the house", "slowly she opened the door of the house"),
    ("because it rained we stayed at home", "we stayed at home because it rained"),
    ("he gave back the books on Monday", "on Monday he gave the books back"),
    ("without a word the old man left the room", "the old man left the room without a word"),
)

# a kind of pair: reference, a translation that says the same, one that does not
JUDGEMENTS = {
    "paraphrase against a changed word": (
        (
            "the committee did not approve the new law",
            "the new bill was rejected by the panel",
            "the committee did approve the new law",
        ),
        (
            "the train leaves at nine in the morning",
            "departure of the train is at 9 am",
            "the train leaves at nine in the evening",
        ),
        (
            "he sold his house to his brother",
            "his brother bought the house from him",
            "he sold his house to his neighbour",
        ),
        (
            "nobody in the office knew the answer",
            "no one at work could tell",
            "everybody in the office knew the answer",
        ),
    ),
    "other order against a changed word": (
        (
            "yesterday the girl gave the dog a bone",
            "the girl gave the dog a bone yesterday",
            "yesterday the girl gave the cat a bone",
        ),
        (
            "in winter the lake is often frozen",
            "the lake is often frozen in winter",
            "in winter the lake is never frozen",
        ),
        (
            "if you call me I will come at once",
            "I will come at once if you call me",
            "if you call me I will never come",
        ),
        (
            "only the red car was damaged in the storm",
            "in the storm only the red car was damaged",
            "only the red car was stolen in the storm",
        ),
    ),
    "a slip of grammar against missing words": (
        (
            "she has lived in this town for ten years",
            "she has live in this town for ten years",
            "she has lived in town",
        ),
        ("the price of bread rose again last month", "the prices of bread rose again last month", "the price rose"),
        ("they were waiting for the last bus home", "they was waiting for the last bus home", "they were waiting"),
        ("you must take this medicine twice a day", "you must take this medicines twice a day", "you must take this"),
    ),
    "one synonym against words in disorder": (
        (
            "the old man crossed the street slowly",
            "the old man crossed the road slowly",
            "man the slowly old street the crossed",
        ),
        (
            "our teacher told us a funny story",
            "our teacher told us an amusing story",
            "story a us funny teacher our told",
        ),
        (
            "the ship sank near the rocky coast",
            "the ship sank near the rocky shore",
            "coast sank rocky the near ship the",
        ),
        ("he forgot to lock the front door", "he forgot to bolt the front door", "door to front forgot he lock the"),
    ),
}


def sentence_bleu(hypothesis: str, reference: str) -> float:
    return bleu([hypothesis], [reference], effective_order=True).score


def test_synonyms(setup: ExperimentSetup) -> ClaimResult:
    rows, differences, losses = [], [], []
    for reference, word, synonym, wrong in SYNONYMS:
        scores = [sentence_bleu(reference.replace(word, other, 1), reference) for other in (synonym, wrong)]
        differences.append(scores[0] - scores[1])
        losses.append(100 - scores[0])
        rows.append([f"{word} → {synonym}", f"{scores[0]:.1f}", f"{word} → {wrong}", f"{scores[1]:.1f}"])
    mean = sum(losses) / len(losses)
    alike = sum(abs(difference) < 1e-9 for difference in differences)
    figure = (
        f"a synonym costs {mean:.1f} of 100 on the mean, and in {alike} of {len(SYNONYMS)} sentences exactly as "
        "much as a "
        "word that makes the sentence wrong"
    )
    passed = mean >= 20 and alike >= 0.75 * len(SYNONYMS)
    remark = "A synonym of two words costs more than a wrong word of one."
    return ClaimResult(judge(passed), figure, ["right", "BLEU", "wrong", "BLEU"], rows, remark)


def test_order(setup: ExperimentSetup) -> ClaimResult:
    rows, losses = [], []
    for reference, moved in ORDERS:
        score = sentence_bleu(moved, reference)
        losses.append(100 - score)
        rows.append([reference, moved, f"{score:.1f}", f"{chrf([moved], [reference]).score:.1f}"])
    figure = f"the same words in another right order cost {min(losses):.1f} to {max(losses):.1f} of 100"
    return ClaimResult(judge(min(losses) >= 10), figure, ["reference", "as right", "BLEU", "chrF"], rows)


def test_judgement(setup: ExperimentSetup) -> ClaimResult:
    rows, agreed = [], {}
    for kind, examples in JUDGEMENTS.items():
        scores = [(sentence_bleu(right, ref), sentence_bleu(wrong, ref)) for ref, right, wrong in examples]
        agreed[kind] = sum(right > wrong for right, wrong in scores)
        sides = [f"{sum(side) / len(side):.1f}" for side in zip(*scores, strict=True)]
        rows.append([kind, f"{agreed[kind]} of {len(examples)}", *sides])
    together = [example for examples in JUDGEMENTS.values() for example in examples]
    references = [reference for reference, _, _ in together]
    corpus = [bleu([example[side] for example in together], references).score for side in (1, 2)]
    share = sum(agreed.values()) / len(together)
    figure = (
        f"BLEU of a sentence prefers the right one in {sum(agreed.values())} of {len(together)} pairs; BLEU of all "
        "right "
        f"ones together is {corpus[0]:.1f}, of all wrong ones {corpus[1]:.1f}"
    )
    remark = (
        "The kinds were chosen, the first two to be hard for BLEU, so the total says little and the rows say more: a "
        "paraphrase always loses against a changed word. Another order does not, to our surprise: moving one phrase "
        "of a "
        "short sentence costs less than a changed word in its middle."
    )
    return ClaimResult(
        judge(share <= 0.75), figure, ["right against wrong", "agrees", "BLEU, right", "BLEU, wrong"], rows, remark
    )


CLAIMS = (
    Claim(
        "bleu-synonyms",
        "BLEU does not consider synonyms.",
        f"{len(SYNONYMS)} sentences in which one word is replaced by a synonym, or by a word that makes it wrong.",
        "A synonym costs at least 20 BLEU on the mean, and in three of four sentences exactly as much as the wrong "
        "word.",
        test_synonyms,
    ),
    Claim(
        "bleu-order",
        "BLEU falls when words change places, also where the new order is as good.",
        f"{len(ORDERS)} sentences whose words are put into another order that says the same.",
        "Every one of them loses at least 10 BLEU.",
        test_order,
    ),
    Claim(
        "bleu-judgement",
        "BLEU of a single sentence is unreliable.",
        f"{sum(map(len, JUDGEMENTS.values()))} references of four kinds, each with a translation that says the same "
        "and one that "
        "does not.",
        "In a quarter of the pairs or more, the wrong one has the higher BLEU or the same.",
        test_judgement,
    ),
)
