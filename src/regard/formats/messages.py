"""Messages of a program (values of a JSON or YAML file): whether they are prose, and which parts are translated.

An ICU message such as `{n, plural, one {# file} other {# files}}` is parsed by the grammar of ICU MessageFormat: the
texts of its branches are segments, in which `#` and arguments are atoms. Any other message is one segment; its
placeholders (`{{count}}`, `%{name}`, `%s`) are protected like those of any text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from regard.formats.document import ATOM, Atom, PlacedSegment, Segment
from regard.formats.flow import has_letter

MAX_NESTING = 20  # maximum depth of nested branches
COMPLEX = re.compile(r"\{\s*+[^{},'\s]++\s*+,\s*+(?:plural|select|selectordinal)\s*+,")
SELECTOR = re.compile(r"\s*+(?:offset:\s*+\d++\s*+)?[^{}\s]++\s*+\{")
SIMPLE = re.compile(r"\{[^{}]*+\}")
# An apostrophe quotes a following brace, and in a branch also "#".
QUOTED = re.compile(r"'([{}](?:[^']|'')*+)(?:'|$)"), re.compile(r"'([{}#](?:[^']|'')*+)(?:'|$)")
SPECIAL = re.compile(r"(?s)[{}](?:.*[{}])?"), re.compile(r"(?s)[{}#](?:.*[{}#])?")

PLACEHOLDERS = re.compile(
    r"\{\{[^{}]*+\}\}|[$%#]?\{[^{}]*+\}|%(?:\([^()]*+\))?[-+ #0-9.*]*+[a-zA-Z]|\$t\([^()]*+\)|<[^<>]*+>"
)
ADDRESS = re.compile(r"\w++://\S++|www\.\S++|mailto:\S++|\S+?@\S+|[./~]\S*+")
DATE_PATTERN = re.compile(r"(?=.*(?:yy|MM|HH|h:mm|%[YmdHM]))[%yYMdDHhmsSaAEeGkKzZLQqpbB\W\d]++")
WORD = re.compile(r"[^\W\d_]++(?:[-'’][^\W\d_]++)*+")
LONE_SURROGATE = re.compile("[\ud800-\udfff]")  # JSON can write one as an escape; no encoding can represent it
MARKS = ".,:;!?…¿¡\"'«»“”()*"


def is_prose(text: str) -> bool:
    """Whether people read this text: not an address, an identifier, a colour, a date pattern or only placeholders.

    >>> [is_prose(t) for t in ("Cancel", "Sign in", "Hello, {name}!", "E-mail:", "日本語", "done!")]
    [True, True, True, True, True, True]
    >>> [is_prose(t) for t in ("cancel", "fa-home", "#ffaa00", "https://a.org", "{{count}}", "loginPage", "yyyy-MM-dd")]
    [False, False, False, False, False, False, False]
    """
    bare = without_placeholders(text).strip()
    if not has_letter(bare) or LONE_SURROGATE.search(text):
        return False
    if len(bare.split(None, 1)) > 1:
        return DATE_PATTERN.fullmatch(bare) is None
    if any(character.isalpha() and character.lower() == character.upper() for character in bare):
        return True  # a script without upper case
    word = bare.strip(MARKS)
    if len(word) < 2 or ADDRESS.fullmatch(bare) or not WORD.fullmatch(word):
        return False
    parts = re.split("[-'’]", word)
    return all(part.islower() or part.istitle() for part in parts) and (word[0].isupper() or bare[-1] in ".!?…")


def without_placeholders(text: str) -> str:
    return PLACEHOLDERS.sub(" ", text)


@dataclass
class IcuPattern:
    """Text with arguments: `text` has U+FFFC for each argument."""

    text: str = ""
    in_branch: bool = False
    arguments: list[list[str | IcuPattern]] = field(default_factory=list)  # source of each, branches as separate items


@dataclass
class Message:
    """A message with its segments."""

    patterns: list[IcuPattern]  # those with a letter; the message itself comes first, if it has one
    whole: IcuPattern
    icu: bool

    @property
    def segments(self) -> list[Segment]:
        return [Segment(pattern.text) for pattern in self.patterns]

    def write(self, placed: Sequence[PlacedSegment]) -> str:
        """The message with the translations of its segments."""
        if not self.icu:
            return placed[0].text
        new = {id(pattern): translated for pattern, translated in zip(self.patterns, placed, strict=True)}

        def written(pattern: IcuPattern) -> str:
            translated = new.get(id(pattern))
            pieces = pattern.text if translated is None else translated.text
            parts = [escaped(part, pattern.in_branch) for part in pieces.split(ATOM)]
            order = [piece.atom for piece in translated.pieces if isinstance(piece, Atom)] if translated else None
            joined = parts[0]
            for at, part in zip(order or range(len(pattern.arguments)), parts[1:], strict=True):
                argument = pattern.arguments[at]
                joined += "".join(piece if isinstance(piece, str) else written(piece) for piece in argument) + part
            return joined

        return written(self.whole)


def escaped(text: str, in_branch: bool = False) -> str:
    """Escapes text for an ICU message: apostrophes are doubled, braces quoted, in a branch also "#".

    >>> escaped("l'an {0}")
    "l''an '{0}'"
    """
    return SPECIAL[in_branch].sub(r"'\g<0>'", text.replace("'", "''"))


def parse_message(text: str) -> Message:
    """Parses a message; text that only resembles an ICU message is one segment.

    >>> [s.text for s in parse_message("{n, plural, one {# file} other {# files}} in {place}").segments]
    ['￼ in ￼', '￼ file', '￼ files']
    """
    if COMPLEX.search(text):
        whole = IcuPattern()
        end = read_pattern(text, 0, whole, 0)
        if end == len(text):
            return Message([pattern for pattern in every_pattern(whole) if has_letter(pattern.text)], whole, True)
    whole = IcuPattern(text)
    return Message([whole], whole, False)


def every_pattern(pattern: IcuPattern) -> Iterator[IcuPattern]:
    yield pattern
    for argument in pattern.arguments:
        for piece in argument:
            if isinstance(piece, IcuPattern):
                yield from every_pattern(piece)


def read_pattern(message: str, at: int, pattern: IcuPattern, depth: int) -> int:
    """Reads text and arguments up to the brace that closes the branch; returns its position, or -1 if malformed."""
    text = list[str]()
    while at < len(message):
        character = message[at]
        if character == "}":
            break
        if character == "'":
            quoted = QUOTED[depth > 0].match(message, at)
            if message.startswith("''", at):
                text.append("'")
                at += 2
            elif quoted:
                text.append(quoted[1].replace("''", "'"))
                at = quoted.end()
            else:
                text.append("'")
                at += 1
        elif character in ("{", ATOM) or (character == "#" and depth > 0):
            argument, at = read_argument(message, at, depth)
            if at < 0:
                return -1
            text.append(ATOM)
            pattern.arguments.append(argument)
        else:
            text.append(character)
            at += 1
    pattern.text, pattern.in_branch = "".join(text), depth > 0
    return at


def read_argument(message: str, at: int, depth: int) -> tuple[list[str | IcuPattern], int]:
    """Reads an argument; returns its source, with branches as separate items, and its end (-1 if malformed)."""
    if message[at] in ("#", ATOM):
        return [message[at]], at + 1
    opening = COMPLEX.match(message, at)
    if opening is None:
        simple = SIMPLE.match(message, at)
        return ([simple[0]], simple.end()) if simple else ([], -1)
    if depth >= MAX_NESTING:
        return [], -1
    pieces: list[str | IcuPattern] = [opening[0]]
    at = opening.end()
    while selector := SELECTOR.match(message, at):
        branch = IcuPattern()
        end = read_pattern(message, selector.end(), branch, depth + 1)
        if not 0 <= end < len(message):
            return [], -1
        pieces += [selector[0], branch, "}"]
        at = end + 1
    closing = re.compile(r"\s*+\}").match(message, at)
    return ([*pieces, closing[0]], closing.end()) if closing else ([], -1)
