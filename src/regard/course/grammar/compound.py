"""Constructions of several clauses: relative, because, when, if, that, and long chains."""

from __future__ import annotations

from regard.course.grammar import adjectives, choices, nouns, phrases, verbs
from regard.course.grammar.clauses import FUTURE, PAST, PRESENT, WAS_DOING, Predicate, clause
from regard.course.grammar.morphology import WORDS
from regard.course.grammar.phrases import Phrase
from regard.course.grammar.tokens import Draft, Pair, Tok, joined


def relative_phrase(d: Draft, noun: nouns.Noun, tense: str) -> Phrase:
    """A noun with a relative clause: the man who reads, the letter that Marie wrote, the book that is on the table.

    `tense` is that of the clause around it: in a past clause the relative clause is past too.
    """
    d.tags.add("relative")
    many = d.chance(0.2) and not noun.is_a(nouns.MASS) and "one" not in noun.kinds
    phrase = phrases.noun_phrase(d, noun, "the", many)
    person = "person" in noun.kinds
    receivers = choices.verbs_with_object(noun)
    rel = (d.key(),)
    if receivers and d.chance(0.5):
        verb = d.rng.choice(receivers)
        who = choices.subject(d, verb.subjects, adj=0.0)
        while who.name == noun.en:
            who = choices.subject(d, verb.subjects, adj=0.0)
        inner_tense = PAST if not verb.state or tense == PAST else PRESENT
        inner = clause(d, who, Predicate(verb, inner_tense, gap=phrase))
        en = [Tok("that", rel), *inner.en]
        fr = [Tok("que", rel), *inner.fr]
    else:
        silent = Phrase([], [], phrase.feminine, phrase.plural, 3, noun.en, "", noun, phrase.possessive)
        p = _short_predicate(d, silent, PAST if tense == PAST else PRESENT)
        inner = clause(d, silent, p)
        en = [Tok("who" if person else "that", rel), *inner.en]
        fr = [Tok("qui", rel), *inner.fr]
    phrase.en, phrase.fr = phrase.en + en, phrase.fr + fr
    return phrase


def _short_predicate(d: Draft, who: Phrase, tense: str) -> Predicate:
    """A short predicate for a relative clause."""
    assert who.noun is not None
    doing = choices.verbs_with_subject(who.noun)
    if doing and d.chance(0.7):
        verb = d.rng.choice(doing)
        _, p = choices.subject_and_predicate(d, who, verb)
        p.modal = ""
        p.tense, p.adverb = (tense if verb.state else PAST), None
        return p
    if phrases.predicable(who.noun) and (d.chance(0.6) or not who.noun.is_a(_MOVABLE)):
        return Predicate(verbs.BE, tense, complement=choices.predicate_adjective(d, who))
    return Predicate(verbs.BE, tense, tail=[phrases.place(d)])


_MOVABLE = frozenset(["person", "animal", "vehicle", "portable", "container", "furniture", "clothing", "food"])


def relative_statement(d: Draft) -> Pair:
    """The man who sings bought the book. Marie reads the letter that Paul wrote."""
    if d.chance(0.5):
        noun = d.rng.choice(nouns.select("person animal"))
        verb = d.rng.choice(choices.verbs_with_subject(noun))
        tense = choices.tense(d, verb)
        who = relative_phrase(d, noun, tense)
        _, p = choices.subject_and_predicate(d, who, verb)
        p.tense, p.modal, p.adverb = tense, "", None
        return clause(d, who, p)
    if d.chance(0.4):
        noun = d.rng.choice(nouns.select("document portable clothing vehicle building furniture container"))
        if phrases.predicable(noun):
            tense = d.rng.choice((PRESENT, PAST))
            thing = relative_phrase(d, noun, tense)
            return clause(d, thing, Predicate(verbs.BE, tense, complement=choices.predicate_adjective(d, thing)))
    verb = d.rng.choice(verbs.TRANSITIVE)
    who = choices.subject(d, verb.subjects)
    p = choices.predicate(d, verb)
    p.obj = relative_phrase(d, d.rng.choice(nouns.select(verb.objects)), p.tense)
    return clause(d, who, p)


