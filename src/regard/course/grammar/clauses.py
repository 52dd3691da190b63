"""One clause in both languages: the verb with tense, negation, clitics and agreement, its objects and adverbials.

English needs do-support and progressive forms; French needs ne … pas around the finite verb, clitics before it, the
auxiliary être or avoir, and the agreement of the participle. A `Predicate` holds the meaning; `clause` writes it in
both languages.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from regard.course.grammar import morphology as french
from regard.course.grammar.phrases import Phrase
from regard.course.grammar.tokens import Draft, Pair, Tok
from regard.course.grammar.verbs import MODALS, Verb

PRESENT, PROGRESSIVE, PAST, WAS_DOING, FUTURE = "present", "progressive", "past", "was doing", "future"

_NEGATIONS = {"not": "pas", "never": "jamais", "no longer": "plus"}
_CLITIC_ORDER = {"me": 0, "se": 0, "nous": 0, "vous": 0, "le": 1, "la": 1, "les": 1, "lui": 2, "leur": 2}
_REFLEXIVES = ("me", "te", "se", "nous", "vous", "se")
_CONTRACTED = {"do": "don't", "does": "doesn't", "did": "didn't", "is": "isn't", "are": "aren't", "was": "wasn't",
               "were": "weren't", "will": "won't", "can": "can't", "could": "couldn't"}  # fmt: skip


@dataclass(slots=True)
class Predicate:
    """The predicate of a clause. Object pronouns become French clitics."""

    verb: Verb
    tense: str = PRESENT
    negation: str = ""  # "", "not", "never", "no longer"
    modal: str = ""  # "", "can", "must", "want"
    obj: Phrase | None = None
    recipient: Phrase | None = None  # "to the girl"
    recipient_first: bool = False  # "gave the girl the book"
    complement: Pair | None = None  # an adjective after be, a that-clause
    adverb: Pair | None = None  # often / souvent, beside the verb
    tail: list[Pair] = field(default_factory=list)  # places, times
    fr_tense: str = ""  # if it differs from English: when he arrives → quand il arrivera
    gap: Phrase | None = None  # the object this clause is relative to: the letter that she wrote
    contracted: bool = True


@dataclass(slots=True)
class Keys:
    """Alignment keys of the parts of the verb group."""

    verb: int
    aux: int
    negation: int
    modal: int
    to: int


def clause(d: Draft, subject: Phrase, p: Predicate) -> Pair:
    """Subject, verb group, objects, tail: "she didn't give it to them" / "elle ne le leur a pas donné"."""
    keys = _start(d, subject, p)
    aux, main = english_verb(subject, p, keys)
    en = subject.en + aux + english_middle(p, keys) + main + _english_after(p, keys)
    return Pair(en, subject.fr + french_rest(subject, p, keys))


def question(d: Draft, subject: Phrase, p: Predicate, wh: Pair | None = None) -> Pair:
    """ "Does he sleep?" / "Est-ce qu'il dort ?"; with `wh`, "Where does he sleep?" / "Où est-ce qu'il dort ?"."""
    d.tags.add("question")
    keys = _start(d, subject, p)
    aux, main = english_verb(subject, p, keys, question=True)
    key = (d.key(),)
    aux = [Tok(aux[0].text, aux[0].keys + key), *aux[1:]]
    opening = wh or Pair([], [])
    en = opening.en + aux[:1] + subject.en + aux[1:] + english_middle(p, keys) + main + _english_after(p, keys)
    fr = [*opening.fr, Tok("est-ce", key), Tok("que", key), *subject.fr, *french_rest(subject, p, keys)]
    return Pair(en, fr)


def repair_predicate(subject: Phrase, p: Predicate) -> None:
    """Repairs combinations that are impossible, or ambiguous in English."""
    if p.negation in ("never", "no longer") and p.tense == PROGRESSIVE:
        p.tense = PRESENT
    if p.negation == "no longer" and p.tense == PAST and not p.verb.state and not p.modal:
        p.negation = "not"  # "no longer" needs a state or a habit
    third = not subject.plural and subject.person == 3
    if p.verb.past == p.verb.base and p.tense == PRESENT and not third and not p.modal and p.negation != "not":
        # "they read" can be present or past; "they are reading" cannot
        p.tense = PAST if p.negation else PROGRESSIVE
        p.adverb = None


def _start(d: Draft, subject: Phrase, p: Predicate) -> Keys:
    repair_predicate(subject, p)
    if subject.name:
        d.combinations.append(("subject-verb", subject.name, p.verb.name))
    thing = p.gap or p.obj
    if thing is not None and thing.name:
        d.combinations.append(("verb-object", p.verb.name, thing.name))
    tense = {PAST: "past", WAS_DOING: "past", FUTURE: "future"}.get(p.tense)
    if tense:
        d.tags.add(tense)
    if p.negation:
        d.tags.add("negation")
    if p.verb.reflexive:
        d.tags.add("reflexive")
    if p.modal:
        d.tags.add("modal")
    return Keys(d.key(), d.key(), d.key(), d.key(), d.key())


def english_verb(subject: Phrase, p: Predicate, k: Keys, question: bool = False) -> tuple[list[Tok], list[Tok]]:
    """Returns (auxiliary with its negation, main verb). In a question the first auxiliary precedes the subject."""
    singular = not subject.plural and subject.person == 3
    base, verb = p.verb.base, (k.verb,)
    negated = p.negation == "not"
    compound = p.tense == PAST and not p.verb.state  # French has an auxiliary of its own
    if p.modal == "want":
        return _want(p, k, singular, question)
    if p.modal:
        form = MODALS[p.modal][3 if p.tense == PAST else 1]
        return _negate(form, (k.modal,), p, k, compound=True), [Tok(base, verb)]
    if p.tense == FUTURE:
        return _negate("will", (k.aux,), p, k, compound=False), [Tok(base, verb)]
    if base == "be":
        form = _be(subject, p.tense == PAST)
        return _negate(form, (k.verb, k.aux), p, k, compound=True), []
    if p.tense in (PROGRESSIVE, WAS_DOING):
        form = _be(subject, p.tense == WAS_DOING)
        return _negate(form, (k.aux,), p, k, compound=False), [Tok(p.verb.ing, verb)]
    if negated or question:
        form = "did" if p.tense == PAST else "does" if singular else "do"
        return _negate(form, (k.aux,), p, k, compound), [Tok(base, verb)]
    form = p.verb.past if p.tense == PAST else p.verb.third if singular else base
    return [], [Tok(form, (k.verb, k.aux))]


def _want(p: Predicate, k: Keys, singular: bool, question: bool) -> tuple[list[Tok], list[Tok]]:
    _, third, base, past = MODALS["want"]
    infinitive = [Tok("to", (k.verb,)), Tok(p.verb.base, (k.verb,))]
    if p.negation == "not" or question:
        form = "did" if p.tense == PAST else "does" if singular else "do"
        return _negate(form, (k.aux,), p, k, compound=False), [Tok(base, (k.modal,)), *infinitive]
    form = past if p.tense == PAST else third if singular else base
    return [], [Tok(form, (k.modal,)), *infinitive]


def _be(subject: Phrase, past: bool) -> str:
    if subject.plural:
        return "were" if past else "are"
    if past:
        return "was"
    return "am" if subject.person == 1 else "is"


def _negate(form: str, keys: tuple[int, ...], p: Predicate, k: Keys, compound: bool) -> list[Tok]:
    """Negates the auxiliary by "not" or "n't". "doesn't" is aligned with ne and pas; "didn't" also with a / est."""
    if p.negation != "not":
        return [Tok(form, keys)]
    if form in _CONTRACTED and p.contracted:
        return [Tok(_CONTRACTED[form], ((*keys, k.negation) if compound else (k.negation,)))]
    if form == "can":
        return [Tok("cannot", (*keys, k.negation))]
    return [Tok(form, keys), Tok("not", (k.negation,))]


def english_middle(p: Predicate, k: Keys) -> list[Tok]:
    """Returns never, no longer, often: the words between the auxiliary and the verb."""
    middle = [Tok(w, (k.negation,)) for w in p.negation.split()] if p.negation in ("never", "no longer") else []
    return middle + p.adverb.en if p.adverb is not None else middle


def _english_after(p: Predicate, k: Keys) -> list[Tok]:
    out: list[Tok] = []
    if p.verb.particle:
        out.append(Tok(p.verb.particle, (k.verb,)))
    if p.recipient is not None and p.recipient_first:
        out += p.recipient.en
    if p.obj is not None:
        out += p.obj.en
    if p.recipient is not None and not p.recipient_first:
        pronoun = p.recipient.kind == "pronoun"
        out += [Tok("to", p.recipient.en[0].keys if pronoun else (k.to,)), *p.recipient.en]
    if p.complement is not None:
        out += p.complement.en
    for pair in p.tail:
        out += pair.en
    return out


def french_rest(subject: Phrase, p: Predicate, k: Keys) -> list[Tok]:
    """Returns everything after the French subject."""
    clitics = _clitics(subject, p, k)
    out = french_verb(subject, p, k, clitics)
    if p.obj is not None and p.obj.kind != "pronoun":
        if p.verb.preposition:
            out += [Tok(p.verb.preposition, (k.verb,))]
        out += p.obj.fr
    if p.recipient is not None and p.recipient.kind != "pronoun":
        out += [Tok("à", (k.to,)), *p.recipient.fr]
    if p.complement is not None:
        out += p.complement.fr
    for pair in p.tail:
        out += pair.fr
    return out


def _clitics(subject: Phrase, p: Predicate, k: Keys) -> list[Tok]:
    found: list[Tok] = []
    if p.verb.reflexive:
        found.append(Tok(_REFLEXIVES[subject.fr_person], (k.verb,)))
    for phrase in (p.obj, p.recipient):
        if phrase is not None and phrase.kind == "pronoun":
            found += phrase.fr
    return sorted(found, key=lambda t: _CLITIC_ORDER[t.text])


def french_verb(subject: Phrase, p: Predicate, k: Keys, clitics: list[Tok]) -> list[Tok]:
    """Returns ne, clitics, finite verb, pas, adverb, participle or infinitive, in that order."""
    infinitive, person = p.verb.fr, subject.fr_person
    tense = p.fr_tense or p.tense
    ne = [Tok("ne", (k.negation,))] if p.negation else []
    second = [Tok(_NEGATIONS[p.negation], (k.negation,))] if p.negation else []
    adverb = p.adverb.fr if p.adverb is not None else []
    if p.modal:
        finite = french.conjugate(MODALS[p.modal][0], french.IMPERFECT if tense == PAST else french.PRESENT, person)
        return [*ne, Tok(finite, (k.modal, k.aux)), *second, *adverb, *clitics, Tok(infinitive, (k.verb,))]
    if tense == PAST and not p.verb.state:
        etre = p.verb.reflexive or french.takes_etre(infinitive)
        aux = french.conjugate("être" if etre else "avoir", french.PRESENT, person)
        main = participle(subject, p, etre)
        return [*ne, *clitics, Tok(aux, (k.aux,)), *second, *adverb, Tok(main, (k.verb,))]
    simple = {PAST: french.IMPERFECT, WAS_DOING: french.IMPERFECT, FUTURE: french.FUTURE}.get(tense, french.PRESENT)
    finite = french.conjugate(infinitive, simple, person)
    return [*ne, *clitics, Tok(finite, (k.verb, k.aux)), *second, *adverb]


def participle(subject: Phrase, p: Predicate, etre: bool) -> str:
    """Returns the participle; it agrees with the subject after être, and with a preceding direct object after avoir."""
    if etre:
        return french.participle(p.verb.fr, subject.feminine, subject.agrees_plural)
    before = p.gap
    if before is None and p.obj is not None and p.obj.kind == "pronoun":
        before = p.obj
    if before is None:
        return french.participle(p.verb.fr)
    return french.participle(p.verb.fr, before.feminine, before.plural)
