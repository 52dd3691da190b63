"""Whether there is Triton, in which the GPU kernels of this package are written.

The CPU builds of torch come without it. A file of kernels imports Triton and defines them only where `HAS_TRITON` is
true. A caller takes a kernel where this is true and the numbers are on a GPU.
"""

from __future__ import annotations

try:
    import triton.language  # noqa: F401
    from triton.language.extra import libdevice  # noqa: F401

    HAS_TRITON = True
except ImportError:
    HAS_TRITON = False
