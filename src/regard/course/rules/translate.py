"""Rule-based translation: parses the English with the embedded grammar and generates the French.

A parse is valid only if the English that the grammar writes for it is the given sentence, character by character. A
sentence outside the grammar gives None.

On the embedded corpus this is an upper bound by construction, because the references come from the same grammar; the
agreement says nothing about the quality of the French. Nothing is learnt and no sentence is looked up.

The parser here handles questions and sentences of several clauses; `clause_parser.py` parses one clause. The only
French here are the function words that join clauses, form questions, and introduce "there is".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from regard.course.grammar import clauses as grammar
from regard.course.grammar.clauses import FUTURE
from regard.course.grammar.corpus import finish
from regard.course.grammar.nouns import NAMES
from regard.course.grammar.phrases import Phrase
from regard.course.grammar.tokens import Pair, Tok, joined
from regard.course.grammar.verbs import BE
from regard.course.rules.clause_parser import ClauseParser, ParsedClause, Parses
from regard.course.rules.english_words import CONJUNCTIONS, QUESTION_WORDS, TIMES, WEATHER, Words
from regard.text.words import split_words


class Parser(ClauseParser):
    """Parses one sentence: `sentence` and `question` yield the parses of all of `words`."""

    def __init__(self) -> None:
        super().__init__()
        self.chains: dict[Words, Pair | None] = {}

    def sentence(self, words: Words) -> Iterator[Pair]:
        """Yields the parses of a complete statement."""
        for length in (1, 2, 3):
            if words[:length] in TIMES and words[length : length + 1] == (",",):
                time = self.d.words(*TIMES[words[:length]])
                yield from (joined(time, self.d.words(",", ","), s) for s in self.sentence(words[length + 1 :]))
        if words[:1] in (("when",), ("if",)):
            opening = self.d.words(words[0], {"when": "quand", "if": "si"}[words[0]])
            for condition, rest in self.clause(words[1:], future=words[0] == "when"):
                for result, left in self.clause(rest[1:]) if rest[:1] == (",",) else ():
                    if not left:
                        yield joined(opening, condition.pair, self.d.words(",", ","), result.pair)
        if words[:1] == ("there",):
            yield from self._there_is(words[1:])
        for main, rest in self.clause(words):
            if not rest:
                yield main.pair
            else:
                yield from (joined(main.pair, more) for more in self._joined(main, rest))
        chain = self._chain(words)
        if chain is not None:
            yield chain

    def _joined(self, main: ParsedClause, words: Words) -> Iterator[Pair]:
        """Parses the clauses that can follow a main clause and refer back to it."""
        link, after = words[0], words[1:]
        if link == "because":
            yield from self._because(main, after)
        elif link == "that" and main.predicate.verb is BE:  # so wide that the animal didn't cross it
            yield from self._ended(self.d.words("that", "que"), self.clause(after, refer=[main.subject]))
        elif link in ("while", "when", "if"):
            fr = {"while": "pendant que", "when": "quand", "if": "si"}[link]
            yield from self._ended(self.d.words(link, fr), self.clause(after, future=link == "when"))
        elif words[:2] == (",", "so"):
            both = joined(self.d.words(",", ","), self.d.words("so", "donc"))
            yield from self._ended(both, self.clause(words[2:], refer=[main.subject]))
        elif link == "and" and main.predicate.obj is not None:
            yield from self._and_then(main, main.predicate.obj, after)

    def _because(self, main: ParsedClause, words: Words) -> Iterator[Pair]:
        link = self.d.words("because", "parce que")
        if words in WEATHER:
            yield joined(link, self.d.words(*WEATHER[words]))
        for antecedent in main.antecedents(words[-1]) if words else ():
            yield from self._ended(link, self.clause(words, refer=[antecedent]))

    def _and_then(self, main: ParsedClause, obj: Phrase, words: Words) -> Iterator[Pair]:
        """… bought the letter and read it; … and she read it."""
        link, who = self.d.words("and", "et"), main.subject
        for back, rest in self.subject(words, refer=[who]):
            for p, left in self.predicate(back, rest, refer=[obj]):
                if not left and back.kind == "pronoun":
                    yield joined(link, grammar.clause(self.d, back, p))
        silent = Phrase([], [], who.feminine, who.plural, who.person)
        later = main.predicate.tense == FUTURE
        for p, left in self.predicate(silent, ("will", *words) if later else words, refer=[obj]):
            if not left:
                then = grammar.clause(self.d, silent, p)
                yield joined(link, Pair(then.en[1:], then.fr) if later else then)

    def _ended(self, link: Pair, found: Parses[ParsedClause]) -> Iterator[Pair]:
        yield from (joined(link, clause.pair) for clause, rest in found if not rest)

    def _chain(self, words: Words) -> Pair | None:
        """Returns the first parse of a chain of clauses up to the end, cached, so that long chains stay fast."""
        if words not in self.chains:
            self.chains[words] = next(self._chained(words), None)
        return self.chains[words]

    def _chained(self, words: Words) -> Iterator[Pair]:
        for one, rest in self.clause(words):
            if not rest:
                yield one.pair
            elif rest[0] in CONJUNCTIONS:
                more = self._chain(rest[1:])
                if more is not None:
                    yield joined(one.pair, self.d.words(rest[0], CONJUNCTIONS[rest[0]]), more)

    def _there_is(self, words: Words) -> Iterator[Pair]:
        form = words[0].removesuffix("n't") if words else ""
        if form not in ("is", "are", "was", "were"):
            return
        negated = form != words[0]
        finite = "avait" if form in ("was", "were") else "a"
        fr = ["il", "ne", "y", finite, "pas"] if negated else ["il", "y", finite]
        opening = Pair([Tok("there"), Tok(words[0])], [Tok(w) for w in fr])
        for what, rest in self.simple_phrase(words[1:], negated):
            for where, left in self.tails(rest, {}):
                if where and not left:
                    yield joined(opening, Pair(what.en, what.fr), *where)

    def question(self, words: Words) -> Iterator[Pair]:
        """Yields the parses of a complete question."""
        if words[:1] == ("who",):
            asked = self.d.words("who", "qui")
            who = Phrase(asked.en, asked.fr, False, False)
            yield from (grammar.clause(self.d, who, p) for p, rest in self.predicate(who, words[1:]) if not rest)
            return
        wh = self.d.words(words[0], QUESTION_WORDS[words[0]]) if words and words[0] in QUESTION_WORDS else None
        after = words[1:] if wh else words
        gap = Phrase([], [], False, False) if words[:1] == ("what",) else None
        for subject, rest in self.subject(after[1:]):
            for p, left in self.predicate(subject, (*after[:1], *rest), gap=gap, question=True):
                if not left:
                    yield grammar.question(self.d, subject, p, wh)


# -------------------------------------------------------------------------------- translation


_MOST_PARSES = 50  # maximum parses tried for one sentence


def translate(line: str) -> str | None:
    """
    >>> translate("The animal didn't cross the street because it was too wide.")
    "L'animal n'a pas traversé la rue parce qu'elle était trop large."
    >>> translate("Colourless green ideas sleep furiously.") is None
    True
    """
    words = split_words(line)
    if len(words) < 2 or words[-1] not in (".", "?"):
        return None
    if words[0].removesuffix("'s") not in NAMES and words[0] != "I":
        words[0] = words[0].lower()
    parser, mark = Parser(), words[-1]
    parses = (parser.question if mark == "?" else parser.sentence)(tuple(words[:-1]))
    for pair in islice(parses, _MOST_PARSES):
        written = finish(parser.d, pair, mark).example
        if written.src == line:
            return written.tgt
    return None


def translate_all(lines: Iterable[str]) -> list[str | None]:
    """Translates each line; None for a line that the rules cannot parse."""
    return [translate(line) for line in lines]
