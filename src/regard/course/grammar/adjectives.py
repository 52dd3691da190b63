"""The adjectives: English, French, before or after the noun, and the kinds of noun each can describe.

One entry is `english french[/feminine[/before-vowel]] [<] [>comparative] : kinds`. "<" marks the few that stand before
the French noun; ">" gives the English comparative of those we compare by. An underscore is a space.
"""

from __future__ import annotations

from dataclasses import dataclass

from regard.course.grammar import french


@dataclass(frozen=True)
class Adjective:
    en: str
    comparative: str
    fr: str
    fr_feminine: str
    fr_before_vowel: str  # bel, nouvel, vieil; else empty
    before: bool
    kinds: str
    invariable: bool = False  # "en bois"

    def form(self, feminine: bool, plural: bool) -> str:
        if self.invariable:
            return self.fr
        one = self.fr_feminine if feminine else self.fr
        return french.plural_adjective(one) if plural else one


_LIVING = "person animal"
_SCENERY = "building outdoors plant"
_THING = "furniture container portable instrument clothing device vehicle"
_TABLE = f"""
    big grand < >bigger : animal building room outdoors vehicle furniture container plant window door
    small petit < >smaller : {_LIVING} {_SCENERY} room {_THING} fruit street lake bridge path forest field
    beautiful beau/belle/bel < : woman girl queen princess prince animal {_SCENERY} clothing instrument vehicle music
    new nouveau/nouvelle/nouvel < : building {_THING} document plan project law idea teacher doctor bridge
    old vieux/vieille/vieil < >older : person animal building {_THING} document bridge tree
    young jeune < >younger : person animal
    good bon/bonne < : person dish document restaurant hotel idea recipe stuff drink
    bad mauvais < : restaurant hotel idea document dish waiter student writer
    pretty joli < : woman girl princess actress dancer house village garden clothing plant doll vase music
    long long/longue < >longer : street road bridge tunnel avenue river letter novel story report rope scarf dress song
    black noir : animal vehicle clothing container furniture umbrella piano
    white blanc/blanche : animal vehicle clothing house wall flower rose plate door
    red rouge : vehicle clothing apple tomato flower rose door flag container umbrella
    blue bleu : vehicle clothing door flag cup plate vase container
    green vert : vehicle clothing door bottle frog snake blanket
    yellow jaune : vehicle clothing flower house umbrella bird
    gray gris : cat mouse horse elephant donkey wolf clothing cloud wall house
    tired fatigué : {_LIVING}
    sick malade : {_LIVING}
    lazy paresseux >lazier : {_LIVING}
    weak faible >weaker : {_LIVING}
    strong fort >stronger : {_LIVING}
    shy timide : {_LIVING}
    nervous nerveux >more_nervous : {_LIVING}
    frightened effrayé : {_LIVING}
    clumsy maladroit : {_LIVING}
    happy heureux >happier : {_LIVING}
    sad triste >sadder : person story song dog horse monkey
    angry fâché >angrier : person animal
    calm calme >calmer : {_LIVING} village lake beach
    intelligent intelligent >more_intelligent : person dog monkey robot
    kind gentil/gentille >kinder : person dog
    brave courageux >braver : person animal
    famous célèbre >more_famous : person hotel restaurant painting song novel castle museum
    rich riche >richer : king queen farmer lawyer uncle aunt city
    polite poli >more_polite : person
    jealous jaloux/jalouse : person
    injured blessé : {_LIVING}
    dangerous dangereux >more_dangerous : lion tiger snake bear wolf panther road street bridge machine mountain cliff
    fast rapide >faster : vehicle horse machine
    slow lent >slower : vehicle turtle thinker
    heavy lourd >heavier : vehicle container table wardrobe sofa bed desk stone piano hammer
    empty vide : container building room street bus train
    full plein : container restaurant theater train bus
    broken cassé : furniture device cup plate vase window toy umbrella guitar chair
    dirty sale : clothing vehicle room kitchen street plate cup window dog
    clean propre : clothing vehicle room kitchen street plate cup window
    expensive cher/chère >more_expensive : clothing vehicle house furniture instrument restaurant hotel painting wine
    modern moderne >more_modern : building device kitchen school bridge
    quiet tranquille : street village house garden park room
    noisy bruyant >noisier : street city machine vehicle restaurant bedroom market
    dark sombre : dark bedroom street kitchen
    wide large >wider : street road avenue square river lake stream valley bridge path field desert
    narrow étroit >narrower : street bridge path tunnel bed door window
    deep profond >deeper : waters valley cave
    steep raide >steeper : steep path
    high haut >higher : climb barrier
    slippery glissant : paved path rock roof
    muddy boueux : mud road garden shoe
    crowded bondé : bus train beach market stadium store museum avenue square station
    wooden en_bois : furniture house toy door barn fence bridge boat spoon box
    interesting intéressant >more_interesting : document lesson museum idea story project
    boring ennuyeux : document lesson museum story teacher
    difficult difficile >more_difficult : hard
    easy facile >easier : hard
    complicated compliqué : hard document law plan
    important important >more_important : document approved question secret
    useful utile : tool book map umbrella computer machine
    strange étrange : story idea song person animal painting question
    fresh frais/fraîche : fruit bread milk butter cheese egg carrot mushroom bean salad
    sweet sucré : fruit cake pie coffee tea cookie
    ripe mûr : fruit
    hot chaud : soup coffee tea milk water pizza omelette desert
    cold froid : soup coffee tea milk water pizza juice beer
    spicy épicé : soup pizza salad rice omelette
    salty salé : soup cheese meat ham butter omelette rice
    bitter amer/amère : coffee tea chocolate beer lemon
    dry sec/sèche : bread cake cookie meat
    hard dur : bread cheese cookie bed bench
    round rond : table mirror mat window basket
    wet mouillé : clothing dog cat horse
    rusty rouillé : hammer axe knife bicycle tractor gate
    rainy pluvieux : city island valley
    sunny ensoleillé : beach garden bedroom kitchen
    official officiel/officielle : report letter contract map
    fragile fragile : fragile
    royal royal : palace garden castle
    burnt brûlé : cake pie pizza omelette bread
    exciting passionnant : novel story project lesson
    comfortable confortable >more_comfortable : seat armchair hotel house train bus shoe
"""


def _parse(line: str) -> Adjective:
    words, _, kinds = line.partition(":")
    en, fr, *marks = words.split()
    forms = fr.replace("_", " ").split("/")
    comparative = next((m.removeprefix(">") for m in marks if m.startswith(">")), "")
    return Adjective(
        en=en,
        comparative=comparative.replace("_", " "),
        fr=forms[0],
        fr_feminine=forms[1] if len(forms) > 1 else french.feminine_adjective(forms[0]),
        fr_before_vowel=forms[2] if len(forms) > 2 else "",
        before="<" in marks,
        kinds=kinds.strip(),
        invariable=" " in forms[0],
    )


ADJECTIVES: tuple[Adjective, ...] = tuple(_parse(line) for line in _TABLE.strip().splitlines())
BY_NAME: dict[str, Adjective] = {adjective.en: adjective for adjective in ADJECTIVES}
COLOURS = frozenset({"black", "white", "red", "blue", "green", "yellow", "gray"})
