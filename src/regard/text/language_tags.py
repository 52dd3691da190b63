"""The tags of multilingual models, such as >>fra<<, which say the language to translate into, and the codes in them.

OPUS-MT writes ISO 639-3 codes, older models ISO 639-1, both with a script or a country where one language has several:
>>fra<<, >>fr<<, >>cmn_Hans<<, >>pt_BR<<. The rest of the package knows languages by ISO 639-1.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from regard.errors import InputError

LANGUAGE_TAG = re.compile(r">>([^<>\s]+)<<")
SHOWN = 8  # tags that an error names

# ISO 639-3 → ISO 639-1, of the languages that have a code of two letters and are written to translators; members of a
# macrolanguage count as it (cmn is zh, arb is ar).
TWO_LETTERS = {
    "afr": "af", "amh": "am", "ara": "ar", "arb": "ar", "arz": "ar", "apc": "ar", "asm": "as", "aze": "az", "azj": "az",
    "bak": "ba", "bel": "be", "ben": "bn", "bos": "bs", "bre": "br", "bul": "bg", "cat": "ca", "ces": "cs", "cmn": "zh",
    "cor": "kw", "cos": "co", "cym": "cy", "dan": "da", "deu": "de", "ell": "el", "eng": "en", "epo": "eo", "est": "et",
    "eus": "eu", "fao": "fo", "fas": "fa", "fin": "fi", "fra": "fr", "fry": "fy", "gla": "gd", "gle": "ga", "glg": "gl",
    "glv": "gv", "grn": "gn", "guj": "gu", "hat": "ht", "hau": "ha", "hbs": "sr", "heb": "he", "hin": "hi", "hrv": "hr",
    "hun": "hu", "hye": "hy", "ibo": "ig", "ido": "io", "ile": "ie", "ina": "ia", "ind": "id", "isl": "is", "ita": "it",
    "jav": "jv", "jpn": "ja", "kan": "kn", "kat": "ka", "kaz": "kk", "khm": "km", "kin": "rw", "kir": "ky", "kor": "ko",
    "kur": "ku", "lao": "lo", "lat": "la", "lav": "lv", "lim": "li", "lin": "ln", "lit": "lt", "ltz": "lb", "lug": "lg",
    "mal": "ml", "mar": "mr", "mkd": "mk", "mlg": "mg", "mlt": "mt", "mon": "mn", "msa": "ms", "mya": "my", "nep": "ne",
    "nld": "nl", "nno": "nn", "nob": "no", "nor": "no", "oci": "oc", "ori": "or", "oss": "os", "pan": "pa", "pes": "fa",
    "pol": "pl", "por": "pt", "pus": "ps", "que": "qu", "roh": "rm", "ron": "ro", "rus": "ru", "san": "sa", "sin": "si",
    "slk": "sk", "slv": "sl", "sme": "se", "sna": "sn", "snd": "sd", "som": "so", "spa": "es", "sqi": "sq", "srd": "sc",
    "srp": "sr", "sun": "su", "swa": "sw", "swe": "sv", "swh": "sw", "tam": "ta", "tat": "tt", "tel": "te", "tgk": "tg",
    "tgl": "tl", "tha": "th", "tir": "ti", "tuk": "tk", "tur": "tr", "uig": "ug", "ukr": "uk", "urd": "ur", "uzb": "uz",
    "vie": "vi", "wln": "wa", "wol": "wo", "xho": "xh", "yid": "yi", "yor": "yo", "zho": "zh", "zlm": "ms", "zsm": "ms",
    "zul": "zu",
}  # fmt: skip


def two_letters(code: str) -> str | None:
    """The ISO 639-1 code of a language's code, whatever follows it; None for one that has none here.

    >>> two_letters("fra"), two_letters("cmn_Hans"), two_letters("pt_BR"), two_letters("tlh")
    ('fr', 'zh', 'pt', None)
    """
    first = re.split(r"[_-]", code.lower(), maxsplit=1)[0]
    return first if len(first) == 2 else TWO_LETTERS.get(first)


def tag_language(tag: str) -> str | None:
    """The language that a tag stands for.

    >>> tag_language(">>fra<<"), tag_language("<news>")
    ('fr', None)
    """
    found = LANGUAGE_TAG.fullmatch(tag)
    return two_letters(found[1]) if found else None


def leading_tag(text: str, known: Container[str]) -> str:
    """The tag at the beginning of a text, if it is a known one, or nothing.

    >>> leading_tag(">>fra<< A cat.", {">>fra<<"}), leading_tag(">>a<< A cat.", {">>fra<<"})
    ('>>fra<<', '')
    """
    found = LANGUAGE_TAG.match(text) if text.startswith(">>") else None
    return found[0] if found and found[0] in known else ""


def find_tag(name: str, tags: Sequence[str]) -> str:
    """The tag that a person means by its code, the language's code of two letters, or the tag itself.

    >>> [find_tag(name, (">>fra<<", ">>por<<", ">>por_BR<<")) for name in (">>fra<<", "fra", "fr", "pt")]
    ['>>fra<<', '>>fra<<', '>>fra<<', '>>por<<']
    """
    for exact in (name, f">>{name}<<"):
        if exact in tags:
            return exact
    asked = two_letters(name.strip("<>"))
    same = [tag for tag in tags if asked is not None and tag_language(tag) == asked]
    plain = [tag for tag in same if len(tag) <= len(">>fra<<")]  # without a script or country
    if len(same) == 1 or len(plain) == 1:
        return (plain if len(plain) == 1 else same)[0]
    if same:
        raise InputError(f'the tag "{name}" may be any of {", ".join(same)}; give one of them', parameter="tag")
    raise InputError(f'unknown tag "{name}"; {tags_in_short(tags)}', parameter="tag")


def tags_in_short(tags: Sequence[str]) -> str:
    """
    >>> tags_in_short((">>fra<<", ">>deu<<"))
    'the model has >>fra<<, >>deu<<'
    """
    if not tags:
        return "this vocabulary has none"
    more = f" and {len(tags) - SHOWN:,} more (regard info lists them)" if len(tags) > SHOWN else ""
    return f"the model has {', '.join(tags[:SHOWN])}{more}"
