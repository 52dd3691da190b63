"""Protected spans, and English dates with the name of a month."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.text.known_words import KnownWords
from regard.text.protected_spans import (
    KINDS,
    NAME,
    UNUSUAL,
    pattern_spans,
    protected_spans,
    written_dates,
)

WHOLE = {
    "number": "1998 1,250 3.14 1\u202f250 -5 20% 1/2 ½ 1e6 −3 1939–1945 2½ 1,2,3 5°C 100 "
    "10%–15% 1920x1080 5'10\" 7\u00a01998",
    "date": "2024-05-03 03/05/2024 3.5.2024 2024-05-03T14:30:00Z 12/31/99 03/05/2024-05/05/2024",
    "time": "3:45 15h45 14:30:05 5pm 5p.m. 6.30pm 23:59 9:00–17:00 9am-5pm 3:45&nbsp;pm",
    "amount": "$1,250.50 €20 20€ US$5 £3.50 -$5 $5k $5–$10 1&nbsp;250,00&nbsp;€",
    "phone": "555-0199 +33123456789 555-123-4567 +1-800-555-0199 01&nbsp;23&nbsp;45&nbsp;67&nbsp;89 030/901820 "
    "01\u00a023\u202f45\u200967\u00a089 0171-1234567 555\u2011123\u20114567",
    "url": "https://example.com/docs?id=42 www.example.com example.org https://en.wikipedia.org/wiki/Foo_(bar) "
    "ftp://a.b/c example.com/a/b. http://localhost:8080/x https://x.example/{id}/y",
    "email": "me@example.com a.b+c@x.co.uk mailto:me@example.com @user@server.example",
    "path": r"/usr/local/bin C:\Users\x ./a/b.txt ~/x report.pdf src/main.py archive.tar.gz ../up .gitignore /etc",
    "code": "`x` --flag --out=x.json snake_case camelCase() foo.bar() CONSTANT_NAME v2.0.1 2.0.1 #1a2b3c 0xff mp3 "
    "x86-64 123e4567-e89b-12d3-a456-426614174000 192.168.0.1 __init__ a1b2c3d4e5 std::vector my_call(x)",
    "mention": "@name @first.last @scope/name",
    "tag": "#tag #1 #Été",
    "emoji": "🍕 👩‍👩‍👧 👍🏽 🇫🇷 🇫🇷🇩🇪 1️⃣ ❤️ 😂😂 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f "
    ":) ;-) :D <3 :smile: xD ^^ :'(",
    "placeholder": "{name} {0} {} {{x}} {user.name!r:>10} %s %d %1$s %(x)d %@ %.2f ${VAR} $VAR %{x} <x/> </b> <br> "
    '&nbsp; &#233; [[1]] [1] %1 <a/> {{{x}}} {%x%} \\n [/b] <x\u00a0id="7"/>',
    "object": "\ufffc",
    "symbol": "𝕏 → ▲ \x07 \uf8e0 ≤ m² 𝓗𝓮",
    "name": "AcmeCloud iPhone GPT-4o A380 YouTube 3D R2-D2 COVID-19 C++",
}


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in WHOLE.items() for text in texts.split(" ")])
@pytest.mark.parametrize("sentence", ["We saw {} there.", "{}", "Look ({})!", "It is {}, I say."])
def test_each_kind_is_found_whole(kind: str, text: str, sentence: str) -> None:
    shown = text.rstrip(".") if kind == "url" else text
    before, after = sentence.split("{}")
    if kind == "emoji" and text[0].isascii() and before.endswith("("):
        pytest.skip("brackets around an emoticon are another emoticon")
    spans = protected_spans(before + text + after)
    assert [(span.kind, span.start, span.end) for span in spans] == [(kind, len(before), len(before) + len(shown))]
    assert kind in KINDS


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I was born on May 3, 1998.", ["3", "1998"]),
        ("the 20th of the 1950s, 5 km", ["20", "1950", "5"]),
        ("It opens at 6.30 pm, up 6.30 percent.", ["6.30 pm", "6.30"]),
        ("Call (555) 123-4567 at 3:45 pm or 5 p.m.", ["(555) 123-4567", "3:45 pm", "5 p.m."]),
        ("+33 1 23 45 67 89, 01 23 45 67 89", ["+33 1 23 45 67 89", "01 23 45 67 89"]),
        ("030 90 18 20, 020 7946 0958, 1 800 555 0199", ["030 90 18 20", "020 7946 0958", "1 800 555 0199"]),
        ("+33 (0)1 23 45 67 89, (030) 90 18 20", ["+33 (0)1 23 45 67 89", "(030) 90 18 20"]),
        ("4111 1111 1111 1111, 3782 822463 10005", ["4111 1111 1111 1111", "3782 822463 10005"]),
        ("GB29 NWBK 6016 1331 9268 19 AND MORE", ["GB29 NWBK 6016 1331 9268 19"]),
        ("$5 - $10, 10 – 15 km, 12 × 30 cm, 3 x 4 m", ["$5 - $10", "10 – 15", "12 × 30", "3 x 4"]),
        ("3,5 m × 4,2 m, +1&nbsp;(212)&nbsp;555&#8209;0199", ["3,5 m × 4,2", "+1&nbsp;(212)&nbsp;555&#8209;0199"]),
        ("83 999.50 €, 8-3 or (7, 8) 8-)", ["83 999.50 €", "8-3", "7", "8", "8-)"]),
        ("vom 3.–5. Mai, 10 a.m. - 2 p.m.", ["3.–5", "10 a.m. - 2 p.m."]),
        ("en 2020 10 000 000 personnes, in 2020 300 people", ["2020", "10 000 000", "2020", "300"]),
        ("12, 14 and 16; 0.12345678", ["12", "14", "16", "0.12345678"]),
        ("1 250 euros, 20 %, 20 €, CHF 20, 20 EUR", ["1 250", "20 %", "20 €", "CHF 20", "20 EUR"]),
        ("（https://example.com）と3匹", ["https://example.com", "3"]),
        ('Press <x id="7"/> or <b>here</b>.', ['<x id="7"/>', "<b>", "</b>"]),
        ("`--flag 3` and --flag 3", ["`--flag 3`", "--flag", "3"]),
        ("\ufffc\ufffc", ["\ufffc", "\ufffc"]),
        ("20% discount, 100% of them", ["20%", "100%"]),
        ("AcmeCloud Pro is our new product.", ["AcmeCloud Pro"]),
        ("It came from NASA.", ["NASA"]),
        ("The SolarWind X2 is here.", ["SolarWind X2"]),
        ("Read it on example.com. Then go.", ["example.com"]),
    ],
)
def test_spans_in_sentences(text: str, found: list[str]) -> None:
    assert [text[span.start : span.end] for span in protected_spans(text)] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The word שלום means «Война и мир».", ["שלום", "Война и мир"]),
        ("Say \u200fمرحبا بالعالم\u200f now, 𠮷野家is コーヒー.", ["\u200fمرحبا بالعالم\u200f", "𠮷野家", "コーヒー"]),
        ("Meet at Кафе 15:30, завтра (ok)", ["Кафе 15:30, завтра"]),
        ("α, 5 µm, 10kΩ, iPh\u043ene", ["α, 5 µm, 10kΩ, iPh\u043ene"]),
        ("See https://пример.рф/путь, @имя and отчёт.pdf", []),
        ("\ufffcслово\ufffc", ["слово"]),
        ("Dvořák, Łódź, naïve café, Hawaiʻi, ª, °, ﬁ, cafe\u0301", []),
    ],
)
def test_words_in_other_scripts(text: str, found: list[str]) -> None:
    spans = protected_spans(text, None, "en", ["Latin"])
    assert [text[span.start : span.end] for span in spans if span.kind == "script"] == found
    assert not [span for span in protected_spans(text) if span.kind == "script"]


@pytest.mark.parametrize(
    "text",
    [
        "The cat is on the mat.",
        "PLEASE DO NOT FEED THE ANIMALS.",
        "I am NOT happy, and/or he/she is.",
        "Don't say 'no', Mr. Brown; it's Tom's.",
        "He said--no -- and left (at home): why?",
        "Is a < b and c > d?",
        "See e.g. this, i.e. that, in the U.S. at home.",
        "Hello.It is me.",
        "– Oui, dit-il. « Non ! »",
        "",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert protected_spans(text) == []


ALPHABET = st.sampled_from(
    list("aAbZ19 .,:;-_/\\@#%$€{}[]()<>`'\"&=+~^|é½🍕👩\u200d\ufe0f\u20e3🇫\ufffc\uf8e0\x00\n𝕏猫°²")
)


@given(st.text(ALPHABET, max_size=40) | st.text(max_size=40))
def test_spans_are_in_order_and_apart(text: str) -> None:
    for known in (None, KnownWords(["a"])):
        spans = protected_spans(text, known, scripts=["Latin"])
        ends = [0, *(span.end for span in spans)]
        assert all(before <= span.start < span.end <= len(text) for before, span in zip(ends, spans, strict=False))
        assert all(span.kind in KINDS for span in spans)


@given(st.lists(st.sampled_from([text for texts in WHOLE.values() for text in texts.split(" ")]), max_size=6))
def test_spaces_separate_spans(texts: list[str]) -> None:
    """Beside each other with words between, each is found as it is alone."""
    text, alone = "", []
    for part in texts:
        alone += [part[span.start : span.end] for span in protected_spans(part)]
        text += f"{part} and so "
    assert [text[span.start : span.end] for span in protected_spans(text)] == alone


@pytest.mark.parametrize(
    "unit",
    ["a", "A", "1", "@", "a@", "1 ", "1.", "a.", "<a ", "{", "`a", "http://", "a_", "%", "🍕", "a/", ":", "猫", "Ab "],
)
def test_long_texts_of_one_kind_end(unit: str) -> None:
    """Quadratic time would need a quarter of an hour for this."""
    protected_spans(unit * (30_000 // len(unit)), KnownWords())


def test_names_need_known_words() -> None:
    text = "We met Merkel in Zürich."
    found = protected_spans(text, KnownWords(["we", "met", "in"]))
    assert [(text[span.start : span.end], span.kind) for span in found] == [("Merkel", NAME), ("Zürich", NAME)]
    assert protected_spans(text) == []


def test_letters_without_end_are_no_word() -> None:
    data = "wordWord" * 50
    assert [(s.start, s.end, s.kind) for s in protected_spans(f"See {data} and 42.")] == [
        (4, 404, "code"),
        (409, 411, "number"),
    ]
    assert protected_spans("猫" * 500) == []


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("Born on May 3, 1998, in Rome.", ["May 3, 1998"]),
        ("December 31st or Jan. 1", ["December 31st", "Jan. 1"]),
        ("June 2020 was hot.", []),
        ("You may 3 times; May 45; March 3.5; Sept 12:30", []),
        ("On 3 May 1998", []),
    ],
)
def test_dates(text: str, dates: list[str]) -> None:
    assert [text[start:end] for start, end in written_dates(text)] == dates
    assert written_dates(text, "fr") == []


ODD_PARTS = ["C:\\", "oO", ".de", "m²", "--f", *(text for some in WHOLE.values() for text in some.split())]


@given(st.text("aBdDxXoOTé .:;()-\"'’“…–!?\n\u00a0", max_size=12), st.sampled_from(["", *ODD_PARTS]))
def test_nothing_is_found_where_nothing_is_unusual(text: str, part: str) -> None:
    text = text[:6] + part + text[6:]
    assert UNUSUAL.search(text) or not pattern_spans(text)
