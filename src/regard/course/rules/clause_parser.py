"""A parser for the English clauses of the embedded grammar: recursive descent with backtracking.

The grammar (`regard.course.grammar`) only generates. The parser finds noun phrases, verb groups, objects, tails and
clauses, and builds from them the same Phrase and Predicate as the grammar; the grammar's `clause` then writes both
languages. The parser has no conjugation and no agreement: a verb group is recognized if the grammar generates it in
some tense. The only French here are the function words of comparisons and of subordinate clauses. `translate.py` joins
clauses into sentences.

An ambiguous noun needs one of the contexts that its entry lists. A pronoun refers to the subject or the object before
it, as the grammar's scenes decide.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from regard.course.grammar import clauses as grammar
from regard.course.grammar import nouns, phrases, pronouns, verbs
from regard.course.grammar.clauses import FUTURE, PRESENT, Predicate
from regard.course.grammar.phrases import Phrase
from regard.course.grammar.tokens import Draft, Pair, Tok, joined
from regard.course.grammar.verbs import BE, Verb
from regard.course.rules import english_words
from regard.course.rules.english_words import ADJECTIVES, DEGREES, FEELINGS, SENSES, VerbFeatures, Words

T = TypeVar("T")
Parses = Iterator[tuple[T, Words]]  # each parse of a prefix, with the words that are left

_LONGEST_GROUP = 7  # words of a verb group: did not want to wake up, is no longer …


class ParsedClause(NamedTuple):
    """A clause in both languages, with its subject and predicate."""

    pair: Pair
    subject: Phrase
    predicate: Predicate

    def antecedents(self, quality: str) -> list[Phrase]:
        """Returns the phrases that "it" can refer to in a later clause with the adjective `quality`."""
        who, what = self.subject, self.predicate.obj
        for scene in pronouns.SCENES:
            qualities = dict(scene.objects)
            if scene.verb is self.predicate.verb and what is not None and what.noun in qualities:
                if who.noun in scene.subjects and quality in scene.of_subject:
                    return [who]
                if quality in qualities[what.noun]:
                    return [what]
        return [who] if what is None else [who, what]


class ClauseParser:
    """Each method yields the parses of a prefix of `words`, the longest first."""

    def __init__(self) -> None:
        self.d = Draft(random.Random(0))  # nothing is drawn from it

    # ---------------------------------------------------------------- noun phrases

    def simple_phrase(self, words: Words, negated: bool = False, bare: bool = False) -> Parses[Phrase]:
        """Parses a name, or determiner + adjective + noun, possibly with a possessor. `bare`: also "cheese", "cats"."""
        first = words[0].removesuffix("'s") if words else ""
        if first in nouns.NAMES:
            owner = phrases.name(self.d, first)
            yield from self._owned(owner, words[1:]) if first != words[0] else [(owner, words[1:])]
        if first in english_words.DETERMINERS:
            det = english_words.DETERMINERS[first]
            yield from self._headed("not a" if negated and det == "a" else det, words[1:])
        elif bare:
            yield from self._headed("all", words)
        if words[:1] == ("the",) and words[1:2] and words[1] in english_words.GROUPS:
            the, key = (self.d.key(),), (self.d.key(),)
            fr = [Tok("les", the, article=True), Tok(english_words.GROUPS[words[1]], key)]
            yield Phrase([Tok("the", the), Tok(words[1], key)], fr, False, True, kind="group"), words[2:]

    def _headed(self, det: str, words: Words) -> Parses[Phrase]:
        described = [(ADJECTIVES[words[0]], words[1:])] if words and words[0] in ADJECTIVES else []
        for adj, rest in [*described, (None, words)]:
            form = rest[0].removesuffix("'s") if rest else ""
            for noun, plural in english_words.NOUNS.get(form, ()):
                phrase = phrases.noun_phrase(self.d, noun, det, plural, adj)
                if form != rest[0]:
                    yield from self._owned(phrase, rest[1:])
                    continue
                if det == "the" and adj is None and rest[1:2] == ("of",):
                    for owner, left in self.simple_phrase(rest[2:]):
                        if noun not in SENSES or owner.name in SENSES[noun].of:
                            yield phrases.possessed(self.d, noun, owner, False, plural), left
                if noun not in SENSES or adj is None or adj.en in SENSES[noun].adj:
                    yield phrase, rest[1:]

    def _owned(self, owner: Phrase, words: Words) -> Parses[Phrase]:
        for noun, plural in english_words.NOUNS.get(words[0], ()) if words else ():
            if noun not in SENSES or owner.name in SENSES[noun].of:
                yield phrases.possessed(self.d, noun, owner, True, plural), words[1:]

    def phrase(self, words: Words, negated: bool = False, bare: bool = False) -> Parses[Phrase]:
        """Parses a noun phrase, optionally coordinated with another or followed by a relative clause."""
        for one, rest in self.simple_phrase(words, negated, bare):
            if rest[:1] == ("and",):
                for two, left in self.simple_phrase(rest[1:]):
                    sense = english_words.sense_of_bare_noun(one)
                    if sense is None or two.name in sense.beside:
                        yield phrases.coordinated(self.d, one, two), left
            if rest[:1] in (("who",), ("that",)):
                yield from self._relative(one, rest)
            yield one, rest

    def _relative(self, phrase: Phrase, words: Words) -> Parses[Phrase]:
        key = (self.d.key(),)
        silent = replace(phrase, en=[], fr=[])
        for p, rest in self.predicate(silent, words[1:]):
            yield self._with(phrase, words[0], "qui", key, grammar.clause(self.d, silent, p)), rest
        if words[0] == "that":
            for who, after in self.subject(words[1:]):
                for p, rest in self.predicate(who, after, gap=phrase):
                    yield self._with(phrase, "that", "que", key, grammar.clause(self.d, who, p)), rest

    def _with(self, phrase: Phrase, en: str, fr: str, key: tuple[int, ...], inner: Pair) -> Phrase:
        return replace(phrase, en=[*phrase.en, Tok(en, key), *inner.en], fr=[*phrase.fr, Tok(fr, key), *inner.fr])

    def subject(self, words: Words, refer: Sequence[Phrase] = ()) -> Parses[Phrase]:
        """Parses a subject; `refer`: phrases that a pronoun can refer to."""
        for phrase in refer:
            back = phrases.referring(self.d, phrase)
            if words[:1] == (back.en[0].text,):
                yield back, words[1:]
        if words and words[0] in phrases.SUBJECTS:
            yield phrases.subject_pronoun(self.d, words[0]), words[1:]
        yield from self.phrase(words)

    def direct_object(self, words: Words, p: Predicate, refer: Sequence[Phrase] = ()) -> Parses[Phrase]:
        """Parses a direct object."""
        for phrase in refer:
            back = phrases.referring_object(self.d, phrase)
            if words[:1] == (back.en[0].text,):
                yield back, words[1:]
        if words and words[0] in phrases.OBJECTS:
            yield phrases.object_pronoun(self.d, words[0]), words[1:]
        yield from self.phrase(words, bool(p.negation), bare=p.verb.base in ("love", "hate"))

    # ---------------------------------------------------------------- verbs

    def predicate(
        self, who: Phrase, words: Words, refer: Sequence[Phrase] = (), gap: Phrase | None = None, question: bool = False
    ) -> Parses[Predicate]:
        """Parses everything after the subject. With a `gap` the object is missing: it is a relative clause's head."""
        window = words[:_LONGEST_GROUP]
        for verb in dict.fromkeys([BE, *(v for word in window for v in english_words.VERB_FORMS.get(word, ()))]):
            groups = english_words.verb_groups(verb, who.plural, who.person, question)
            for length in range(len(window), 0, -1):
                setting = groups.get(words[:length])
                rest = words[length:]
                if setting is None or (verb.particle and rest[:1] != (verb.particle,)):
                    continue
                for p, left in self._complements(who, verb, setting, rest[1:] if verb.particle else rest, refer, gap):
                    for tail, end in self.tails(left, english_words.DESTINATIONS if verb in verbs.MOTION else {}):
                        if not _needs_tail(p) or tail:
                            yield replace(p, tail=tail), end

    def _complements(
        self, who: Phrase, verb: Verb, s: VerbFeatures, words: Words, refer: Sequence[Phrase], gap: Phrase | None
    ) -> Parses[Predicate]:
        """Parses verb, object, recipient and complement, without the tail."""
        adverb = self.d.words(*s.adverb) if s.adverb else None
        p = Predicate(verb, s.tense, s.negation, s.modal, adverb=adverb, contracted=s.contracted)
        if verb is BE:
            for (complement, quality, means), rest in self._being(who, words):
                if english_words.senses_fit(who, p, quality):
                    yield replace(p, verb=means, complement=complement), rest
        elif verb in verbs.THINKING:
            for inner, rest in self.clause(words[1:]) if words[:1] == ("that",) else ():
                yield replace(p, complement=joined(self.d.words("that", "que"), inner.pair)), rest
        elif verb in verbs.GIVING and gap is None:
            yield from self._giving(p, words)
        else:
            for full, rest in self._doing(p, words, refer, gap):
                if english_words.senses_fit(who, full):
                    yield full, rest

    def _doing(self, p: Predicate, words: Words, refer: Sequence[Phrase], gap: Phrase | None) -> Parses[Predicate]:
        """Parses the object, if the verb takes one."""
        if gap is not None:
            if p.verb.objects and not p.verb.preposition:
                yield replace(p, gap=gap if gap.noun is not None else None), words
        elif not p.verb.objects or p.verb in (*verbs.MOTION, verbs.SIT):
            yield p, words
        else:
            yield from ((replace(p, obj=obj), rest) for obj, rest in self.direct_object(words, p, refer))

    def _giving(self, p: Predicate, words: Words) -> Parses[Predicate]:
        if words and words[0] in phrases.OBJECTS:
            taker = phrases.object_pronoun(self.d, words[0], indirect=True)
            for obj, rest in self.phrase(words[1:], bool(p.negation)):
                yield replace(p, obj=obj, recipient=taker, recipient_first=True), rest
        for obj, rest in self.direct_object(words, p):
            if rest[:1] == ("to",) and rest[1:]:
                if rest[1] in phrases.OBJECTS:
                    taker = phrases.object_pronoun(self.d, rest[1], indirect=True)
                    yield replace(p, obj=obj, recipient=taker), rest[2:]
                for taker, left in self.simple_phrase(rest[1:]):
                    yield replace(p, obj=obj, recipient=taker), left

    def _being(self, who: Phrase, words: Words) -> Parses[tuple[Pair | None, str, Verb]]:
        """Parses what follows "be": yields both texts, the adjective, and the French verb for "be"."""
        degree = words[0] if words and words[0] in DEGREES else ""
        rest = words[1:] if degree else words
        opening = self.d.words(degree, DEGREES[degree]) if degree else Pair([], [])
        living = who.noun is None or who.noun.is_a(frozenset({"person", "animal"}))
        if rest and rest[0] in FEELINGS and living:
            yield (joined(opening, self.d.words(rest[0], FEELINGS[rest[0]])), "", verbs.HAVE_AS_BE), rest[1:]
        elif rest and rest[0] in ADJECTIVES:
            yield (joined(opening, self._agreeing(who, rest[0])), rest[0], BE), rest[1:]
        if words[:1] == ("as",) and words[1:2] and words[1] in ADJECTIVES and words[2:3] == ("as",):
            same = self.d.words("as", "aussi")
            yield from self._compared(joined(same, self._agreeing(who, words[1])), "as", words[3:])
        for length in (1, 2):
            adj = english_words.COMPARATIVES.get(words[:length])
            if adj is not None and words[length : length + 1] == ("than",):
                more = Pair([Tok(w) for w in words[:length]], [Tok("plus"), *self._agreeing(who, adj.en).fr])
                yield from self._compared(more, "than", words[length + 1 :])
        yield (None, "", BE), words  # a location: it is in the tail

    def _agreeing(self, who: Phrase, adjective: str) -> Pair:
        return phrases.adjective(self.d, ADJECTIVES[adjective], who.feminine, who.agrees_plural, who.name)

    def _compared(self, complement: Pair, than: str, words: Words) -> Parses[tuple[Pair | None, str, Verb]]:
        for other, rest in self.simple_phrase(words):
            yield (joined(complement, self.d.words(than, "que"), Pair(other.en, other.fr)), "", BE), rest

    def tails(self, words: Words, towards: dict[Words, tuple[str, str]]) -> Parses[list[Pair]]:
        """Parses any number of places, manners and times."""
        for one, rest in self._tail(words, english_words.PLACES | towards):
            for more, left in self.tails(rest, towards):
                yield [one, *more], left
        yield [], words

    def _tail(self, words: Words, places: dict[Words, tuple[str, str]]) -> Parses[Pair]:
        for length in (3, 2, 1):
            head, rest = words[:length], words[length:]
            fixed = english_words.TIMES.get(head) or english_words.MANNER.get(head)
            if fixed:
                yield self.d.words(*fixed), rest
            if head in places:
                for where, left in self.simple_phrase(rest):
                    yield phrases.after_preposition(self.d, *places[head], where), left

    # ---------------------------------------------------------------- clauses

    def clause(self, words: Words, refer: Sequence[Phrase] = (), future: bool = False) -> Parses[ParsedClause]:
        """Parses a clause. `future`: after "when", where French has the future and English the present tense."""
        for who, after in self.subject(words, refer):
            for p, rest in self.predicate(who, after, refer):
                if future and p.tense == PRESENT:
                    p.fr_tense = FUTURE
                yield ParsedClause(grammar.clause(self.d, who, p), who, p), rest


def _needs_tail(p: Predicate) -> bool:
    """Whether a place must follow: he is …, he put it …, he sat …"""
    return (p.verb is BE and p.complement is None) or p.verb in (verbs.PUT, verbs.SIT)
