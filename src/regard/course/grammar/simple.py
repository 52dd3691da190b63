"""Constructions of a single clause: statements (doing, going, being, existing, comparing, feeling) and questions.

Each function is a construction and returns the sentence without its final mark. Questions have est-ce que.
"""

from __future__ import annotations

from regard.course.grammar import choices, nouns, phrases, verbs
from regard.course.grammar.clauses import FUTURE, PAST, PRESENT, Predicate, clause, question
from regard.course.grammar.morphology import WORDS
from regard.course.grammar.phrases import Phrase
from regard.course.grammar.tokens import Draft, Pair, Tok, joined


def transitive_statement(d: Draft) -> Pair:
    """The cat eats the fish."""
    return choices.with_time(d, *choices.transitive(d))


def intransitive_statement(d: Draft) -> Pair:
    """Marie danced in the garden."""
    return choices.with_time(d, *choices.intransitive(d))


def motion(d: Draft) -> Pair:
    """Paul went to the market."""
    verb = d.rng.choice(verbs.MOTION)
    who = choices.subject(d, verb.subjects)
    p = choices.predicate(d, verb)
    choices.add_frequency(d, p)
    p.tail.append(phrases.at_place(d, "at" if verb.base == "arrive" else "to", "à", "at"))
    return choices.with_time(d, who, p)


_DESCRIBED = ("person", "person", "animal", *WORDS["described_things"])


def adjective_statement(d: Draft) -> Pair:
    """The street is too wide."""
    kinds = d.rng.choice(_DESCRIBED)
    who = choices.subject(d, kinds, adj=0.0)
    while who.noun is not None and not phrases.predicable(who.noun):
        who = choices.subject(d, kinds, adj=0.0)
    p = choices.predicate(d, verbs.BE, 0.15)
    p.complement = choices.predicate_adjective(d, who)
    return clause(d, who, p)


def location(d: Draft) -> Pair:
    """The cat is on the mat."""
    draw = d.rng.random()
    if draw < 0.4:
        who = choices.definite(d, d.rng.choice(nouns.select("pet portable container clothing")))
        where = _on_something(d, who)
    else:
        who = choices.subject(d, "person animal")
        where = phrases.place(d)
    p = choices.predicate(d, verbs.BE, 0.15, (PRESENT, PAST, FUTURE), (5, 4, 1))
    p.tail.append(where)
    return clause(d, who, p)


def _on_something(d: Draft, what: Phrase) -> Pair:
    """on the table, under the bed, in the box"""
    living = what.noun is not None and "animal" in what.noun.kinds
    small = what.noun is not None and "portable" in what.noun.kinds
    options = [("on", "sur", "seat" if living else "seat top"), ("under", "sous", "table bed chair bench tree desk")]
    if small and not living:
        options.append(("in", "dans", "container"))
    en, fr, kinds = d.rng.choice(options)
    return phrases.at_place(d, en, fr, kinds)


def sitting(d: Draft) -> Pair:
    """The cat sat on the mat."""
    who = choices.subject(d, verbs.SIT.subjects)
    where = phrases.noun_phrase(d, d.rng.choice(nouns.select("seat")))
    p = choices.predicate(d, verbs.SIT, 0.12, (PAST, FUTURE), (4, 1))
    p.tail.append(phrases.after_preposition(d, "on", "sur", where))
    return choices.with_time(d, who, p)


def placing(d: Draft) -> Pair:
    """She put the book on the table."""
    who = choices.subject(d, "person")
    p = choices.predicate(d, verbs.PUT, 0.12, (PAST, FUTURE), (4, 1))
    p.obj = choices.object_phrase(d, verbs.PUT, who, bool(p.negation))
    p.tail.append(_on_something(d, p.obj))
    return choices.with_time(d, who, p)


FEELINGS = (("hungry", "faim"), ("thirsty", "soif"), ("cold", "froid"), ("right", "raison"), ("wrong", "tort"))


