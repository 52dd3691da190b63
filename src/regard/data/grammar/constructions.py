"""The sentences of the grammar, one function per construction. Each returns the sentence without its final mark.

The two constructions that turn on sense, the pronoun and the word of two meanings, are in `pronouns.py` and
`ambiguous.py`.
"""

from __future__ import annotations

from regard.data.grammar import adjectives, nouns, parts, phrases, verbs
from regard.data.grammar.clauses import FUTURE, PAST, PRESENT, PROGRESSIVE, WAS_DOING, Predicate, clause, question
from regard.data.grammar.phrases import Phrase
from regard.data.grammar.tokens import Draft, Pair, Tok

_DEGREES = (("too", "trop"), ("very", "très"))
_FEELINGS = (("hungry", "faim"), ("thirsty", "soif"), ("cold", "froid"), ("right", "raison"), ("wrong", "tort"))
_GROUPS = (("poor", "pauvres"), ("rich", "riches"), ("sick", "malades"), ("young", "jeunes"))


def joined(*pairs: Pair) -> Pair:
    return Pair([t for p in pairs for t in p.en], [t for p in pairs for t in p.fr])


def comma(d: Draft) -> Pair:
    return d.words(",", ",")


def with_time(d: Draft, who: Phrase, p: Predicate, probability: float = 0.2) -> Pair:
    """The clause, sometimes with a time at its end or at its beginning."""
    time = parts.when(d, p, probability)
    if time is None:
        return clause(d, who, p)
    if d.chance(0.6):
        p.tail.append(time)
        return clause(d, who, p)
    return joined(time, comma(d), clause(d, who, p))


def acting(d: Draft) -> Pair:
    """The cat eats the fish."""
    return with_time(d, *parts.transitive(d))


def moving(d: Draft) -> Pair:
    """Marie danced in the garden."""
    return with_time(d, *parts.intransitive(d))


def going(d: Draft) -> Pair:
    """Paul went to the market."""
    verb = d.rng.choice(verbs.MOTION)
    who = parts.subject(d, verb.subjects)
    p = Predicate(verb, parts.tense(d, verb), parts.negation(d), contracted=d.chance(0.7))
    parts.frequency(d, p)
    to = phrases.noun_phrase(d, d.rng.choice(nouns.select("at")))
    p.tail.append(phrases.after_preposition(d, "at" if verb.base == "arrive" else "to", "à", to))
    return with_time(d, who, p)


def quality_of(d: Draft, who: Phrase, degree: float = 0.45) -> Pair:
    """An adjective that can be said of the subject, agreeing: too tired, very old."""
    d.tags.add("agreement")
    if who.noun is not None and who.kind != "pronoun":
        adj = d.rng.choice(phrases.fitting(who.noun))
    else:
        adj = d.rng.choice(_OF_PEOPLE)
    said = phrases.adjective(d, adj, who.feminine, who.agrees_plural, who.name)
    if adj.invariable or not d.chance(degree):
        return said
    return joined(d.words(*d.rng.choice(_DEGREES)), said)


_OF_PEOPLE = tuple(a for a in adjectives.ADJECTIVES if "person" in a.kinds.split() and a.en != "small")


def being(d: Draft) -> Pair:
    """The street is too wide."""
    kinds = d.rng.choice(("person", "person", "animal", "vehicle furniture container clothing", "way height building room",
                          "document thought", "food stuff drink"))  # fmt: skip
    who = parts.subject(d, kinds, adj=0.0)
    while who.noun is not None and not phrases.fitting(who.noun):
        who = parts.subject(d, kinds, adj=0.0)
    p = Predicate(verbs.BE, parts.tense(d, verbs.BE), parts.negation(d, 0.15), contracted=d.chance(0.7))
    p.complement = quality_of(d, who)
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
    return with_time(d, who, p)


