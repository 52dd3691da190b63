"""Questions, with est-ce que throughout."""

from __future__ import annotations

from regard.course.grammar import parts, verbs
from regard.course.grammar.clauses import FUTURE, PAST, PRESENT, Predicate, clause, question
from regard.course.grammar.phrases import Phrase
from regard.course.grammar.tokens import Draft, Pair


def asking(d: Draft) -> Pair:
    """Does Marie like the cake?"""
    draw = d.rng.random()
    if draw < 0.2:
        who = parts.subject(d, "person animal", adj=0.0)
        p = Predicate(verbs.BE, d.rng.choice((PRESENT, PAST)), complement=parts.quality_of(d, who, 0.2))
        return question(d, who, p)
    who, p = parts.transitive(d) if draw < 0.65 else parts.intransitive(d)
    if p.negation:
        p.negation = ""
        if p.obj is not None:
            p.obj = parts.thing(d, p.verb, who, False)
    p.adverb = None
    if p.verb.state and p.tense == FUTURE:
        p.tense = PRESENT
    return question(d, who, p)


def asking_where(d: Draft) -> Pair:
    """Where did Paul find the key? Why is she crying? What did the man buy?"""
    word, fr = d.rng.choice((("where", "où"), ("why", "pourquoi"), ("when", "quand"), ("what", "que"), ("who", "qui")))
    if word == "who":
        who = Phrase([], [], False, False)
        asked = d.words("who", "qui")
        who.en, who.fr = asked.en, asked.fr
        d.tags.add("question")
        _, p = parts.transitive(d, who, d.rng.choice([v for v in verbs.TRANSITIVE if "person" in v.subjects.split()]))
        p.adverb, p.modal = None, ""
        if p.negation:
            p.negation, p.obj = "", parts.thing(d, p.verb, who, False)
        return clause(d, who, p)
    if word == "what":
        verb = verbs.BY_NAME[d.rng.choice(_WHAT)]
        who = parts.subject(d, "person")
        return question(d, who, Predicate(verb, parts.tense(d, verb)), d.words("what", "que"))
    d_verbs = [verbs.BY_NAME[w] for w in ("find", "buy", "lose", "eat", "read", "meet", "see", "wait for", "hide")]
    verb = d.rng.choice(d_verbs) if d.chance(0.5) else d.rng.choice(verbs.INTRANSITIVE[:10])
    who = parts.subject(d, "person", adj=0.05)
    p = Predicate(verb, parts.tense(d, verb))
    if verb.objects:
        p.obj = parts.thing(d, verb, who, False, adj=0.1)
    return question(d, who, p, d.words(word, fr))


_WHAT = (
    "see",
    "find",
    "lose",
    "buy",
    "sell",
    "eat",
    "drink",
    "read",
    "write",
    "steal",
    "draw",
    "build",
    "hide",
    "forget",
)