def reason(d: Draft) -> Pair:
    """Marie slept because she was tired. The girls were sad, so they cried. He ran because it was raining."""
    d.tags.update(("subordinate", "agreement"))
    verb_name = d.rng.choice(tuple(_REASONS))
    verb = verbs.BY_NAME[verb_name] if verb_name not in ("leave", "hide") else _INTRANSITIVE[verb_name]
    who = choices.subject(d, verb.subjects if "vehicle" not in verb.subjects else "person animal", adj=0.05)
    tense = PAST if d.chance(0.7) else PRESENT
    negated = d.chance(0.4)
    p = Predicate(verb, tense, "not" if negated else "", contracted=d.chance(0.7))
    if verb_name in ("run", "walk", "leave", "travel") and d.chance(0.3):
        weather = WEATHER[tense][d.rng.randrange(2)]
        return joined(clause(d, who, p), d.words("because", "parce que"), d.words(*weather))
    adj = d.rng.choice(
        _REASONS[verb_name] if not negated else _AWAKE if verb_name in ("sleep", "rest") else _REASONS_NOT
    )
    back = phrases.referring(d, who)
    complement = phrases.adjective(d, adjectives.BY_NAME[adj], back.feminine, back.agrees_plural, who.name)
    if adj not in adjectives.NO_DEGREE and d.chance(0.6):
        complement = joined(d.words(*(choices.TOO if negated else choices.VERY)), complement)
    state = Predicate(verbs.BE, tense, complement=complement)
    if d.chance(0.3):
        return joined(clause(d, who, state), d.words(",", ","), d.words("so", "donc"), clause(d, back, p))
    return joined(clause(d, who, p), d.words("because", "parce que"), clause(d, back, state))


_INTRANSITIVE = {v.name: v for v in verbs.INTRANSITIVE}

WEATHER = {
    PRESENT: (("it is raining", "il pleut"), ("it is cold", "il fait froid")),
    PAST: (("it was raining", "il pleuvait"), ("it was cold", "il faisait froid")),
}

_REASONS_NOT = ("tired", "sick", "nervous", "frightened", "weak", "injured", "shy", "lazy")

_AWAKE = ("sick", "nervous", "frightened", "happy", "angry")
_REASONS = {verb: some.split() for verb, some in WORDS["verbs"]["reasons"].items()}


def short_clause(d: Draft, tense: str, adj: float = 0.1, first: bool = False) -> Pair:
    """A plain clause in a given tense, for joining with others. Only the first may have any pronoun."""
    transitive = d.chance(0.6)
    verb = d.rng.choice(verbs.TRANSITIVE if transitive else verbs.INTRANSITIVE)
    if "person" in verb.subjects.split() and not first and d.chance(0.15):
        who = phrases.subject_pronoun(d, d.rng.choice(("I", "we")))
    else:
        who = choices.subject(d, verb.subjects, pronouns=first, adj=adj)
    p = Predicate(verb, tense, choices.negation(d, 0.1) and "not", contracted=d.chance(0.7))
    if transitive:
        p.obj = choices.object_phrase(d, verb, who, bool(p.negation), adj)
    elif verb.name not in choices.PLACELESS and d.chance(0.3):
        p.tail.append(phrases.place(d))
    return clause(d, who, p)


def temporal_or_conditional(d: Draft) -> Pair:
    """When Paul arrived, Marie was reading. When Paul arrives, Marie will sing. If he leaves, she will cry."""
    d.tags.add("subordinate")
    draw = d.rng.random()
    if draw < 0.4:
        event_first = d.chance(0.5)
        event = _event(d, d.rng.choice(_EVENTS), PAST)
        background = _event(d, d.rng.choice(_LASTING), WAS_DOING, pronouns=not event_first)
        if event_first:
            return joined(d.words("when", "quand"), event, d.words(",", ","), background)
        return joined(background, d.words("when", "quand"), event)
    if draw < 0.6:
        one = _event(d, d.rng.choice(_LASTING), WAS_DOING, pronouns=True)
        two = _event(d, d.rng.choice(_LASTING), WAS_DOING)
        return joined(one, d.words("while", "pendant que"), two)
    word, fr, fr_tense = ("when", "quand", FUTURE) if draw < 0.8 else ("if", "si", PRESENT)
    condition_first = d.chance(0.6)
    condition = _event(d, d.rng.choice(_CONDITIONS), PRESENT, fr_tense, pronouns=condition_first)
    result = short_clause(d, FUTURE, first=not condition_first)
    if condition_first:
        return joined(d.words(word, fr), condition, d.words(",", ","), result)
    return joined(result, d.words(word, fr), condition)


_EVENTS = tuple(_INTRANSITIVE[w] for w in ("arrive", "fall", "leave", "stop", "wake up"))
_CONDITIONS = tuple(
    _INTRANSITIVE[w] for w in ("arrive", "leave", "sing", "dance", "sleep", "work", "laugh", "cry", "stop")
)
_LASTING = tuple(
    v
    for v in (*verbs.TRANSITIVE, *verbs.INTRANSITIVE)
    if not v.state and v.name not in choices.MOMENTARY and v.subjects.startswith("person")
)


