"""Pronouns that depend on meaning: "The animal didn't cross the street because it was too tired / too wide".

French must choose il or elle, and only the adjective shows which noun it refers to. A `Scene` holds a verb with the
qualities that only its subject can have and those that only its object can have. Grammatical gender differs in both
directions: a masculine subject with a feminine object as often as the other way round.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from regard.course.grammar import adjectives, nouns, phrases, verbs
from regard.course.grammar.clauses import FUTURE, PAST, PRESENT, Predicate, clause
from regard.course.grammar.morphology import WORDS
from regard.course.grammar.nouns import Noun
from regard.course.grammar.phrases import Phrase
from regard.course.grammar.tokens import Draft, Pair, joined


@dataclass(frozen=True)
class Scene:
    """A verb with its nouns, and the adjectives that fit only its subject or only its object."""

    verb: verbs.Verb
    subjects: tuple[Noun, ...]
    of_subject: tuple[str, ...]
    objects: tuple[tuple[Noun, tuple[str, ...]], ...]


@dataclass(frozen=True)
class PronounCase:
    """One sentence without its adjective."""

    scene: Scene
    subject: Noun
    object: Noun
    of_object: tuple[str, ...]
    form: int

    @property
    def decided_by_sense(self) -> bool:
        """Whether the choice of il or elle depends on the adjective."""
        return self.subject.feminine != self.object.feminine


def _scene(verb: str, subjects: str, of_subject: str, objects: dict[str, str]) -> Scene:
    listed: dict[str, list[str]] = {}
    for quality, kinds in objects.items():
        for noun in nouns.select(kinds):
            listed.setdefault(noun.en, []).append(quality)
    things = tuple((nouns.BY_NAME[name], tuple(qualities)) for name, qualities in listed.items())
    return Scene(verbs.BY_NAME[verb], nouns.select(subjects), tuple(of_subject.split()), things)


SCENES: tuple[Scene, ...] = tuple(_scene(**entry) for entry in WORDS["scenes"])

# (tense, modal, tense of the reason)
_FORMS = ((PAST, "", PAST), (PAST, "", PAST), (PRESENT, "", PRESENT), (FUTURE, "", PRESENT), (PAST, "can", PAST))
_UNCONTRACTED = len(_FORMS)  # form numbers from here on write "did not"


def draw(rng: random.Random) -> PronounCase:
    """Draws a random case, mostly one in which the genders of the nouns differ."""
    scene = rng.choice(SCENES)
    subject = rng.choice(scene.subjects)
    thing, qualities = rng.choice(scene.objects)
    if subject.feminine == thing.feminine and rng.random() < 0.75:  # prefer pairs in which the gender differs
        return draw(rng)
    return PronounCase(scene, subject, thing, qualities, rng.randrange(2 * len(_FORMS)))


def write(d: Draft, case: PronounCase, quality: str, of_subject: bool) -> Pair:
    """The ANIMAL didn't CROSS the STREET because it was too QUALITY."""
    d.tags.update(("pronoun", "subordinate", "agreement"))
    tense, modal, reason_tense = _FORMS[case.form % len(_FORMS)]
    if case.scene.verb is verbs.FIT:
        modal = ""
        tense = PRESENT if tense == FUTURE else tense
        reason_tense = tense
    who = phrases.noun_phrase(d, case.subject)
    what = phrases.noun_phrase(d, case.object)
    p = Predicate(case.scene.verb, tense, "not", modal, obj=what, contracted=case.form < _UNCONTRACTED)
    main = clause(d, who, p)
    meant = who if of_subject else what
    back = phrases.referring(d, meant)
    complement = phrases.adjective(d, adjectives.BY_NAME[quality], meant.feminine, False, meant.name)
    too, because = d.words("too", "trop"), d.words("because", "parce que")
    reason = clause(d, back, Predicate(verbs.BE, reason_tense, complement=joined(too, complement)))
    return joined(main, because, reason)


def sentence(d: Draft) -> Pair:
    """Draws one sentence with such a pronoun, which refers to either noun."""
    case = draw(d.rng)
    if d.chance(0.18):
        return so_that(d, case)
    of_subject = d.chance(0.5)
    return write(d, case, d.rng.choice(case.scene.of_subject if of_subject else case.of_object), of_subject)


def so_that(d: Draft, case: PronounCase) -> Pair:
    """The street was so wide that the animal didn't cross it. The cat was so tired that it didn't cross the street."""
    d.tags.update(("pronoun", "subordinate", "agreement"))
    of_subject = d.chance(0.5) or bool(case.scene.verb.preposition)
    quality = d.rng.choice(case.scene.of_subject if of_subject else case.of_object)
    who, what = phrases.noun_phrase(d, case.subject), phrases.noun_phrase(d, case.object)
    meant = who if of_subject else what
    complement = phrases.adjective(d, adjectives.BY_NAME[quality], meant.feminine, False, meant.name)
    so, that = d.words("so", "si"), d.words("that", "que")
    state = clause(d, meant, Predicate(verbs.BE, PAST, complement=joined(so, complement)))
    actor: Phrase = phrases.referring(d, who) if of_subject else who
    acted_on = what if of_subject else phrases.referring_object(d, what)
    d.combinations.append(("subject-verb", who.name, case.scene.verb.name))
    d.combinations.append(("verb-object", case.scene.verb.name, what.name))
    result = clause(d, actor, Predicate(case.scene.verb, PAST, "not", obj=acted_on))
    return joined(state, that, result)


def minimal_pair(rng: random.Random) -> tuple[tuple[Draft, Pair, str], tuple[Draft, Pair, str]]:
    """Draws the same sentence with an adjective of the subject and one of the object: il and elle, or elle and il."""
    case = draw(rng)
    while not case.decided_by_sense:
        case = draw(rng)
    first, second = Draft(rng), Draft(rng)
    of_subject, of_object = rng.choice(case.scene.of_subject), rng.choice(case.of_object)
    return (
        (first, write(first, case, of_subject, True), "elle" if case.subject.feminine else "il"),
        (second, write(second, case, of_object, False), "elle" if case.object.feminine else "il"),
    )
