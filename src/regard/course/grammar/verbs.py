"""The verbs: English, French, who can do it and to what.

One entry is `english[/past] french[+preposition] [=state] : subject kinds > object kinds`. "=state" marks a verb whose
English past is a French imparfait (he knew → il connaissait); the others take the passé composé. An underscore joins a
verb to its particle (look_for), and se_ marks a reflexive French verb.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from regard.course.grammar import english


@dataclass(frozen=True)
class Verb:
    base: str
    particle: str  # "for" of "look for"; else empty
    third: str
    past: str
    ing: str
    fr: str  # infinitive, without "se"
    reflexive: bool
    preposition: str  # the French preposition before its object; else empty
    state: bool
    subjects: str
    objects: str

    @property
    def name(self) -> str:
        return f"{self.base} {self.particle}" if self.particle else self.base


_VISIBLE = "person animal vehicle building furniture container portable plant way"
_WARES = "clothing furniture own food stuff portable instrument document container device house"
_TRANSITIVE = f"""
    see/saw voir : person animal > {_VISIBLE}
    watch regarder : person > person animal vehicle cloud moon sun
    hear/heard entendre : person animal > person animal vehicle music piano violin harp
    love aimer =state : person > person animal food stuff document building music
    hate détester =state : person > person food stuff document spider snake
    know/knew connaître =state : person > person told truth city village
    find/found trouver : person > portable clothing container animal document idea
    lose/lost perdre : person > portable clothing hat document bag suitcase
    look_for chercher : person > portable clothing container person pet document
    buy/bought acheter : person > {_WARES}
    sell/sold vendre : person > {_WARES} farm
    eat/ate manger : person animal > food stuff
    drink/drank boire : person animal > drink
    prepare préparer : person > dish soup coffee tea lesson
    cut/cut couper : person > food bread meat cheese rope cake
    wash laver : person > clothing vehicle utensil window dog cat fruit
    clean nettoyer : person > room building table window mirror
    open/opened ouvrir : person > opens letter
    close/closed fermer : person > opens store
    break/broke casser : person cat > fragile toy chair
    repair réparer : person > vehicle device roof chair table toy fence bridge clock
    carry porter : person strong > container portable chair
    wear/wore porter : person > clothing
    push pousser : person elephant > table wardrobe car door bicycle
    pull tirer : person strong > rope boat
    paint/painted peindre : person > wall door house chair boat fence tree
    draw/drew dessiner : person > animal house tree flower plant castle boat
    build/built construire : person > house bridge wall boat castle tower school barn
    read/read lire : person > document
    write/wrote écrire : person > written song
    translate traduire : person > written
    listen_to/listened écouter : person > music radio story person bird
    play jouer+de : person > instrument
    answer/answered répondre+à : person > asked letter message
    understand/understood comprendre : person > hard document idea person
    solve résoudre : person thinker > solved
    explain expliquer : person > hard idea plan project law
    help aider : person > person
    thank remercier : person > person
    follow suivre : person animal > person animal vehicle path
    visit visiter : person > building town island cave
    meet/met rencontrer : person > person
    invite inviter : person > person
    wait_for/waited attendre : person > person bus train taxi letter
    enter entrer+dans : person animal > building room cave tunnel forest
    leave/left quitter : person > building town island
    cross traverser : person animal wheels > cross
    climb escalader : person animal -snake -bee -butterfly > climb
    chase poursuivre : predator > prey person
    catch/caught attraper : predator person > prey
    feed/fed nourrir : person > animal
    protect protéger : person dog > person pet house
    hide/hid cacher : person > portable document gold money
    forget/forgot oublier : person > portable clothing question lesson idea
    accept accepter : person > approved
    refuse refuser : person > approved
    approve approuver : person > approved
    sign signer : person > contract letter report
    have/had avoir =state : person > pet own house portable instrument clothing kin container
    pick cueillir : person > flower rose cherry apple strawberry peach
    use utiliser : person > tool utensil device rope map
    drive/drove conduire : person > wheels
    steal/stole voler : thief monkey > portable wealth clothing fruit
    touch toucher : person > animal stone wall portable
    receive recevoir : person > letter message report flower
    admire admirer : person > painting castle church plant sky person
    light/lit allumer : person > candle lamp
    win/won gagner : person > money
    keep/kept garder : person > portable letter secret