def putting(d: Draft) -> Pair:
    """She put the book on the table."""
    who = parts.subject(d, "person")
    p = Predicate(
        verbs.PUT, d.rng.choices((PAST, FUTURE), (4, 1))[0], parts.negation(d, 0.12), contracted=d.chance(0.7)
    )
    p.obj = parts.thing(d, verbs.PUT, who, bool(p.negation))
    p.tail.append(_on_something(d, p.obj))
    return with_time(d, who, p)


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
            p.recipient = phrases.name(d, d.rng.choice(tuple(nouns.NAMES)))
    if d.chance(0.12) and p.recipient.kind == "pronoun" and p.recipient.en[0].text in ("him", "her", "them"):
        p.obj = phrases.object_pronoun(d, "them")
    else:
        p.obj = parts.thing(d, verb, who, bool(p.negation), adj=0.15)
        p.recipient_first = verb.base != "explain" and p.recipient.kind == "pronoun" and d.chance(0.7)
    return with_time(d, who, p)


def _other_than(d: Draft, who: Phrase) -> str:
    """An object pronoun that does not name the subject again (I see me)."""
    options = [w for w in ("me", "him", "her", "us", "you", "them")]
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
    return with_time(d, who, p)


_ON_PEOPLE = ("see", "watch", "hear", "love", "hate", "know", "help", "thank", "follow", "meet", "invite", "understand",
              "admire", "look for", "wait for", "protect")  # fmt: skip


def having_it(d: Draft) -> Pair:
    """Marie bought the letter and read it."""
    first, second = (verbs.BY_NAME[w] for w in d.rng.choice(_SEQUENCES))
    who = parts.subject(d, "person")
    tense = d.rng.choices((PAST, FUTURE), (3, 1))[0]
    shared = " ".join(w for w in second.objects.split() if w in first.objects.split())
    noun = d.rng.choice(nouns.select(shared))
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


_SEQUENCES = (("buy", "sell"), ("find", "lose"), ("find", "keep"), ("steal", "hide"), ("wash", "eat"), ("pick", "eat"),
              ("write", "translate"), ("find", "forget"), ("read", "translate"), ("find", "hide"), ("draw", "paint"),
              ("cut", "eat"), ("write", "sign"), ("prepare", "eat"), ("buy", "eat"), ("find", "wear"), ("build", "paint"),
              ("receive", "read"), ("open", "close"))  # fmt: skip


def feeling(d: Draft) -> Pair:
    """He is hungry. / Il a faim."""
    d.tags.add("idiom")
    en, fr = d.rng.choice(_FEELINGS)
    who = parts.subject(d, "person" if en in ("right", "wrong") else "person animal")
    tense = d.rng.choices((PRESENT, PAST, FUTURE), (5, 4, 1))[0]
    p = Predicate(verbs.HAVE_AS_BE, tense, parts.negation(d, 0.25), contracted=d.chance(0.7))
    p.complement = d.words(en, fr)
    if d.chance(0.2) and en not in ("right", "wrong"):
        p.complement = joined(d.words("very", "très"), p.complement)
    return clause(d, who, p)


def grouping(d: Draft) -> Pair:
    """The poor do not have any money."""
    en, fr = d.rng.choice(_GROUPS)
    key, the = (d.key(),), (d.key(),)
    who = Phrase([Tok("the", the), Tok(en, key)], [Tok("les", the, article=True), Tok(fr, key)], False, True)
    who.possessive, who.kind = "their", "group"
    verb = verbs.BY_NAME[d.rng.choice(("have", "have", "love", "accept", "refuse", "buy", "eat", "sleep", "work"))]
    if not verb.objects:
        return with_time(d, *parts.intransitive(d, who, verb))
    if verb.base != "have" or d.chance(0.4):
        return with_time(d, *parts.transitive(d, who, verb))
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


