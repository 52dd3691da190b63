"""Table 1 of Vaswani et al. 2017, measured: cost, sequential operations and longest path of each kind of layer.

The table (n positions, width d, kernel k, neighbourhood r):

    layer                        cost        sequential operations   longest path
    self-attention               n² · d      1                       1
    recurrent                    n · d²      n                       n
    convolution                  k · n · d²  1                       log_k n
    restricted self-attention    r · n · d   1                       n / r

The notes print the first two rows under the paper's whole caption. `report.py` lists where the table is imprecise.

    B sentences (one, where time is measured)   n positions   D = d width   w = (r − 1) / 2 positions seen on each side

Cost is measured as time, FLOPs and memory while n or d grows (`timing.py`). The other two columns follow from the
layer's structure:

    sequential operations   the longest chain of dependent matrix products in autograd's graph
    longest path            how often the layer must be applied until the last position's output depends on the first
                            position's input, that is, until the gradient (double precision, random weights) is not
                            zero. A recurrent layer is applied as a Jacobi iteration: one step of the recurrence
                            at every position at once.

Only forward passes of one layer are measured: no training, no decoding, no fused attention kernel.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from regard.course.complexity import layers
from regard.course.complexity.layers import TableLayer
from regard.course.complexity.timing import Function, Growth, Sweep, growth, memory_kept, rising, sweep

SMALL = 0.1  # scale of inputs: with large x·x/√d some weights are denormal numbers, which are a hundred times slower
STRUCTURE_WIDTH = 4  # the structure does not depend on d
MATRIX_PRODUCTS = {"Mm", "Addmm", "Bmm", "Baddbmm", "Mv", "Addmv", "Convolution"}  # as autograd names them


# ------------------------------------------------------------------------------------------------ claims


@dataclass(frozen=True)
class CostClaim:
    """A row of the table; the exponents are those of its cost, None if there is no single one."""

    cost: str
    n: int | None
    d: int | None
    sequential: str
    path: str


COST_CLAIMS = {
    "self-attention": CostClaim("n²·d", 2, 1, "1", "1"),
    "self-attention, projected": CostClaim("n²·d + n·d²", None, None, "1", "1"),
    "recurrent": CostClaim("n·d²", 1, 2, "n", "n"),
    "convolution": CostClaim("k·n·d²", 1, 2, "1", "log_k n"),
    "restricted self-attention": CostClaim("r·n·d", 1, 1, "1", "n/r"),
}


# ------------------------------------------------------------------------------------------------ structure


def path_length(layer: TableLayer, length: int) -> int:
    """Returns the minimum number of hops after which the last position depends on the first; more never undo it."""
    hops = 1
    while not depends(layer, length, hops):
        hops *= 2
        assert hops < 4 * length, "no layer here needs more than one hop a position"
    return bisect_left(range(hops + 1), True, lo=hops // 2 + 1, hi=hops, key=lambda some: depends(layer, length, some))


def depends(layer: TableLayer, length: int, hops: int) -> bool:
    """Whether the gradient of the last position's output with respect to the first position's input is not zero."""
    x = torch.randn(1, length, STRUCTURE_WIDTH, dtype=torch.double, requires_grad=True)
    current = x
    for depth in range(hops):
        current = layer.hop(x, current, depth)
    (gradient,) = torch.autograd.grad(current[:, -1].sum(), x)
    return bool(gradient[:, 0].any())


def sequential_operations(layer: TableLayer, length: int) -> int:
    """Counts the matrix products on the longest chain of one forward pass, in autograd's graph."""
    x = torch.randn(1, length, STRUCTURE_WIDTH, dtype=torch.double, requires_grad=True)
    end: Any = layer(x).grad_fn
    longest: dict[Any, int] = {None: 0}
    waiting = [end]
    while waiting:  # no recursion: the graph of a recurrence is deeper than Python's limit
        node = waiting[-1]
        before = [parent for parent, _ in node.next_functions]
        missing = [parent for parent in before if parent not in longest]
        if missing:
            waiting += missing
            continue
        waiting.pop()
        own = node.name().removesuffix("Backward0") in MATRIX_PRODUCTS
        longest[node] = own + max((longest[parent] for parent in before), default=0)
    return longest[end]


# ------------------------------------------------------------------------------------------------ the whole table


