"""What a translation copies, put into both sides of a training pair alike: numbers, placeholders, emoji, list marks.

    He was born in 1964.      Il est né en 1964.      renumber      He was born in 7208.       Il est né en 7208.
    Tom is here.              Tom est là.             placeholders  {name} is here.            {name} est là.
    Thanks a lot!             Merci beaucoup !        emoji         Thanks a lot! 🎉           Merci beaucoup ! 🎉
    Wash the car.             Lave la voiture.        list_marks    2) Wash the car.           2) Lave la voiture.

A model that has learnt slots (`slot_pairs.py`) is not shown most of these when it translates; this is for text that
reaches it as it is, and for models without slots.
"""

from __future__ import annotations

import random
import re
import string

from regard.data.slot_pairs import copies_of, filled, inserted
from regard.text.slots import SLOT

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
PLACEHOLDERS = (
    "{{{}}}",
    "{{{}}}",
    "{{{{{}}}}}",
    "%({})s",
    "${{{}}}",
    "<{}>",
    "[{}]",
    "__{}__",
    "%s",
    "%d",
    "%1$s",
    "{{0}}",
    "{{1}}",
)
_GROUP = r"[.,\u00a0\u202f ][0-9]{3}(?![0-9])"  # three digits of a number from a thousand on
_NUMBER = re.compile(rf"(?<![\w.,/:-])(?:[0-9]{{2,}}+(?:{_GROUP})*+|[0-9](?:{_GROUP})++)(?:[.,][0-9]++)?+(?![\w/:-])")
_DIGIT = re.compile(r"[0-9]")


def with_other_numbers(src: str, tgt: str, rng: random.Random) -> Pair:
    """Each number from 10 on that both sides have equally often becomes another with as many digits, on both. How it is
    written stays: 1,250 is 1 250 elsewhere. Numbers that are part of a word, a date or a time stay as they are.

    >>> with_other_numbers("The 1,250 men of 98, 9 of them.", "Les 1 250 hommes de 98, dont 9.", random.Random(1))
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
    """One name or number that both sides have, replaced by a placeholder or an address; where there is none, one put
    in at the beginning, at the end, or before the last mark. A pair with slots stays as it is.

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
    """One to three emoji, mostly behind both sides.

    >>> with_emoji("Thanks a lot!", "Merci beaucoup !", random.Random(6))
    ('Thanks a lot! 🙃🙃', 'Merci beaucoup ! 🙃🙃')
    """
    emoji = rng.choice(EMOJI) * rng.choice((1, 1, 1, 2, 3)) if rng.random() < 0.8 else "".join(rng.sample(EMOJI, 2))
    if rng.random() < 0.2:
        return f"{emoji} {src}", f"{emoji} {tgt}"
    space = rng.choice((" ", " ", " ", ""))
    return f"{src}{space}{emoji}", f"{tgt}{space}{emoji}"


def with_list_mark(src: str, tgt: str, rng: random.Random) -> Pair:
    """The same bullet, number or letter before both sides.

    >>> with_list_mark("Wash the car.", "Lave la voiture.", random.Random(4))
    ('- Wash the car.', '- Lave la voiture.')
    """
    if rng.random() < 0.5:
        mark = rng.choice(BULLETS)
    else:
        what = rng.choice((str(rng.randint(1, 20)), str(rng.randint(1, 20)), rng.choice("abcdefgh")))
        mark = rng.choice(("{}.", "{}.", "{})", "({})")).format(what)
    return f"{mark} {src}", f"{mark} {tgt}"