"""
_INTRANSITIVE = """
    sleep/slept dormir : person animal
    work travailler : person
    sing/sang chanter : person bird
    dance danser : person
    laugh rire : person
    cry pleurer : person
    smile sourire : person
    run/ran courir : person animal -snake -bee -butterfly
    walk/walked marcher : person animal -snake -bee -butterfly
    swim/swam nager : person dog duck frog turtle bear
    fly/flew voler : flier
    jump sauter : person animal -snake -bee -butterfly
    fall/fell tomber : person animal plate cup vase bottle tree
    arrive arriver : person vehicle
    leave/left partir : person vehicle
    shine/shone briller : sun moon star
    travel voyager : person
    wait/waited attendre : person animal
    rest/rested se_reposer : person animal
    stop s'arrêter : person animal vehicle machine robot clock
    wake_up/woke se_réveiller : person animal
    hide/hid se_cacher : person animal
    bark/barked aboyer : barker
"""
_GIVING = """
    give/gave donner : person > portable clothing document fruit wealth container
    show/showed montrer : person > portable clothing document house garden animal
    send/sent envoyer : person > written flower clothing
    lend/lent prêter : person > portable clothing own instrument money book
    bring/brought apporter : person > portable dish container fruit drink
    offer/offered offrir : person > flower rose portable fruit drink dish
    sell/sold vendre : person > own house painting instrument horse cow
    read/read lire : person > story poem letter message article
    explain expliquer : person > hard plan project law
    tell/told raconter : person > story secret truth
"""
_MOTION = """
    go/went aller : person > at
    return retourner : person > at
    arrive arriver : person vehicle > at
    come/came venir : person > at
"""
_THINKING = """
    say/said dire : person
    think/thought penser =state : person
    know/knew savoir =state : person
    believe croire =state : person
    hope espérer : person
"""


def parse(line: str) -> Verb:
    words, _, selection = line.partition(":")
    en, fr, *marks = words.split()
    subjects, _, objects = selection.partition(">")
    base, _, past = en.partition("/")
    base, _, particle = base.partition("_")
    past = past.partition("_")[0]
    reflexive = fr.startswith(("se_", "s'"))
    infinitive, _, preposition = fr.removeprefix("se_").removeprefix("s'").partition("+")
    return Verb(
        base=base,
        particle=particle,
        third=english.third_person(base),
        past=past or english.past(base),
        ing=english.ing(base),
        fr=infinitive,
        reflexive=reflexive,
        preposition=preposition,
        state="=state" in marks,
        subjects=subjects.strip(),
        objects=objects.strip(),
    )


def _table(block: str) -> tuple[Verb, ...]:
    return tuple(parse(line) for line in block.strip().splitlines())


TRANSITIVE = _table(_TRANSITIVE)
INTRANSITIVE = _table(_INTRANSITIVE)
GIVING = _table(_GIVING)
MOTION = _table(_MOTION)
THINKING = _table(_THINKING)
BE = Verb("be", "", "is", "was", "being", "être", False, "", True, "person", "")
HAVE = next(v for v in TRANSITIVE if v.base == "have")
HAVE_AS_BE = replace(BE, fr="avoir")  # he is hungry, il a faim
PUT = parse("put/put mettre : person > portable clothing document")
SIT = parse("sit/sat s'asseoir : person pet > seat")
BY_NAME: dict[str, Verb] = {v.name: v for v in (*GIVING, *MOTION, *INTRANSITIVE, *TRANSITIVE)}

# modal: infinitive; English forms present third person, present, past
MODALS: dict[str, tuple[str, str, str, str]] = {
    "can": ("pouvoir", "can", "can", "could"),
    "must": ("devoir", "must", "must", ""),
    "want": ("vouloir", "wants", "want", "wanted"),
}