@dataclass(frozen=True)
class MeasurementPlan:
    """Sizes and repeats. Sizes that are not given grow from `first` until a call takes `limit` seconds."""

    lengths: Sequence[int] | None = None  # with `width` fixed
    widths: Sequence[int] | None = None  # with `length` fixed
    width: int = 128
    length: int = 64
    first: tuple[int, int] = (256, 128)  # n and d
    most: tuple[int, int] = (32768, 8192)
    limit: float = 0.05
    repeats: int = 11
    kernel: int = 3
    window: int = 17
    structure: Sequence[int] = (8, 16, 32, 64, 128, 256)
    is_quick: bool = False

    def quick(self) -> MeasurementPlan:
        """Returns a plan that takes a few seconds; its sizes are too small for the exponents of time."""
        smaller = replace(self, width=32, length=64, first=(64, 32), most=(512, 256), limit=0.01, repeats=3)
        return replace(smaller, structure=(8, 16, 32, 64), is_quick=True)

    def on(self, device: torch.device) -> MeasurementPlan:
        """Returns a plan for a device: accelerators need larger sizes, as kernel launches dominate small ones."""
        return self if device.type == "cpu" else replace(self, most=(2**20, 8192), limit=0.01)


@dataclass(frozen=True)
class LayerRow:
    """The claim and the measurements of one layer."""

    layer: str
    claim: CostClaim
    over_n: Sweep
    over_d: Sweep
    sequential: Growth
    paths: dict[str, Growth]  # by how the layers are stacked


@dataclass(frozen=True)
class ComplexityReport:
    """The table and the conditions it was measured under."""

    device: str
    threads: int
    torch: str
    kernel: int
    window: int
    quick: bool
    rows: list[LayerRow]


def builders(plan: MeasurementPlan) -> dict[str, Callable[[int], TableLayer]]:
    """Returns a function for each layer that builds it at a given width."""
    return {
        "self-attention": lambda _: layers.SelfAttention(),
        "self-attention, projected": layers.ProjectedSelfAttention,
        "recurrent": layers.Recurrence,
        "convolution": lambda width: layers.CausalConvolution(width, plan.kernel),
        "restricted self-attention": lambda _: layers.RestrictedSelfAttention(plan.window),
    }


def measure(
    plan: MeasurementPlan, device: torch.device, say: Callable[[str], object] = lambda _: None
) -> ComplexityReport:
    """Measures the whole table; `say` is called with the name of each step."""
    rows = []
    with torch.random.fork_rng(devices=[]), memory_kept():
        torch.manual_seed(1)
        for name, build in builders(plan).items():
            say(f"{name}: time and memory against n")
            over_n = _over(plan, "n", build, device)
            say(f"{name}: time and memory against d")
            over_d = _over(plan, "d", build, device)
            say(f"{name}: sequential operations and paths")
            rows.append(LayerRow(name, COST_CLAIMS[name], over_n, over_d, *_structure(plan, name, build)))
    called = torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
    threads = torch.get_num_threads()
    return ComplexityReport(called, threads, torch.__version__, plan.kernel, plan.window, plan.is_quick, rows)


@torch.no_grad()
def _over(plan: MeasurementPlan, axis: str, build: Callable[[int], TableLayer], device: torch.device) -> Sweep:
    which = "nd".index(axis)
    given = (plan.lengths, plan.widths)[which]
    fixed = (plan.width, plan.length)[which]

    def make(size: int) -> tuple[Function, Tensor]:
        length, width = (size, fixed) if axis == "n" else (fixed, size)
        return build(width).to(device), SMALL * torch.randn(1, length, width, device=device)

    limit = math.inf if given else plan.limit
    return sweep(axis, fixed, given or rising(plan.first[which], plan.most[which]), make, plan.repeats, limit)


def _structure(
    plan: MeasurementPlan, name: str, build: Callable[[int], TableLayer]
) -> tuple[Growth, dict[str, Growth]]:
    layer = build(STRUCTURE_WIDTH).double()
    stacks: dict[str, TableLayer] = {"": layer}
    if name == "convolution":
        stacks = {"plain": layer, "dilated": layers.DilatedConvolution(STRUCTURE_WIDTH, plan.kernel).double()}
    lengths = plan.structure
    chain = growth(lengths, [sequential_operations(layer, n) for n in lengths], plan.kernel)
    return chain, {
        kind: growth(lengths, [path_length(stacked, n) for n in lengths], plan.kernel)
        for kind, stacked in stacks.items()
    }
