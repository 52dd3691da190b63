"""Sentences with spans that must survive a translation, and where each span is: for `survive.py`.

Everything is drawn by a seeded generator: the same seed gives the same sentences. Half of them are made from the
templates below; half are real sentences, in which a name or a number is replaced, or to which a phrase with a span is
added. The words of names and templates were written for this file.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable, Sequence
from typing import NamedTuple

Rng = random.Random


class Gold(NamedTuple):
    start: int
    end: int
    kind: str


class Case(NamedTuple):
    text: str
    spans: tuple[Gold, ...]


_FIRST = """
Sarah Angela Zoë Priya Mateo Ingrid Kwame Yuki Leila Søren Anaïs Bjørn Chiara Dmitri Eszter Fatima Giulia Hiroshi
Ibrahim Jasmine Katarzyna Lukas Malala Nikhil Oluwaseun Pilar Quentin Rosalind Siobhan Tatiana Umberto Vikram
Wilhelmina Xiomara Yusuf Zeynep Álvaro Beatriz Cillian Dagmar Esmeralda Freya Gustavo Hermione Isadora Joaquín
Kirsten Lorenzo Mireille Nadezhda Octavia Paloma Rasmus Saoirse Thandiwe Ulrike Valentina Wolfgang
"""
_LAST = """
Merkel Nakamura Okafor Petrov Lindqvist Fernández Kowalski Papadopoulos Rousseau Svensson Takahashi Ivanova Müller-Stahl
 O'Connor Haraldsson Bianchi Dvořák Erdoğan Fitzgerald Gutiérrez Hoffmann Jankowski Kjellberg Lefebvre Moreau