def _event(d: Draft, verb: verbs.Verb, tense: str, fr_tense: str = "", pronouns: bool = False) -> Pair:
    who = choices.subject(d, "person" if "person" in verb.subjects else verb.subjects, pronouns, adj=0.05)
    p = Predicate(verb, tense, fr_tense=fr_tense)
    if verb.objects:
        p.obj = choices.object_phrase(d, verb, who, False, 0.1)
    return clause(d, who, p)


def reported_statement(d: Draft) -> Pair:
    """Marie thinks that Paul is sick."""
    d.tags.add("subordinate")
    verb = d.rng.choice(verbs.THINKING)
    who = choices.subject(d, "person")
    past = d.chance(0.4) and verb.base in ("say", "know", "think")
    p = Predicate(verb, PAST if past else PRESENT)
    if verb.base in ("say", "know") and d.chance(0.15):
        p.negation = "not"
    inner_who = choices.subject(d, "person", adj=0.05)
    while inner_who.en[-1].text == who.en[-1].text or (inner_who.kind == "pronoun" and inner_who.en[0].text == "they"):
        inner_who = choices.subject(d, "person", adj=0.05)
    if past:
        inner = clause(d, inner_who, Predicate(verbs.BE, PAST, complement=choices.predicate_adjective(d, inner_who)))
    elif d.chance(0.4):
        inner = _being(d, inner_who, verb.base == "hope")
    else:
        _, q = choices.transitive(d, inner_who, d.rng.choice(_OF_PERSONS))
        if verb.base == "hope":
            q.tense, q.modal, q.adverb = FUTURE, "", None
        inner = clause(d, inner_who, q)
    p.complement = joined(d.words("that", "que"), inner)
    return clause(d, who, p)


_OF_PERSONS = tuple(v for v in verbs.TRANSITIVE if v.subjects.startswith("person"))
_HOPED = ("happy", "kind", "brave", "calm", "polite", "rich", "famous", "strong")


def _being(d: Draft, who: Phrase, hoped: bool) -> Pair:
    """Writes what someone is or was, or, after "hope", will be."""
    if not hoped:
        return clause(
            d, who, Predicate(verbs.BE, d.rng.choice((PRESENT, PAST)), complement=choices.predicate_adjective(d, who))
        )
    adj = adjectives.BY_NAME[d.rng.choice(_HOPED)]
    complement = phrases.adjective(d, adj, who.feminine, who.agrees_plural, who.name)
    return clause(d, who, Predicate(verbs.BE, FUTURE, complement=complement))


def two_clauses(d: Draft) -> Pair:
    """Two clauses in a row."""
    d.tags.add("coordination")
    tense = d.rng.choices((PAST, FUTURE, PRESENT), (3, 1, 1))[0]
    link = d.words(*d.rng.choice((("and", "et"), ("but", "mais"))))
    return joined(short_clause(d, tense, first=True), link, short_clause(d, tense))


_LINKS = ((",", ","), (",", ","), (",", ","), ("and", "et"), ("but", "mais"))


def many_clauses(d: Draft) -> Pair:
    """Many clauses in a row, some with relative clauses, up to fifty words."""
    d.tags.update(("coordination", "long"))
    tense = d.rng.choices((PAST, FUTURE, PRESENT), (4, 1, 1))[0]
    target = d.rng.randint(24, 46)
    whole = short_clause(d, tense, 0.2, first=True)
    while len(whole.en) < target:
        draw = d.rng.random()
        piece = _with_relative(d, tense) if draw < 0.4 else short_clause(d, tense, 0.2)
        last = len(whole.en) + 1 + len(piece.en) >= target
        words = ("and", "et") if last else d.rng.choice(_LINKS)
        whole = joined(whole, d.words(*words), piece)
    return whole


def _with_relative(d: Draft, tense: str) -> Pair:
    verb = d.rng.choice(verbs.TRANSITIVE)
    who = choices.subject(d, verb.subjects, pronouns=False)
    if d.chance(0.5) and who.noun is not None:
        who = relative_phrase(d, who.noun, tense)
        obj = choices.object_phrase(d, verb, who, False)
    else:
        obj = relative_phrase(d, d.rng.choice(nouns.select(verb.objects)), tense)
    return clause(d, who, Predicate(verb, tense, obj=obj))
