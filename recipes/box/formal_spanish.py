"""Spanish sentences that address one reader with tú, rewritten with usted, by rules.

    ¿Sabes lo que quieres decirle a tu jefe?     ¿Sabe lo que quiere decirle a su jefe?

Everyday Spanish in parallel text says tú, and what says usted are manuals, so a model that is asked for the formal
register falls back to tú where a sentence is not like a manual. A sentence is rewritten only if the rules know all of
its words that show the register: verbs of `regard.text.register`, regular preterites, futures and imperfects, common
imperatives, and *te* before a verb of the second person, which is reflexive. Others, among them those with vosotros,
vos or *te* as an object, are left out.
"""

from __future__ import annotations

import re
from collections.abc import Container

from regard.text.register import WORD, register_of
from regard.text.words import word_lists

PRONOUNS = {"tú": "usted", "ti": "usted", "contigo": "con usted", "tu": "su", "tus": "sus"}
PRONOUNS |= {f"tuy{end}": f"suy{end}" for end in ("o", "a", "os", "as")}
IRREGULAR = {"eres": "es", "fuiste": "fue", "viste": "vio", "diste": "dio", "has": "ha"}
STRONG_PRETERITES = (
    "hic-hizo dij-dijo tuv-tuvo estuv-estuvo pud-pudo pus-puso quis-quiso sup-supo vin-vino traj-trajo duj-dujo"
)
VOWEL_CHANGES = "ped-pid sent-sint dorm-durm segu-sigu prefer-prefir ment-mint mor-mur eleg-elig serv-sirv repet-repit"
IMPERATIVES = """
ven-venga haz-haga dime-dígame di-diga pon-ponga sal-salga ten-tenga ve-vaya mira-mire espera-espere escucha-escuche
habla-hable deja-deje toma-tome abre-abra cierra-cierre lee-lea escribe-escriba come-coma bebe-beba trae-traiga
llama-llame usa-use dame-deme déjame-déjeme dile-dígale intenta-intente vete-váyase disfruta-disfrute
siéntate-siéntese cállate-cállese levántate-levántese cuídate-cuídese asegúrate-asegúrese ayúdame-ayúdeme
créeme-créame cuéntame-cuénteme dámelo-démelo déjalo-déjelo dímelo-dígamelo enséñame-enséñeme escúchame-escúcheme
espérame-espéreme explícame-explíqueme hazlo-hágalo hazme-hágame llámame-llámeme mírame-míreme muéstrame-muéstreme
pásame-páseme perdóname-perdóneme ponlo-póngalo ponme-póngame préstame-présteme tráeme-tráigame piensa-piense
recuerda-recuerde sigue-siga busca-busque entra-entre prueba-pruebe compra-compre ayuda-ayude elige-elija
añade-añada
"""
BEGINNING = re.compile(r"(?:^|[.!?¡¿:;,…–—-] ?|\by |\bpero )$")
UNKNOWN_PERSON = re.compile(  # another person, or a pronoun at the end of a verb, which may be an object
    r"\b(?:vos|vosotr[oa]s|os|vuestr[oa]s?|usted(?:es)?|\w+[áé]is"
    r"|(?!(?:[cp]?a|[fms]ue|co|depo|sopo|repo|transpo|inse|expe)rte)\w+[aeiáéí]rte(?:l[oa]s?)?)\b",
    re.IGNORECASE,
)
FIRST_WORD = re.compile(r"(?:^|[.!?¡:] ?)(\w+[ae])\b")


def _listed(name: str) -> list[str]:
    return " ".join(word_lists("register")["es"][name]).split()


VERBS = {verb for verb in _listed("verbs") if not verb.endswith(("és", "ás"))} | {"estás", "estés"}  # without vos
NO_VERBS = {*_listed("not_preterite"), *_listed("not_future"), "guayabas", "sílabas", "aldabas", "trabas", "reviste"}
FORMAL_IMPERATIVE = dict(pair.split("-") for pair in IMPERATIVES.split())


def third_person(verb: str) -> str | None:
    """The form for usted of a verb of the second person, or None if it is not known to be one.

    >>> [third_person(verb) for verb in ("sabes", "hablaste", "pediste", "serás", "trabajabas", "mesas")]
    ['sabe', 'habló', 'pidió', 'será', 'trabajaba', None]
    """
    if verb in IRREGULAR:
        return IRREGULAR[verb]
    if verb in NO_VERBS:
        return None
    if verb in VERBS or re.fullmatch(r"\w{2,}abas|\w{2,}rás", verb):
        return verb[:-1]
    for stem, form in (pair.split("-") for pair in STRONG_PRETERITES.split()):
        if verb.endswith(f"{stem}iste"):  # also obtuviste, introdujiste
            return verb.removesuffix(f"{stem}iste") + form
    if verb.endswith("aste") and len(verb) > 5:
        return verb[:-4] + "ó"
    if verb.endswith("íste") and len(verb) > 5:
        return verb[:-4] + "yó"
    if verb.endswith("iste") and len(verb) > 5:
        stem = verb[:-4]
        for old, new in (pair.split("-") for pair in VOWEL_CHANGES.split()):
            if stem.endswith(old):
                return stem.removesuffix(old) + new + "ió"
        return stem + ("yó" if stem.endswith("u") and not stem.endswith(("gu", "qu")) else "ió")
    return None


def with_usted(text: str, infinitives: Container[str] = ()) -> str | None:
    """The sentence with usted instead of tú, or None where the rules do not know all that shows the register. A first
    word is taken for an imperative if it is one of the infinitives without its last letter.

    >>> with_usted("¿Te acuerdas de lo que le dijiste a tu hermana?")
    '¿Se acuerda de lo que le dijo a su hermana?'
    >>> with_usted("Crea tu cuenta.", {"crear"}), with_usted("Mira tu cuenta.", {"mirar"})
    (None, 'Mire su cuenta.')
    >>> with_usted("Te quiero."), with_usted("Las mesas son tuyas."), with_usted("¿Qué hacéis?")
    (None, 'Las mesas son suyas.', None)
    """
    first = {word.lower() for word in FIRST_WORD.findall(text)} - FORMAL_IMPERATIVE.keys()
    if UNKNOWN_PERSON.search(text) or any(f"{word}r" in infinitives for word in first):
        return None
    found = list(WORD.finditer(text))
    out, end = [], 0
    for place, match in enumerate(found):
        word, new = match[0].lower(), None
        following = found[place + 1][0].lower() if place + 1 < len(found) else ""
        if word == "te":
            new = "se" if third_person(following) else None
        elif word in PRONOUNS:
            new = PRONOUNS[word]
        elif word in FORMAL_IMPERATIVE and BEGINNING.search(text[: match.start()]):
            new = FORMAL_IMPERATIVE[word]
        elif word != "has" or following.endswith("o"):  # a participle
            new = third_person(word)
        if new is not None:
            out += [text[end : match.start()], new[0].upper() + new[1:] if match[0][0].isupper() else new]
            end = match.end()
    said = "".join(out) + text[end:]
    # Another word of the second person would make both registers, which is none.
    return said if out and register_of(f"{said} Usted.", "es") == "formal" else None