Novák Ochoa Pham Quispe Ramanujan Schröder Tanizaki Vasquez Wójcik Yamamoto Zimmermann Nguyen Abernathy Bhattacharya
McAllister
"""
_PLACES = """
Zürich Göteborg Ljubljana Reykjavík Timbuktu Ouagadougou Vladivostok Winnipeg Kraków Tromsø Gdańsk Bratislava
Marrakech Antananarivo Ulaanbaatar Wolverhampton Poughkeepsie Saskatoon Wollongong Valparaíso Cochabamba
Thessaloniki Eindhoven Innsbruck Szeged Tampere Uppsala Vilnius Xalapa Yokosuka Zaragoza Fuengirola Kilkenny
Llandudno Schenectady Tegucigalpa Whanganui Nijmegen
"""
_PRODUCTS = """
AcmeCloud, AcmeCloud Pro, iPhone, YouTube, PyTorch, GPT-4o, MacBook, PlayStation, WhatsApp, LinkedIn, OpenOffice,
GitHub, PowerPoint, LaTeX, eBay, PayPal, DeepMind, JavaScript, PostgreSQL, NumPy, VoltEdge, DataForge Max,
QuickNote, SolarWind X2, B737-800, A380, RTX4090, H2O, COVID-19, MP3, WD-40, PS5, NASA, UNESCO, IKEA, BMW, CERN,
FIFA, JPEG, HTML5, OpenStreetMap, ThinkPad, BlackBerry, SpaceX
"""
FIRST, LAST, PLACES = _FIRST.split(), _LAST.split(), _PLACES.split()
PRODUCTS = [product.strip() for product in _PRODUCTS.split(",")]
_WORDS = str.split("alpha beta report data user main index setup final north river copper maple signal orbit")


_EMOJI = "🍕 😂 🎉 ❤️ 👍🏽 👩‍👩‍👧 🇫🇷 🚀 😀😀 👩🏾‍🚀 1️⃣ ☀️ :) ;-) <3 :D :smile: 🏳️‍🌈 🇩🇪🇪🇸"
_SYMBOLS = "𝕏 → ★ ≤ ✓ 𝓐 ⇒ ©"


def _digits(rng: Rng, count: int) -> str:
    return "".join(rng.choices(string.digits, k=count))


def _word(rng: Rng) -> str:
    return rng.choice(_WORDS)


def _name(rng: Rng) -> str:
    first, last = rng.choice(FIRST), rng.choice(LAST)
    return rng.choice([first, last, f"{first} {last}"])


def _number(rng: Rng) -> str:
    n = rng.randint(1000, 9_999_999)
    return rng.choice(
        [
            str(rng.randint(13, 999)),
            f"{n:,}",
            f"{rng.uniform(0, 99):.2f}",
            f"{rng.randint(3, 99)}%",
            f"-{rng.randint(2, 40)}",
            str(rng.randint(1500, 2100)),
            f"{rng.randint(1, 9)}/{rng.randint(2, 9)}",
            f"{n:,}.{rng.randint(1, 99)}",
            f"{rng.randint(1, 9)}.{rng.randint(1, 9)}%",
            f"{rng.randint(1, 9)}½",
        ]
    )


def _date(rng: Rng) -> str:
    year, month, day = rng.randint(1990, 2035), rng.randint(1, 12), rng.randint(1, 28)
    return rng.choice([f"{year}-{month:02}-{day:02}", f"{day:02}/{month:02}/{year}", f"{day}.{month}.{year}"])


def _time(rng: Rng) -> str:
    hour, minute = rng.randint(1, 12), rng.randint(0, 59)
    forms = [f"{hour}:{minute:02} pm", f"{hour}:{minute:02} a.m.", f"{hour + 11:02}:{minute:02}", f"{hour} p.m."]
    return rng.choice([*forms, f"{hour + 11}h{minute:02}", f"{hour}:{minute:02}:{rng.randint(10, 59)}", f"{hour}am"])


def _amount(rng: Rng) -> str:
    n = rng.randint(2, 99_999)
    forms = [f"${n:,}", f"€{n}", f"£{n:,}.{rng.randint(10, 99)}", f"{n} €", f"US${n}", f"¥{n:,}", f"CHF {n}"]
    return rng.choice(forms)


def _phone(rng: Rng) -> str:
    d = [_digits(rng, 2) for _ in range(4)]
    a, b, c = (str(rng.randint(200, 999)) for _ in range(3))
    forms = [f"555-01{d[0]}", f"+33 {rng.randint(1, 7)} {' '.join(d)}", f"({a}) {b}-{_digits(rng, 4)}"]
    return rng.choice(
        [*forms, f"{a}-{b}-{_digits(rng, 4)}", f"+1-800-{c}-{_digits(rng, 4)}", f"0{rng.randint(1, 7)} {' '.join(d)}"]
    )


def _url(rng: Rng) -> str:
    a, b = _word(rng), _word(rng)
    return rng.choice(
        [
            f"https://example.com/{a}?id={rng.randint(1, 99)}",
            f"http://{a}.example.org/{b}/index.html#{a}",
            f"www.{a}{b}.com",
            f"{a}{b}.org",
            f"https://{a}.example/wiki/{b.title()}_({a})",
            f"ftp://files.{a}.net/{b}.zip",
            f"{a}.io/{b}",
            f"http://localhost:{rng.randint(3000, 9999)}/{a}",
        ]
    )


def _email(rng: Rng) -> str:
    a, b = _word(rng), _word(rng)
    return rng.choice([f"{a}@example.com", f"{a}.{b}@{b}.co.uk", f"{a}+{b}{rng.randint(1, 99)}@example.org"])


def _path(rng: Rng) -> str:
    a, b, suffix = _word(rng), _word(rng), rng.choice(["txt", "pdf", "py", "csv", "docx", "tar.gz", "jpg"])
    forms = [f"/usr/local/{a}", f"C:\\Users\\{a}\\{b}.{suffix}", f"./{a}/{b}.{suffix}", f"~/{a}", f"{a}.{suffix}"]
    return rng.choice([*forms, f"{a}_{b}.{suffix}", f"src/{a}/{b}.py", f"/etc/{a}.conf"])


def _code(rng: Rng) -> str:
    a, b = _word(rng), _word(rng)
    n = ".".join(str(rng.randint(0, 20)) for _ in range(3))
    hexes = "".join(rng.choices("0123456789abcdef", k=6))
    forms = [f"`{a} = {b}[0]`", f"--{a}-{b}", f"{a}_{b}", f"{a}{b.title()}()", f"{a}.{b}()", f"{a.upper()}_{b.upper()}"]
    return rng.choice(
        [*forms, f"v{n}", f"#1{hexes[:5]}", f"0x{hexes}", f"--{a}={b}.json", f"192.168.{rng.randint(0, 255)}.1"]
    )


def _mention(rng: Rng) -> str:
    return rng.choice([f"@{_word(rng)}", f"@{_word(rng)}_{_digits(rng, 2)}", f"@{rng.choice(FIRST[:20])}"])


def _tag(rng: Rng) -> str:
    return rng.choice([f"#{_word(rng)}", f"#{_word(rng).title()}{_word(rng).title()}", f"#{rng.randint(1, 9999)}"])


def _emoji(rng: Rng) -> str:
    return rng.choice(_EMOJI.split())


def _placeholder(rng: Rng) -> str:
    a, n = _word(rng), rng.randint(0, 9)
    forms = [f"{{{a}}}", f"{{{n}}}", f"{{{{{a}}}}}", "%s", "%d", f"%{n + 1}$s", f"%({a})d", "%@", f"${{{a.upper()}}}"]
    return rng.choice(
        [*forms, f"${a.upper()}", f'<x id="{n}"/>', "<br/>", "&nbsp;", f"[[{n}]]", f"%({a})s", f"{{{a}.{a}}}"]
    )


def _symbol(rng: Rng) -> str:
    return rng.choice(_SYMBOLS.split())


MAKERS: dict[str, Callable[[Rng], str]] = {
    "number": _number,
    "date": _date,
    "time": _time,
    "amount": _amount,
    "phone": _phone,
    "url": _url,
    "email": _email,
    "path": _path,
    "code": _code,
    "mention": _mention,
    "tag": _tag,
    "emoji": _emoji,
    "placeholder": _placeholder,
    "symbol": _symbol,
    "person": _name,
    "place": lambda rng: rng.choice(PLACES),
    "product": lambda rng: rng.choice(PRODUCTS),
}
KIND = {"person": "name", "place": "name", "product": "name"}  # what protected_spans.py calls it, where that differs

TEMPLATES = """
There are {number} people here.
The number is {number}, not {number}.
We need {number} more of them.
I read page {number} twice.
The answer was {number}.
They counted {number} of them in the garden.
The meeting is on {date}.
I was born on {date} in {place}.
It was written on {date} by {person}.
From {date} to {date} the office is closed.
Call {phone} at {time}.
The train leaves at {time}.
We will meet at {time} in front of the station.
Is it already {time}?
My number is {phone}.
Please call me on {phone} tomorrow.
This car costs {amount}.
I paid {amount} for it, and she paid {amount}.
He owes me {amount}.
See {url} for details.
I found it on {url} yesterday.
Open {url}, please.
You can read more about it at {url}.
Send it to {email}.
My address is {email}, I think.
Write to {email} or call {phone}.
The file is in {path}.
Open {path} and read the first line.
I cannot find {path}.
He sent me {path} by mail.
Use {code} to start the program.
The function {code} returns nothing.
What does {code} mean?
{mention} is right.
I saw {mention} and {mention} at the party.
Ask {mention} about it.
Everybody is talking about {tag}.
I wrote about it under {tag}.
I love pizza {emoji} and my dog {emoji}!
Thank you very much {emoji}
That was funny {emoji}, wasn't it?
Good morning {emoji}!
Hello {placeholder}, you have {placeholder} new messages.
The file {placeholder} was not found.
Do you want to delete {placeholder}?
Welcome back, {placeholder}!
{placeholder} wants to be your friend.
My name is {person}.
{person} lives in {place}.
I met {person} yesterday.
Do you know {person}?
{person}'s brother is a doctor.
We went to {place} last summer.
{place} is a beautiful city.
I want to live in {place}.
{product} is our new product.
I bought {product} for {amount}.
She works for {product}.
Do you like {product}?
The new {product} is very expensive.
Press {symbol} to go on.
The sign {symbol} means nothing to me.
On {date} at {time}, {person} paid {amount} in {place}.
{person} wrote {number} letters to {person}.
Call {person} at {phone} before {time}.
Version {code} of {product} is here: {url}.
"""

PHRASES = {  # what is added to a real sentence, before its last sign
    "number": [" ({})", " in {} days", ", {} times"],
    "date": [" on {}"],
    "time": [" at {}"],
    "amount": [" for {}"],
    "phone": [" (call {})"],
    "url": [" ({})", ", see {}"],
    "email": [" (write to {})"],
    "path": [" in {}"],
    "code": [" with {}"],
    "mention": [" with {}", ", {}"],
    "tag": [" {}"],
    "emoji": [" {}"],
    "placeholder": [" {}", " with {}"],
    "symbol": [" {}"],
    "person": [" with {}", ", {}"],
    "place": [" in {}"],
    "product": [" with {}"],
}
_SLOT = re.compile(r"\{(\w+)\}")
_PERSON_IN_TEXT = re.compile(r"\b(?:Tom|Mary|John)\b")
_NUMBER_IN_TEXT = re.compile(r"(?<![\w.,:$€£/-])\d{2,}(?![\w.,:%€/-])")


def cases(count: int, seed: int, real: Sequence[str] = ()) -> list[Case]:
    """Sentences with spans: from templates, and every second one from `real` sentences if there are any."""
    rng = random.Random(seed)
    usable = [sentence for sentence in map(_template, real) if len(sentence.split()) >= 3 and sentence[-1] in ".!?"]
    usable = [sentence for sentence in usable if not any(map(str.isdigit, sentence))]  # whose kind is not sure
    templates = TEMPLATES.strip().split("\n")
    made: list[Case] = []
    for i in range(count):
        if usable and i % 2:
            made.append(_from_real(rng.choice(usable), rng))
        else:
            made.append(_filled(rng.choice(templates), rng))
    return made


def _filled(template: str, rng: Rng) -> Case:
    text, spans, at = "", [], 0
    for slot in _SLOT.finditer(template):
        text += template[at : slot.start()]
        value = MAKERS[slot[1]](rng)
        spans.append(Gold(len(text), len(text) + len(value), KIND.get(slot[1], slot[1])))
        text += value
        at = slot.end()
    return Case(text + template[at:], tuple(spans))


def _template(sentence: str) -> str:
    """A real sentence whose common names and plain numbers are places for others."""
    plain = sentence.replace("{", "(").replace("}", ")")
    return _NUMBER_IN_TEXT.sub("{number}", _PERSON_IN_TEXT.sub("{person}", plain))


def _from_real(template: str, rng: Rng) -> Case:
    if "{" not in template or rng.random() < 0.5:
        kind = rng.choice(list(PHRASES))
        phrase = rng.choice(PHRASES[kind]).replace("{}", f"{{{kind}}}")
        template = template[:-1] + phrase + template[-1]
    return _filled(template, rng)
