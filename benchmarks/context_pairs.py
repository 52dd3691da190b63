"""Pairs of sentences for `context.py`: the second has a pronoun for a thing that the first names.

French nouns are those of the embedded grammar; German and Spanish ones are listed here.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

from regard.course.grammar.nouns import select

KINDS = "vehicle device furniture container portable instrument clothing"
GERMAN = """
car Wagen m; train Zug m; table Tisch m; chair Stuhl m; key Schlüssel m; coat Mantel m; hat Hut m; computer Computer m;
suitcase Koffer m; hammer Hammer m; spoon Löffel m; carpet Teppich m; mirror Spiegel m; ring Ring m; skirt Rock m;
lamp Lampe f; bottle Flasche f; watch Uhr f; bag Tasche f; machine Maschine f; guitar Gitarre f; flute Flöte f;
shirt Bluse f; jacket Jacke f; candle Kerze f; fork Gabel f; cup Tasse f; vase Vase f; camera Kamera f; flower Blume f;
book Buch n; bicycle Fahrrad n; dress Kleid n; bed Bett n; knife Messer n; boat Boot n; radio Radio n; piano Klavier n;
shelf Regal n; picture Bild n; house Haus n; toy Spielzeug n; violin Geige f; door Tür f; bridge Brücke f; map Karte f
"""
SPANISH = """
car coche m; train tren m; clock reloj m; hat sombrero m; coat abrigo m; book libro m; phone teléfono m; glass vaso m;
boat barco m; piano piano m; violin violín m; mirror espejo m; knife cuchillo m; ring anillo m; sofa sofá m;
umbrella paraguas m; hammer martillo m; desk escritorio m; basket cesto m; picture cuadro m; truck camión m;
table mesa f; chair silla f; lamp lámpara f; bottle botella f; shirt camisa f; skirt falda f; suitcase maleta f;
bicycle bicicleta f; guitar guitarra f; cup taza f; box caja f; key llave f; bed cama f; camera cámara f; house casa f;
flag bandera f; spoon cuchara f; jacket chaqueta f; candle vela f; flower flor f; door puerta f
"""
FIRST = (
    "I bought the {} yesterday.",
    "My sister showed me the {}.",
    "We found the {} in the garage.",
    "Here is the {}.",
    "The {} is not in the house.",
)
FIRST_PLURAL = ("I bought the {} yesterday.", "The {} are not in the house.")
SECOND = (
    "It is very old.",
    "I think it was too expensive.",
    "It was very expensive.",
    "I will sell it tomorrow.",
    "My brother does not want to sell it.",
)
SECOND_PLURAL = ("They are very old.", "I think they were too expensive.")


class Pair(NamedTuple):
    before: str
    sentence: str
    noun: str  # in the language of the thing's gender, without case
    gender: str  # of the translation: m, f or n


def _listed(entries: str) -> list[tuple[str, str, str]]:
    return [tuple(entry.split()) for entry in entries.split(";")]  # type: ignore[misc]


def pairs_of(source: str, target: str) -> list[Pair]:
    """Returns all pairs of a direction."""
    if target == "en":
        return {"fr": from_french, "de": from_german, "es": from_spanish}[source]()
    nouns = [(one.en, one.fr, "f" if one.feminine else "m") for one in select(KINDS)]
    listed = nouns if target == "fr" else _listed(GERMAN if target == "de" else SPANISH)
    found = [
        Pair(first.format(noun), second, word.casefold(), gender)
        for (noun, word, gender), first, second in product(listed, FIRST, SECOND)
    ]
    if target == "fr":
        found += [
            Pair(first.format(one.en_plural), second, one.fr_plural.casefold(), "f" if one.feminine else "m")
            for one, first, second in product(select(KINDS), FIRST_PLURAL, SECOND_PLURAL)
        ]
    return found


def from_french() -> list[Pair]:
    seconds = {
        "m": ("Il est très vieux.", "Je crois qu'il était trop cher.", "Je le vends demain."),
        "f": ("Elle est très vieille.", "Je crois qu'elle était trop chère.", "Je la vends demain."),
    }
    found = []
    for one in select(KINDS):
        gender, vowel = "f" if one.feminine else "m", one.fr[0] in "aeiouyhéêœâ"
        name = f"l'{one.fr}" if vowel else f"{'la' if one.feminine else 'le'} {one.fr}"
        found += [
            Pair(first.format(name), second, one.fr, "n")
            for first, second in product(
                ("J'ai acheté {} hier.", "Nous avons vu {} dans la vitrine.", "Voici {}."), seconds[gender]
            )
        ]
    return found


def from_german() -> list[Pair]:
    article = {"m": "den", "f": "die", "n": "das"}
    subject, thing = {"m": "Er", "f": "Sie", "n": "Es"}, {"m": "ihn", "f": "sie", "n": "es"}
    firsts = ("Ich habe {} gestern gekauft.", "Wir haben {} in der Garage gefunden.", "Kennst du {}?")
    seconds = ("{S} ist sehr alt.", "Ich glaube, {s} war zu teuer.", "Ich verkaufe {o} morgen.")
    return [
        Pair(
            first.format(f"{article[g]} {noun}"),
            second.format(S=subject[g], s=subject[g].lower(), o=thing[g]),
            noun,
            "n",
        )
        for (_, noun, g), first, second in product(_listed(GERMAN), firsts, seconds)
    ]


def from_spanish() -> list[Pair]:
    article, ending = {"m": "el", "f": "la"}, {"m": "o", "f": "a"}
    firsts = ("Ayer compré {}.", "Encontramos {} en el garaje.", "Aquí está {}.")
    seconds = (
        "Es muy viej{e}.",
        "Creo que era muy car{e}.",
        "Mañana voy a venderl{e}.",
        "No quiero verl{e} más.",
    )
    return [
        Pair(first.format(f"{article[g]} {noun}"), second.format(e=ending[g]), noun, "n")
        for (_, noun, g), first, second in product(_listed(SPANISH), firsts, seconds)
    ]
