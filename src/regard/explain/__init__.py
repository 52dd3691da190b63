"""The attention of a model during translation, how to show it, and how reliable it is.

>>> import regard, regard.explain
>>> found = regard.explain.explain(regard.load(), "The black cat sleeps.")      # doctest: +SKIP
>>> found.grid().caption                                                       # doctest: +SKIP
'layer 2 · head 4 · predicting · AER 20.5% · EOS mass 0.01 · beam 4'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.explain.explanation import explain

__all__ = ["explain"]


def __getattr__(name: str) -> Any:
    """Imports `explain` on first use: it needs torch, which other modules of this package do not."""
    if name != "explain":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from regard.explain.explanation import explain

    return explain
