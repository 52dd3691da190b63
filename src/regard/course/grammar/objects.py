"""Objects in French: clitics before the verb, recipients, possessors, coordination."""

from __future__ import annotations

from regard.course.grammar import choices, nouns, phrases, verbs
from regard.course.grammar.clauses import FUTURE, PAST, Predicate, clause
from regard.course.grammar.morphology import WORDS
from regard.course.grammar.phrases import Phrase
from regard.course.grammar.tokens import Draft, Pair, joined

_ON_PEOPLE, _ON_PROPERTY = verbs.named("of_people"), verbs.named("of_property")
_SEQUENCES = tuple(tuple(verbs.BY_NAME[w] for w in pair.split()) for pair in WORDS["verbs"]["sequences"].split(";"))
_TOO_FEW_OBJECTS = frozenset({"love", "hate", "win", "light"})  # verbs with too few objects to coordinate
_JOINING = tuple(v for v in verbs.TRANSITIVE if not v.preposition and v.name not in _TOO_FEW_OBJECTS)
_BY_PERSON = tuple(v for v in (*verbs.TRANSITIVE, *verbs.INTRANSITIVE) if "person" in v.subjects.split())
_OWNABLE = frozenset(WORDS["ownable"].split())  # kinds of noun


def giving(d: Draft) -> Pair:
    """She gave the book to the girl. She gave it to them."""
    verb = d.rng.choice(verbs.GIVING)
    who = choices.subject(d, verb.subjects)
    p = choices.predicate(d, verb)
    choices.add_modal(d, p)
    if d.chance(0.45):
        p.recipient = phrases.object_pronoun(d, _other_than(d, who), indirect=True)
    else:
        p.recipient = choices.subject(d, "person", pronouns=False, adj=0.05)
        if p.recipient.name and p.recipient.name == who.name:
            p.recipient = phrases.name(d, d.rng.choice(nouns.ALL_NAMES))
    if d.chance(0.12) and p.recipient.kind == "pronoun" and p.recipient.en[0].text in ("him", "her", "them"):
        p.obj = phrases.object_pronoun(d, "them")
    else:
        p.obj = choices.object_phrase(d, verb, who, bool(p.negation), adj=0.15)
        p.recipient_first = verb.base != "explain" and p.recipient.kind == "pronoun" and d.chance(0.7)
    return choices.with_time(d, who, p)


def _other_than(d: Draft, who: Phrase) -> str:
    """Draws an object pronoun that does not refer to the subject (I see me)."""
    same = {1: ("me", "us"), 2: ("you",)}.get(who.person, ())
    return d.rng.choice([word for word in phrases.OBJECTS if word not in same])


def object_pronoun_statement(d: Draft) -> Pair:
    """I see him. She did not help us."""
    verb = d.rng.choice(_ON_PEOPLE)
    who = choices.subject(d, "person")
    p = choices.predicate(d, verb, 0.3)
    choices.add_modal(d, p, 0.2)
    p.obj = phrases.object_pronoun(d, _other_than(d, who))
    choices.add_frequency(d, p)
    return choices.with_time(d, who, p)


def pronoun_sequence(d: Draft) -> Pair:
    """Marie bought the letter and read it."""
    first, second = d.rng.choice(_SEQUENCES)
    who = choices.subject(d, "person")
    tense = d.rng.choices((PAST, FUTURE), (3, 1))[0]
    later = nouns.select(second.objects)
    noun = d.rng.choice([n for n in nouns.select(first.objects) if n in later])
    many = not noun.is_a(nouns.MASS) and d.chance(0.25)
    det = "the" if noun.is_a(nouns.MASS) else d.rng.choice(("the", "this", "some" if many else "a"))
    obj = phrases.noun_phrase(d, noun, det, many, choices.random_adjective(d, noun, 0.2))
    one = clause(d, who, Predicate(first, tense, obj=obj))
    d.tags.add("coordination")
    again = d.chance(0.5)
    back = phrases.referring(d, who) if again else Phrase([], [], who.feminine, who.plural, who.person)
    then = clause(d, back, Predicate(second, tense, obj=phrases.referring_object(d, obj)))
    if tense == FUTURE and not again:
        then = Pair(then.en[1:], then.fr)  # will buy it and read it
    return joined(one, d.words("and", "et"), then)


def coordinated_phrases(d: Draft) -> Pair:
    """Marie and the boy sing. She bought a hat and a scarf."""
    if d.chance(0.5):
        verb = d.rng.choice(_BY_PERSON)
        first = choices.subject(d, "person", pronouns=False, adj=0.05)
        second = choices.subject(d, "person", pronouns=False, adj=0.05)
        while second.en[-1].text == first.en[-1].text:
            second = choices.subject(d, "person", pronouns=False, adj=0.05)
        who = phrases.coordinated(d, first, second)
        who.noun = None
        return choices.with_time(d, *choices.subject_and_predicate(d, who, verb))
    verb = d.rng.choice(_JOINING)
    who = choices.subject(d, verb.subjects)
    p = Predicate(verb, choices.tense(d, verb), contracted=d.chance(0.7))
    one, two = choices.object_phrase(d, verb, who, False, 0.15), choices.object_phrase(d, verb, who, False, 0.15)
    while two.name == one.name:
        two = choices.object_phrase(d, verb, who, False, 0.15)
    p.obj = phrases.coordinated(d, one, two)
    d.combinations += [("verb-object", verb.name, one.name), ("verb-object", verb.name, two.name)]
    return choices.with_time(d, who, p)


def possession(d: Draft) -> Pair:
    """Paul washed the neighbor's car. Marie's brother is tired."""
    if d.chance(0.5):
        owner = phrases.name(d, d.rng.choice(nouns.ALL_NAMES))
    else:
        owner = phrases.noun_phrase(d, d.rng.choice(nouns.select("person")))
    genitive = owner.kind == "name" or d.chance(0.93)
    if d.chance(0.45):
        noun = d.rng.choice(nouns.select("kin pet own house clothing"))
        who = phrases.possessed(d, noun, owner, genitive, d.chance(0.2))
        if d.chance(0.5):
            p = Predicate(verbs.BE, choices.tense(d, verbs.BE), choices.negation(d, 0.15))
            p.complement = choices.predicate_adjective(d, who)
            return clause(d, who, p)
        if choices.verbs_with_subject(noun):
            verb = d.rng.choice(choices.verbs_with_subject(noun))
            return clause(d, *choices.subject_and_predicate(d, who, verb))
    verb = d.rng.choice(_ON_PROPERTY)
    who = choices.subject(d, verb.subjects)
    noun = d.rng.choice([n for n in nouns.select(verb.objects) if n.is_a(_OWNABLE)])
    p = choices.predicate(d, verb, 0.15)
    p.obj = phrases.possessed(d, noun, owner, genitive, d.chance(0.2))
    return choices.with_time(d, who, p)
