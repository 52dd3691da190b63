"""French word forms: nouns and adjectives by gender and number, verbs by tense and person.

Regular forms are computed, irregular ones are listed. Persons are 0..5: je, tu, il, nous, vous, ils.
"""

from __future__ import annotations

from functools import cache

PRESENT, IMPERFECT, FUTURE = "present", "imperfect", "future"

# infinitive: six present forms, past participle, future stem
_IRREGULAR: dict[str, tuple[str, str, str]] = {
    "être": ("suis es est sommes êtes sont", "été", "ser"),
    "avoir": ("ai as a avons avez ont", "eu", "aur"),
    "aller": ("vais vas va allons allez vont", "allé", "ir"),
    "faire": ("fais fais fait faisons faites font", "fait", "fer"),
    "voir": ("vois vois voit voyons voyez voient", "vu", "verr"),
    "boire": ("bois bois boit buvons buvez boivent", "bu", "boir"),
    "lire": ("lis lis lit lisons lisez lisent", "lu", "lir"),
    "écrire": ("écris écris écrit écrivons écrivez écrivent", "écrit", "écrir"),
    "dire": ("dis dis dit disons dites disent", "dit", "dir"),
    "mettre": ("mets mets met mettons mettez mettent", "mis", "mettr"),
    "comprendre": ("comprends comprends comprend comprenons comprenez comprennent", "compris", "comprendr"),
    "apprendre": ("apprends apprends apprend apprenons apprenez apprennent", "appris", "apprendr"),
    "pouvoir": ("peux peux peut pouvons pouvez peuvent", "pu", "pourr"),
    "vouloir": ("veux veux veut voulons voulez veulent", "voulu", "voudr"),
    "devoir": ("dois dois doit devons devez doivent", "dû", "devr"),
    "savoir": ("sais sais sait savons savez savent", "su", "saur"),
    "connaître": ("connais connais connaît connaissons connaissez connaissent", "connu", "connaîtr"),
    "croire": ("crois crois croit croyons croyez croient", "cru", "croir"),
    "venir": ("viens viens vient venons venez viennent", "venu", "viendr"),
    "revenir": ("reviens reviens revient revenons revenez reviennent", "revenu", "reviendr"),
    "partir": ("pars pars part partons partez partent", "parti", "partir"),
    "sortir": ("sors sors sort sortons sortez sortent", "sorti", "sortir"),
    "dormir": ("dors dors dort dormons dormez dorment", "dormi", "dormir"),
    "courir": ("cours cours court courons courez courent", "couru", "courr"),
    "ouvrir": ("ouvre ouvres ouvre ouvrons ouvrez ouvrent", "ouvert", "ouvrir"),
    "offrir": ("offre offres offre offrons offrez offrent", "offert", "offrir"),
    "cueillir": ("cueille cueilles cueille cueillons cueillez cueillent", "cueilli", "cueiller"),
    "conduire": ("conduis conduis conduit conduisons conduisez conduisent", "conduit", "conduir"),
    "construire": (
        "construis construis construit construisons construisez construisent",
        "construit",
        "construir",
    ),
    "traduire": ("traduis traduis traduit traduisons traduisez traduisent", "traduit", "traduir"),
    "peindre": ("peins peins peint peignons peignez peignent", "peint", "peindr"),
    "suivre": ("suis suis suit suivons suivez suivent", "suivi", "suivr"),
    "poursuivre": ("poursuis poursuis poursuit poursuivons poursuivez poursuivent", "poursuivi", "poursuivr"),
    "rire": ("ris ris rit rions riez rient", "ri", "rir"),
    "sourire": ("souris souris sourit sourions souriez sourient", "souri", "sourir"),
    "résoudre": ("résous résous résout résolvons résolvez résolvent", "résolu", "résoudr"),
    "recevoir": ("reçois reçois reçoit recevons recevez reçoivent", "reçu", "recevr"),
    "asseoir": ("assois assois assoit assoyons assoyez assoient", "assis", "assoir"),
    "envoyer": ("envoie envoies envoie envoyons envoyez envoient", "envoyé", "enverr"),
    "pleuvoir": ("- - pleut - - -", "plu", "pleuvr"),
}
_WITH_ETRE = frozenset(
    [
        "aller",
        "venir",
        "revenir",
        "partir",
        "sortir",
        "arriver",
        "entrer",
        "rentrer",
        "retourner",
        "rester",
        "tomber",
        "monter",
    ]
)
_FUTURE_ENDINGS = ("ai", "as", "a", "ons", "ez", "ont")
_IMPERFECT_ENDINGS = ("ais", "ais", "ait", "ions", "iez", "aient")
_DOUBLING = ("appeler", "jeter")  # appelle, jette; the other e…er verbs take è (achète)
_SIX = "bcdfghjklmnpqrstvwxz"


