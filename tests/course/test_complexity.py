"""TableLayer costs: FLOPs, memory, chains and paths are exact and held to theory; times are only held to be there."""

from __future__ import annotations

import json
import math
import re
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from regard.course.complexity.layers import (
    CausalConvolution,
    DilatedConvolution,
    ProjectedSelfAttention,
    Recurrence,
    RestrictedSelfAttention,
    SelfAttention,
    TableLayer,
    attend_nearby,
)
from regard.course.complexity.measure import (
    COST_CLAIMS,
    ComplexityReport,
    MeasurementPlan,
    builders,
    measure,
    path_length,
    sequential_operations,
)
from regard.course.complexity.report import as_markdown, as_page, as_text, chart, complexity_output, remarks
from regard.course.complexity.timing import count, growth, memory_kept, power_law, rising, sweep
from regard.layers.attention import attend
from regard.report.deliver import contents
from regard.report.render import svg

CPU = torch.device("cpu")
TINY = MeasurementPlan(lengths=(16, 32, 64), widths=(8, 16, 32), width=8, length=16, repeats=1)


@pytest.fixture(scope="module")
def report() -> ComplexityReport:
    return measure(TINY, CPU)


# ------------------------------------------------------------------------------------------------ layers


@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 8, 12, 21])
@pytest.mark.parametrize("side", [1, 2, 4])
def test_attention_nearby_is_full_attention_behind_a_mask(length: int, side: int) -> None:
    q, k, v = torch.randn(3, 2, length, 5, dtype=torch.double)
    place = torch.arange(length)
    near = (place[:, None] - place).abs() <= side
    torch.testing.assert_close(attend_nearby(q, k, v, side), attend(q, k, v, near)[0])


def test_attention_nearby_has_right_gradients() -> None:
    q, k, v = torch.randn(3, 1, 7, 3, dtype=torch.double).unbind()
    inputs = tuple(x.clone().requires_grad_() for x in (q, k, v))
    assert torch.autograd.gradcheck(lambda q, k, v: attend_nearby(q, k, v, 2), inputs)


@pytest.mark.parametrize("kernel", [2, 3])
@pytest.mark.parametrize("dilation", [1, 4])
def test_convolution_by_hand(kernel: int, dilation: int) -> None:
    layer, x = CausalConvolution(4, kernel).double(), torch.randn(1, 11, 4, dtype=torch.double)
    expected = torch.zeros_like(x)
    for t in range(11):
        for j in range(kernel):  # torch's last tap is the present
            if t - dilation * j >= 0:
                expected[0, t] += layer.weight[:, :, kernel - 1 - j].detach() @ x[0, t - dilation * j]
    torch.testing.assert_close(layer(x, dilation).detach(), expected)


@torch.no_grad()
def test_as_many_hops_as_positions_are_the_recurrence() -> None:
    layer, x = Recurrence(4).double(), torch.randn(2, 9, 4, dtype=torch.double)
    states: Tensor = x
    for depth in range(9):
        assert not torch.allclose(states, layer(x))
        states = layer.hop(x, states, depth)
    torch.testing.assert_close(states, layer(x))


# ------------------------------------------------------------------------------------------------ counts

FLOPS: dict[str, Any] = {
    "self-attention": lambda n, d: 4 * n * n * d,
    "self-attention, projected": lambda n, d: 4 * n * n * d + 8 * n * d * d,
    "recurrent": lambda n, d: 4 * n * d * d,  # half of it for the inputs, all at once
    "convolution": lambda n, d: 2 * 3 * n * d * d,
    "restricted self-attention": lambda n, d: 4 * (3 * 8) * n * d,  # 3w keys to each block of w = 8
}


@torch.no_grad()
@pytest.mark.parametrize("name", FLOPS)
def test_flops_are_those_of_the_formula_and_of_torchs_counter(name: str) -> None:
    for n, d in ((16, 8), (32, 8), (16, 24)):
        layer, x = builders(MeasurementPlan())[name](d), torch.randn(1, n, d)
        with FlopCounterMode(display=False) as counter:
            layer(x)
        assert count(layer, x)[0] == FLOPS[name](n, d) == counter.get_total_flops()


@pytest.mark.parametrize("name", FLOPS)
def test_exponents_of_flops_are_the_claimed_ones(report: ComplexityReport, name: str) -> None:
    (row,) = (row for row in report.rows if row.layer == name)
    assert row.claim == COST_CLAIMS[name]
    for swept, claimed in ((row.over_n, row.claim.n), (row.over_d, row.claim.d)):
        if claimed is None:  # two terms: between their exponents
            assert 1 < swept.flops_fit.exponent < 2
        else:
            assert swept.flops_fit.exponent == claimed
            assert swept.flops_fit.residual == 0


@torch.no_grad()
def test_memory_is_what_the_layer_makes_and_still_holds() -> None:
    n, d = 32, 8
    x = torch.randn(1, n, d)
    assert count(SelfAttention(), x)[1] == 4 * (2 * n * n + n * d)  # scores, weights and output
    assert count(CausalConvolution(d, 3), x)[1] == 4 * (d * (n + 2) + n * d)  # padded input and output
    assert count(lambda x: x.transpose(1, 2)[:, :3], x)[1] == 0  # a view holds nothing of its own
    assert count(lambda x: x + 1 + 1 + 1, x)[1] == 4 * 2 * n * d  # each sum is freed after the next


# ------------------------------------------------------------------------------------------------ structure


