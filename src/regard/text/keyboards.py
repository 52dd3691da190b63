"""Which keys lie beside which, on the keyboards of English, French, German and Spanish."""

from __future__ import annotations

from collections.abc import Sequence

# A row of keys stands half a key to the right of the row above.
KEYBOARDS = (
    ("qwertyuiop", "asdfghjklñ", "zxcvbnm"),
    ("azertyuiop", "qsdfghjklm", "wxcvbn"),
    ("qwertzuiopü", "asdfghjklöä", "yxcvbnm"),
)


def neighbours(rows: Sequence[str]) -> dict[str, str]:
    """For each letter of a keyboard those around it.

    >>> neighbours(KEYBOARDS[0])["s"]
    'wedxza'
    """
    places = {(row, column): key for row, keys in enumerate(rows) for column, key in enumerate(keys)}
    around = ((-1, 0), (-1, 1), (0, 1), (1, 0), (1, -1), (0, -1))
    return {
        key: "".join(places.get((row + down, column + right), "") for down, right in around)
        for (row, column), key in places.items()
    }


NEIGHBOURS = tuple(neighbours(rows) for rows in KEYBOARDS)
