"""Mends small faults of parallel text, alike on both sides, or finds that a pair cannot be mended.

accelerator marks       &File, _Open, Datei (&D)        taken out, where the other side does not have the same
letters in brackets     [r]ecursive, list ([l])         taken out of them
list marks              – une console ;                 taken out, where the other side has none
dots for spaces         «⋅pipes⋅»                       spaces
space before a mark     the Shim plugin .               closed; French « : ; ! ? » keep theirs
closing quote lost      called “the ramp.               closed, if the other side closes one at its end
cut sentences           (e.g.      says Dr.             dropped: half a sentence, though a pair
brackets, quotes        open on one side alone          dropped
links                   the dst='sea' text='Sea'        their text
definitions             rim means …; (jante)  pli …; (ply)     dropped: of different words
tag taken out           surround arguments with .       dropped; so is "is shown in." if the other side ends so too
empty brackets          in centrifuges ().              taken out
notation of dictionaries   pry sth. out of sb.          dropped
code                    for i in range(10): x += 1      dropped, where most words are of a program
not translated          most words of the target are the source's, or it holds an English clause    dropped
"""

from __future__ import annotations

import re

Pair = tuple[str, str]

ACCELERATOR = re.compile(r"(?<![&\s\d])\s?\([&_~](?:\w)\)|[&_~](?=[^\W\d_])(?!\w+;)")
WITHIN = re.compile(r"\w[&_~]\w")
MNEMONIC = re.compile(r" ?\(\[\w\]\)|\[(\w)\](?=\w)")
BULLET = re.compile(r"^[–—•*-]\s+")
LAST_COMMA = re.compile(r"[\s\xa0\u202f]*[;,]$")
SPACED_MARK = re.compile(r"(?<=[^\s.,(]) +(?=,(?:\s|$)|\.(?:$|\s+[^\W\da-zà-ÿ_]))")
SPACED_OTHER = re.compile(r"(?<=\w) +(?=[;:!?](?:\s|$))")  # right in French alone
SPACE_AND_MARK = re.compile(r" [.,:]+(?:\s|$)")
DANGLING = re.compile(
    r"\b(?:with|by|of|the|a|an|in|to|from|and|or|for|at|on|par|avec|de|des|le|la|les|du|un|une|dans|à|et|ou|pour|sur|"
    r"mit|von|der|die|das|den|dem|ein|eine|zu|und|oder|für|auf|im|con|por|el|los|las|en|y|o|para|del|al|una?|"
    r"see|consultez|siehe|véase|vea) +[.,:]*[.,](?=\s|$)",
    re.IGNORECASE,
)
CUT = re.compile(
    r"(?:^|[\s(\"“«])(?:Mrs?|Ms|Dr|Drs|Prof|St|Jr|e\.\s?g|i\.\s?e|vs|cf|Fig|approx|M|Mme|Mlle|p\.\s?ex|par ex|ex|Sra?|"
    r"Srta|p\.\s?ej|z\.\s?B|d\.\s?h|bzw|ca|bspw|u\.\s?a|Nr|Gen|Lt|Sgt|Capt|Rev|Hon|Gov|Sen|Rep)\.?$"
)
OBJECTLESS = re.compile(
    r"(?<=\s)(?:in|on|at|of|to|by|from|with|as|than|and|or|behind|the|en|de|por|con|que|como|el|la|los|las|del|dans|"
    r"par|avec|à|sur|et|ou|le|les|des|du|mit|von|zu|auf|und|oder|der|die|dem|den|vea|siehe)\.$"
)
NOTATION = re.compile(r"\b(?:sth|sb|jdm?|jdn|jds|etw)\.")
EMPTY = re.compile(r" \(\)")
LISTED = re.compile(r"\b\w{1,4}\)|(?<=\s)\)")
INNERMOST = re.compile(r"\([^()]*\)")
DEFINES = re.compile(r"\b(?:means|includes|meaning)\b")
TERM = re.compile(r"\(([^()]+)\)[.;,]?$")
LINK = re.compile(r"dst='[^']*' text='([^']*)'")
FACE = re.compile(r"(?<!\S)[:;=][-']?[()](?!\w)")
CLOSED = re.compile(r"[\"”»“«][\s.!?…)]*$")
CODE = re.compile(r"[_{}=<>\\|@$]|\w\(|[a-z][A-Z]|\w\.[a-z]|^-|^[#/~]|::|^\W+$")
IDENTIFIER = re.compile(r"^[a-z]\w*(?:[A-Z]\w*|\d)$")  # gasParticle14
CODE_SIGN = re.compile(r"[_{}=<>\\|@$(#/~:-]|[a-z][A-Z]|\.[a-z]")
WORDS = re.compile(r"[^\W_]+")
ENGLISH = re.compile(
    r"\b(?:the|is|of|are|was|were|be|been|this|that|it|its|you|your|we|our|they|he|she|to|and|or|for|with|from|at|by|not|do|"
    r"does|did|have|has|had|will|would|should|can|could|my|I)\b",
    re.IGNORECASE,
)
LONG_WORD = re.compile(r"[^\W\d_]{4,}")


