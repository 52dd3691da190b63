"""Changes spans that a translation copies, alike on both sides of a training pair: slots, numbers, placeholders, emoji.

Pairs with slots (`text/slots.py`) teach a model to copy a token whatever it stands for. A span that both sides share,
such as a number or a name, is replaced on both sides by the same slot, with a slot for each occurrence. A pair without
such spans gets a slot inserted: at its beginning, at its end, or before the last punctuation mark. Slots are drawn at
random, so that a model learns all of them. Pairs with placeholders ({name}, %1) always get slots. The pairs with slots
are the same in every epoch, so that the text is encoded once. Slots are inserted after all other changes
(`transforms.py`). Replacing words and their translations needs an aligner, which is above this layer:
`recipes/box/slots.py` makes such pairs. Other copies are inserted on both sides:

    He was born in 1964.      Il est né en 1964.      renumber      He was born in 7208.       Il est né en 7208.
    Tom is here.              Tom est là.             placeholders  {name} is here.            {name} est là.
    Thanks a lot!             Merci beaucoup !        emoji         Thanks a lot! 🎉           Merci beaucoup ! 🎉
    Wash the car.             Lave la voiture.        list_marks    2) Wash the car.           2) Lave la voiture.

A model that has learnt slots does not see most of these when it translates; they are for text that is not replaced by
slots, and for models without slots.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Sequence
from dataclasses import dataclass

import regex

from regard.data.filters import Numbered
from regard.text.protected_spans import placeholders, protected_spans
from regard.text.slots import SLOT, SLOTS
from regard.text.span_matching import NUMBER_KINDS
from regard.text.words import Span

KEPT = 0.8  # probability that a replaceable span is replaced
TOGETHER = 0.7  # probability that neighbouring words ("Angela Merkel") are one span
_CAPITALISED = regex.compile(r"(?<![\p{L}\p{N}])\p{Lu}[\p{L}\p{M}]++(?:-[\p{L}\p{M}]++)*+")
_NO_DIGITS = regex.compile(r"\P{N}+")
_ELISION = regex.compile(r"\p{L}['’]$")
_LAST_MARK = regex.compile(r"[\s ]*[.!?…。！？]+[\s»”\"]*$")


@dataclass(frozen=True)
class Replacement:
    """Spans of source and target that one slot replaces. At an empty span a slot is inserted, surrounded by the texts
    `before` and `after`."""

    src: Span
    tgt: Span
    before: str = ""
    after: str = ""


def slotted(texts: Sequence[Numbered], share: float, rng: random.Random) -> list[Numbered]:
    """Returns the pairs, this share of them with slots, and all that have the same placeholders on both sides: a model
    with slots never reads a placeholder as text.

    >>> ((_, src, tgt),) = slotted([(0, "Copy %1 here", "Copier %1 ici")], 0.001, random.Random(3))
    >>> SLOT.sub("_", src), SLOT.sub("_", tgt)
    ('Copy _ here', 'Copier _ ici')
    """
    return [
        (number, *(with_slots(src, tgt, rng) if rng.random() < share or shared_placeholders(src, tgt) else (src, tgt)))
        for number, src, tgt in texts
    ]


def shared_placeholders(src: str, tgt: str) -> bool:
    found = placeholders(src)
    return bool(found) and found == placeholders(tgt)


def with_slots(src: str, tgt: str, rng: random.Random) -> tuple[str, str]:
    """Returns the pair with slots; unchanged if it has slots already.

    >>> pair = with_slots("Tom paid 1,250 euros.", "Tom a payé 1 250 euros.", random.Random(4))
    >>> [SLOT.sub("_", side) for side in pair]
    ['_ paid _ euros.', '_ a payé _ euros.']
    """
    if SLOT.search(src) or SLOT.search(tgt):
        return src, tgt
    copies = [copy for copy in joined_copies(src, tgt, copies_of(src, tgt), rng) if rng.random() < KEPT]
    return replaced(src, tgt, copies or [inserted(src, tgt, rng)], rng)


def copies_of(src: str, tgt: str) -> list[Replacement]:
    """Finds numbers, addresses, code and the like, and capitalised words that both sides have equally often, in the
    order of the source. Only the digits of a number must be the same: 1,250 is 1 250 elsewhere. A word after an elision
    (d'Alice) is skipped, because another word in its place might not be elided."""
    ours, theirs = _by_key(src), _by_key(tgt)
    found = []
    for key, spans in ours.items():
        others = theirs.get(key, [])
        if len(spans) == len(others) and not any(_ELISION.search(tgt[max(0, a - 2) : a]) for a, _ in others):
            found += [Replacement(mine, its) for mine, its in zip(spans, others, strict=True)]
    return sorted(found, key=lambda copy: copy.src)


def _by_key(text: str) -> dict[str, list[Span]]:
    """Returns the replaceable spans, by the key that must be the same on the other side."""
    found: dict[str, list[Span]] = {}
    at = 0
    for protected in (*protected_spans(text), None):  # and capitalised words between those, and after the last
        start, end = (protected.start, protected.end) if protected else (len(text), len(text))
        for word in _CAPITALISED.finditer(text, at, start):
            found.setdefault(word[0], []).append(word.span())
        if protected:
            own = text[start:end]
            key = _NO_DIGITS.sub("", own) if protected.kind in NUMBER_KINDS else own
            found.setdefault(key, []).append((start, end))
        at = end
    return found


def joined_copies(src: str, tgt: str, copies: Sequence[Replacement], rng: random.Random) -> list[Replacement]:
    """Joins copies that are separated by one space on both sides, with probability TOGETHER."""
    found: list[Replacement] = []
    for copy in copies:
        last = found[-1] if found else None
        if last and src[last.src[1] : copy.src[0]] == " " == tgt[last.tgt[1] : copy.tgt[0]] and rng.random() < TOGETHER:
            found[-1] = Replacement((last.src[0], copy.src[1]), (last.tgt[0], copy.tgt[1]))
        else:
            found.append(copy)
    return found


def inserted(src: str, tgt: str, rng: random.Random) -> Replacement:
    """Chooses a place for a slot on both sides: the beginning, the end, or before the last punctuation mark."""
    place = rng.choice(("beginning", "end", "mark"))
    if place == "beginning":
        return Replacement((0, 0), (0, 0), after=" ")
    ends = [len(src), len(tgt)]
    if place == "mark":
        marks = [_LAST_MARK.search(side) for side in (src, tgt)]
        if all(mark and mark.start() for mark in marks):
            ends = [mark.start() for mark in marks if mark]
    return Replacement((ends[0], ends[0]), (ends[1], ends[1]), before=" ")


def replaced(src: str, tgt: str, some: Sequence[Replacement], rng: random.Random) -> tuple[str, str]:
    """Replaces each of these spans, which must not overlap, by a random slot; at most as many as there are slots."""
    some = some[: len(SLOTS)]
    slots = [f"{r.before}{slot}{r.after}" for r, slot in zip(some, rng.sample(SLOTS, len(some)), strict=True)]
    return filled(src, [r.src for r in some], slots), filled(tgt, [r.tgt for r in some], slots)


def filled(text: str, spans: Sequence[Span], slots: Sequence[str]) -> str:
    """Replaces some spans of a text, which must not overlap."""
    parts, at = [], 0
    for (start, end), slot in sorted(zip(spans, slots, strict=True)):
        assert start >= at, "spans of slots overlap"
        parts += [text[at:start], slot]
        at = end
    return "".join([*parts, text[at:]])


Pair = tuple[str, str]

EMOJI = tuple(
    str.split("""
    😀 😃 😄 😁 😅 😂 🤣 😊 😇 🙂 🙃 😉 😍 🥰 😘 😋 😜 🤔 🤗 😎 😏 😒 🙄 😢 😭 😱 😡 🥳 🤯 😴 🙏 👍 👎 👏 🙌 💪
    👋 ✌️ 🤞 ❤️ 💔 💕 🔥 ✨ 🎉 🎂 🎁 ⭐ 🌞 🌧️ 🐱 🐶 🍕 🍷 ☕ 🚗 ✈️ 🏠 📞 ✅ ❌ ⚠️ 🇫🇷 🇩🇪 🇪🇸 🇬🇧
    :) :-) ;) :D :( :P <3
    """)
)
BULLETS = ("-", "-", "-", "•", "•", "*", "*", "–", "+")
NAMES = ("name", "user", "count", "title", "date", "file", "email", "price", "city", "n", "x", "value", "url", "id")
ADDRESSES = ("https://example.com/{}", "www.example.org", "{}@example.com", "@{}", "#{}", "/home/{}", "{}.pdf", "`{}`")
PLACEHOLDERS = tuple(str.split("{{{}}} {{{}}} {{{{{}}}}} %({})s ${{{}}} <{}> [{}] __{}__ %s %d %1$s {{0}} {{1}}"))
_GROUP = r"[.,\u00a0\u202f ][0-9]{3}(?![0-9])"  # three digits of a number from a thousand on
_NUMBER = re.compile(rf"(?<![\w.,/:-])(?:[0-9]{{2,}}+(?:{_GROUP})*+|[0-9](?:{_GROUP})++)(?:[.,][0-9]++)?+(?![\w/:-])")
_DIGIT = re.compile(r"[0-9]")


def with_changed_numbers(src: str, tgt: str, rng: random.Random) -> Pair:
    """Replaces each number from 10 on that both sides have equally often by another with as many digits. Its format is
    kept: 1,250 is 1 250 elsewhere. Numbers that are part of a word, a date or a time are not changed.

    >>> with_changed_numbers("The 1,250 men of 98, 9 of them.", "Les 1 250 hommes de 98, dont 9.", random.Random(1))
    ('The 3,580 men of 24, 9 of them.', 'Les 3 580 hommes de 24, dont 9.')
    """
    ours, theirs = ([_digits(found[0]) for found in _NUMBER.finditer(side)] for side in (src, tgt))
    others = {
        digits: str(rng.randint(1, 9)) + "".join(rng.choices(string.digits, k=len(digits) - 1))
        for digits in dict.fromkeys(ours)
        if ours.count(digits) == theirs.count(digits)
    }

    def other(found: re.Match[str]) -> str:
        new = iter(others.get(digits := _digits(found[0]), digits))
        return _DIGIT.sub(lambda _: next(new), found[0])

    return (_NUMBER.sub(other, src), _NUMBER.sub(other, tgt)) if others else (src, tgt)


def _digits(number: str) -> str:
    return "".join(_DIGIT.findall(number))


def with_placeholder(src: str, tgt: str, rng: random.Random) -> Pair:
    """Replaces one name or number that both sides have by a placeholder or an address; if there is none, inserts one at
    the beginning, at the end, or before the last mark. A pair with slots is not changed.

    >>> with_placeholder("Tom is here.", "Tom est là.", random.Random(4))
    ('[date] is here.', '[date] est là.')
    """
    if SLOT.search(src) or SLOT.search(tgt):
        return src, tgt
    copies = copies_of(src, tgt)
    place = rng.choice(copies) if copies else inserted(src, tgt, rng)
    name = rng.choice(NAMES)
    form = rng.choice(PLACEHOLDERS if rng.random() < 0.7 else ADDRESSES)
    new = [place.before + form.format(name.upper() if rng.random() < 0.2 else name) + place.after]
    return filled(src, [place.src], new), filled(tgt, [place.tgt], new)


def with_emoji(src: str, tgt: str, rng: random.Random) -> Pair:
    """Adds one to three emoji to both sides, mostly at the end.

    >>> with_emoji("Thanks a lot!", "Merci beaucoup !", random.Random(6))
    ('Thanks a lot! 🙃🙃', 'Merci beaucoup ! 🙃🙃')
    """
    emoji = rng.choice(EMOJI) * rng.choice((1, 1, 1, 2, 3)) if rng.random() < 0.8 else "".join(rng.sample(EMOJI, 2))
    if rng.random() < 0.2:
        return f"{emoji} {src}", f"{emoji} {tgt}"
    space = rng.choice((" ", " ", " ", ""))
    return f"{src}{space}{emoji}", f"{tgt}{space}{emoji}"


def with_list_mark(src: str, tgt: str, rng: random.Random) -> Pair:
    """Puts the same bullet, number or letter before both sides.

    >>> with_list_mark("Wash the car.", "Lave la voiture.", random.Random(4))
    ('- Wash the car.', '- Lave la voiture.')
    """
    if rng.random() < 0.5:
        mark = rng.choice(BULLETS)
    else:
        what = rng.choice((str(rng.randint(1, 20)), str(rng.randint(1, 20)), rng.choice("abcdefgh")))
        mark = rng.choice(("{}.", "{}.", "{})", "({})")).format(what)
    return f"{mark} {src}", f"{mark} {tgt}"
