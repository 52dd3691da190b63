"""What a search must say and must not say: constraints on the tokens of one hypothesis, asked at each step.

    forbidden()    tokens that may not come next; EOS is among them while something must still be said
    wanted()       tokens that bring what must be said forward; a search considers them, however improbable
    after(token)   the constraint of the longer hypothesis; a constraint itself never changes
    needs          tokens that must still be said, at least; 0: everything is said, and the hypothesis may end
    margin         how much `needs` can grow by one token: a phrase that was begun may be broken off
    met            tokens said of what must be said: hypotheses with equal `met` are compared with each other

From every state with needs > 0 one of the wanted tokens lowers `needs` by 1. So a search that allows only such tokens
as soon as no more than needs + margin tokens fit in always ends with everything said, if the model gives these tokens
a probability at all. Nothing here depends on torch, on a model or on a search; ids are those of the target vocabulary.

    EachOnce   every one of some tokens exactly once          slots that stand for numbers, names, links
    Terms      phrases, each in one of several forms          glossary, words that are copied (required_terms.py)
    NoRepeat   no n tokens twice                              loops
    Never      none of some phrases                           what a term is to replace
    All        several of them at once
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from regard.errors import InputError
from regard.text.vocabulary import SPECIALS

EOS = SPECIALS.index("</s>")
NOTHING: frozenset[int] = frozenset()
ONLY_EOS = frozenset((EOS,))


class Constraint(Protocol):
    """What holds for the next token of one hypothesis. Immutable."""

    def forbidden(self) -> frozenset[int]: ...

    def wanted(self) -> frozenset[int]: ...

    def after(self, token: int) -> Constraint: ...

    @property
    def needs(self) -> int: ...

    @property
    def margin(self) -> int: ...

    @property
    def met(self) -> int: ...

    @property
    def yields(self) -> bool:
        """Whether what it forbids may be said all the same where another constraint wants it."""
        ...


def urgent(constraint: Constraint) -> frozenset[int]:
    """The only tokens left when there is no more room: those after which least is needed; EOS if nothing is."""
    if constraint.needs == 0:
        return ONLY_EOS
    needs = {token: constraint.after(token).needs for token in constraint.wanted() - constraint.forbidden()}
    least = min(needs.values(), default=0)
    return frozenset(token for token, need in needs.items() if need == least)


@dataclass(frozen=True)
class EachOnce:
    """Every token of `left` exactly once, and no other of the `reserved` ones.

    >>> slots = EachOnce(frozenset({7, 8}), frozenset({7, 8, 9}))
    >>> sorted(slots.after(7).forbidden()), sorted(slots.after(7).wanted()), slots.after(7).needs
    ([2, 7, 9], [8], 1)
    """

    left: frozenset[int]
    reserved: frozenset[int]
    met: int = 0
    margin = 0
    yields = False

    @property
    def needs(self) -> int:
        return len(self.left)

    def forbidden(self) -> frozenset[int]:
        others = self.reserved - self.left
        return others | ONLY_EOS if self.left else others

    def wanted(self) -> frozenset[int]:
        return self.left

    def after(self, token: int) -> EachOnce:
        return EachOnce(self.left - {token}, self.reserved, self.met + 1) if token in self.left else self


@dataclass(frozen=True)
class NoRepeat:
    """No n tokens in a row more than `times` times.

    >>> loop = NoRepeat(2).after(5).after(6).after(5)
    >>> sorted(loop.forbidden())
    [6]
    """

    n: int
    times: int = 1
    said: tuple[int, ...] = ()
    needs = margin = met = 0
    yields = True

    def __post_init__(self) -> None:
        if self.n < 1 or self.times < 1:
            raise InputError(f"no-repeat takes n tokens from 1 on, each run at least once, but has {self.n}")

    @classmethod
    def for_source(cls, n: int, source: Sequence[int]) -> NoRepeat:
        """A run may be said as often as the source itself says its most frequent one: "no, no, no" stays possible.

        >>> NoRepeat.for_source(2, [5, 9, 5, 9, 5, 9]).times
        3
        """
        runs = Counter(tuple(source[i : i + n]) for i in range(len(source) - n + 1))
        return cls(n, max(runs.values(), default=1))

    def forbidden(self) -> frozenset[int]:
        before = self.n - 1
        if len(self.said) < before:
            return NOTHING
        context = self.said[len(self.said) - before :]
        followers = Counter(
            self.said[i + before] for i in range(len(self.said) - before) if self.said[i : i + before] == context
        )
        return frozenset(token for token, count in followers.items() if count >= self.times)

    def wanted(self) -> frozenset[int]:
        return NOTHING

    def after(self, token: int) -> NoRepeat:
        return NoRepeat(self.n, self.times, (*self.said, token))


@dataclass(frozen=True)
class Never:
    """None of some token sequences, unless another constraint wants to say what would complete it.

    >>> never = Never(frozenset({(5, 6), (7,)}))
    >>> sorted(never.forbidden()), sorted(never.after(5).forbidden())
    ([7], [6, 7])
    """

    sequences: frozenset[tuple[int, ...]]
    said: tuple[int, ...] = ()
    needs = margin = met = 0
    yields = True

    def forbidden(self) -> frozenset[int]:
        return frozenset(s[-1] for s in self.sequences if self.said[len(self.said) - len(s) + 1 :] == s[:-1])

    def wanted(self) -> frozenset[int]:
        return NOTHING

    def after(self, token: int) -> Never:
        return Never(self.sequences, (*self.said, token))


@dataclass(frozen=True)
class All:
    """Several constraints at once.

    >>> from regard.search.required_terms import Terms
    >>> both = All((Terms.of([[(5,)]]), NoRepeat(1))).after(6)
    >>> sorted(both.forbidden()), sorted(both.wanted()), both.after(5).needs
    ([2, 6], [5], 0)
    """

    parts: tuple[Constraint, ...]

    @property
    def needs(self) -> int:
        return sum(part.needs for part in self.parts)

    @property
    def margin(self) -> int:
        return sum(part.margin for part in self.parts)

    @property
    def met(self) -> int:
        return sum(part.met for part in self.parts)

    @property
    def yields(self) -> bool:
        return all(part.yields for part in self.parts)

    def forbidden(self) -> frozenset[int]:
        firm = NOTHING.union(*(part.forbidden() for part in self.parts if not part.yields))
        soft = NOTHING.union(*(part.forbidden() for part in self.parts if part.yields))
        return firm | (soft - self._asked())

    def wanted(self) -> frozenset[int]:
        firm = (part.forbidden() for part in self.parts if not part.yields)
        return self._asked().difference(*firm)

    def _asked(self) -> frozenset[int]:
        return NOTHING.union(*(part.wanted() for part in self.parts))

    def after(self, token: int) -> All:
        return All(tuple(part.after(token) for part in self.parts))
