"""Objects in French: clitics before the verb, recipients, possessors, coordination."""

from __future__ import annotations

from regard.course.grammar import nouns, parts, phrases, verbs
from regard.course.grammar.clauses import FUTURE, PAST, Predicate, clause
from regard.course.grammar.phrases import Phrase
from regard.course.grammar.tokens import Draft, Pair, joined


def giving(d: Draft) -> Pair:
    """She gave the book to the girl. She gave it to them."""
    verb = d.rng.choice(verbs.GIVING)
    who = parts.subject(d, verb.subjects)
    p = Predicate(verb, parts.tense(d, verb), parts.negation(d), contracted=d.chance(0.7))
    parts.modal(d, p)
    if d.chance(0.45):
        p.recipient = phrases.object_pronoun(d, _other_than(d, who), indirect=True)
    else:
        p.recipient = parts.subject(d, "person", pronouns=False, adj=0.05)
        if p.recipient.name and p.recipient.name == who.name:
            p.recipient = phrases.name(d, d.rng.choice(nouns.ALL_NAMES))
    if d.chance(0.12) and p.recipient.kind == "pronoun" and p.recipient.en[0].text in ("him", "her", "them"):
        p.obj = phrases.object_pronoun(d, "them")
    else:
        p.obj = parts.thing(d, verb, who, bool(p.negation), adj=0.15)
        p.recipient_first = verb.base != "explain" and p.recipient.kind == "pronoun" and d.chance(0.7)
    return parts.with_time(d, who, p)


def _other_than(d: Draft, who: Phrase) -> str:
    """An object pronoun that does not name the subject again (I see me)."""
    options = ["me", "him", "her", "us", "you", "them"]
    if who.person == 1:
        options = ["him", "her", "you", "them"]
    if who.person == 2:
        options = ["me", "him", "her", "us", "them"]
    return d.rng.choice(options)


def seeing_them(d: Draft) -> Pair:
    """I see him. She did not help us."""
    verb = verbs.BY_NAME[d.rng.choice(_ON_PEOPLE)]
    who = parts.subject(d, "person")
    p = Predicate(verb, parts.tense(d, verb), parts.negation(d, 0.3), contracted=d.chance(0.7))
    parts.modal(d, p, 0.2)
    p.obj = phrases.object_pronoun(d, _other_than(d, who))
    parts.frequency(d, p)
    return parts.with_time(d, who, p)


_ON_PEOPLE = ("see", "watch", "hear", "love", "hate", "know", "help", "thank", "follow", "meet", "invite", "understand",
              "admire", "look for", "wait for", "protect")  # fmt: skip


def having_it(d: Draft) -> Pair:
    """Marie bought the letter and read it."""
    first, second = (verbs.BY_NAME[w] for w in d.rng.choice(_SEQUENCES))
    who = parts.subject(d, "person")
    tense = d.rng.choices((PAST, FUTURE), (3, 1))[0]
    later = nouns.select(second.objects)
    noun = d.rng.choice([n for n in nouns.select(first.objects) if n in later])
    many = not noun.is_a(nouns.MASS) and d.chance(0.25)
    det = "the" if noun.is_a(nouns.MASS) else d.rng.choice(("the", "this", "some" if many else "a"))
    obj = phrases.noun_phrase(d, noun, det, many, parts.quality(d, noun, 0.2))
    one = clause(d, who, Predicate(first, tense, obj=obj))
    d.tags.add("coordination")
    if d.chance(0.5):
        then = clause(d, phrases.referring(d, who), Predicate(second, tense, obj=phrases.referring_object(d, obj)))
        return joined(one, d.words("and", "et"), then)
    silent = Phrase([], [], who.feminine, who.plural, who.person)
    then = clause(d, silent, Predicate(second, tense, obj=phrases.referring_object(d, obj)))
    if tense == FUTURE:
        then = Pair(then.en[1:], then.fr)  # will buy it and read it
    return joined(one, d.words("and", "et"), then)


