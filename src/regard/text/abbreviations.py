"""What a full stop after a word means, by language: abbreviations, and words that often begin a sentence.

Words stand without their last full stop, and an abbreviation of several words without its spaces: "z.B" is found in
"z. B." and in "z.B.". The case counts: "Fr." is a title, "fr." is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from regard.text.words import word_set

# After one of these a single capital is a name of its own and no initial: vitamin C, plan B, an A
BEFORE_LETTER = word_set(
    "vitamin plan grade type class hepatitis group team section part point figure appendix exhibit option letter side "
    "channel platform gate vitamine groupe hépatite vitamina grupo tipo gruppe typ klasse"
)


@dataclass(frozen=True)
class Usage:
    """The words of one language that decide whether a full stop ends a sentence."""

    never: frozenset[str]  # a word always follows: Mr., e.g.
    before_number: frozenset[str]  # short for something only before a number: No. 5, p. 12, Jan. 3
    unless_starter: frozenset[str]  # may end a sentence, but names follow as well: U.S., Inc., Jr.
    may_end: frozenset[str]  # before a capital the sentence is over: etc., p.m.
    starters: frozenset[str]  # words that begin sentences and rarely follow an abbreviation: the, he, when
    months: frozenset[str]
    ordinals: frozenset[str]  # words before an ordinal number, where "3." is one: am 3. Oktober
    lettered: frozenset[str] = BEFORE_LETTER

    def has(self, word: str) -> bool:
        """Whether the word is an abbreviation of any kind."""
        return any(word in kind for kind in (self.never, self.before_number, self.unless_starter, self.may_end))


EVERYWHERE = Usage(
    never=word_set("Dr Prof Mr Mrs Ms St vs cf ca Mgr Hr Sr Sra Mme"),
    before_number=word_set("Nr nr No no Tel tel p pp Vol vol Art art Fig fig"),
    unless_starter=word_set("Inc Ltd Co Corp Jr"),
    may_end=word_set("etc"),
    starters=frozenset(),
    months=frozenset(),
    ordinals=frozenset(),
)

USAGES = {
    "en": Usage(
        never=word_set(
            "Mr Mrs Ms Messrs Mmes Dr Drs Prof Profs St Gen Col Sen Sens Rep Reps Gov Govs Lt Sgt Capt Cpt Cmdr Cdr "
            "Adm Rev Hon Maj Pres Supt Insp Msgr Mt Ft Pvt Cpl Amb Sec Pfc Bros govt dept e.g i.e eg ie cf vs v viz "
            "approx ca c esp incl excl resp a.k.a aka w.r.t"
        ),
        before_number=word_set(
            "No no Nos nos p pp Vol vol Art art Fig fig Figs figs Ch ch Sec sec Eq eq Tel tel Ext ext par para Jan Feb "
            "Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun ver"
        ),
        unless_starter=word_set(
            "Inc Ltd Co Corp Jr Sr Esq al Ave Blvd Rd Bldg Dept Inst Assoc Univ Ph.D U.S.A est Assn"
        ),
        may_end=word_set("etc a.m p.m am pm A.M P.M A.D B.C B.C.E C.E ft oz lb lbs hr hrs min mph"),
        starters=word_set(
            "the a an this that these those he she it we you they i his her its our my your their there here what when "
            "where who whom whose why how which if but and or so in on at for from with as after before then however "
            "although though while because since do does did is are was were am have has had can could will would "
            "shall should may might must please let don't didn't doesn't isn't aren't can't won't no yes not one some "
            "many most all both each every any another nobody everybody everyone someone something nothing it's i'm "
            "i've i'll i'd he's she's we're they're you're that's there's what's let's meanwhile now today yesterday "
            "tomorrow once only even also perhaps maybe by under over during until to of finally instead get give take "
            "make go come look see try think remember ask tell keep wait stop thank thanks ok okay well oh hey"
        ),
        months=word_set(
            "january february march april may june july august september october november december monday tuesday "
            "wednesday thursday friday saturday sunday est edt pst pdt cst cdt mst mdt gmt utc cet cest bst et pt"
        ),
        ordinals=frozenset(),
        lettered=BEFORE_LETTER | {"a", "an"},
    ),
    "fr": Usage(
        never=word_set(
            "M MM Mr Mrs Col Gén Mme Mmes Mlle Mlles Me Mgr Dr Drs Pr Prof St Ste p.ex par.ex cf c.-à-d c.à.d env av "
            "apr ap boul bd éd éds dir trad vs Gal Cdt Cne Lt ca hab"
        ),
        before_number=word_set(
            "no No n nos art Art fig Fig p pp vol Vol chap Chap tél Tél t janv févr avr juil sept oct nov déc"
        ),
        unless_starter=word_set("Cie Inc Ltd S.A S.A.R.L"),
        may_end=word_set("etc av.J.-C apr.J.-C ap.J.-C av.J.C apr.J.C"),
        starters=word_set(
            "le la les l un une des du de ce cet cette ces c il elle ils elles on je j tu nous vous mon ma mes ton ta "
            "tes son sa ses notre nos votre vos leur leurs qui que qu quoi quel quelle quels quelles où quand comment "
            "pourquoi combien si mais et ou donc or ni car dans en sur sous à au aux avec pour par sans après avant "
            "depuis pendant y est ne n pas non oui tout toute tous toutes chaque plusieurs certains quelques cela ça "
            "celui celle ceux voilà voici puis ensuite alors ainsi cependant toutefois pourtant parce comme lorsque "
            "dès même aussi personne rien d s"
        ),
        months=word_set("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
        ordinals=frozenset(),
    ),
    "de": Usage(
        never=word_set(
            "Hr Hrn Fr Frl Fam Dr Prof Dipl Ing Mag med phil jur rer nat habil St bzw ca evtl ggf inkl exkl vgl z.B "
            "d.h s.o s.u i.d.R z.T u.U m.E m.W z.Zt z.Z d.i o.g u.g i.A i.V z.Hd sog allg bes bspw beisp einschl ehem "
            "eigtl gegr gem insb insbes jmd max min mind od röm kath ev vmtl zzgl hl Hl geb gest verh Abk vs lt Lt zz "
            "Bsp jew ungef vorm urspr franz engl dt MwSt Hrsg Mrs Mr Abt"
        ),
        before_number=word_set(
            "Nr Nrn Abb Abs Art Bd Bde Kap Tab Tel S Ziff Anm Aufl Jan Jän Feb Apr Jun Jul Aug Sep Sept Okt Nov Dez"
        ),
        unless_starter=word_set("u.a v.a Str str Mio Mrd Mill Tsd Jh Jhd Jhdt Jr Co e.V a.D Std Sek"),
        may_end=word_set("usw etc usf u.v.m u.ä o.ä u.Ä o.Ä v.Chr n.Chr u.s.w u.a.m"),
        starters=word_set(
            "der die das den dem des ein eine einen einem einer er sie es ich du wir ihr mein meine dein deine sein "
            "seine ihre unser unsere euer eure dieser diese dieses diesen diesem jener jene jenes wer was wann wo "
            "wohin woher warum wie wieso weshalb welcher welche welches wenn als ob weil da dass aber und oder denn "
            "doch sondern in im an am auf aus bei beim mit nach seit von vom zu zum zur für durch gegen ohne um über "
            "unter vor hinter neben zwischen nicht kein keine alle alles man jeder jede jedes viele einige manche nun "
            "jetzt heute gestern morgen dann danach damals dort hier so auch nur noch schon ja nein bitte hat habe "
            "haben ist sind war waren wird werden kann können muss müssen soll will darf dennoch trotzdem deshalb "
            "daher außerdem jedoch allerdings niemand jemand etwas nichts"
        ),
        months=word_set(
            "januar jänner februar feber märz april mai juni juli august september oktober november dezember "
            "jahrhundert jahrhunderts jahrtausend weltkrieg weltkriegs weltkrieges"
        ),
        ordinals=word_set(
            "am an auf in aus nach bei von für vom zum zur im der die das den dem des bis ab seit und oder jeder jede "
            "jedes jeden jedem sein seine seinen seinem ihr ihre ihren ihrem mein meine meinen meinem unser unsere "
            "unseren unserem dein deine deinen deinem dieser diese dieses diesen diesem beim ein eine einen einem "
            "montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag mo di mi do fr sa so"
        ),
    ),
    "es": Usage(
        never=word_set(
            "Mr Mrs M Sr Sra Sres Sras Srta Srtas D Dña Dª Da Dr Dra Dres Dras Prof Profa Ing Lic Arq Gral Cnel Cap "
            "Cmdte Tte Pdte Sto Sta EE FF JJ RR CC p.ej pej c ca aprox av avda Avda Av izq dcha dpto Dpto Excmo Excma "
            "Ilmo Ilma Mons Fr Fdo vs cf máx mín"
        ),
        before_number=word_set(
            "pág págs p pp núm núms Núm n art arts Art fig figs Fig vol vols cap caps tel Tel tfno Tfno ene feb abr "
            "jun jul ago sept oct nov dic"
        ),
        unless_starter=word_set("Ud Uds Vd Vds EE.UU FF.AA JJ.OO RR.HH CC.OO Cía S.A S.L Inc Ltd Jr"),
        may_end=word_set("etc a.C d.C a.m p.m a.de.C d.de.C"),
        starters=word_set(
            "el la los las lo un una unos unas al del este esta esto estos estas ese esa eso esos esas aquel aquella "
            "él ella ellos ellas yo tú usted ustedes nosotros nosotras vosotros mi mis tu tus su sus nuestro nuestra "
            "nuestros nuestras quién quiénes qué cuál cuáles cuándo dónde cómo por cuánto cuántos si pero y e o u ni "
            "que cuando donde como porque aunque mientras en a de con sin para desde hasta sobre entre tras no sí se "
            "me te le les nos todo toda todos todas cada algunos algunas muchos muchas nadie nada alguien algo hay es "
            "son era eran está están ha han fue fueron hoy ayer mañana ahora luego después antes entonces también solo "
            "sólo además ya aún así"
        ),
        months=word_set(
            "enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre"
        ),
        ordinals=frozenset(),
    ),
    "it": Usage(
        never=word_set("Sig Sigg Sig.ra Dott Dott.ssa Prof Prof.ssa Ing Avv Arch On Mons S p.es ad.es cfr ca vs es"),
        before_number=word_set("n nn pag pagg p pp art fig vol cap tel"),
        unless_starter=word_set("S.p.A S.r.l Inc Jr"),
        may_end=word_set("ecc etc a.C d.C"),
        starters=word_set(
            "il lo la i gli le un uno una egli lui lei loro noi voi io tu che chi come quando dove perché"
        ),
        months=frozenset(),
        ordinals=frozenset(),
    ),
    "pt": Usage(
        never=word_set("Sr Sra Srs Sras Srta Dr Dra Drs Prof Profa Eng Exmo Exma Ilmo D p.ex av Av ca vs cf"),
        before_number=word_set("n nº núm pág págs p pp art fig vol cap tel"),
        unless_starter=word_set("S.A Ltda Cia EUA Jr V.Exa"),
        may_end=word_set("etc a.C d.C"),
        starters=word_set("o a os as um uma ele ela eles elas nós eu tu você que quem como quando onde porque não sim"),
        months=frozenset(),
        ordinals=frozenset(),
    ),
    "nl": Usage(
        never=word_set(
            "dhr mevr mw dr drs ir ing mr prof St bijv bv d.w.z o.a m.a.w t.a.v i.v.m m.b.t ca vs incl excl"
        ),
        before_number=word_set("nr nrs blz p pp art fig tel hfst"),
        unless_starter=word_set("N.V B.V jr"),
        may_end=word_set("enz etc e.d v.Chr n.Chr"),
        starters=word_set("de het een hij zij ze wij we jij je ik dit dat deze die wat wie waar wanneer waarom hoe er"),
        months=frozenset(),
        ordinals=frozenset(),
    ),
}


@cache
def usage(language: str) -> Usage:
    """The words of a language, given as "de" or "de-AT"; of an unknown one those that many languages share.

    >>> "Mr" in usage("en-GB").never, usage("xx") is EVERYWHERE
    (True, True)
    """
    return USAGES.get(language.replace("_", "-").partition("-")[0].lower(), EVERYWHERE)
