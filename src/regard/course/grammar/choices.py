"""Random choices that give meaningful sentences: subjects, objects, times and places."""

from __future__ import annotations

from functools import cache

from regard.course.grammar import adjectives, clauses, nouns, phrases, verbs
from regard.course.grammar.adjectives import Adjective
from regard.course.grammar.clauses import FUTURE, PAST, PRESENT, PROGRESSIVE, WAS_DOING, Predicate, clause
from regard.course.grammar.morphology import WORDS
from regard.course.grammar.nouns import Noun
from regard.course.grammar.phrases import Phrase
from regard.course.grammar.tokens import Draft, Pair, joined
from regard.course.grammar.verbs import Verb

Expressions = list[tuple[str, str]]  # English, French
Weights = tuple[int, ...]

_ADVERBIALS = WORDS["adverbials"]
TIMES: dict[str, Expressions] = {tense: _ADVERBIALS[tense] for tense in (PAST, PRESENT, PROGRESSIVE, FUTURE)}
FREQUENCY: Expressions = _ADVERBIALS["frequency"]
TOO, VERY = DEGREES = _ADVERBIALS["degree"]
MANNER: dict[str, Expressions] = WORDS["manner"]  # by verb
MOMENTARY = frozenset(WORDS["verbs"]["momentary"].split())  # verbs without a progressive form
PLACELESS = frozenset(WORDS["verbs"]["without_place"].split())  # verbs without a place after them
_OWNED = frozenset(["portable", "clothing", "container", "pet", "own", "instrument", "house", "device"])
_OF_PEOPLE = tuple(a for a in adjectives.ADJECTIVES if "person" in a.kinds.split() and a.en != "small")


def tense(d: Draft, verb: Verb) -> str:
    """Draws a tense that suits the verb."""
    draw = d.rng.random()
    if verb.state:
        return PRESENT if draw < 0.5 else PAST if draw < 0.9 else FUTURE
    if draw < 0.45:
        return PAST
    if draw < 0.65:
        return PRESENT
    if draw < 0.78:
        return PRESENT if verb.name in MOMENTARY else PROGRESSIVE
    return FUTURE


def negation(d: Draft, probability: float = 0.2) -> str:
    """Draws a negation with this probability, else ""."""
    if not d.chance(probability):
        return ""
    return d.rng.choice(("not", "not", "not", "not", "never", "no longer"))


def subject(d: Draft, kinds: str, pronouns: bool = True, adj: float = 0.15) -> Phrase:
    """Draws a subject of these kinds; people may also be names and pronouns."""
    people = "person" in kinds.split()
    draw = d.rng.random() if people else 1.0
    if draw < 0.2:
        return phrases.name(d, d.rng.choice(nouns.ALL_NAMES))
    if draw < 0.45 and pronouns:
        return phrases.subject_pronoun(d, d.rng.choice(("I", "he", "she", "we", "they", "you")))
    noun = d.rng.choice(nouns.select(kinds))
    return definite(d, noun, adj)


def definite(d: Draft, noun: Noun, adj: float = 0.15, plural: float = 0.22) -> Phrase:
    """Draws a definite phrase: the cat, these big cats, my brother."""
    if noun.is_a(nouns.MASS):
        return phrases.noun_phrase(d, noun)
    many = "one" not in noun.kinds and d.chance(plural)
    if "kin" in noun.kinds and d.chance(0.7):
        det = d.rng.choice(("my", "my", "his", "her", "our", "their", "your"))
    else:
        det = d.rng.choices(("the", "this", "a"), (80, 10, 0 if many else 10))[0] if "sky" not in noun.kinds else "the"
    return phrases.noun_phrase(d, noun, det, many, random_adjective(d, noun, adj))


def random_adjective(d: Draft, noun: Noun, probability: float) -> Adjective | None:
    """Draws an adjective that can describe the noun, with this probability."""
    if not d.chance(probability):
        return None
    choices = phrases.fitting(noun)
    return d.rng.choice(choices) if choices else None


def object_phrase(d: Draft, verb: Verb, who: Phrase, negated: bool, adj: float = 0.25) -> Phrase:
    """Draws an object that the verb can have, with a determiner that suits both."""
    choices = nouns.select(verb.objects)
    noun = d.rng.choice(choices)
    while noun.en == who.name:
        noun = d.rng.choice(choices)
    if verb.base in ("love", "hate") and noun.is_a(frozenset({"food", "stuff", "animal"})) and d.chance(0.7):
        return phrases.noun_phrase(d, noun, "all", not noun.is_a(nouns.MASS))  # she loves apples, cheese
    adjective = random_adjective(d, noun, adj)
    many = False
    if noun.is_a(nouns.MASS):
        det = d.rng.choice(("the", "some")) if verb.base not in ("love", "hate") else "the"
    elif "sky" in noun.kinds or verb.base == "know" or noun.en == "truth" or verb.preposition == "de":
        det = "the"
    elif "kin" in noun.kinds and verb.base != "have" and d.chance(0.7):
        det, many = who.possessive or "my", "one" not in noun.kinds and d.chance(0.2)
    else:
        many = "one" not in noun.kinds and d.chance(0.25)
        det = _determiner(d, verb, who, noun, many)
    if negated and det in ("a", "some"):
        det = "any" if many or det == "some" else "not a"
    if negated and det in ("many", "several", "two", "three", "every"):
        det = "the"
    return phrases.noun_phrase(d, noun, det, many, adjective)