def avoir_idiom(d: Draft) -> Pair:
    """He is hungry. / Il a faim."""
    d.tags.add("idiom")
    en, fr = d.rng.choice(FEELINGS)
    who = choices.subject(d, "person" if en in ("right", "wrong") else "person animal")
    p = choices.predicate(d, verbs.HAVE_AS_BE, 0.25, (PRESENT, PAST, FUTURE), (5, 4, 1))
    p.complement = d.words(en, fr)
    if d.chance(0.2) and en not in ("right", "wrong"):
        p.complement = joined(d.words("very", "très"), p.complement)
    return clause(d, who, p)


GROUPS = (("poor", "pauvres"), ("rich", "riches"), ("sick", "malades"), ("young", "jeunes"))


def adjective_as_noun(d: Draft) -> Pair:
    """The poor do not have any money."""
    en, fr = d.rng.choice(GROUPS)
    key, the = (d.key(),), (d.key(),)
    who = Phrase([Tok("the", the), Tok(en, key)], [Tok("les", the, article=True), Tok(fr, key)], False, True)
    who.possessive, who.kind = "their", "group"
    verb = verbs.BY_NAME[d.rng.choice(("have", "have", "have", "love", "hate", "sleep", "work", "travel", "wait"))]
    if verb.base != "have":
        return choices.with_time(d, *choices.subject_and_predicate(d, who, verb))
    negation = choices.negation(d, 0.6)
    noun = d.rng.choice(nouns.select("stuff wealth drink"))
    obj = phrases.noun_phrase(d, noun, "any" if negation else "some")
    return clause(d, who, Predicate(verb, choices.tense(d, verb), negation, obj=obj, contracted=d.chance(0.5)))


def existential(d: Draft) -> Pair:
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
    what = phrases.noun_phrase(d, noun, det, many, choices.random_adjective(d, noun, 0.3))
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
    where = phrases.at_place(d, en, fr, kinds)
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


def comparison(d: Draft) -> Pair:
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
        return comparison(d)
    who = choices.definite(d, first, adj=0.0)
    other = choices.definite(d, d.rng.choice(rivals), adj=0.0, plural=0.1)
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
    return clause(d, who, Predicate(verbs.BE, tense, choices.negation(d, 0.1) and "not", complement=complement))


# ------------------------------------------------------------------------------------------------ questions

_WHAT, _WHERE = verbs.named("of_what"), verbs.named("of_where")
_BY_PERSON = [v for v in verbs.TRANSITIVE if "person" in v.subjects.split()]


def yes_no_question(d: Draft) -> Pair:
    """Does Marie like the cake?"""
    draw = d.rng.random()
    if draw < 0.2:
        who = choices.subject(d, "person animal", adj=0.0)
        p = Predicate(verbs.BE, d.rng.choice((PRESENT, PAST)), complement=choices.predicate_adjective(d, who, 0.2))
        return question(d, who, p)
    who, p = choices.transitive(d) if draw < 0.65 else choices.intransitive(d)
    if p.negation:
        p.negation = ""
        if p.obj is not None:
            p.obj = choices.object_phrase(d, p.verb, who, False)
    p.adverb = None
    if p.verb.state and p.tense == FUTURE:
        p.tense = PRESENT
    return question(d, who, p)


def wh_question(d: Draft) -> Pair:
    """Where did Paul find the key? Why is she crying? What did the man buy?"""
    word, fr = d.rng.choice((("where", "où"), ("why", "pourquoi"), ("when", "quand"), ("what", "que"), ("who", "qui")))
    if word == "who":
        who = Phrase(*d.words("who", "qui"), False, False)
        d.tags.add("question")
        _, p = choices.transitive(d, who, d.rng.choice(_BY_PERSON))
        p.adverb, p.modal = None, ""
        if p.negation:
            p.negation, p.obj = "", choices.object_phrase(d, p.verb, who, False)
        return clause(d, who, p)
    if word == "what":
        verb = d.rng.choice(_WHAT)
        who = choices.subject(d, "person")
        return question(d, who, Predicate(verb, choices.tense(d, verb)), d.words("what", "que"))
    verb = d.rng.choice(_WHERE) if d.chance(0.5) else d.rng.choice(verbs.INTRANSITIVE[:10])
    who = choices.subject(d, "person", adj=0.05)
    p = Predicate(verb, choices.tense(d, verb))
    if verb.objects:
        p.obj = choices.object_phrase(d, verb, who, False, adj=0.1)
    return question(d, who, p, d.words(word, fr))
