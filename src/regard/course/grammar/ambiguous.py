"""Words of two or three senses: "the bank approved the loan" / "the bank of the river" → la banque / la rive.

Another word of the sentence selects the sense: the possessor (the princess's ring, the phone's ring), an adjective (a
rusty nail), the verb (she lit / won the match), a coordinated noun (the plane and the hammer). A word listed here is
used nowhere else in the grammar.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from regard.course.grammar import adjectives, nouns, parts, phrases, verbs
from regard.course.grammar.clauses import FUTURE, PAST, PRESENT, Predicate, clause
from regard.course.grammar.nouns import Noun
from regard.course.grammar.phrases import Phrase
from regard.course.grammar.tokens import Draft, Pair


@dataclass(frozen=True)
class Sense:
    """One meaning, and the words that select it."""

    noun: Noun
    of: tuple[str, ...] = ()
    adj: tuple[str, ...] = ()
    verb: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    does: tuple[str, ...] = ()  # verbs it is the subject of

    def contexts(self, frame: str) -> tuple[str, ...]:
        contexts: tuple[str, ...] = getattr(self, frame)
        return contexts


@dataclass(frozen=True)
class AmbiguousWord:
    en: str
    verbs: tuple[str, ...]  # verbs that fit every sense
    qualities: tuple[str, ...]  # adjectives that fit every sense
    senses: tuple[Sense, ...]


def _names(text: str) -> tuple[str, ...]:
    return tuple(w.replace("_", " ") for w in text.split())


_Contexts = tuple[str, tuple[tuple[str, ...], ...]]


def _sense(fr: str, of: str = "", adj: str = "", verb: str = "", beside: str = "", does: str = "") -> _Contexts:
    return fr, (_names(of), _names(adj), _names(verb), _names(beside), _names(does))


def _word(en: str, verb_names: str, qualities: str, *senses: _Contexts, plural: bool = True) -> AmbiguousWord:
    made = tuple(
        Sense(nouns.parse(f"{en} {fr} {'' if plural else '+single'}", "ambiguous"), *rest) for fr, rest in senses
    )
    return AmbiguousWord(en, _names(verb_names), _names(qualities), made)


_TREES, _PEOPLE = "tree oak pine willow", "man woman boy girl soldier king queen actress dancer child sailor"
WORDS: tuple[AmbiguousWord, ...] = (
    _word("bank", "see look_for find admire", "beautiful old quiet",
          _sense("banque f", "village city lawyer farmer uncle", "modern rich famous",
                 does="approve refuse accept sign"),
          _sense("rive f", "river lake stream", "muddy slippery steep")),
    _word("spring", "see look_for find", "",
          _sense("ressort m", "clock machine armchair toy sofa robot", "rusty broken"),
          _sense("source f", "river village valley forest"),
          _sense("printemps m", "", "rainy sunny"), plural=False),
    _word("bat", "see find look_for draw", "black small old beautiful",
          _sense("chauve-souris/chauves-souris f", "cave forest barn tower", "frightened injured sick",
                 beside="owl mouse bird squirrel", does="sleep fly rest"),
          _sense("batte f", "boy student child girl", "wooden broken expensive", beside="ball glove toy shoe")),
    _word("nail", "see touch look_for", "long small dirty",
          _sense("clou m", "wall door roof fence shelf chair", "rusty"),
          _sense("ongle m", "girl woman queen witch princess dancer actress")),
    _word("trunk", "see touch draw", "big old beautiful dirty",
          _sense("tronc m", _TREES), _sense("trompe f", "elephant"),
          _sense("malle f", "grandmother sailor tourist aunt actress queen", "empty full", "open close"), plural=False),
    _word("bark", "love", "strange beautiful",
          _sense("écorce f", _TREES, verb="touch cut see paint"),
          _sense("aboiement m", "dog puppy", verb="hear"), plural=False),
    _word("match", "forget", "",
          _sense("allumette f", "", "wet burnt", "light hide find", "candle lamp"),
          _sense("match m", "", "exciting boring", "win watch prepare")),
    _word("seal", "see look_for draw", "beautiful old",
          _sense("phoque m", "island beach", "frightened injured tired", "feed follow", does="sleep swim rest"),
          _sense("sceau/sceaux m", "king queen prince judge", "official royal")),
    _word("pen", "see look_for find", "old dirty clean",
          _sense("stylo m", "teacher student writer lawyer nurse judge engineer", beside="book map letter"),
          _sense("enclos m", "pig goat horse cow donkey hen goose", beside="farm barn field")),
    _word("bow", "see touch draw admire", "beautiful old",
          _sense("arc m", "hunter soldier hero prince", beside="axe knife"),
          _sense("nœud m", "dress skirt hat scarf shirt shoe")),
    _word("ring", "love hate know", "beautiful old strange",
          _sense("bague f", "princess queen aunt actress woman witch"),
          _sense("sonnerie f", "phone clock school door")),
    _word("plane", "see look_for use", "old small",
          _sense("avion m", "pilot king tourist", "fast modern", beside="helicopter boat train"),
          _sense("rabot m", "carpenter", beside="hammer axe knife")),
    _word("palm", "see draw touch", "beautiful small",
          _sense("palmier m", "island beach garden desert park hotel"),
          _sense("paume f", "boy girl woman child king sailor")),
    _word("pipe", "see look_for clean break", "old dirty long",
          _sense("pipe f", "grandfather sailor king soldier uncle"),
          _sense("tuyau m", "kitchen factory house school machine hotel")),
    _word("tank", "see repair clean", "big dirty old",
          _sense("char m", "soldier hero"), _sense("réservoir m", "car truck bus tractor motorcycle van taxi")),
    _word("bill", "see admire draw", "strange long",
          _sense("bec m", "duck bird owl eagle goose hen"),
          _sense("facture f", "hotel restaurant hospital doctor lawyer"), plural=False),
    _word("horn", "see touch clean", "big old strange",
          _sense("corne f", "goat cow"), _sense("klaxon m", "car truck bus taxi motorcycle van")),
    _word("leg", "see touch draw", "long dirty small",
          _sense("patte f", "dog cat horse cow lion monkey duck donkey elephant"), _sense("jambe f", _PEOPLE),
          _sense("pied m", "table chair bed sofa desk armchair bench")),
    _word("key", "see look_for find clean", "small dirty old",
          _sense("clé f", "house car door hotel office castle suitcase"), _sense("touche f", "piano computer phone")),
)  # fmt: skip


@dataclass(frozen=True)
class SenseCase:
    """A sentence without the sense and the word that selects it; `seed` fixes the rest."""

    word: AmbiguousWord
    frame: str  # "of", "adj", "verb", "beside", "does"
    as_subject: bool
    plural: bool
    seed: int


def draw(rng: random.Random) -> SenseCase:
    word = rng.choice(WORDS)
    frames = [f for f in ("of", "of", "of", "adj", "verb", "beside", "does") if any(s.contexts(f) for s in word.senses)]
    frame = rng.choice(frames)
    share = {"adj": 0.6, "of": 0.45 if word.qualities else 0.0}.get(frame, 0.0)
    as_subject = rng.random() < share
    plural = "single" not in word.senses[0].noun.kinds and rng.random() < 0.2
    return SenseCase(word, frame, as_subject, plural, rng.getrandbits(32))


def write(case: SenseCase, sense: Sense, context: str) -> tuple[Draft, Pair]:
    """The sentence of this case in this sense, decided by `context`."""
    d = Draft(random.Random(case.seed))
    d.tags.add("polysemy")
    pick = random.Random(case.seed)  # choices that must not depend on the sense
    tense = pick.choices((PAST, PRESENT, FUTURE), (5, 2, 2))[0]
    person = pick.random()
    genitive, degree = pick.random() < 0.5, pick.random() < 0.4
    quality = pick.choice(case.word.qualities) if case.word.qualities else ""
    verb_name = context if case.frame == "verb" else pick.choice(case.word.verbs)
    what = _phrase(d, case, sense, context, genitive)
    if case.frame == "does":
        doing = verbs.BY_NAME[context]
        p = Predicate(doing, tense, "not" if pick.random() < 0.15 else "")
        p.obj = parts.thing(d, doing, what, bool(p.negation), 0.1) if doing.objects else None
        return d, clause(d, what, p)
    if case.as_subject:
        d.tags.add("agreement")
        adj = adjectives.BY_NAME[context if case.frame == "adj" else quality]
        complement = phrases.adjective(d, adj, what.feminine, what.plural, case.word.en)
        if degree and case.frame == "of" and adj.en not in parts.NO_DEGREE:
            very = d.words("very", "très")
            complement = Pair(very.en + complement.en, very.fr + complement.fr)
        return d, clause(d, what, Predicate(verbs.BE, PAST if tense == FUTURE else tense, complement=complement))
    who = _person(d, person, pick)
    verb = verbs.BY_NAME[verb_name]
    p = Predicate(verb, tense, obj=what)
    if pick.random() < 0.12:
        p.negation = "not"
    elif pick.random() < 0.3 and not verb.state:
        p.tail.append(d.words(*pick.choice(parts.TIMES[tense])))
    return d, clause(d, who, p)


def _phrase(d: Draft, case: SenseCase, sense: Sense, context: str, genitive: bool) -> Phrase:
    noun = sense.noun
    if case.frame == "of":
        owner = phrases.noun_phrase(d, nouns.BY_NAME[context])
        d.combinations.append(("verb-object", "of " + case.word.en, context))
        return phrases.possessed(d, noun, owner, genitive, case.plural)
    if case.frame == "adj" and not case.as_subject:
        return phrases.noun_phrase(d, noun, "the", case.plural, adjectives.BY_NAME[context])
    phrase = phrases.noun_phrase(d, noun, "the", case.plural)
    if case.frame == "beside":
        other = phrases.noun_phrase(d, nouns.BY_NAME[context], "the", case.plural)
        return phrases.coordinated(d, phrase, other)
    return phrase


def _person(d: Draft, draw: float, pick: random.Random) -> Phrase:
    if draw < 0.35:
        return phrases.name(d, pick.choice(nouns.ALL_NAMES))
    if draw < 0.6:
        return phrases.subject_pronoun(d, pick.choice(("I", "he", "she", "we", "they", "you")))
    return phrases.noun_phrase(d, pick.choice(nouns.select("person")), "the", pick.random() < 0.2)


def sentence(rng: random.Random) -> tuple[Draft, Pair]:
    """One sentence with an ambiguous word, each sense and frame in turn."""
    case = draw(rng)
    senses = [s for s in case.word.senses if s.contexts(case.frame)]
    sense = rng.choice(senses)
    return write(case, sense, rng.choice(sense.contexts(case.frame)))


def minimal_pair(rng: random.Random) -> tuple[tuple[Draft, Pair, str], tuple[Draft, Pair, str]]:
    """The same sentence in two senses, but for the word that decides."""
    while True:
        case = draw(rng)
        senses = [s for s in case.word.senses if s.contexts(case.frame)]
        if len(senses) > 1:
            break
    first, second = rng.sample(senses, 2)
    one = write(case, first, rng.choice(first.contexts(case.frame)))
    two = write(case, second, rng.choice(second.contexts(case.frame)))
    return (*one, _form(first, case)), (*two, _form(second, case))


def _form(sense: Sense, case: SenseCase) -> str:
    return sense.noun.fr_plural if case.plural else sense.noun.fr
