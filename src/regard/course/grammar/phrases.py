"""Noun phrases in both languages at once: determiners, adjectives, possessors, pronouns, names, places.

A `Phrase` has the properties of a subject or an object that a clause needs: words, gender, number and person.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from regard.course.grammar import adjectives, nouns
from regard.course.grammar.adjectives import Adjective
from regard.course.grammar.morphology import word_table
from regard.course.grammar.nouns import Noun
from regard.course.grammar.tokens import Draft, Pair, Tok


@dataclass(slots=True)
class Phrase:
    """A subject or an object, in both languages."""

    en: list[Tok]
    fr: list[Tok]
    feminine: bool
    plural: bool
    person: int = 3
    name: str = ""  # the lemma used in combinations; empty for pronouns and names
    kind: str = ""  # "" noun, "name", "pronoun"
    noun: Noun | None = None
    possessive: str = ""  # the possessive that refers to it

    @property
    def fr_person(self) -> int:
        """The French person, 0..5 as in `morphology.conjugate`."""
        return self.person - 1 + (3 if self.plural else 0)

    @property
    def agrees_plural(self) -> bool:
        """Whether predicates agree in the plural; vous is one person, politely addressed: vous êtes fatigué."""
        return self.plural and self.person != 2

    @property
    def is_person(self) -> bool:
        return self.noun is None or "person" in self.noun.kinds


# English: French masculine, feminine, plural
POSSESSIVES: dict[str, tuple[str, str, str]] = word_table("possessives")
PLURAL_ONLY = {"many": "beaucoup de", "several": "plusieurs", "two": "deux", "three": "trois"}

# subject pronoun: French, feminine, plural, person, possessive
SUBJECTS: dict[str, tuple[str, bool, bool, int, str]] = word_table("subject_pronouns")
# object pronoun: direct clitic, indirect clitic, feminine, plural
OBJECTS: dict[str, tuple[str, str, bool, bool]] = word_table("object_pronouns")


def determiner(d: Draft, word: str, noun: Noun, plural: bool, bare_de: bool) -> Pair:
    """Returns the determiner `word`. `bare_de`: a plural "some" before a French adjective is de (de belles fleurs)."""
    key = (d.key(),)
    fem = noun.feminine
    if word in ("the", "all"):
        fr = [Tok("les" if plural else "la" if fem else "le", key, article=True)]
        return Pair([Tok("the", key)] if word == "the" else [], fr)
    if word == "a":
        return Pair([Tok("a", key)], [Tok("une" if fem else "un", key)])
    if word == "some":
        if plural:
            return Pair([Tok("some", key)], [Tok("de" if bare_de else "des", key)])
        return Pair([Tok("some", key)], [Tok("de", key), Tok("la" if fem else "le", key, article=True)])
    if word in ("any", "not a"):  # under a negation: pas de
        return Pair([Tok("any" if word == "any" else "a", key)], [Tok("de", key)])
    if word == "this":
        if plural:
            return Pair([Tok("these", key)], [Tok("ces", key)])
        return Pair([Tok("this", key)], [Tok("cette", key) if fem else Tok("ce", key, "cet")])
    if word == "every":
        return Pair([Tok("every", key)], [Tok("chaque", key)])
    if word in PLURAL_ONLY:
        return Pair([Tok(word, key)], [Tok(w, key) for w in PLURAL_ONLY[word].split()])
    one, feminine, many = POSSESSIVES[word]
    if plural:
        return Pair([Tok(word, key)], [Tok(many, key)])
    return Pair([Tok(word, key)], [Tok(feminine, key, one) if fem else Tok(one, key)])


def adjective(
    d: Draft, adj: Adjective, feminine: bool, plural: bool, noun_name: str, before_noun: bool = False
) -> Pair:
    """Returns an adjective with agreement, and records its combination with the noun; bel occurs only before a noun."""
    key = (d.key(),)
    if noun_name:
        d.combinations.append(("adjective-noun", adj.en, noun_name))
    form = adj.form(feminine, plural)
    before_vowel = adj.fr_before_vowel if before_noun and not feminine and not plural else ""
    if " " in form:
        return Pair([Tok(adj.en, key)], [Tok(w, key) for w in form.split()])
    return Pair([Tok(adj.en, key)], [Tok(form, key, before_vowel)])


def noun_phrase(d: Draft, noun: Noun, det: str = "the", plural: bool = False, adj: Adjective | None = None) -> Phrase:
    """Determiner, adjective and noun in the order of each language."""
    key = (d.key(),)
    head_en = [Tok(w, key) for w in (noun.en_plural if plural else noun.en).split()]
    head_fr = [Tok(w, key) for w in (noun.fr_plural if plural else noun.fr).split()]
    opening = determiner(d, det, noun, plural, adj is not None and adj.before)
    if adj is None:
        en, fr = opening.en + head_en, opening.fr + head_fr
    else:
        d.tags.update(("agreement", "adjective-order"))
        quality = adjective(d, adj, noun.feminine, plural, noun.en, before_noun=adj.before)
        en = opening.en + quality.en + head_en
        fr = opening.fr + (quality.fr + head_fr if adj.before else head_fr + quality.fr)
    return Phrase(en, fr, noun.feminine, plural, 3, noun.en, "", noun, _refer_back(noun, plural))


def _refer_back(noun: Noun, plural: bool) -> str:
    if plural:
        return "their"
    if "person" in noun.kinds:
        return "her" if noun.feminine else "his"
    return "its"


def name(d: Draft, word: str) -> Phrase:
    """The name of a person."""
    key = (d.key(),)
    feminine = nouns.NAMES[word]
    possessive = "her" if feminine else "his"
    return Phrase([Tok(word, key)], [Tok(word, key)], feminine, False, 3, "", "name", None, possessive)


def subject_pronoun(d: Draft, word: str) -> Phrase:
    """I, you, he, she, we, they."""
    key = (d.key(),)
    fr, feminine, plural, person, possessive = SUBJECTS[word]
    d.tags.add("pronoun-subject")
    return Phrase([Tok(word, key)], [Tok(fr, key)], feminine, plural, person, "", "pronoun", None, possessive)


def referring(d: Draft, to: Phrase) -> Phrase:
    """The subject pronoun that refers back to a phrase: he, she, it, they; il, elle, ils, elles."""
    key = (d.key(),)
    if to.person != 3:
        en = {1: "we" if to.plural else "I", 2: "you"}[to.person]
    elif to.plural:
        en = "they"
    elif to.is_person:
        en = "she" if to.feminine else "he"
    else:
        en = "it"
    fr = {1: "nous" if to.plural else "je", 2: "vous"}.get(to.person) or ("elle" if to.feminine else "il")
    if to.person == 3 and to.plural:
        fr += "s"
    return Phrase([Tok(en, key)], [Tok(fr, key)], to.feminine, to.plural, to.person, "", "pronoun", None, to.possessive)


def object_pronoun(d: Draft, word: str, indirect: bool = False) -> Phrase:
    """me, him, her, us, you, them: a direct or indirect French clitic."""
    key = (d.key(),)
    direct_fr, indirect_fr, feminine, plural = OBJECTS[word]
    d.tags.add("clitic")
    fr = [Tok(indirect_fr if indirect else direct_fr, key)]
    return Phrase([Tok(word, key)], fr, feminine, plural, 3, "", "pronoun")


def referring_object(d: Draft, to: Phrase) -> Phrase:
    """The object pronoun that refers back to a phrase: it, them, him, her; le, la, les."""
    key = (d.key(),)
    d.tags.add("clitic")
    if to.plural:
        en, fr = "them", "les"
    elif to.is_person:
        en, fr = ("her", "la") if to.feminine else ("him", "le")
    else:
        en, fr = "it", "la" if to.feminine else "le"
    return Phrase([Tok(en, key)], [Tok(fr, key)], to.feminine, to.plural, 3, "", "pronoun")


def possessed(d: Draft, noun: Noun, owner: Phrase, genitive: bool, plural: bool = False) -> Phrase:
    """ "the dog's leg" or "the leg of the dog": in French always la patte du chien. The owner is singular."""
    head, de, key_the = (d.key(),), (d.key(),), (d.key(),)
    d.tags.add("genitive")
    en_noun = Tok(noun.en_plural if plural else noun.en, head)
    the_fr = Tok("les" if plural else "la" if noun.feminine else "le", key_the, article=True)
    fr = [the_fr, *(Tok(w, head) for w in (noun.fr_plural if plural else noun.fr).split()), Tok("de", de), *owner.fr]
    if genitive:
        last = owner.en[-1]
        en = [*owner.en[:-1], Tok(last.text + "'s", last.keys + de), en_noun]
    else:
        en = [Tok("the", key_the), en_noun, Tok("of", de), *owner.en]
    return Phrase(en, fr, noun.feminine, plural, 3, noun.en, "", noun, _refer_back(noun, plural))


def coordinated(d: Draft, first: Phrase, second: Phrase) -> Phrase:
    """Two phrases joined by and / et."""
    key = (d.key(),)
    d.tags.add("coordination")
    return Phrase(
        [*first.en, Tok("and", key), *second.en],
        [*first.fr, Tok("et", key), *second.fr],
        first.feminine and second.feminine,
        True,
        possessive="their",
        noun=first.noun,
    )


# preposition: French, and the kinds of noun that can follow it
PREPOSITIONS: dict[str, tuple[str, str]] = word_table("prepositions")


def place(d: Draft, preposition: str = "") -> Pair:
    """Draws a definite place: in the garden, near the church."""
    word = preposition or d.rng.choice(("in", "in", "in", "on", "near", "behind", "in front of", "next to"))
    fr, kinds = PREPOSITIONS[word]
    return at_place(d, word, fr, kinds)


def at_place(d: Draft, en: str, fr: str, kinds: str) -> Pair:
    """A preposition and a definite noun of one of these kinds."""
    return after_preposition(d, en, fr, noun_phrase(d, d.rng.choice(nouns.select(kinds))))


def after_preposition(d: Draft, en: str, fr: str, phrase: Phrase) -> Pair:
    """A preposition and a phrase."""
    link = d.words(en, fr)
    return Pair(link.en + phrase.en, link.fr + phrase.fr)


@cache
def fitting(noun: Noun) -> tuple[Adjective, ...]:
    """Returns the adjectives that can describe this noun, in table order."""
    found = []
    for adj in adjectives.ADJECTIVES:
        allowed = frozenset(adj.kinds.split())
        if noun.en in allowed or noun.is_a(allowed):
            found.append(adj)
    return tuple(found)


@cache
def predicable(noun: Noun) -> tuple[Adjective, ...]:
    """Returns the adjectives that can follow be, without "new", which is neuf there, not nouveau."""
    return tuple(adj for adj in fitting(noun) if adj.en != "new")
