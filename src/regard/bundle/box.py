"""The models in the box: small translators that come with the package, each a bundle in `boxed/SOURCE-TARGET/`. One may
use the files of another (`folder.py`), so that one set of weights translates several ways. `en-fr-classic` is a
smaller one, for everyday sentences, that the course and docs/explain.md look into.

Commands use the default one where no model is named, and any of them by its name where there is no folder of that name.
Their cards describe them (`regard info`). They are read and never written. The environment variable REGARD_BOX may name
a folder of further models, which go before those of the package.
"""

from __future__ import annotations

import os
from pathlib import Path

from regard.errors import BundleError

HOME = Path(__file__).parents[1] / "boxed"
DEFAULT = "en-fr"
CONFIG = "config.json"  # as in folder.py


def homes() -> list[Path]:
    """The folders of models, the user's own before the package's."""
    own = os.environ.get("REGARD_BOX")
    if not own:
        return [HOME]
    if not Path(own).is_dir():
        raise BundleError(f"REGARD_BOX must name a folder of models, but {own} is not a folder")
    return [Path(own), HOME]


def names() -> list[str]:
    """What is in the box."""
    return sorted({path.parent.name for home in homes() for path in home.glob(f"*/{CONFIG}")})


def boxed(name: str = DEFAULT) -> Path:
    """The folder of a model in the box."""
    for home in homes():
        if (home / name / CONFIG).is_file():
            return home / name
    raise BundleError(f'there is no model "{name}" in the box; name a folder of your own, or {choice()}')


def is_boxed(folder: Path) -> bool:
    """Whether a folder is a model in the box, the package's or the user's."""
    return folder.resolve().parent in [home.resolve() for home in homes()]


def choice() -> str:
    """The end of an error: what else could be named."""
    found = names()
    return f"one in the box: {', '.join(found)}" if found else "train one: regard demo (the box of this copy is empty)"
