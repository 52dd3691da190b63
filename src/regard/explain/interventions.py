"""The ways to blank a source word and to cut a head, by name.

Without torch, so that a server can list them at its start. `evidence.py` blanks and `cutting.py` cuts.
"""

from __future__ import annotations

from typing import Literal, get_args

Blank = Literal["mean", "removed"]
BLANKS: tuple[Blank, ...] = get_args(Blank)
How = Literal["zero", "uniform"]
HOWS: tuple[How, ...] = get_args(How)