def asking(d: Draft) -> Pair:
    """Does Marie like the cake?"""
    draw = d.rng.random()
    if draw < 0.2:
        who = parts.subject(d, "person animal", adj=0.0)
        p = Predicate(verbs.BE, d.rng.choice((PRESENT, PAST)), complement=quality_of(d, who, 0.2))
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
        verb = verbs.BY_NAME[d.rng.choice(("see", "find", "lose", "buy", "sell", "eat", "drink", "read", "write", "steal",
                                           "draw", "build", "hide", "forget", "prepare"))]  # fmt: skip
        who = parts.subject(d, "person")
        return question(d, who, Predicate(verb, parts.tense(d, verb)), d.words("what", "que"))
    d_verbs = [verbs.BY_NAME[w] for w in ("find", "buy", "lose", "eat", "read", "meet", "see", "wait for", "hide")]
    verb = d.rng.choice(d_verbs) if d.chance(0.5) else d.rng.choice(verbs.INTRANSITIVE[:10])
    who = parts.subject(d, "person", adj=0.05)
    p = Predicate(verb, parts.tense(d, verb))
    if verb.objects:
        p.obj = parts.thing(d, verb, who, False, adj=0.1)
    return question(d, who, p, d.words(word, fr))


def relative(d: Draft, noun: nouns.Noun, det: str = "the") -> Phrase:
    """A noun with a relative clause: the man who reads, the letter that Marie wrote, the book that is on the table."""
    d.tags.add("relative")
    many = d.chance(0.2) and not noun.is_a(nouns.MASS)
    phrase = phrases.noun_phrase(d, noun, det, many)
    person = "person" in noun.kinds
    receivers = _receivers(noun)
    rel = (d.key(),)
    if receivers and d.chance(0.5):
        verb = d.rng.choice(receivers)
        who = parts.subject(d, verb.subjects, adj=0.0)
        while who.name == noun.en:
            who = parts.subject(d, verb.subjects, adj=0.0)
        tense = PAST if not verb.state or d.chance(0.4) else PRESENT
        inner = clause(d, who, Predicate(verb, tense, gap=phrase))
        en = [Tok("that", rel), *inner.en]
        fr = [Tok("que", rel), *inner.fr]
    else:
        silent = Phrase([], [], phrase.feminine, phrase.plural, 3, noun.en, "", noun, phrase.possessive)
        p = _said_of(d, silent)
        inner = clause(d, silent, p)
        en = [Tok("who" if person else "that", rel), *inner.en]
        fr = [Tok("qui", rel), *inner.fr]
    phrase.en, phrase.fr = phrase.en + en, phrase.fr + fr
    return phrase


_receiver_cache: dict[str, list[verbs.Verb]] = {}


def _receivers(noun: nouns.Noun) -> list[verbs.Verb]:
    """The verbs that can have this noun as their plain object."""
    if noun.en not in _receiver_cache:
        _receiver_cache[noun.en] = [
            v for v in verbs.TRANSITIVE
            if not v.preposition and v.base != "have" and noun in nouns.select(v.objects)
        ]  # fmt: skip
    return _receiver_cache[noun.en]


_doer_cache: dict[str, list[verbs.Verb]] = {}


def _doers(noun: nouns.Noun) -> list[verbs.Verb]:
    """The verbs that this noun can be the subject of."""
    if noun.en not in _doer_cache:
        _doer_cache[noun.en] = [v for v in (*verbs.TRANSITIVE, *verbs.INTRANSITIVE) if noun in nouns.select(v.subjects)]
    return _doer_cache[noun.en]


def _said_of(d: Draft, who: Phrase) -> Predicate:
    """A short predicate for a relative clause."""
    assert who.noun is not None
    doing = _doers(who.noun)
    if doing and d.chance(0.7):
        verb = d.rng.choice(doing)
        _, p = parts.transitive(d, who, verb) if verb.objects else parts.intransitive(d, who, verb)
        p.modal = ""
        return p
    tense = d.rng.choice((PRESENT, PAST))
    if phrases.fitting(who.noun) and d.chance(0.6):
        return Predicate(verbs.BE, tense, complement=quality_of(d, who))
    return Predicate(verbs.BE, tense, tail=[phrases.place(d)])


