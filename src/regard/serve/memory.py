"""Memory of what is no longer used, given back to the system."""

from __future__ import annotations

import ctypes
import gc


def give_back_memory() -> None:
    """Free what only cycles refer to, and let glibc return its free pages: by itself it keeps most of a dropped model.
    Other C libraries return them without being asked."""
    gc.collect()
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return
    trim(0)
