"""Constructions of a single clause: doing, going, being, being somewhere, existing, comparing, feeling.

Each function is a construction and returns the sentence without its final mark.
"""

from __future__ import annotations

from regard.course.grammar import nouns, parts, phrases, verbs
from regard.course.grammar.clauses import FUTURE, PAST, PRESENT, Predicate, clause
from regard.course.grammar.phrases import Phrase
from regard.course.grammar.tokens import Draft, Pair, Tok, joined


def acting(d: Draft) -> Pair:
    """The cat eats the fish."""
    return parts.with_time(d, *parts.transitive(d))


def moving(d: Draft) -> Pair:
    """Marie danced in the garden."""
    return parts.with_time(d, *parts.intransitive(d))


def going(d: Draft) -> Pair:
    """Paul went to the market."""
    verb = d.rng.choice(verbs.MOTION)
    who = parts.subject(d, verb.subjects)
    p = Predicate(verb, parts.tense(d, verb), parts.negation(d), contracted=d.chance(0.7))
    parts.frequency(d, p)
    to = phrases.noun_phrase(d, d.rng.choice(nouns.select("at")))
    p.tail.append(phrases.after_preposition(d, "at" if verb.base == "arrive" else "to", "à", to))
    return parts.with_time(d, who, p)


_DESCRIBED = (
    "person",
    "person",
    "animal",
    "vehicle furniture container clothing",
    "way height building room",
    "document thought",
    "food stuff drink",
)


def being(d: Draft) -> Pair:
    """The street is too wide."""
    kinds = d.rng.choice(_DESCRIBED)
    who = parts.subject(d, kinds, adj=0.0)
    while who.noun is not None and not phrases.predicable(who.noun):
        who = parts.subject(d, kinds, adj=0.0)
    p = Predicate(verbs.BE, parts.tense(d, verbs.BE), parts.negation(d, 0.15), contracted=d.chance(0.7))
    p.complement = parts.quality_of(d, who)
    return clause(d, who, p)


def being_somewhere(d: Draft) -> Pair:
    """The cat is on the mat."""
    draw = d.rng.random()
    if draw < 0.4:
        who = parts.definite(d, d.rng.choice(nouns.select("pet portable container clothing")))
        where = _on_something(d, who)
    else:
        who = parts.subject(d, "person animal")
        where = phrases.place(d)
    tense = d.rng.choices((PRESENT, PAST, FUTURE), (5, 4, 1))[0]
    return clause(d, who, Predicate(verbs.BE, tense, parts.negation(d, 0.15), tail=[where], contracted=d.chance(0.7)))


def _on_something(d: Draft, what: Phrase) -> Pair:
    """on the table, under the bed, in the box"""
    living = what.noun is not None and "animal" in what.noun.kinds
    small = what.noun is not None and "portable" in what.noun.kinds
    options = [("on", "sur", "seat" if living else "seat top"), ("under", "sous", "table bed chair bench tree desk")]
    if small and not living:
        options.append(("in", "dans", "container"))
    en, fr, kinds = d.rng.choice(options)
    return phrases.after_preposition(d, en, fr, phrases.noun_phrase(d, d.rng.choice(nouns.select(kinds))))


def sitting(d: Draft) -> Pair:
    """The cat sat on the mat."""
    who = parts.subject(d, verbs.SIT.subjects)
    where = phrases.noun_phrase(d, d.rng.choice(nouns.select("seat")))
    p = Predicate(
        verbs.SIT, d.rng.choices((PAST, FUTURE), (4, 1))[0], parts.negation(d, 0.12), contracted=d.chance(0.7)
    )
    p.tail.append(phrases.after_preposition(d, "on", "sur", where))
    return parts.with_time(d, who, p)


def putting(d: Draft) -> Pair:
    """She put the book on the table."""
    who = parts.subject(d, "person")
    p = Predicate(
        verbs.PUT, d.rng.choices((PAST, FUTURE), (4, 1))[0], parts.negation(d, 0.12), contracted=d.chance(0.7)
    )
    p.obj = parts.thing(d, verbs.PUT, who, bool(p.negation))
    p.tail.append(_on_something(d, p.obj))
    return parts.with_time(d, who, p)


FEELINGS = (("hungry", "faim"), ("thirsty", "soif"), ("cold", "froid"), ("right", "raison"), ("wrong", "tort"))


def feeling(d: Draft) -> Pair:
    """He is hungry. / Il a faim."""
    d.tags.add("idiom")
    en, fr = d.rng.choice(FEELINGS)
    who = parts.subject(d, "person" if en in ("right", "wrong") else "person animal")
    tense = d.rng.choices((PRESENT, PAST, FUTURE), (5, 4, 1))[0]
    p = Predicate(verbs.HAVE_AS_BE, tense, parts.negation(d, 0.25), contracted=d.chance(0.7))
    p.complement = d.words(en, fr)
    if d.chance(0.2) and en not in ("right", "wrong"):
        p.complement = joined(d.words("very", "très"), p.complement)
    return clause(d, who, p)