def takes_etre(infinitive: str) -> bool:
    """Whether its passé composé uses être. Reflexive verbs always do, which is decided elsewhere."""
    return infinitive in _WITH_ETRE


@cache
def conjugate(infinitive: str, tense: str, person: int) -> str:
    """
    >>> conjugate("manger", PRESENT, 3), conjugate("acheter", FUTURE, 2), conjugate("finir", IMPERFECT, 5)
    ('mangeons', 'achètera', 'finissaient')
    """
    if tense == PRESENT:
        return _present(infinitive)[person]
    if tense == FUTURE:
        return _future_stem(infinitive) + _FUTURE_ENDINGS[person]
    assert tense == IMPERFECT, tense
    ending = _IMPERFECT_ENDINGS[person]
    if infinitive == "être":
        return "ét" + ending
    if infinitive == "pleuvoir":
        return "pleuv" + ending
    stem = _present(infinitive)[3].removesuffix("ons")
    if ending.startswith("i"):  # mangions, lancions: no e or ç before i
        stem = stem[:-1] if stem.endswith("ge") else stem.replace("ç", "c")
    return stem + ending


@cache
def participle(infinitive: str, feminine: bool = False, plural: bool = False) -> str:
    """
    >>> participle("écrire", feminine=True), participle("mettre", plural=True), participle("tomber", True, True)
    ('écrite', 'mis', 'tombées')
    """
    if infinitive in _IRREGULAR:
        base = _IRREGULAR[infinitive][1]
    elif infinitive.endswith("er"):
        base = infinitive[:-2] + "é"
    elif infinitive.endswith("ir"):
        base = infinitive[:-1]
    else:
        base = infinitive[:-2] + "u"
    return agree(base, feminine, plural)


def agree(base: str, feminine: bool, plural: bool) -> str:
    """Regular agreement of a participle: -e, -s."""
    form = base + "e" if feminine else base
    return form + "s" if plural and not form.endswith("s") else form


def _present(infinitive: str) -> tuple[str, ...]:
    if infinitive in _IRREGULAR:
        return tuple(_IRREGULAR[infinitive][0].split())
    stem = infinitive[:-2]
    if infinitive.endswith("er"):
        strong, plural = _strong_stem(infinitive), stem
        if stem.endswith("g"):
            plural = stem + "e"
        elif stem.endswith("c"):
            plural = stem[:-1] + "ç"
        return (strong + "e", strong + "es", strong + "e", plural + "ons", stem + "ez", strong + "ent")
    if infinitive.endswith("ir"):
        return tuple(stem + e for e in ("is", "is", "it", "issons", "issez", "issent"))
    assert infinitive.endswith("re"), infinitive
    return tuple(stem + e for e in ("s", "s", "", "ons", "ez", "ent"))


def _strong_stem(infinitive: str) -> str:
    """The stem of an -er verb where its ending is silent: achèt-, préfèr-, nettoi-, appell-."""
    stem = infinitive[:-2]
    if infinitive in _DOUBLING:
        return stem + stem[-1]
    if stem.endswith(("oy", "uy")):
        return stem[:-1] + "i"
    if len(stem) > 2 and stem[-1] in _SIX and stem[-2] in "eé":
        return stem[:-2] + "è" + stem[-1]
    return stem


def _future_stem(infinitive: str) -> str:
    if infinitive in _IRREGULAR:
        return _IRREGULAR[infinitive][2]
    if infinitive.endswith("er"):
        stem = infinitive[:-2]
        if stem[-2:-1] == "é":  # préférera keeps its é
            return infinitive
        return _strong_stem(infinitive) + "er"
    return infinitive.removesuffix("e")


def plural_noun(singular: str) -> str:
    """
    >>> plural_noun("chat"), plural_noun("bateau"), plural_noun("journal"), plural_noun("souris")
    ('chats', 'bateaux', 'journaux', 'souris')
    """
    if singular.endswith(("s", "x", "z")):
        return singular
    if singular.endswith(("eau", "eu")):
        return singular + "x"
    if singular.endswith("al"):
        return singular[:-2] + "aux"
    return singular + "s"


def feminine_adjective(masculine: str) -> str:
    """
    >>> [feminine_adjective(word) for word in ("grand", "heureux", "léger", "jeune")]
    ['grande', 'heureuse', 'légère', 'jeune']
    """
    if masculine.endswith("e"):
        return masculine
    if masculine.endswith("eux"):
        return masculine[:-1] + "se"
    if masculine.endswith("er"):
        return masculine[:-2] + "ère"
    if masculine.endswith("f"):
        return masculine[:-1] + "ve"
    return masculine + "e"


def plural_adjective(singular: str) -> str:
    """The same endings as a noun's, but bleu → bleus."""
    if singular.endswith("bleu"):
        return singular + "s"
    return plural_noun(singular)