def _determiner(d: Draft, verb: Verb, who: Phrase, noun: Noun, many: bool) -> str:
    own = who.possessive if noun.is_a(_OWNED) and who.possessive else "the"
    if verb.state and verb.base != "have":
        return d.rng.choices(("the", "this", own), (6, 2, 2))[0]
    if verb.base == "have":
        return d.rng.choices(("some", "two", "three", "many"), (4, 2, 1, 2))[0] if many else "a"
    if many:
        options = ("the", "some", "this", "two", "three", "many", "several", own)
        return d.rng.choices(options, (8, 5, 2, 2, 1, 2, 2, 3))[0]
    return d.rng.choices(("the", "a", "this", own), (9, 6, 2, 3))[0]


def time_expression(d: Draft, p: Predicate, probability: float = 0.2) -> Pair | None:
    """Draws a time expression that suits the tense, with this probability."""
    if p.verb.state or p.negation in ("never", "no longer") or p.tense == WAS_DOING or p.modal or p.adverb:
        return None
    if not d.chance(probability):
        return None
    d.tags.add("time")
    return d.words(*d.rng.choice(TIMES[p.tense]))


def add_modal(d: Draft, p: Predicate, probability: float = 0.1) -> None:
    """Adds can, must or want to, in the present or past, with this probability."""
    if p.verb.state or not d.chance(probability):
        return
    p.modal = d.rng.choice(("can", "must", "want"))
    p.tense = PAST if p.modal != "must" and d.chance(0.35) else PRESENT
    if p.negation in ("never", "no longer") and p.modal == "must":
        p.negation = "not"


def add_frequency(d: Draft, p: Predicate, probability: float = 0.12) -> None:
    """Adds an adverb of frequency with this probability, if one is possible."""
    if p.tense == PRESENT and not p.negation and not p.modal and not p.verb.state and d.chance(probability):
        p.adverb = d.words(*d.rng.choice(FREQUENCY))


def predicate(
    d: Draft, verb: Verb, negated: float = 0.2, tenses: tuple[str, ...] = (), weights: Weights = ()
) -> Predicate:
    """Draws a predicate without objects: its tense one of `tenses`, or any that suits; negated with a probability."""
    chosen = d.rng.choices(tenses, weights)[0] if tenses else tense(d, verb)
    return Predicate(verb, chosen, negation(d, negated), contracted=d.chance(0.7))


def subject_and_predicate(d: Draft, who: Phrase, verb: Verb) -> tuple[Phrase, Predicate]:
    """Draws a clause with this subject and verb, and an object if the verb has one."""
    return transitive(d, who, verb) if verb.objects else intransitive(d, who, verb)


def transitive(d: Draft, who: Phrase | None = None, verb: Verb | None = None) -> tuple[Phrase, Predicate]:
    """Draws a clause with a direct object."""
    verb = verb or d.rng.choice(verbs.TRANSITIVE)
    who = who or subject(d, verb.subjects)
    p = predicate(d, verb)
    add_modal(d, p)
    p.obj = object_phrase(d, verb, who, bool(p.negation))
    add_frequency(d, p)
    return who, p


def intransitive(d: Draft, who: Phrase | None = None, verb: Verb | None = None) -> tuple[Phrase, Predicate]:
    """Draws a clause without an object, with a place or a manner."""
    verb = verb or d.rng.choice(verbs.INTRANSITIVE)
    who = who or subject(d, verb.subjects)
    p = predicate(d, verb)
    add_modal(d, p, 0.08 if "person" in verb.subjects else 0.0)
    add_frequency(d, p)
    if verb.name in MANNER and d.chance(0.35):
        p.tail.append(d.words(*d.rng.choice(MANNER[verb.name])))
    elif verb.name not in PLACELESS and d.chance(0.4):
        p.tail.append(phrases.place(d))
    return who, p


def with_time(d: Draft, who: Phrase, p: Predicate, probability: float = 0.2) -> Pair:
    """Writes the clause, with this probability with a time at its end or beginning."""
    clauses.repair_predicate(who, p)
    time = time_expression(d, p, probability)
    if time is None:
        return clause(d, who, p)
    if d.chance(0.6):
        p.tail.append(time)
        return clause(d, who, p)
    return joined(time, d.words(",", ","), clause(d, who, p))


def predicate_adjective(d: Draft, who: Phrase, degree: float = 0.45) -> Pair:
    """Draws an adjective that fits the subject, with agreement: too tired, very old."""
    d.tags.add("agreement")
    if who.noun is not None and who.kind != "pronoun":
        adj = d.rng.choice(phrases.predicable(who.noun))
    else:
        adj = d.rng.choice(_OF_PEOPLE)
    complement = phrases.adjective(d, adj, who.feminine, who.agrees_plural, who.name)
    if adj.en in adjectives.NO_DEGREE or not d.chance(degree):
        return complement
    return joined(d.words(*d.rng.choice(DEGREES)), complement)


@cache
def verbs_with_object(noun: Noun) -> tuple[Verb, ...]:
    """Returns the verbs that can have this noun as their object without a preposition."""
    plain = (v for v in verbs.TRANSITIVE if not v.preposition and v.base != "have")
    return tuple(v for v in plain if noun in nouns.select(v.objects))


@cache
def verbs_with_subject(noun: Noun) -> tuple[Verb, ...]:
    """Returns the verbs that this noun can be the subject of."""
    return tuple(v for v in (*verbs.TRANSITIVE, *verbs.INTRANSITIVE) if noun in nouns.select(v.subjects))