def mended(
    pair: Pair, languages: tuple[str, str], *, labels: bool = False, lessons: bool = False, statutes: bool = False
) -> Pair | None:
    """Returns the pair, mended; None if it must be dropped. Accelerator marks are looked for in labels only, English
    clauses in lessons (of English, among others): elsewhere they are titles.

    >>> mended(("Save ~As", "Speichern (&s)"), ("en", "de"), labels=True)
    ('Save As', 'Speichern')
    >>> mended(("It is called “the ramp.", "Se llama \\"la rampa\\"."), ("en", "es"))
    ('It is called “the ramp.”', 'Se llama "la rampa".')
    >>> mended(("So when using e.g.", "Wenn Sie also z.B."), ("en", "de"))
    """
    if "dst='" in pair[0]:
        pair = LINK.sub(r"\1", pair[0]), LINK.sub(r"\1", pair[1])
    if "⋅" in pair[1]:
        pair = pair[0], pair[1].replace("⋅", "\u00a0")
    if labels:
        pair = without_accelerators(pair)
    pair = without_list_marks(without_mnemonics(pair))
    if any("()" in text for text in pair):
        pair = EMPTY.sub("", pair[0]), EMPTY.sub("", pair[1])
    if any(is_cut(text) or NOTATION.search(text) for text in pair) or lacks_object(pair):
        return None
    pair = with_closed_marks(pair, languages)
    closed = with_closed_quotes(pair)
    if closed is None or not same_brackets(closed):
        return None
    if any(mostly_code(text) for text in closed) or copied(closed):
        return None
    if (lessons and has_english_clause(closed)) or (statutes and defines_another(closed)):
        return None
    return closed


def is_cut(text: str) -> bool:
    """Whether a sentence was cut behind an abbreviation, or a tag was taken out with what it held.

    >>> [is_cut(text) for text in ("stated Dr.", "Surround arguments with .", "See the .NET pages.")]
    [True, True, False]
    """
    if CUT.search(text[-12:]):
        return True
    return SPACE_AND_MARK.search(text) is not None and DANGLING.search(text) is not None


def lacks_object(pair: Pair) -> bool:
    """Whether a reference was taken out at the end of both sides.

    >>> lacks_object(("The solid is shown in.", "El sólido se muestra en la."))
    True
    >>> lacks_object(("It is the world we live in.", "Es el mundo en que vivimos."))
    False
    """
    return all(text.endswith(".") for text in pair) and all(OBJECTLESS.search(text[-12:]) for text in pair)


def without_accelerators(pair: Pair) -> Pair:
    """Takes out &, _ and ~ before a letter, unless both sides have them within a word (R&D).

    >>> without_accelerators(("Copy Link URL", "Copier l'&adresse du lien"))
    ('Copy Link URL', "Copier l'adresse du lien")
    """
    counts = [len(ACCELERATOR.findall(text)) for text in pair]
    if max(counts) != 1 or all(WITHIN.search(text) for text in pair):  # more are an address, or names of variables
        return pair
    source, target = (ACCELERATOR.sub("", text).strip() for text in pair)
    return source, target


def without_mnemonics(pair: Pair) -> Pair:
    """
    >>> without_mnemonics(("Open a [b]ookmark:", "Ouvre ([b]) un signet :"))
    ('Open a bookmark:', 'Ouvre un signet :')
    """
    if not any("[" in text for text in pair):
        return pair
    source, target = (MNEMONIC.sub(lambda found: found[1] or "", text) for text in pair)
    return source, target


def without_list_marks(pair: Pair) -> Pair:
    """
    >>> without_list_marks(("the Atari console.", "– la console Atari ;"))
    ('the Atari console.', 'la console Atari.')
    """
    source, target = pair
    if BULLET.match(target) and not BULLET.match(source):
        target = BULLET.sub("", target)
    if LAST_COMMA.search(target) and not LAST_COMMA.search(source):
        target = LAST_COMMA.sub("." if source.endswith(".") else "", target)
    return (source, target) if target else pair


def with_closed_marks(pair: Pair, languages: tuple[str, str]) -> Pair:
    """
    >>> with_closed_marks(("See the setup .", "Consultez le plugin Shim ."), ("en", "fr"))
    ('See the setup.', 'Consultez le plugin Shim.')
    """
    found = []
    for text, language in zip(pair, languages, strict=True):
        if " ." in text or " ," in text:
            text = SPACED_MARK.sub("", text)
        found.append(text if language == "fr" else SPACED_OTHER.sub("", text))
    return found[0], found[1]