def describing(d: Draft) -> Pair:
    """The man who sings bought the book. Marie reads the letter that Paul wrote."""
    if d.chance(0.5):
        who = relative(d, d.rng.choice(nouns.select("person animal")))
        assert who.noun is not None
        verb = d.rng.choice(_doers(who.noun))
        _, p = parts.transitive(d, who, verb) if verb.objects else parts.intransitive(d, who, verb)
        p.adverb = None
        return clause(d, who, p)
    if d.chance(0.4):
        thing = relative(
            d, d.rng.choice(nouns.select("document portable clothing vehicle building furniture container"))
        )
        assert thing.noun is not None
        if phrases.fitting(thing.noun):
            p = Predicate(verbs.BE, d.rng.choice((PRESENT, PAST)), complement=quality_of(d, thing))
            return clause(d, thing, p)
    verb = d.rng.choice(verbs.TRANSITIVE)
    who = parts.subject(d, verb.subjects)
    p = Predicate(verb, parts.tense(d, verb), parts.negation(d), contracted=d.chance(0.7))
    p.obj = relative(d, d.rng.choice(nouns.select(verb.objects)))
    return clause(d, who, p)


def together(d: Draft) -> Pair:
    """Marie and the boy sing. She bought a hat and a scarf."""
    if d.chance(0.5):
        verb = d.rng.choice([v for v in (*verbs.TRANSITIVE, *verbs.INTRANSITIVE) if "person" in v.subjects.split()])
        first = parts.subject(d, "person", pronouns=False, adj=0.05)
        second = parts.subject(d, "person", pronouns=False, adj=0.05)
        while second.en[-1].text == first.en[-1].text:
            second = parts.subject(d, "person", pronouns=False, adj=0.05)
        who = phrases.coordinated(d, first, second)
        who.noun = None
        return with_time(d, *(parts.transitive(d, who, verb) if verb.objects else parts.intransitive(d, who, verb)))
    verb = d.rng.choice([v for v in verbs.TRANSITIVE if v.base not in ("love", "hate", "answer", "play", "enter")])
    who = parts.subject(d, verb.subjects)
    p = Predicate(verb, parts.tense(d, verb), contracted=d.chance(0.7))
    one, two = parts.thing(d, verb, who, False, 0.15), parts.thing(d, verb, who, False, 0.15)
    while two.name == one.name:
        two = parts.thing(d, verb, who, False, 0.15)
    p.obj = phrases.coordinated(d, one, two)
    d.combinations += [("verb-object", verb.name, one.name), ("verb-object", verb.name, two.name)]
    return with_time(d, who, p)


def owning(d: Draft) -> Pair:
    """Paul washed the neighbor's car. Marie's brother is tired."""
    owner = phrases.name(d, d.rng.choice(tuple(nouns.NAMES))) if d.chance(0.5) else phrases.noun_phrase(
        d, d.rng.choice(nouns.select("person")))  # fmt: skip
    genitive = d.chance(0.85)
    if d.chance(0.45):
        noun = d.rng.choice(nouns.select("kin pet vehicle house clothing"))
        who = phrases.possessed(d, noun, owner, genitive, d.chance(0.2))
        if d.chance(0.5):
            p = Predicate(verbs.BE, parts.tense(d, verbs.BE), parts.negation(d, 0.15), complement=quality_of(d, who))
            return clause(d, who, p)
        if _doers(noun):
            verb = d.rng.choice(_doers(noun))
            return clause(d, *(parts.transitive(d, who, verb) if verb.objects else parts.intransitive(d, who, verb)))
    verb = verbs.BY_NAME[d.rng.choice(("see", "find", "lose", "wash", "repair", "read", "hide", "follow", "help", "look for",
                                       "wear", "forget", "steal", "feed", "buy", "clean"))]  # fmt: skip
    who = parts.subject(d, verb.subjects)
    noun = d.rng.choice([n for n in nouns.select(verb.objects) if n.is_a(_OWNABLE)])
    p = Predicate(verb, parts.tense(d, verb), parts.negation(d, 0.15), contracted=d.chance(0.7))
    p.obj = phrases.possessed(d, noun, owner, genitive, d.chance(0.2))
    return with_time(d, who, p)


_OWNABLE = frozenset(
    "kin pet vehicle house clothing portable container instrument document room kitchen mirror dish".split()
)


