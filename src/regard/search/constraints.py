"""Constraints on the tokens of one hypothesis: what it must and must not contain, evaluated at each step.

    forbidden()    tokens that may not come next; includes EOS while something is still required
    wanted()       tokens that advance a required phrase; a search considers them, however improbable
    after(token)   the constraint of the hypothesis extended by a token; constraints are immutable
    needs          least number of tokens still required; 0: the constraint is met, and the hypothesis may end
    margin         how much one token can increase `needs`, by breaking off a phrase that was begun
    met            required tokens generated so far: hypotheses with equal `met` are compared with each other
    kinds(size)    the tokens that `after` treats alike; constraints are compared and hashed, so that a search can
                   number them (`constraint_table.py`)

From every state with needs > 0 one of the wanted tokens lowers `needs` by 1. So a search that allows only such tokens
once no more than needs + margin tokens fit always meets the constraint, if the model gives these tokens a nonzero
probability. Nothing here depends on torch, on a model or on a search; ids are those of the target vocabulary.

    EachOnce   every one of some tokens exactly once          slots that stand for numbers, names, links
    Terms      phrases, each in one of several forms          glossary, words that are copied (required_terms.py)
    NoRepeat   no n tokens twice                              loops
    Never      none of some phrases                           words that a term replaces
    All        several of them at once
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError
from regard.text.vocabulary import SPECIALS

EOS = SPECIALS.index("</s>")
Kinds = NDArray[np.int32]
NOTHING: frozenset[int] = frozenset()
ONLY_EOS = frozenset((EOS,))


class Constraint(Protocol):
    """The restrictions on the next token of one hypothesis. Immutable."""

    def forbidden(self) -> frozenset[int]: ...

    def wanted(self) -> frozenset[int]: ...

    def after(self, token: int) -> Constraint: ...

    def kinds(self, size: int) -> Kinds:
        """Returns the kind of each token, (size,), from 0: permitted tokens of one kind have equal results of `after`,
        for this constraint and for all that follow from it."""
        ...

    @property
    def needs(self) -> int: ...

    @property
    def margin(self) -> int: ...

    @property
    def met(self) -> int: ...

    @property
    def yields(self) -> bool:
        """Whether a forbidden token is permitted all the same if another constraint wants it."""
        ...


def kinds_of_tokens(tokens: Iterable[int], size: int) -> Kinds:
    """Returns a kind for each of these tokens, and one for all others.

    >>> kinds_of_tokens({3, 5}, 6).tolist()
    [0, 0, 0, 1, 0, 2]
    """
    kinds = np.zeros(size, dtype=np.int32)
    for kind, token in enumerate(sorted(set(tokens)), start=1):
        kinds[token] = kind
    return kinds


def closing_tokens(constraint: Constraint) -> frozenset[int]:
    """Returns the tokens permitted when there is no more room: those that leave the fewest needed; EOS if none are."""
    if constraint.needs == 0:
        return ONLY_EOS
    needs = {token: constraint.after(token).needs for token in constraint.wanted() - constraint.forbidden()}
    least = min(needs.values(), default=0)
    return frozenset(token for token, need in needs.items() if need == least)


@dataclass(frozen=True)
class EachOnce:
    """Requires every token of `left` exactly once, and no other of the `reserved` ones.

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

    def kinds(self, size: int) -> Kinds:
        return kinds_of_tokens(self.left, size)


