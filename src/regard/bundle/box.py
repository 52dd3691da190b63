"""The models in the box: small translators that come with the package, each a bundle in `boxed/SOURCE-TARGET/`. One may
use the files of another (`folder.py`), so that one set of weights translates both ways.

Commands use the default one where no model is named, and any of them by its name where there is no folder of that name.
Their cards describe them (`regard info`). They are read and never written.
"""

from __future__ import annotations

from pathlib import Path

from regard.errors import BundleError

HOME = Path(__file__).parents[1] / "boxed"
DEFAULT = "en-fr"


def names() -> list[str]:
    """What is in the box."""
    return sorted(path.parent.name for path in HOME.glob("*/config.json"))


def boxed(name: str = DEFAULT) -> Path:
    """The folder of a model in the box."""
    if name not in names():
        raise BundleError(f'there is no model "{name}" in the box; name a folder of your own, or {choice()}')
    return HOME / name


def choice() -> str:
    """The end of an error: what else could be named."""
    found = names()
    return f"one in the box: {', '.join(found)}" if found else "train one: regard demo (the box of this copy is empty)"
