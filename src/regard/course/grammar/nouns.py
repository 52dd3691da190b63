"""The nouns: English, French, gender, and what kind of thing each names.

One entry is `english[/plural] french[/plural] gender [+kind…]`; an underscore is a space. Entries stand under their
main kind; further kinds follow as +kind. Kinds are what verbs and adjectives select by, so that nobody reads a table
or meets a tired spoon. A word with two senses has no place here: `ambiguous.py` has those.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from regard.course.grammar import english, french


@dataclass(frozen=True, eq=False)  # compared by identity
class Noun:
    en: str
    en_plural: str
    fr: str
    fr_plural: str
    feminine: bool
    kinds: frozenset[str]

    def is_a(self, kinds: frozenset[str]) -> bool:
        return not self.kinds.isdisjoint(kinds)


_TABLE: dict[str, str] = {
    "person": """
        man/men homme m; woman/women femme f; boy garçon m +child; girl fille f +child; king roi m;
        queen reine f; brother frère m +kin; sister sœur f +kin; mother mère f +kin +one;
        father père m +kin +one; uncle oncle m +kin; aunt tante f +kin;
        grandmother grand-mère/grands-mères f +kin; grandfather grand-père/grands-pères m +kin; prince prince m;
        princess princesse f; teacher professeur m; doctor médecin m; nurse infirmière f; farmer fermier m;
        baker boulanger m; actress actrice f; waiter serveur m; waitress serveuse f; soldier soldat m;
        student étudiant m; child/children enfant m +child; neighbor voisin m +kin; friend ami m +kin;
        gardener jardinier m; painter peintre m; writer écrivain m; lawyer avocat m; engineer ingénieur m;
        tourist touriste m; thief/thieves voleur m; witch sorcière f; hero/heroes héros m; judge juge m;
        pilot pilote m; singer chanteuse f; dancer danseuse f; carpenter menuisier m; hunter chasseur m;
        sailor marin m""",
    "animal": """
        cat chat m +pet +predator; dog chien m +pet +predator +barker; puppy chiot m +pet +barker;
        kitten chaton m +pet; bird oiseau m +flier; horse cheval m +strong +cattle; cow vache f +cattle;
        mouse/mice souris f +prey; rabbit lapin m +prey +pet; fox renard m +predator;
        wolf/wolves loup m +predator; bear ours m +predator +strong; lion lion m +predator;
        tiger tigre m +predator; panther panthère f +predator; elephant éléphant m +strong; monkey singe m;
        goat chèvre f +cattle; hen poule f +cattle +prey; duck canard m +flier +prey;
        goose/geese oie f +flier +cattle; owl hibou/hiboux m +flier +predator; hedgehog hérisson m;
        turtle tortue f; frog grenouille f +prey; snake serpent m; bee abeille f +flier; spider araignée f;
        butterfly papillon m +flier; giraffe girafe f; pig cochon m +cattle; squirrel écureuil m +prey;
        eagle aigle m +flier +predator; mare jument f +strong +cattle; donkey âne m +strong +cattle;
        camel chameau m +strong; gazelle gazelle f +prey; animal animal m +strong""",
    "vehicle": """
        car voiture f +wheels +own; truck camion m +wheels +own; bus bus m +wheels; train train m;
        boat bateau m +own; bicycle vélo m +own; motorcycle moto f +wheels +own; taxi taxi m +wheels;
        tractor tracteur m +wheels; van camionnette f +wheels; ambulance ambulance f +wheels;
        helicopter hélicoptère m +flier""",
    "device": """
        machine machine f +thinker; robot robot m +thinker; computer ordinateur m +thinker;
        radio radio f +portable; phone téléphone m +portable; clock horloge f; lamp lampe f +portable""",
    "food": """
        apple pomme f +fruit; cake gâteau m +dish; pear poire f +fruit; cherry cerise f +fruit; egg œuf m;
        carrot carotte f; tomato/tomatoes tomate f +fruit; potato/potatoes pomme_de_terre/pommes_de_terre f;
        sandwich sandwich m +dish; pie tarte f +dish; cookie biscuit m +dish; banana banane f +fruit;
        lemon citron m +fruit; strawberry fraise f +fruit; mushroom champignon m; onion oignon m;
        peach pêche f +fruit; pizza pizza f +dish; omelette omelette f +dish; bean haricot m;
        salad salade f +dish""",
    "stuff": """
        bread pain m; meat viande f; cheese fromage m; butter beurre m; rice riz m; soup soupe f +soup;
        chocolate chocolat m; honey miel m; sugar sucre m; ham jambon m; jam confiture f""",
    "drink": "water eau f; milk lait m; coffee café m; tea thé m; wine vin m; beer bière f; juice jus m",
    "wealth": "money argent m; gold or m",
    "furniture": """
        table table f +top; chair chaise f +seat; bed lit m +seat; mat tapis m +seat; sofa canapé m +seat;
        desk bureau m +top; mirror miroir m +fragile; shelf/shelves étagère f +top; armchair fauteuil m;
        wardrobe armoire f +opens; bench banc m +seat""",
    "container": """
        box boîte f +opens; basket panier m; bottle bouteille f +opens +fragile; bag sac m +opens;
        suitcase valise f +opens; drawer tiroir m +opens""",
    "portable": """
        cup tasse f +fragile +utensil; plate assiette f +fragile +utensil; knife/knives couteau m +utensil;
        spoon cuillère f +utensil; fork fourchette f +utensil; umbrella parapluie m; ball ballon m +toy;
        doll poupée f +toy; toy jouet m +toy; stone pierre f; rope corde f; hammer marteau m +tool;
        axe hache f +tool; candle bougie f; painting tableau m; flag drapeau m; vase vase m +fragile;
        blanket couverture f; flower fleur f +plant; rose rose f +plant; pillow oreiller m""",
    "instrument": """
        piano piano m; guitar guitare f +portable; violin violon m +portable; flute flûte f +portable;
        harp harpe f""",
    "clothing": """
        hat chapeau m; coat manteau m; dress robe f; shirt chemise f; shoe chaussure f; scarf/scarves écharpe f;
        glove gant m; skirt jupe f""",
    "building": """
        house maison f +in +home; school école f +in +at; hotel hôtel m +in +at; church église f +in;
        museum musée m +in +at; theater théâtre m +in +at; store magasin m +in; library bibliothèque f +in +at;
        hospital hôpital m +in +at; castle château m +in +home; farm ferme f +home +at;
        restaurant restaurant m +in +at; bakery boulangerie f +in; station gare f +in +at;
        palace palais m +in +home; factory usine f +in; barn grange f +in +dark; garage garage m +in""",
    "room": "kitchen cuisine f +in; bedroom chambre f +in; office bureau m +in; cellar cave f +in +dark",
    "outdoors": """
        garden jardin m +in; park parc m +in +at; village village m +in +town; city ville f +in +town;
        market marché m +at; beach plage f +on; island île f +on; cave grotte f +in +dark;
        stadium stade m +in +at""",
    "way": """
        street rue f +cross +in +paved; road route f +cross +paved; bridge pont m +cross +paved;
        avenue avenue f +cross +paved; square place f +cross; field champ m +cross +in +mud;
        path sentier m +cross +mud; river rivière f +cross +waters; lake lac m +cross +waters;
        stream ruisseau m +cross +waters; valley vallée f +cross +in; forest forêt f +cross +in +dark;
        desert désert m +cross +in; tunnel tunnel m +cross +in +dark""",
    "height": """
        hill colline f +climb +steep; mountain montagne f +climb +steep; wall mur m +climb +barrier;
        rock rocher m +climb; fence clôture f +climb +barrier; cliff falaise f +climb +steep;
        tower tour f +climb; hedge haie f +barrier; gate portail m +barrier +opens""",
    "tree": "tree arbre m +plant; oak chêne m +plant; pine pin m +plant; willow saule m +plant",
    "part": "door porte f +opens; window fenêtre f +opens +fragile; roof toit m",
    "sky": "sun soleil m +one; moon lune f +one; star étoile f; cloud nuage m",
    "document": """
        book livre m +portable; letter lettre f +written +portable; newspaper journal m +portable;
        poem poème m +written; novel roman m +written; story histoire f +written +told;
        message message m +written; report rapport m +written; article article m +written;
        contract contrat m +written +approved; map carte f +portable; recipe recette f +written""",
    "music": "song chanson f +told; melody mélodie f",
    "thought": """
        question question f +hard +asked; problem problème m +hard +solved; riddle énigme f +hard +solved;
        idea idée f; exercise exercice m +hard +solved; lesson leçon f +hard; secret secret m +told;
        plan plan m +approved; project projet m +approved; loan prêt m +approved; law loi f +approved;
        budget budget m +approved; proposal proposition f +approved; truth vérité f +one""",
}


def parse(entry: str, main: str) -> Noun:
    """
    >>> parse("mouse/mice souris f +prey", "animal").en_plural
    'mice'
    """
    fields = entry.split()
    en, fr, gender = fields[:3]
    assert gender in ("m", "f"), entry
    en_one, _, en_many = en.replace("_", " ").partition("/")
    fr_one, _, fr_many = fr.replace("_", " ").partition("/")
    return Noun(
        en=en_one,
        en_plural=en_many or english.plural_noun(en_one),
        fr=fr_one,
        fr_plural=fr_many or french.plural_noun(fr_one),
        feminine=gender == "f",
        kinds=frozenset([main, *(f.removeprefix("+") for f in fields[3:])]),
    )


NOUNS: tuple[Noun, ...] = tuple(
    parse(entry, main) for main, block in _TABLE.items() for entry in block.split(";") if entry.strip()
)
BY_NAME: dict[str, Noun] = {noun.en: noun for noun in NOUNS}
MASS = frozenset({"stuff", "drink", "wealth"})  # nouns without a plural: some bread, du pain


@cache
def select(kinds: str) -> tuple[Noun, ...]:
    """All nouns of any of these kinds, in table order; a noun's name selects that noun, -name excludes it.

    >>> [n.en for n in select("wealth piano")]
    ['money', 'gold', 'piano']
    """
    chosen = frozenset(w for w in kinds.split() if w[0] != "-")
    left_out = frozenset(w[1:] for w in kinds.split() if w[0] == "-")
    found = tuple(n for n in NOUNS if n.en not in left_out and (n.en in chosen or n.is_a(chosen)))
    assert found, f"no noun is {kinds}"
    return found


# name: is it feminine
NAMES: dict[str, bool] = {
    "Marie": True,
    "Claire": True,
    "Sophie": True,
    "Julie": True,
    "Alice": True,
    "Emma": True,
    "Paul": False,
    "Pierre": False,
    "Louis": False,
    "Marc": False,
    "Antoine": False,
    "Thomas": False,
}
ALL_NAMES = tuple(NAMES)