GROUPS = (("poor", "pauvres"), ("rich", "riches"), ("sick", "malades"), ("young", "jeunes"))


def grouping(d: Draft) -> Pair:
    """The poor do not have any money."""
    en, fr = d.rng.choice(GROUPS)
    key, the = (d.key(),), (d.key(),)
    who = Phrase([Tok("the", the), Tok(en, key)], [Tok("les", the, article=True), Tok(fr, key)], False, True)
    who.possessive, who.kind = "their", "group"
    verb = verbs.BY_NAME[d.rng.choice(("have", "have", "have", "love", "hate", "sleep", "work", "travel", "wait"))]
    if not verb.objects:
        return parts.with_time(d, *parts.intransitive(d, who, verb))
    if verb.base != "have":
        return parts.with_time(d, *parts.transitive(d, who, verb))
    negation = parts.negation(d, 0.6)
    noun = d.rng.choice(nouns.select("stuff wealth drink"))
    obj = phrases.noun_phrase(d, noun, "any" if negation else "some")
    return clause(d, who, Predicate(verb, parts.tense(d, verb), negation, obj=obj, contracted=d.chance(0.5)))


def existing(d: Draft) -> Pair:
    """There is a cat in the garden."""
    d.tags.add("there-is")
    noun = d.rng.choice(nouns.select("person animal vehicle portable food stuff drink furniture container"))
    mass = noun.is_a(nouns.MASS)
    many = not mass and d.chance(0.45)
    negated = d.chance(0.25)
    past = d.chance(0.35)
    if negated:
        det = "any" if many or mass else "not a"
        d.tags.add("negation")
    else:
        det = "some" if mass else d.rng.choice(("some", "many", "two", "three", "several")) if many else "a"
    what = phrases.noun_phrase(d, noun, det, many, parts.quality(d, noun, 0.3))
    if noun.is_a(frozenset({"portable", "food"})):
        kinds, en, fr = d.rng.choice((("top", "on", "sur"), ("container", "in", "dans"), ("room", "in", "dans")))
    elif mass:
        kinds, en, fr = d.rng.choice((("table", "on", "sur"), ("kitchen", "in", "dans")))
    elif noun.is_a(frozenset({"furniture", "container"})):
        kinds, en, fr = "room house hotel", "in", "dans"
    elif "vehicle" in noun.kinds:
        kinds, en, fr = d.rng.choice((("building", "in front of", "devant"), ("street garage", "in", "dans")))
    else:
        kinds, en, fr = d.rng.choice((("in", "in", "dans"), ("building", "near", "près de")))
    where = phrases.after_preposition(d, en, fr, phrases.noun_phrase(d, d.rng.choice(nouns.select(kinds))))
    there, be, no = (d.key(),), (d.key(),), (d.key(),)
    form = ("were" if past else "are") if many else ("was" if past else "is")
    opening = [Tok("there", there), Tok(form, be)]
    finite = Tok("avait" if past else "a", (*there, *be))
    if negated:
        opening = [Tok("there", there), Tok(f"{form}n't", (*be, *no))]
        fr_opening = [Tok("il", there), Tok("ne", no), Tok("y", there), finite, Tok("pas", no)]
    else:
        fr_opening = [Tok("il", there), Tok("y", there), finite]
    if past:
        d.tags.add("past")
    return joined(Pair(opening, fr_opening), Pair(what.en, what.fr), where)


def comparing(d: Draft) -> Pair:
    """The cat is smaller than the dog."""
    d.tags.update(("comparison", "agreement"))
    while True:
        first = d.rng.choice(nouns.select("person animal vehicle building furniture way thought"))
        options = [a for a in phrases.fitting(first) if a.comparative]
        if options:
            break
    adj = d.rng.choice(options)
    allowed = frozenset(adj.kinds.split())
    main = frozenset({"person", "animal", "vehicle", "building", "furniture", "way", "thought"})
    rivals = [
        n for n in nouns.NOUNS
        if n.en != first.en and (n.en in allowed or n.is_a(allowed)) and not n.kinds.isdisjoint(first.kinds & main)
    ]  # fmt: skip
    if not rivals:
        return comparing(d)
    who = parts.definite(d, first, adj=0.0)
    other = parts.definite(d, d.rng.choice(rivals), adj=0.0, plural=0.1)
    than = (d.key(),)
    said = phrases.adjective(d, adj, who.feminine, who.agrees_plural, first.en)
    key = said.fr[0].keys
    if d.chance(0.7):
        en = [Tok(w, key) for w in adj.comparative.split()] + [Tok("than", than)]
        fr = [Tok("plus", key), *said.fr, Tok("que", than)]
    else:
        same = (d.key(),)
        en = [Tok("as", same), *said.en, Tok("as", than)]
        fr = [Tok("aussi", same), *said.fr, Tok("que", than)]
    complement = Pair(en + other.en, fr + other.fr)
    tense = d.rng.choices((PRESENT, PAST), (3, 1))[0]
    return clause(d, who, Predicate(verbs.BE, tense, parts.negation(d, 0.1) and "not", complement=complement))