@dataclass(frozen=True)
class NoRepeat:
    """Forbids any run of n tokens to occur more than `times` times.

    >>> loop = NoRepeat(2).after(5).after(6).after(5)
    >>> sorted(loop.forbidden())
    [6]
    """

    n: int
    times: int = 1
    generated: tuple[int, ...] = ()
    needs = margin = met = 0
    yields = True

    def __post_init__(self) -> None:
        if self.n < 1 or self.times < 1:
            raise InputError(f"no-repeat takes n tokens from 1 on, each run at least once, but has {self.n}")

    @classmethod
    def for_source(cls, n: int, source: Sequence[int]) -> NoRepeat:
        """Allows a run as often as the most frequent run of the source occurs: "no, no, no" stays possible.

        >>> NoRepeat.for_source(2, [5, 9, 5, 9, 5, 9]).times
        3
        """
        runs = Counter(tuple(source[i : i + n]) for i in range(len(source) - n + 1))
        return cls(n, max(runs.values(), default=1))

    def forbidden(self) -> frozenset[int]:
        before = self.n - 1
        if len(self.generated) < before:
            return NOTHING
        context = self.generated[len(self.generated) - before :]
        followers = Counter(
            self.generated[i + before]
            for i in range(len(self.generated) - before)
            if self.generated[i : i + before] == context
        )
        return frozenset(token for token, count in followers.items() if count >= self.times)

    def wanted(self) -> frozenset[int]:
        return NOTHING

    def after(self, token: int) -> NoRepeat:
        return NoRepeat(self.n, self.times, (*self.generated, token))

    def kinds(self, size: int) -> Kinds:
        return np.arange(size, dtype=np.int32)


@dataclass(frozen=True)
class Never:
    """Forbids some token sequences, unless another constraint wants the token that would complete one.

    >>> never = Never(frozenset({(5, 6), (7,)}))
    >>> sorted(never.forbidden()), sorted(never.after(5).forbidden())
    ([7], [6, 7])
    """

    sequences: frozenset[tuple[int, ...]]
    generated: tuple[int, ...] = ()  # the last tokens, as far as a sequence begins with them
    needs = margin = met = 0
    yields = True

    def forbidden(self) -> frozenset[int]:
        return frozenset(s[-1] for s in self.sequences if self.generated[len(self.generated) - len(s) + 1 :] == s[:-1])

    def wanted(self) -> frozenset[int]:
        return NOTHING

    def after(self, token: int) -> Never:
        last = (*self.generated, token)
        while last and not any(len(last) < len(s) and s[: len(last)] == last for s in self.sequences):
            last = last[1:]
        return Never(self.sequences, last)

    def kinds(self, size: int) -> Kinds:
        return kinds_of_tokens((token for s in self.sequences for token in s), size)


@dataclass(frozen=True)
class All:
    """The conjunction of several constraints.

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
        return firm | (soft - self._wanted_by_any())

    def wanted(self) -> frozenset[int]:
        firm = (part.forbidden() for part in self.parts if not part.yields)
        return self._wanted_by_any().difference(*firm)

    def _wanted_by_any(self) -> frozenset[int]:
        return NOTHING.union(*(part.wanted() for part in self.parts))

    def after(self, token: int) -> All:
        return All(tuple(part.after(token) for part in self.parts))

    def kinds(self, size: int) -> Kinds:
        kinds = np.zeros(size, dtype=np.int64)
        for part in self.parts:
            kinds = np.unique(kinds * size + part.kinds(size), return_inverse=True)[1]
        return kinds.astype(np.int32)


def without_no_repeat(constraint: Constraint | None) -> tuple[Constraint, NoRepeat | None]:
    """Returns the other parts of a constraint, and the part that forbids repeated runs."""
    parts = list(constraint.parts) if isinstance(constraint, All) else [constraint] if constraint else []
    repeat = next((part for part in parts if isinstance(part, NoRepeat)), None)
    rest = [part for part in parts if part is not repeat]
    return rest[0] if len(rest) == 1 else All(tuple(rest)), repeat


def count_violations(ids: Sequence[int], constraint: Constraint | None) -> int:
    """Counts the violations of a translation: tokens it must not contain, and required tokens it lacks.

    >>> count_violations((5, 7, 7), EachOnce(frozenset({7, 8}), frozenset({7, 8, 9})))
    2
    """
    if constraint is None:
        return 0
    wrong, needs = violations_by_kind(ids, constraint)
    return wrong + needs


def violations_by_kind(ids: Sequence[int], constraint: Constraint) -> tuple[int, int]:
    """Returns how many tokens are forbidden at their position, and how many required tokens are missing."""
    wrong = 0
    for token in ids:
        wrong += token in constraint.forbidden()
        constraint = constraint.after(token)
    return wrong, constraint.needs


def satisfies(ids: Sequence[int], constraint: Constraint | None) -> bool:
    """Whether a hypothesis meets its constraint."""
    return count_violations(ids, constraint) == 0
