"""The words of the embedded grammar, indexed by English form for the parser.

Every table is derived from the grammar's own (`regard.course.grammar`). A verb group ("did not want to wake up") is
known if the grammar generates it in some tense.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from functools import cache
from itertools import product
from typing import NamedTuple, TypeVar

from regard.course.grammar import adjectives, ambiguous, choices, compound, nouns, phrases, pronouns, simple, verbs
from regard.course.grammar import clauses as grammar
from regard.course.grammar.clauses import FUTURE, PAST, PRESENT, PROGRESSIVE, WAS_DOING, Keys, Predicate
from regard.course.grammar.phrases import Phrase
from regard.course.grammar.tokens import Draft
from regard.course.grammar.verbs import BE, Verb

Words = tuple[str, ...]
T = TypeVar("T")

ADJECTIVES = adjectives.BY_NAME
COMPARATIVES = {tuple(a.comparative.split()): a for a in adjectives.ADJECTIVES if a.comparative}
SENSES = {sense.noun: sense for word in ambiguous.AMBIGUOUS_WORDS for sense in word.senses}
_VERBS = tuple(
    dict.fromkeys(
        [*verbs.TRANSITIVE, *verbs.INTRANSITIVE, *verbs.GIVING, *verbs.MOTION, *verbs.THINKING, verbs.PUT, verbs.SIT]
        + [scene.verb for scene in pronouns.SCENES]
    )
)
TIMES = {tuple(en.split()): (en, fr) for times in choices.TIMES.values() for en, fr in times}
MANNER = {tuple(en.split()): (en, fr) for ways in choices.MANNER.values() for en, fr in ways}
PLACES = {tuple(en.split()): (en, fr) for en, (fr, _) in phrases.PREPOSITIONS.items()} | {("under",): ("under", "sous")}
DESTINATIONS: dict[Words, tuple[str, str]] = {("to",): ("to", "à"), ("at",): ("at", "à")}
FEELINGS = dict(simple.FEELINGS)
GROUPS = dict(simple.GROUPS)
DEGREES = dict(choices.DEGREES) | {"so": "si"}
WEATHER = {tuple(en.split()): (en, fr) for pairs in compound.WEATHER.values() for en, fr in pairs}
CONJUNCTIONS = {",": ",", "and": "et", "but": "mais"}
QUESTION_WORDS = {"where": "où", "why": "pourquoi", "when": "quand", "what": "que"}
DETERMINERS = {"the": "the", "a": "a", "an": "a", "some": "some", "any": "any", "this": "this", "these": "this"} | {
    word: word for word in ("every", *phrases.PLURAL_ONLY, *phrases.POSSESSIVES)
}


def _index(entries: Iterable[tuple[str, T]]) -> dict[str, list[T]]:
    found: dict[str, list[T]] = {}
    for form, entry in entries:
        if entry not in found.setdefault(form, []):
            found[form].append(entry)
    return found


NOUNS = _index(
    (form, (n, many)) for n in (*nouns.NOUNS, *SENSES) for form, many in ((n.en, False), (n.en_plural, True))
)
VERB_FORMS = _index((form, verb) for verb in _VERBS for form in (verb.base, verb.third, verb.past, verb.ing))


class VerbFeatures(NamedTuple):
    """The features of a verb group besides its verb."""

    tense: str
    negation: str
    modal: str
    contracted: bool
    adverb: tuple[str, str] | None


@cache
def verb_groups(verb: Verb, plural: bool, person: int, question: bool) -> dict[Words, VerbFeatures]:
    """Returns all verb groups that the grammar writes for this verb and subject; in a question, without the subject."""
    found: dict[Words, VerbFeatures] = {}
    subject, keys = Phrase([], [], False, plural, person), Keys(0, 0, 0, 0, 0)
    tenses = (PRESENT, PAST, FUTURE) if verb is BE else (PRESENT, PROGRESSIVE, PAST, WAS_DOING, FUTURE)
    for tense, negation, modal, contracted, adverb in product(
        tenses, ("", "not", "never", "no longer"), ("", *verbs.MODALS), (True, False), (None, *choices.FREQUENCY)
    ):
        if (modal and tense not in (PRESENT, PAST)) or (adverb and (negation or modal or tense != PRESENT)):
            continue
        written = Draft(random.Random(0)).words(*adverb) if adverb else None
        p = Predicate(verb, tense, negation, modal, adverb=written, contracted=contracted)
        grammar.repair_predicate(subject, p)
        if (p.tense, p.negation) != (tense, negation):
            continue  # the grammar does not generate it
        aux, main = grammar.english_verb(subject, p, keys, question)
        text = tuple(tok.text for tok in [*aux, *grammar.english_middle(p, keys), *main])
        found.setdefault(text, VerbFeatures(tense, negation, modal, contracted, adverb))
    return found


def sense_of_bare_noun(phrase: Phrase | None) -> ambiguous.Sense | None:
    """Returns the sense of determiner + ambiguous noun; in longer phrases the context has already selected it."""
    bare = phrase is not None and phrase.noun is not None and len(phrase.en) == 2
    return SENSES.get(phrase.noun) if bare and phrase and phrase.noun else None


def senses_fit(who: Phrase, p: Predicate, quality: str = "") -> bool:
    """Whether the verb and the adjective select the senses in which the subject and the object were parsed."""
    subject, thing = sense_of_bare_noun(who), sense_of_bare_noun(p.obj)
    if subject is not None and quality not in subject.adj and p.verb.name not in subject.does:
        return False
    return thing is None or p.verb.name in thing.verb
