"""The register (formality) of a French, German or Spanish text, by rules: how it addresses its reader.

    Vous avez votre billet ?     Haben Sie Ihr Ticket?     ¿Tiene usted su billete?     formal
    Tu as ton billet ?           Hast du dein Ticket?      ¿Tienes tu billete?          informal

The rules look for pronouns, possessives, imperatives and, in Spanish, verb forms of the second person; the words are in
`word_lists.json`. They prefer no answer to a wrong one: a text without such words, or with both kinds, has no register.
A French `vous` counts as formal although it may address several friends; the German `ihr` for several friends is
informal, and so is the Spanish `vosotros`. What only the situation decides is left open: a `Sie` or `Ihre` at the
beginning of a German sentence, which may also be she, they or her, and a Spanish `su`, `le` or verb of the third person
without `usted`. They count as formal if the text is known to translate a sentence that addresses its reader.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

from regard.text.language import Register
from regard.text.words import word_lists

WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*['’]?")
CACHED_WORDS = 200_000
START = r"(?:^|(?<![A-Z])[.!?…:] |[¡¿«„“\"] ?|^[-–—•*] |\n)"  # where a sentence begins; not after an initial
ADDRESSED = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)
FORMAL_SALUTATION = re.compile(r"Dear (?:Mrs?|Ms|Miss|Dr|Prof|Sir|Madam|Customer|Colleague)s?\b")  # in English
THIRD_PERSON = re.compile(
    r"\b(?:he|she|they|him|hers?|them|his|theirs?|its|everyone|\w+(?<!it)(?<!at)(?<!re)'s)\b", re.IGNORECASE
)


class _Rule(NamedTuple):
    """A word that shows a register: everywhere, or in a context."""

    register: Register
    word: re.Pattern[str]
    context: re.Pattern[str] | None
    addressed: bool  # whether it shows the register only in a text that is known to address its reader


def _rule(register: Register, word: str, context: str = "", addressed: bool = False) -> _Rule:
    return _Rule(register, re.compile(word), re.compile(context) if context else None, addressed)


def _listed(language: str, name: str, capital: bool = False) -> str:
    """Returns a pattern for the words of a list, with a capital, or with their first letter in either case."""
    words: list[str] = word_lists("register")[language][name]
    first = (word[0].upper() if capital else f"[{word[0]}{word[0].upper()}]" for word in words)
    return "(?:" + "|".join(initial + word[1:] for initial, word in zip(first, words, strict=True)) + ")"


def _none_before(*words: str) -> str:
    return "".join(rf"(?<!{word} )" for word in words)


def _french() -> tuple[_Rule, ...]:
    imperatives, not_imperatives = _listed("fr", "imperatives", capital=True), _listed("fr", "not_imperatives")
    prepositions = "(?:chez|sauf|selon|pour|sans|malgré)"
    spanish_name = r"(?!\w*(?:al|and|ar|er|gu|in|ir|nch|om|op|un|uñ)ez\b)"
    pronouns = "(?:-(?:moi|l[ea]s?|nous|lui|leur|en|y)){0,2}"
    negated = rf"(?:(?:l[ea]s?|me|nous|lui|leur|y|en) |[ml]['’])?{_listed('fr', 'after_ne')} (?:pas|jamais|rien|plus)\b"
    noun = _none_before(r"\b[Ll]e", r"\b[Uu]n", r"\b[Dd]u", " [cC]e", "^[cC]e", r"\b[Aa]u", r"\bmon", r"\bson")
    noun += _none_before("bon", "même", "autre", "emi", "quel", "otre", "leur") + "(?<!emi-)"
    after_noun = r"(?!(?:a|aux?|avec|d[eu]s?|dans|en|entre|es?t|était|ne|ou|par|plus|pour|qu[ei]|sur|s|très|vis|à)\b)"
    taire = _none_before(r"\best", "suis", r"\ba", r"\bai", "ont", "vait", "être", "avoir", r"\bfut")
    return (
        _rule("formal", "[Vv]ous(?:-mêmes?)?|(?!(?:[Rr]endez|[Gg]arde-à)-vous).+-vous"),
        _rule("formal", "[Vv]otre|[Vv]os|[Vv]ôtres?"),
        _rule("formal", "Madame|Monsieur", "^(?:Chère |Cher )?(?:Madame|Monsieur)[^.!?]*,$"),
        _rule("formal", f"(?!{not_imperatives}(?:-|$))[a-zà-ü]{{2,}}ez{pronouns}"),
        _rule(
            "formal", f"(?!{not_imperatives}(?:-|$))[A-ZÀ-Ü].+ez{pronouns}", rf"{START}{spanish_name}[A-ZÀ-Ü]\w+ez\b"
        ),
        _rule("formal", "(?:[Ff]aites|[Dd]ites)-.+"),
        _rule("formal", "[Ff]aites|[Dd]ites", rf"{START}(?:[Nn]e )?(?:[Ff]aites|[Dd]ites)\b"),
        _rule("informal", "[Tt]oi(?:-même)?|.+-toi|.+-tu|[Tt]['’]|[Vv]a-t['’]|[Vv]as-y"),
        _rule("informal", "[Tt]u", rf"{taire}\b[Tt]u\b"),
        _rule("informal", "[Tt](?:e|es|a)", r"\bt(?:e|es|a) [«\"]?[^\W\d_]|\bT(?:e|es|a) [a-zà-ü]"),
        _rule("informal", "[Tt]on", rf"{noun}\b[Tt]on {after_noun}[^\W\d_]"),
        _rule("informal", "tien", r"\b(?:[Ll]e|[Aa]u|[Dd]u) tien\b"),
        _rule("informal", "tienne|tien(?:ne)?s", r"\b[Ll]a tienne\b|(?<!e )\b(?:[Ll]es|[Aa]ux|[Dd]es) tien(?:ne)?s\b"),
        _rule("informal", rf"(?!{prepositions}-)[^-]+(?<!ez)(?<!ons)(?<![nt]t)(?<!tes)-(?:moi|lui|leur)"),
        _rule("informal", f"{_listed('fr', 'before_pronouns')}-(?:l[ea]s?|nous)(?:-.+)?"),
        _rule("informal", imperatives, rf"{START}{imperatives}\b(?!-[tij])"),
        _rule("informal", "N(?:e|['’])", rf"{START}N(?:e |['’]){negated}"),
        _rule("informal", "écoute|regarde|dis|attends", r"(?<=, )(?:écoute|regarde|dis|attends)(?=[,.!?])"),
    )


def _german() -> tuple[_Rule, ...]:
    imperatives, verbs = _listed("de", "imperatives", capital=True), _listed("de", "verbs_of_ihr")
    return (
        _rule("formal", "Sie|Ihnen|Ihre[mnrs]?", r"(?<=[\w,] )(?:Sie|Ihnen|Ihre[mnrs]?)\b"),
        _rule("formal", "Ihr", r"(?<=[\w,] )Ihr\b(?! (?:alle |beiden? )?[a-zäöüß]+t\b)"),
        _rule("formal", "geehrter?"),
        _rule("formal", "freundlichen", "^Mit freundlichen Grüßen"),
        _rule("formal", "Sie|Ihnen|Ihre?[mnrs]?", addressed=True),
        _rule("informal", "[Dd]u|[Dd]i(?:ch|r)|[Dd]ein(?:e[mnrs]?|s)?|[Ee]u(?:ch|er)|[Ee]ure[mnrs]?"),
        _rule("informal", "[Ii]hr", rf"\b[Ii]hr (?:alle |beiden? )?{verbs}\b|\b{verbs} ihr\b"),
        _rule("informal", imperatives, rf"{START}{imperatives}\b(?! (?:ich|er|es|sie|man|Sie)\b)"),
    )


def _spanish() -> tuple[_Rule, ...]:
    asked = _listed("es", "asked")
    ar, er = _listed("es", "stems_ar"), _listed("es", "stems_er")
    pronoun = "(?:me|nos|l[aeo]s?)"  # llámanos, escríbenos
    first, not_preterite = _listed("es", "first_formal_imperatives", capital=True), _listed("es", "not_preterite")
    return (
        _rule("formal", "[Uu]sted(?:es)?"),
        _rule("formal", "[UV]ds?", r"\b[UV]ds?\."),
        _rule("formal", f"{_listed('es', 'formal_imperatives')}|{ar}e{pronoun}|{er}a{pronoun}"),
        _rule("formal", first, rf"{START}(?:No )?{first}\b(?!,)|{START}(?:Mire|Oiga|Espere|Disculpe|Perdone),"),
        _rule("formal", f"(?!{_listed('es', 'impersonal')})\\w*[áéíóú]\\w*(?:[ae]n?se|[ae]n(?:me|l[eao]s?|nos))"),
        _rule("informal", "[Tt]ú|[Tt]us?|[Tt]i|[Tt]e|[Cc]ontigo|[Tt]uy[oa]s?|[Vv]osotr[oa]s|[Vv]uestr[oa]s?|[Oo]s"),
        _rule("informal", _listed("es", "verbs")),
        _rule("informal", f"{_listed('es', 'informal_imperatives')}|{ar}a{pronoun}|{er}e{pronoun}"),
        # asegúrate, siéntate; with a capital only at the beginning of a sentence, since Zárate is a name
        _rule("informal", "(?!intérp|kára|démoc)[a-záéíóú]*[áéíóú].{0,4}[ae]te(?:l[oa]s?)?"),
        _rule("informal", "[A-Z][a-z]*[áéíóú].{0,4}[ae]te", rf"{START}[A-Z][a-z]*[áéíóú]\w{{0,4}}[ae]te\b(?! [A-Z])"),
        _rule("formal", "Estimad[oa]s?", rf"{START}Estimad[oa]s? [a-zñ]"),
        _rule("informal", f"(?!{not_preterite}$).{{2,}}[aií]ste"),
        _rule("informal", f"(?!{_listed('es', 'not_future')}).{{2,}}rás|(?!alj|guay|tr|síl|ald)\\w{{2,}}abas"),
        _rule("informal", "[Hh]as", r"\b[Hh]as (?:[a-zñ]+ )?\w+o\b"),
        _rule("informal", "[Hh]az", rf"(?:{START}|, |\b[yo] |\b[Ss]i \w+ )[Hh]az\b"),
        _rule("informal", "(?!dieciséis|veintiséis|.*seis).+[áé]is|.+[áé]ndote(?:l[oa]s?)?"),
        _rule("informal", "me", r"\bme [a-zñáéíóú]{2,}[ae]s\b"),
        _rule("formal", "[Ss]us?|[Ss]uy[oa]s?", addressed=True),
        _rule("formal", "[Ll]es?", r"\b[Ll]es? (?!\w+[aeá]s\b)", addressed=True),
        _rule("formal", asked, rf"¿(?:\w+ ){{0,3}}{asked}\b", addressed=True),
    )


RULES = {"fr": cache(_french), "de": cache(_german), "es": cache(_spanish)}


@lru_cache(maxsize=CACHED_WORDS)
def _rules_for(word: str, language: str) -> tuple[_Rule, ...]:
    return tuple(rule for rule in RULES[language]() if rule.word.fullmatch(word))


def registers_in(text: str, language: str, addressed: bool = False) -> set[Register]:
    """Returns the registers that words of a text show. `addressed` says that the text is known to address its reader,
    because it translates a sentence that does.

    >>> sorted(registers_in("Si tu veux annuler votre vol, appelle.", "fr"))
    ['formal', 'informal']
    """
    if language not in RULES:
        return set()
    found = {rule for word in WORD.findall(text) for rule in _rules_for(word, language)}
    shown = {
        rule.register
        for rule in found
        if addressed >= rule.addressed and (rule.context is None or rule.context.search(text))
    }
    return registers_in(text, language) if addressed and len(shown) == 2 else shown


def register_of(text: str, language: str, addressed: bool = False) -> Register | None:
    """Returns the only register that a text shows, or None.

    >>> register_of("Vous pouvez entrer.", "fr"), register_of("Le ton monte.", "fr"), register_of("Hast du Zeit?", "de")
    ('formal', None, 'informal')
    >>> register_of("¿Cuál es su plan?", "es"), register_of("¿Cuál es su plan?", "es", addressed=True)
    (None, 'formal')
    """
    shown = registers_in(text, language, addressed)
    return shown.pop() if len(shown) == 1 else None


def addresses_reader(english: str) -> bool:
    """Whether an English sentence addresses its reader and speaks of no third person.

    >>> [addresses_reader(text) for text in ("What is your plan?", "You know his plan.", "A plan.")]
    [True, False, False]
    """
    return bool(ADDRESSED.search(english)) and not THIRD_PERSON.search(english)