_SEQUENCES = (
    ("buy", "sell"),
    ("find", "lose"),
    ("find", "keep"),
    ("steal", "hide"),
    ("wash", "eat"),
    ("pick", "eat"),
    ("write", "translate"),
    ("find", "forget"),
    ("read", "translate"),
    ("find", "hide"),
    ("draw", "paint"),
    ("cut", "eat"),
    ("write", "sign"),
    ("prepare", "eat"),
    ("buy", "eat"),
    ("find", "wear"),
    ("build", "paint"),
    ("receive", "read"),
    ("open", "close"),
)


def together(d: Draft) -> Pair:
    """Marie and the boy sing. She bought a hat and a scarf."""
    if d.chance(0.5):
        verb = d.rng.choice(_OF_PERSONS)
        first = parts.subject(d, "person", pronouns=False, adj=0.05)
        second = parts.subject(d, "person", pronouns=False, adj=0.05)
        while second.en[-1].text == first.en[-1].text:
            second = parts.subject(d, "person", pronouns=False, adj=0.05)
        who = phrases.coordinated(d, first, second)
        who.noun = None
        return parts.with_time(
            d, *(parts.transitive(d, who, verb) if verb.objects else parts.intransitive(d, who, verb))
        )
    verb = d.rng.choice(_JOINING)
    who = parts.subject(d, verb.subjects)
    p = Predicate(verb, parts.tense(d, verb), contracted=d.chance(0.7))
    one, two = parts.thing(d, verb, who, False, 0.15), parts.thing(d, verb, who, False, 0.15)
    while two.name == one.name:
        two = parts.thing(d, verb, who, False, 0.15)
    p.obj = phrases.coordinated(d, one, two)
    d.combinations += [("verb-object", verb.name, one.name), ("verb-object", verb.name, two.name)]
    return parts.with_time(d, who, p)


_ALONE = frozenset({"love", "hate", "win", "light"})  # verbs with too few objects to coordinate
_JOINING = tuple(v for v in verbs.TRANSITIVE if not v.preposition and v.name not in _ALONE)
_OF_PERSONS = tuple(v for v in (*verbs.TRANSITIVE, *verbs.INTRANSITIVE) if "person" in v.subjects.split())


_ON_PROPERTY = (
    *("see", "find", "lose", "wash", "repair", "read", "hide", "follow", "help", "look for"),
    *("wear", "forget", "steal", "feed", "buy", "clean"),
)


def owning(d: Draft) -> Pair:
    """Paul washed the neighbor's car. Marie's brother is tired."""
    owner = phrases.name(d, d.rng.choice(nouns.ALL_NAMES)) if d.chance(0.5) else phrases.noun_phrase(
        d, d.rng.choice(nouns.select("person")))  # fmt: skip
    genitive = owner.kind == "name" or d.chance(0.93)
    if d.chance(0.45):
        noun = d.rng.choice(nouns.select("kin pet own house clothing"))
        who = phrases.possessed(d, noun, owner, genitive, d.chance(0.2))
        if d.chance(0.5):
            p = Predicate(
                verbs.BE, parts.tense(d, verbs.BE), parts.negation(d, 0.15), complement=parts.quality_of(d, who)
            )
            return clause(d, who, p)
        if parts.doers(noun):
            verb = d.rng.choice(parts.doers(noun))
            return clause(d, *(parts.transitive(d, who, verb) if verb.objects else parts.intransitive(d, who, verb)))
    verb = verbs.BY_NAME[d.rng.choice(_ON_PROPERTY)]
    who = parts.subject(d, verb.subjects)
    noun = d.rng.choice([n for n in nouns.select(verb.objects) if n.is_a(_OWNABLE)])
    p = Predicate(verb, parts.tense(d, verb), parts.negation(d, 0.15), contracted=d.chance(0.7))
    p.obj = phrases.possessed(d, noun, owner, genitive, d.chance(0.2))
    return parts.with_time(d, who, p)


_OWNABLE = frozenset(
    [
        "kin",
        "pet",
        "vehicle",
        "house",
        "clothing",
        "portable",
        "container",
        "instrument",
        "document",
        "room",
        "kitchen",
        "mirror",
        "dish",
    ]
)