def with_closed_quotes(pair: Pair) -> Pair | None:
    """Adds a closing quote that a side lost at its end; None if quotes are open on one side alone and stay so."""
    surplus = [open_quotes(text) for text in pair]
    if bool(surplus[0]) == bool(surplus[1]):
        return pair  # on both sides: part of a longer quotation
    bad = 0 if surplus[0] else 1
    text, other = pair[bad], pair[1 - bad]
    sign = {1: '"', 2: "”", 3: " »", 4: "“"}.get(surplus[bad])
    if sign is None or not CLOSED.search(other) or CLOSED.search(text):
        return None
    text += sign
    return (text, other) if bad == 0 else (other, text)


QUOTES = re.compile('["“”„«»]')


def open_quotes(text: str) -> int:
    """0 if all are closed; the kind of the one quote that is open at the end of the text; -1 for anything else.

    >>> [open_quotes(text) for text in ('"A', "“A", "« A", "„A", '"A"', "A”")]
    [1, 2, 3, 4, 0, -1]
    """
    if not QUOTES.search(text):
        return 0
    straight = text.count('"') % 2
    german = text.count("„")
    curly = text.count("“") + text.count("”")
    if german:
        odd = german - curly
        kinds = [(straight, 1), (odd, 4)]
    else:
        kinds = [(straight, 1), (text.count("“") - text.count("”"), 2)]
    guillemets = text.count("«") - text.count("»")
    if guillemets and text.find("»") < text.find("«") and "»" in text:  # »so«
        guillemets = -9
    kinds.append((guillemets, 3))
    odd_kinds = [(count, kind) for count, kind in kinds if count]
    if not odd_kinds:
        return 0
    return odd_kinds[0][1] if len(odd_kinds) == 1 and odd_kinds[0][0] == 1 else -1


def same_brackets(pair: Pair) -> bool:
    """Whether no bracket stays open; faces and marks such as "a)" have none to open.

    >>> same_brackets(("under paragraph 5(1)(a)", "de l’alinéa 5(1)a)")), same_brackets(("He came (in", "Il vint"))
    (True, False)
    """
    for text in pair:
        if "(" not in text and ")" not in text:
            continue
        plain = FACE.sub("", text)
        while (inner := INNERMOST.sub("", plain)) != plain:
            plain = inner
        plain = LISTED.sub("", plain)
        if "(" in plain or ")" in plain:
            return False
    return True


def defines_another(pair: Pair) -> bool:
    """Whether two definitions of a statute were paired that are of different words: each names the other's at its end.

    >>> defines_another(("rim means a support; (jante)", "pli Nappe; (ply)"))
    True
    >>> defines_another(("rim means a support; (jante)", "jante Support; (rim)"))
    False
    """
    terms = [TERM.search(text) for text in pair]
    return (
        DEFINES.search(pair[0]) is not None
        and all(terms)
        and not any(
            term and set(WORDS.findall(term[1].lower())) & set(WORDS.findall(text.lower()[: -len(term[0])]))
            for term, text in zip(terms, reversed(pair), strict=True)
        )
    )


def mostly_code(text: str) -> bool:
    """
    >>> [mostly_code(text) for text in ("for i in range(10): x_i += self.a", "Call range(10) and see.", "polygon3")]
    [True, False, True]
    """
    words = text.split()
    if len(words) < 2:
        return IDENTIFIER.search(text) is not None
    if not CODE_SIGN.search(text):
        return False
    return sum(CODE.search(word) is not None for word in words) > 0.5 * len(words)


def copied(pair: Pair) -> bool:
    """Whether most of the longer words of the target are the source's."""
    target = LONG_WORD.findall(pair[1].lower())
    if len(target) < 5:
        return False
    source = set(LONG_WORD.findall(pair[0].lower()))
    return sum(word in source for word in target) > 0.75 * len(target)


def has_english_clause(pair: Pair) -> bool:
    """Whether the target has four or more words of the English side in a row, two of them such as "the" or "is".

    >>> has_english_clause(("The desk is in the middle: this shows it.", "The desk is in the middle: lo muestra."))
    True
    """
    if len(ENGLISH.findall(pair[1])) < 2:
        return False
    source = f" {' '.join(WORDS.findall(pair[0].lower()))} "
    target = WORDS.findall(pair[1].lower())
    for i in range(len(target) - 3):
        run = " ".join(target[i : i + 4])
        if f" {run} " in source and len(ENGLISH.findall(run)) > 1:
            return True
    return False