def because(d: Draft) -> Pair:
    """Marie slept because she was tired. The girls left because they were sad."""
    d.tags.add("subordinate")
    who = parts.subject(d, "person animal", adj=0.05)
    verb = d.rng.choice([v for v in verbs.INTRANSITIVE if v.subjects.startswith("person")])
    past = d.chance(0.7)
    p = Predicate(verb, PAST if past else PRESENT, parts.negation(d, 0.4) and "not", contracted=d.chance(0.7))
    if who.noun is not None and "person" not in who.noun.kinds:
        p.verb = verbs.BY_NAME[d.rng.choice(("sleep", "run", "walk", "jump", "wait", "rest"))]
    main = clause(d, who, p)
    if d.chance(0.12):
        rain = d.rng.choice((("it is raining", "il pleut"), ("it is cold", "il fait froid"))) if not past else \
            d.rng.choice((("it was raining", "il pleuvait"), ("it was cold", "il faisait froid")))  # fmt: skip
        return joined(main, d.words("because", "parce que"), d.words(*rain))
    back = phrases.referring(d, who)
    adj = d.rng.choice(_STATES)
    d.tags.add("agreement")
    said = phrases.adjective(d, adjectives.BY_NAME[adj], back.feminine, back.agrees_plural, who.name)
    if d.chance(0.6):
        said = joined(d.words(*d.rng.choice(_DEGREES)), said)
    reason = clause(d, back, Predicate(verbs.BE, PAST if past else PRESENT, complement=said))
    if d.chance(0.25) and not p.negation:
        state = clause(d, who, Predicate(verbs.BE, PAST if past else PRESENT, complement=said))
        then = clause(d, back, p)
        return joined(state, comma(d), d.words("so", "donc"), then)
    return joined(main, d.words("because", "parce que"), reason)


_STATES = ("tired", "sick", "nervous", "frightened", "happy", "angry", "weak", "injured", "calm")


def small_clause(d: Draft, tense: str, adj: float = 0.1, first: bool = False) -> Pair:
    """A plain clause in a given tense, for joining with others. Only the first may have they as its subject."""
    transitive = d.chance(0.6)
    verb = d.rng.choice(verbs.TRANSITIVE if transitive else verbs.INTRANSITIVE)
    who = parts.subject(d, verb.subjects, pronouns=first or d.chance(0.5), adj=adj)
    if who.kind == "pronoun" and not first and who.en[0].text == "they":
        who = phrases.name(d, d.rng.choice(tuple(nouns.NAMES)))
    p = Predicate(verb, tense, parts.negation(d, 0.1) and "not", contracted=d.chance(0.7))
    if transitive:
        p.obj = parts.thing(d, verb, who, bool(p.negation), adj)
    elif d.chance(0.3):
        p.tail.append(phrases.place(d))
    return clause(d, who, p)


def when_or_while(d: Draft) -> Pair:
    """When Paul arrived, Marie was reading. When Paul arrives, Marie will sing. If he leaves, she will cry."""
    d.tags.add("subordinate")
    draw = d.rng.random()
    if draw < 0.4:
        verb = verbs.BY_NAME[d.rng.choice(("arrive", "enter", "fall", "leave", "stop"))]
        event = _event(d, verb, PAST, "")
        background = _event(
            d, d.rng.choice([v for v in (*verbs.TRANSITIVE, *verbs.INTRANSITIVE) if _lasts(v)]), WAS_DOING, ""
        )
        if d.chance(0.5):
            return joined(d.words("when", "quand"), event, comma(d), background)
        return joined(background, d.words("when", "quand"), event)
    if draw < 0.6:
        one = _event(d, d.rng.choice([v for v in (*verbs.TRANSITIVE, *verbs.INTRANSITIVE) if _lasts(v)]), WAS_DOING, "")
        two = _event(d, d.rng.choice([v for v in (*verbs.TRANSITIVE, *verbs.INTRANSITIVE) if _lasts(v)]), WAS_DOING, "")
        return joined(one, d.words("while", "pendant que"), two)
    word, fr, fr_tense = ("when", "quand", FUTURE) if draw < 0.8 else ("if", "si", PRESENT)
    condition = _event(d, d.rng.choice(verbs.INTRANSITIVE[:14]), PRESENT, fr_tense, subject_kinds="person")
    result = small_clause(d, FUTURE)
    if d.chance(0.6):
        return joined(d.words(word, fr), condition, comma(d), result)
    return joined(result, d.words(word, fr), condition)


