"""Words of two or three senses: "the bank approved the loan" / "the bank of the river" → la banque / la rive.

Another word of the sentence selects the sense: the possessor (the princess's ring, the phone's ring), an adjective (a
rusty nail), the verb (she lit / won the match), a coordinated noun (the plane and the hammer). The words (`words.toml`)
occur nowhere else in the grammar.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from regard.course.grammar import adjectives, choices, nouns, phrases, verbs
from regard.course.grammar.clauses import FUTURE, PAST, PRESENT, Predicate, clause
from regard.course.grammar.morphology import WORDS
from regard.course.grammar.nouns import Noun
from regard.course.grammar.phrases import Phrase
from regard.course.grammar.tokens import Draft, Pair, joined


@dataclass(frozen=True)
class Sense:
    """One meaning, and the words that select it."""

    noun: Noun
    of: tuple[str, ...] = ()
    adj: tuple[str, ...] = ()
    verb: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    does: tuple[str, ...] = ()  # verbs it is the subject of

    def contexts(self, frame: str) -> tuple[str, ...]:
        """Returns the words that select this sense in a frame."""
        contexts: tuple[str, ...] = getattr(self, frame)
        return contexts


@dataclass(frozen=True)
class AmbiguousWord:
    """An English noun with several senses."""

    en: str
    verbs: tuple[str, ...]  # verbs that fit every sense
    qualities: tuple[str, ...]  # adjectives that fit every sense
    senses: tuple[Sense, ...]


def _names(text: str) -> tuple[str, ...]:
    return tuple(w.replace("_", " ") for w in text.split())


def _word(
    en: str, verbs: str, senses: list[dict[str, str]], adjectives: str = "", plural: bool = True
) -> AmbiguousWord:
    made = []
    for fields in senses:
        contexts = {frame: _names(text) for frame, text in fields.items() if frame != "fr"}
        noun = nouns.parse(f"{en} {fields['fr']} {'' if plural else '+single'}", "ambiguous")
        made.append(Sense(noun, **contexts))
    return AmbiguousWord(en, _names(verbs), _names(adjectives), tuple(made))


AMBIGUOUS_WORDS = tuple(_word(**entry) for entry in WORDS["ambiguous"])


@dataclass(frozen=True)
class SenseCase:
    """A sentence without the sense and the word that selects it; `seed` fixes the rest."""

    word: AmbiguousWord
    frame: str  # "of", "adj", "verb", "beside", "does"
    as_subject: bool
    plural: bool
    seed: int


def draw(rng: random.Random) -> SenseCase:
    """Draws a random case."""
    word = rng.choice(AMBIGUOUS_WORDS)
    frames = [f for f in ("of", "of", "of", "adj", "verb", "beside", "does") if any(s.contexts(f) for s in word.senses)]
    frame = rng.choice(frames)
    share = {"adj": 0.6, "of": 0.45 if word.qualities else 0.0}.get(frame, 0.0)
    as_subject = rng.random() < share
    plural = "single" not in word.senses[0].noun.kinds and rng.random() < 0.2
    return SenseCase(word, frame, as_subject, plural, rng.getrandbits(32))


def write(case: SenseCase, sense: Sense, context: str) -> tuple[Draft, Pair]:
    """Writes the sentence of this case in this sense, selected by `context`."""
    d = Draft(random.Random(case.seed))
    d.tags.add("polysemy")
    pick = random.Random(case.seed)  # choices that must not depend on the sense
    tense = pick.choices((PAST, PRESENT, FUTURE), (5, 2, 2))[0]
    person = pick.random()
    genitive, degree = pick.random() < 0.5, pick.random() < 0.4
    quality = pick.choice(case.word.qualities) if case.word.qualities else ""
    verb_name = context if case.frame == "verb" else pick.choice(case.word.verbs)
    what = _phrase(d, case, sense, context, genitive)
    if case.frame == "does":
        doing = verbs.BY_NAME[context]
        p = Predicate(doing, tense, "not" if pick.random() < 0.15 else "")
        p.obj = choices.object_phrase(d, doing, what, bool(p.negation), 0.1) if doing.objects else None
        return d, clause(d, what, p)
    if case.as_subject:
        d.tags.add("agreement")
        adj = adjectives.BY_NAME[context if case.frame == "adj" else quality]
        complement = phrases.adjective(d, adj, what.feminine, what.plural, case.word.en)
        if degree and case.frame == "of" and adj.en not in adjectives.NO_DEGREE:
            complement = joined(d.words(*choices.VERY), complement)
        return d, clause(d, what, Predicate(verbs.BE, PAST if tense == FUTURE else tense, complement=complement))
    who = _person(d, person, pick)
    verb = verbs.BY_NAME[verb_name]
    p = Predicate(verb, tense, obj=what)
    if pick.random() < 0.12:
        p.negation = "not"
    elif pick.random() < 0.3 and not verb.state:
        p.tail.append(d.words(*pick.choice(choices.TIMES[tense])))
    return d, clause(d, who, p)


def _phrase(d: Draft, case: SenseCase, sense: Sense, context: str, genitive: bool) -> Phrase:
    noun = sense.noun
    if case.frame == "of":
        owner = phrases.noun_phrase(d, nouns.BY_NAME[context])
        d.combinations.append(("verb-object", "of " + case.word.en, context))
        return phrases.possessed(d, noun, owner, genitive, case.plural)
    if case.frame == "adj" and not case.as_subject:
        return phrases.noun_phrase(d, noun, "the", case.plural, adjectives.BY_NAME[context])
    phrase = phrases.noun_phrase(d, noun, "the", case.plural)
    if case.frame == "beside":
        other = phrases.noun_phrase(d, nouns.BY_NAME[context], "the", case.plural)
        return phrases.coordinated(d, phrase, other)
    return phrase


def _person(d: Draft, draw: float, pick: random.Random) -> Phrase:
    if draw < 0.35:
        return phrases.name(d, pick.choice(nouns.ALL_NAMES))
    if draw < 0.6:
        return phrases.subject_pronoun(d, pick.choice(("I", "he", "she", "we", "they", "you")))
    return phrases.noun_phrase(d, pick.choice(nouns.select("person")), "the", pick.random() < 0.2)


def sentence(rng: random.Random) -> tuple[Draft, Pair]:
    """Draws one sentence with an ambiguous word, in a random sense and frame."""
    case = draw(rng)
    senses = [s for s in case.word.senses if s.contexts(case.frame)]
    sense = rng.choice(senses)
    return write(case, sense, rng.choice(sense.contexts(case.frame)))


def minimal_pair(rng: random.Random) -> tuple[tuple[Draft, Pair, str], tuple[Draft, Pair, str]]:
    """Draws the same sentence in two senses, which differ only in the deciding word."""
    while True:
        case = draw(rng)
        senses = [s for s in case.word.senses if s.contexts(case.frame)]
        if len(senses) > 1:
            break
    first, second = rng.sample(senses, 2)
    one = write(case, first, rng.choice(first.contexts(case.frame)))
    two = write(case, second, rng.choice(second.contexts(case.frame)))
    return (*one, _form(first, case)), (*two, _form(second, case))


def _form(sense: Sense, case: SenseCase) -> str:
    return sense.noun.fr_plural if case.plural else sense.noun.fr
