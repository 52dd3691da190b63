"""Languages: names, codes, and the tags of multilingual models, such as >>fra<<, which select the target language.

OPUS-MT uses ISO 639-3 codes, older models ISO 639-1, with a script or a country where a language has several:
>>fra<<, >>fr<<, >>cmn_Hans<<, >>pt_BR<<. The rest of the package identifies languages by ISO 639-1.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from functools import cache
from typing import Literal

from regard.errors import InputError

LANGUAGE_TAG = re.compile(r">>([^<>\s]+)<<")
MAX_SHOWN_TAGS = 8  # in an error message
Register = Literal["formal", "informal"]  # how a text addresses its reader
REGISTERS: tuple[Register, ...] = ("formal", "informal")

# The languages that are identified. Others that py3langid knows are left out: names, interjections and loanwords are
# mistaken for them more often than they are really used.
LANGUAGE_NAMES = {
    "af": "Afrikaans", "ar": "Arabic", "be": "Belarusian", "bg": "Bulgarian", "bn": "Bengali", "br": "Breton",
    "bs": "Bosnian", "ca": "Catalan", "cs": "Czech", "cy": "Welsh", "da": "Danish", "de": "German", "el": "Greek",
    "en": "English", "es": "Spanish", "et": "Estonian", "eu": "Basque", "fa": "Persian", "fi": "Finnish",
    "fr": "French", "fy": "Frisian", "ga": "Irish", "gd": "Scottish Gaelic", "gl": "Galician", "he": "Hebrew",
    "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "hy": "Armenian", "id": "Indonesian", "is": "Icelandic",
    "it": "Italian", "ja": "Japanese", "ka": "Georgian", "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian",
    "mk": "Macedonian", "mr": "Marathi", "ms": "Malay", "nl": "Dutch", "nn": "Norwegian Nynorsk", "no": "Norwegian",
    "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian",
    "sq": "Albanian", "sr": "Serbian", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil", "te": "Telugu", "th": "Thai",
    "tl": "Tagalog", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip
# Scripts other than Latin, as Unicode properties, and the languages above that are written in them
SCRIPTS = {
    "Arabic": "ar fa ur", "Armenian": "hy", "Bengali": "bn", "Cyrillic": "be bg mk ru sr uk", "Devanagari": "hi mr",
    "Georgian": "ka", "Greek": "el", "Han": "ja ko zh", "Hangul": "ko", "Hebrew": "he", "Hiragana": "ja",
    "Katakana": "ja", "Tamil": "ta", "Telugu": "te", "Thai": "th",
}  # fmt: skip
# Native names of languages, and bibliographic codes (ISO 639-2/B) that differ from ISO 639-3.
OTHER_NAMES = {
    "deutsch": "de", "español": "es", "espanol": "es", "castellano": "es", "français": "fr", "francais": "fr",
    "italiano": "it", "nederlands": "nl", "polski": "pl", "português": "pt", "portugues": "pt",
    "alb": "sq", "arm": "hy", "baq": "eu", "chi": "zh", "cze": "cs", "dut": "nl", "fre": "fr", "geo": "ka",
    "ger": "de", "gre": "el", "ice": "is", "mac": "mk", "may": "ms", "per": "fa", "rum": "ro", "slo": "sk", "wel": "cy",
}  # fmt: skip

# ISO 639-3 → ISO 639-1, for commonly translated languages that have a two-letter code; members of a macrolanguage have
# its code (cmn is zh, arb is ar).
ISO_639_1 = {
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


def language_name(code: str) -> str:
    """
    >>> language_name("fr"), language_name("xh")
    ('French', 'language "xh"')
    """
    return LANGUAGE_NAMES.get(code, f'language "{code}"')


@cache
def scripts_of(*languages: str | None) -> tuple[str, ...] | None:
    """Returns the scripts in which languages are written, Latin first; None if that of a language is unknown.

    >>> scripts_of("en", "ja"), scripts_of("en", None)
    (('Latin', 'Han', 'Hiragana', 'Katakana'), None)
    """
    if not LANGUAGE_NAMES.keys() >= set(languages):
        return None
    return ("Latin", *(script for script, users in SCRIPTS.items() if not set(languages).isdisjoint(users.split())))


def language_code(name: str) -> str | None:
    """Returns the ISO 639-1 code of a language given by its name, in English or in the language itself, or by a code,
    with or without a country; None if it is unknown.

    >>> [language_code(name) for name in ("French", "fr", "fra", "fr-FR", "Français", "Klingon")]
    ['fr', 'fr', 'fr', 'fr', 'fr', None]
    """
    given = name.strip().lower()
    by_name = next((code for code, known in LANGUAGE_NAMES.items() if given == known.lower()), None)
    code = by_name or OTHER_NAMES.get(given) or to_iso_639_1(given)
    return code if code in LANGUAGE_NAMES or code in ISO_639_1.values() else None


def to_iso_639_1(code: str) -> str | None:
    """Returns the ISO 639-1 code for a language code, ignoring any suffix; None if there is none here.

    >>> to_iso_639_1("fra"), to_iso_639_1("cmn_Hans"), to_iso_639_1("pt_BR"), to_iso_639_1("tlh")
    ('fr', 'zh', 'pt', None)
    """
    first = re.split(r"[_-]", code.lower(), maxsplit=1)[0]
    return first if len(first) == 2 else ISO_639_1.get(first)


def tag_language(tag: str) -> str | None:
    """Returns the language that a tag stands for; None if it is not a language tag.

    >>> tag_language(">>fra<<"), tag_language("<news>")
    ('fr', None)
    """
    found = LANGUAGE_TAG.fullmatch(tag)
    return to_iso_639_1(found[1]) if found else None


def leading_tag(text: str, known: Container[str]) -> str:
    """Returns the tag at the beginning of a text if it is a known one, else an empty string.

    >>> leading_tag(">>fra<< A cat.", {">>fra<<"}), leading_tag(">>a<< A cat.", {">>fra<<"})
    ('>>fra<<', '')
    """
    found = LANGUAGE_TAG.match(text) if text.startswith(">>") else None
    return found[0] if found and found[0] in known else ""


def find_tag(name: str, tags: Sequence[str]) -> str:
    """Returns the tag for a name: its code, the language's two-letter code, or the tag itself.

    >>> [find_tag(name, (">>fra<<", ">>por<<", ">>por_BR<<")) for name in (">>fra<<", "fra", "fr", "pt")]
    ['>>fra<<', '>>fra<<', '>>fra<<', '>>por<<']
    """
    for exact in (name, f">>{name}<<"):
        if exact in tags:
            return exact
    wanted = to_iso_639_1(name.strip("<>"))
    same = [tag for tag in tags if wanted is not None and tag_language(tag) == wanted]
    plain = [tag for tag in same if len(tag) <= len(">>fra<<")]  # without a script or country
    if len(same) == 1 or len(plain) == 1:
        return (plain if len(plain) == 1 else same)[0]
    if same:
        raise InputError(f'the tag "{name}" may be any of {", ".join(same)}; give one of them', parameter="tag")
    raise InputError(f'unknown tag "{name}"; {describe_tags(tags)}', parameter="tag")


def describe_tags(tags: Sequence[str]) -> str:
    """
    >>> describe_tags((">>fra<<", ">>deu<<"))
    'the model has >>fra<<, >>deu<<'
    """
    if not tags:
        return "this vocabulary has none"
    more = f" and {len(tags) - MAX_SHOWN_TAGS:,} more (regard info lists them)" if len(tags) > MAX_SHOWN_TAGS else ""
    return f"the model has {', '.join(tags[:MAX_SHOWN_TAGS])}{more}"
