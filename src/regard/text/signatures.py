"""Who signs a letter: a name by its place, whatever else the word may mean.

Kind regards,
Mark
"""

from __future__ import annotations

import regex

Span = tuple[int, int]

_NAME = regex.compile(r"\p{Lu}[\p{L}\p{M}'’-]*+\.?(?:[ ]\p{Lu}[\p{L}\p{M}'’-]*+\.?){0,2}")
_WORD = regex.compile(r"\p{L}++")
_LONGEST = 60  # characters of a closing
_CLOSINGS = frozenset(
    str.split("""
    regards wishes sincerely yours truly faithfully cheers love best thanks respectfully
    cordialement salutations distinguées sincèrement amitiés bises bisous respectueusement
    grüße gruß grüßen grüsse gruss grüssen hochachtungsvoll herzlichst
    saludos saludo atentamente cordialmente abrazo abrazos besos
    """)
)


def is_signature(text: str, span: Span) -> bool:
    """Whether a line of a text is the name under a closing: one to three words with capitals, and nothing else.

    >>> text = "See you soon.\\n\\nKind regards,\\nMark"
    >>> is_signature(text, (29, 33)), is_signature("Kind regards, Mark", (14, 18))
    (True, False)
    """
    start, end = span
    if text[start - 1 : start] not in ("\n", "\r") or text[end : end + 1] not in ("", "\n", "\r"):
        return False
    if _NAME.fullmatch(text, start, end) is None:
        return False
    before = text[max(0, start - _LONGEST) : start].rstrip()
    closing = _WORD.findall(before.splitlines()[-1].lower()) if before else []
    return bool(closing) and closing[-1] in _CLOSINGS and (before[-1] == "," or before[-1].isalpha())