def _lasts(verb: verbs.Verb) -> bool:
    return not verb.state and verb.name not in parts.AT_ONCE and verb.subjects.startswith("person")


def _event(d: Draft, verb: verbs.Verb, tense: str, fr_tense: str, subject_kinds: str = "") -> Pair:
    kinds = subject_kinds if subject_kinds and "person" in verb.subjects else verb.subjects
    who = parts.subject(d, kinds, adj=0.05)
    if who.kind == "pronoun" and who.en[0].text == "they":
        who = phrases.name(d, d.rng.choice(tuple(nouns.NAMES)))
    p = Predicate(verb, tense, fr_tense=fr_tense)
    if verb.objects:
        p.obj = parts.thing(d, verb, who, False, 0.1)
    return clause(d, who, p)


def saying(d: Draft) -> Pair:
    """Marie thinks that Paul is sick."""
    d.tags.add("subordinate")
    verb = d.rng.choice(verbs.THINKING)
    who = parts.subject(d, "person")
    past = d.chance(0.4) and verb.base in ("say", "know", "think")
    p = Predicate(verb, PAST if past else PRESENT)
    if verb.base in ("say", "know") and d.chance(0.15):
        p.negation = "not"
    inner_who = parts.subject(d, "person", adj=0.05)
    while inner_who.en[-1].text == who.en[-1].text or (inner_who.kind == "pronoun" and inner_who.en[0].text == "they"):
        inner_who = parts.subject(d, "person", adj=0.05)
    if past:
        inner = clause(d, inner_who, Predicate(verbs.BE, PAST, complement=quality_of(d, inner_who)))
    elif d.chance(0.4):
        tense = FUTURE if verb.base == "hope" else d.rng.choice((PRESENT, PAST))
        inner = clause(d, inner_who, Predicate(verbs.BE, tense, complement=quality_of(d, inner_who)))
    else:
        _, q = parts.transitive(
            d, inner_who, d.rng.choice([v for v in verbs.TRANSITIVE if v.subjects.startswith("person")])
        )
        if verb.base == "hope":
            q.tense, q.modal, q.adverb = FUTURE, "", None
        inner = clause(d, inner_who, q)
    p.complement = joined(d.words("that", "que"), inner)
    return clause(d, who, p)


def chaining(d: Draft) -> Pair:
    """Two clauses in a row."""
    d.tags.add("coordination")
    tense = d.rng.choices((PAST, FUTURE, PRESENT), (3, 1, 1))[0]
    link = d.words(*d.rng.choice((("and", "et"), ("but", "mais"))))
    return joined(small_clause(d, tense, first=True), link, small_clause(d, tense))


def long_chain(d: Draft) -> Pair:
    """Many clauses in a row, some with relative clauses, up to fifty words."""
    d.tags.update(("coordination", "long"))
    tense = d.rng.choices((PAST, FUTURE, PRESENT), (4, 1, 1))[0]
    target = d.rng.randint(24, 46)
    whole = small_clause(d, tense, 0.2, first=True)
    while len(whole.en) < target:
        draw = d.rng.random()
        piece = _with_relative(d, tense) if draw < 0.4 else small_clause(d, tense, 0.2)
        left = target - len(whole.en) - len(piece.en)
        if left <= 0 or d.chance(0.45):
            link = d.words(*d.rng.choice((("and", "et"), ("but", "mais"), ("and", "et"))))
        else:
            link = comma(d)
        whole = joined(whole, link, piece)
    return whole


def _with_relative(d: Draft, tense: str) -> Pair:
    verb = d.rng.choice(verbs.TRANSITIVE)
    who = parts.subject(d, verb.subjects, pronouns=False)
    if d.chance(0.5) and who.noun is not None:
        who = relative(d, who.noun)
        obj = parts.thing(d, verb, who, False)
    else:
        obj = relative(d, d.rng.choice(nouns.select(verb.objects)))
    return clause(d, who, Predicate(verb, tense, obj=obj))
