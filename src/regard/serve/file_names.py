"""Names of files that clients send: made harmless, and put into the header of a download."""

from __future__ import annotations

import re
from urllib.parse import quote

LONGEST_NAME = 120
UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f"*/:<>?\\|\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]')


def plain_name(given: str, default: str = "document") -> str:
    """The last part of a name without what means something to a shell, a browser or a file system. Its suffix stays.

    >>> plain_name("../../etc/passwd"), plain_name("C:\\\\x\\\\a b.docx"), plain_name("..")
    ('passwd', 'a b.docx', 'document')
    >>> plain_name("a\\r\\nSet-Cookie: y.txt")
    'a__Set-Cookie_ y.txt'
    """
    name = UNSAFE.sub("_", re.split(r"[/\\]", given)[-1]).strip(" .")
    if len(name) > LONGEST_NAME:
        stem, dot, suffix = name.rpartition(".")
        name = f"{stem[: LONGEST_NAME - 20]}.{suffix[:19]}" if dot else name[:LONGEST_NAME]
    return name or default


def attachment(name: str) -> str:
    """The Content-Disposition header of a download (RFC 6266): the name in ASCII, and the whole of it in UTF-8.

    >>> print(attachment("café.docx"))
    attachment; filename="caf_.docx"; filename*=UTF-8''caf%C3%A9.docx
    """
    name = plain_name(name)
    plain = "".join(c if c.isascii() and (c.isalnum() or c in " ._-") else "_" for c in name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