@pytest.mark.parametrize("n", [2, 5, 9, 10, 27, 28])
def test_paths_are_as_long_as_theory_says(n: int) -> None:
    far = n - 1
    assert path_length(SelfAttention(), n) == 1
    assert path_length(ProjectedSelfAttention(4).double(), n) == 1
    assert path_length(Recurrence(4).double(), n) == n
    for kernel in (2, 3, 5):
        assert path_length(CausalConvolution(4, kernel).double(), n) == math.ceil(far / (kernel - 1))
        digits = next(layers for layers in range(9) if kernel**layers >= n)  # ⌈log_k n⌉ without rounding errors
        assert path_length(DilatedConvolution(4, kernel).double(), n) == digits
    for window in (3, 9):
        assert path_length(RestrictedSelfAttention(window), n) == math.ceil(far / ((window - 1) / 2))


@pytest.mark.parametrize("n", [2, 9, 300])
def test_only_the_recurrence_waits_for_itself(n: int) -> None:
    chains: dict[int, TableLayer] = {
        1: CausalConvolution(4, 3),
        2: SelfAttention(),
        4: ProjectedSelfAttention(4),  # query, scores, average, output
        n: Recurrence(4),
    }
    for chain, layer in chains.items():
        if not (n == 2 and chain == 2):
            assert sequential_operations(layer.double(), n) == chain
    assert sequential_operations(RestrictedSelfAttention(5), n) == 2
    assert sequential_operations(Recurrence(4).double(), n) == n


def test_laws_of_growth() -> None:
    lengths = (8, 16, 32, 64, 128)
    assert growth(lengths, [2] * 5, 3).law == "1"
    assert growth(lengths, [(n - 1 + 7) // 8 for n in lengths], 3).law == "n"
    found = growth(lengths, [3, 4, 5, 6, 7], 2)
    assert (found.law, found.slope, found.height) == ("log n", 1, 0)


# ------------------------------------------------------------------------------------------------ fits


def test_power_law_looks_at_the_upper_half_and_says_how_well_it_fits() -> None:
    sizes = [1, 2, 4, 8, 16, 32]
    law = power_law(sizes, [9, 9, 9, *(3.0 * s**1.5 for s in sizes[3:])])
    assert (law.exponent, law.residual, law.since) == (1.5, 0, 8)
    noisy = power_law(sizes, [s**2 * (1.1 if i % 2 else 1 / 1.1) for i, s in enumerate(sizes)])
    assert noisy.exponent == pytest.approx(2, abs=0.1)
    assert 0.05 < noisy.residual < 0.15


def test_sizes_rise_until_a_call_takes_too_long() -> None:
    assert rising(256, 1024) == [256, 352, 512, 736, 1024]

    def make(size: int) -> tuple[Any, Tensor]:
        return lambda x: x @ x, torch.zeros(size, size)

    assert sweep("n", 1, [8, 16, 32, 64, 128], make, repeats=1, limit=0.0).sizes == [8, 16, 32, 64]
    whole = sweep("n", 1, [8, 16, 32, 64, 128], make, repeats=1)
    assert whole.sizes == [8, 16, 32, 64, 128]
    assert (whole.flops_fit.exponent, whole.memory_fit.exponent) == (3, 2)


def test_memory_is_kept_only_inside() -> None:
    with memory_kept():
        kept = torch.ones(1000).sum()
    assert kept == 1000


def test_measuring_disturbs_no_random_numbers() -> None:
    torch.manual_seed(4)
    expected = torch.rand(3)
    torch.manual_seed(4)
    measure(MeasurementPlan(lengths=(8, 9, 10), widths=(4, 5, 6), width=4, length=8, repeats=1, structure=(8,)), CPU)
    torch.testing.assert_close(torch.rand(3), expected)


# ------------------------------------------------------------------------------------------------ shown


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]


def test_text_names_every_layer_and_fits_the_terminal(report: ComplexityReport) -> None:
    text = as_text(report)
    assert all(name in text for name in COST_CLAIMS)
    assert "convolution, dilated" in text
    assert "0.125 n" in text
    assert max(map(len, text.splitlines())) <= 100
    for remark in remarks():
        assert remark in re.sub(r"\s+", " ", text)


def test_json_holds_every_point(report: ComplexityReport) -> None:
    data = json.loads(contents(complexity_output(report), ".json"))
    assert [row["layer"] for row in data["rows"]] == list(COST_CLAIMS)
    for row in data["rows"]:
        for axis, sizes in (("over_n", [16, 32, 64]), ("over_d", [8, 16, 32])):
            assert row[axis]["sizes"] == sizes
            assert len(row[axis]["seconds"]) == len(row[axis]["bytes"]) == len(row[axis]["flops"]) == 3
            assert all(seconds > 0 for seconds in row[axis]["seconds"])


def test_markdown_tables_are_even(report: ComplexityReport) -> None:
    blocks = [block for block in as_markdown(report).split("\n\n") if block.startswith("|")]
    assert len(blocks) == 3
    for block in blocks:
        assert len({line.count("|") for line in block.splitlines()}) == 1


def test_page_needs_nothing_else(report: ComplexityReport) -> None:
    tags = Tags()
    tags.feed(as_page(report))
    assert (tags.names.count("svg"), tags.names.count("table")) == (2, 4)
    assert tags.links == []
    assert not {"script", "link", "img"} & set(tags.names)


@pytest.mark.parametrize("axis", ["n", "d"])
def test_plot_stays_inside_its_frame(report: ComplexityReport, axis: str) -> None:
    drawing = ElementTree.fromstring(svg(chart(report, axis)))
    _, _, width, height = map(float, drawing.attrib["viewBox"].split())
    spots = [(float(dot.attrib["cx"]), float(dot.attrib["cy"])) for dot in drawing.findall(".//{*}circle")]
    assert len(spots) == 3 * len(COST_CLAIMS)
    assert all(0 < x < width and 0 < y < height for x, y in spots)
