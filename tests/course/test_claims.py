"""Verdicts follow from measurements, what is taken away from a model comes back, and what is done is not done again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from regard.batch import flat_batch
from regard.course.claims import bleu_limits, learning, printed_figures, rnn
from regard.course.claims import transformer as parts
from regard.course.claims.ablations import ABLATIONS
from regard.course.claims.experiment import (
    BASE,
    NOT_SHOWN,
    SHOWN,
    ClaimResult,
    ExperimentSetup,
    JsonCache,
    ModelSpec,
    judge,
    over_seeds,
)
from regard.course.claims.report import render_html, render_markdown, render_text
from regard.course.claims.rnn import first_word_gradient
from regard.course.claims.run import ALL, Claim, choose, run_claims
from regard.errors import InputError, RunError
from regard.models.transformer_layers import TransformerConfig
from support import Call
from variants import close, transformer

PRINTED = [claim for claim in ALL if claim.name.startswith("notes-")]
SMALL = TransformerConfig(width=16, heads=2, inner=32, encoder_layers=2, decoder_layers=2)


def fresh() -> torch.nn.Module:
    torch.manual_seed(2)
    model = transformer(SMALL).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model


def logits(model: torch.nn.Module, source: list[int], target: list[int]) -> torch.Tensor:
    found: torch.Tensor = model(flat_batch([source], [target]).pad())[0]
    return found


# ------------------------------------------------------------------------------------------------ variants


@pytest.mark.parametrize("name", ABLATIONS)
def test_a_variant_is_gone_afterwards(name: str) -> None:
    model = fresh()
    before = logits(model, [5, 9, 14], [7, 11])

    def break_off() -> None:
        with ABLATIONS[name]():
            assert torch.equal(logits(model, [5, 9, 14], [7, 11]), before) == (name == "none")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        break_off()
    assert torch.equal(logits(model, [5, 9, 14], [7, 11]), before)


def test_without_positions_order_is_nothing() -> None:
    model = fresh()
    with ABLATIONS["without positions"]():
        close(logits(model, [5, 9, 14], [7, 11]), logits(model, [14, 5, 9], [7, 11]))
    assert not torch.allclose(logits(model, [5, 9, 14], [7, 11]), logits(model, [14, 5, 9], [7, 11]), atol=1e-3)


def test_without_the_mask_the_future_changes_the_past() -> None:
    model = fresh()
    close(logits(model, [5, 9], [7, 11])[:2], logits(model, [5, 9], [7, 4])[:2])
    with ABLATIONS["without mask"]():
        assert not torch.allclose(logits(model, [5, 9], [7, 11])[:2], logits(model, [5, 9], [7, 4])[:2], atol=1e-3)


def test_without_scaling_scores_are_as_they_are() -> None:
    from regard.layers import attention

    q, k, v = torch.randn(3, 16), torch.randn(5, 16), torch.randn(5, 2)
    with ABLATIONS["without scaling"]():
        out, weights = attention.attend(q, k, v)
        close(attention.attend_fused(q[None, None], k[None, None], v[None, None])[0, 0], out)
    close(weights, (q @ k.T).softmax(-1))


# ------------------------------------------------------------------------------------------------ measurements


def test_the_variance_of_a_dot_product_is_its_length() -> None:
    for size in (16, 256):
        found = [parts.saturation(size, seed)["variance"] for seed in range(6)]
        assert sum(found) / 6 == pytest.approx(size, rel=0.15)
    assert parts.saturation(1024, 1)["entropy raw"] < parts.saturation(4, 1)["entropy raw"]


def test_the_gradient_reaches_the_first_word_through_attention() -> None:
    assert first_word_gradient("rnn", 30, 1) < 0.1 < first_word_gradient("rnn-attention", 30, 1)


def test_the_gradient_of_a_plain_network_vanishes_or_explodes() -> None:
    found = {gain: [rnn.gradient_norm(gain, length, 1) for length in (5, 40)] for gain in rnn.GAINS}
    assert found[0.5][1] < 1e-8 < found[0.5][0] < 1
    assert 1 < found[2.0][0] < found[2.0][1]
    assert rnn.lstm_gradient_norm(40, 1) < rnn.lstm_gradient_norm(5, 1) < 1


def test_without_positions_the_states_change_places_with_the_words() -> None:
    assert parts.order_difference(1, "without positions", tokens=6, orders=2) < 1e-12
    assert parts.order_difference(1, "none", tokens=6, orders=2) > 0.1


@pytest.mark.parametrize(("last", "verdict"), [(50.0, SHOWN), (70.0, NOT_SHOWN)])
def test_speeds_are_judged_by_what_longer_sentences_keep(last: float, verdict: str) -> None:
    falling = [100.0, 100.0, 90.0, 80.0, last]
    found = learning.table_of_speeds({"rnn": falling, "rnn-attention": falling, "transformer": [100.0] * 5})
    assert found.verdict == verdict
    assert found.figure.endswith(f"rnn {last:.0f}%, rnn-attention {last:.0f}%, transformer 100%")


def test_bleu_does_not_know_what_a_word_means(tmp_path: Path) -> None:
    setup = ExperimentSetup(tmp_path)
    assert "in 7 of 8 sentences exactly as much" in bleu_limits.test_synonyms(setup).figure
    assert [row[1] for row in bleu_limits.test_judgement(setup).rows] == ["0 of 4", "4 of 4", "4 of 4", "4 of 4"]
    assert all(sorted(a.split()) == sorted(b.split()) for a, b in bleu_limits.ORDERS)
    assert bleu_limits.test_order(setup).verdict == SHOWN


def test_printed_figures_are_judged_by_what_is_computed() -> None:
    assert printed_figures.compared([0.7, 0.3], [0.66, 0.34], 1, "it").verdict == SHOWN
    assert printed_figures.compared([0.66], [0.6651], 2, "it").verdict == "rounded: it = 0.665, printed 0.66"
    assert printed_figures.compared([0.66], [0.6701], 2, "it").verdict == "the notes are wrong: it = 0.67, not 0.66"
    assert printed_figures.compared([4], [5], 0, "it").verdict == "the notes are wrong: it = 5, not 4"  # a count
    assert judge(False) == NOT_SHOWN


def test_what_several_seeds_gave_is_told_with_its_spread() -> None:
    assert over_seeds([70, 74, 75]) == "73.0 (70.0 to 75.0)"
    assert over_seeds([0.5], "{:.0%}") == "50%"


class Remembering(ExperimentSetup):
    """A setup whose models are all measured: BLEU and loss by model, one for each seed."""

    def __init__(self, out: Path, bleus: dict[str, list[float]], losses: dict[str, list[float]] | None = None) -> None:
        super().__init__(out)
        self.bleus, self.losses = bleus, losses or {}

    def bleu(self, spec: ModelSpec, seed: int) -> float:
        return self.bleus[spec.name][self.seeds.index(seed)]

    def loss(self, spec: ModelSpec, seed: int) -> float:
        return self.losses[spec.name][self.seeds.index(seed)]


@pytest.mark.parametrize(("last", "verdict"), [(70.0, SHOWN), (73.5, NOT_SHOWN)])
def test_one_seed_that_fails_is_enough_for_not_shown(tmp_path: Path, last: float, verdict: str) -> None:
    setup = Remembering(tmp_path, {"transformer": [75.0, 75.0, 75.0], "without scaling": [40.0, 40.0, last]})
    found = parts.test_training(setup)
    assert found.verdict == verdict
    assert found.header == ["model", "seed 1", "seed 2", "seed 3"]


def test_without_the_mask_loss_and_bleu_must_both_fall(tmp_path: Path) -> None:
    bleus = {"transformer": [75.0] * 3, "without mask": [0.0, 1.0, 2.0]}
    collapsed = Remembering(tmp_path, bleus, {"transformer": [0.4] * 3, "without mask": [0.1] * 3})
    told = "loss 0.40 (0.40 to 0.40) → 0.10 (0.10 to 0.10); BLEU 75.0 (75.0 to 75.0) → 1.0 (0.0 to 2.0)"
    assert parts.test_mask(collapsed).figure == told
    assert parts.test_mask(collapsed).verdict == SHOWN
    stays = Remembering(tmp_path, bleus, {"transformer": [0.4] * 3, "without mask": [0.1, 0.1, 0.3]})
    assert parts.test_mask(stays).verdict == NOT_SHOWN
    speaks = Remembering(tmp_path, bleus | {"without mask": [0.0, 16.0, 2.0]}, collapsed.losses)
    assert parts.test_mask(speaks).verdict == NOT_SHOWN


@pytest.mark.parametrize(
    ("one", "verdict"),
    [([73.0, 72.0, 71.0], SHOWN), ([73.0, 72.0, 75.5], NOT_SHOWN), ([74.5, 74.5, 74.5], NOT_SHOWN)],
)
def test_heads_must_be_worth_more_than_seeds_differ(tmp_path: Path, one: list[float], verdict: str) -> None:
    assert parts.test_heads(Remembering(tmp_path, {"transformer": [75.0] * 3, "one head": one})).verdict == verdict


def test_the_notes_figures(tmp_path: Path) -> None:
    tested = run_claims(PRINTED, tmp_path / "claims", False, lambda line: None)
    verdicts = {one.claim.name: one.result.verdict for one in tested}
    assert verdicts["notes-softmax"].endswith("= 0.016, 0.117, 0.867, 5.702, not 0.1, 0.3, 0.6, 5")
    assert verdicts["notes-additive"].startswith("the notes are wrong: tanh(W₁h + W₂s) = 0.149, 0.74, not")
    assert verdicts["notes-bigrams"].endswith("= 0, 5, not 1, 5")
    assert verdicts["notes-trigrams"].endswith("= 2, 3, 0.65, not 1, 3, 0.51")
    assert verdicts["notes-softmax-exercise"].startswith("rounded: softmax(2, 1, 0) = 0.665, 0.245, 0.09, printed")
    assert verdicts["notes-retrieval"] == verdicts["notes-filter"] == SHOWN


def test_a_row_printed_as_one_and_three_zeros_needs_the_gap_that_is_named(tmp_path: Path) -> None:
    """Checked by the softmax itself: with the gap named all four round as printed, with a tenth less they do not."""
    remark = printed_figures.test_filter(ExperimentSetup(tmp_path)).remark
    named = float(remark.partition("a first score that is ")[2].split()[0])
    for gap, printed in ((named, "1.00 0.00 0.00 0.00"), (named - 0.1, "0.99 0.00 0.00 0.00")):
        weights = torch.tensor([gap, 0.0, 0.0, 0.0]).softmax(0).tolist()
        assert " ".join(f"{weight:.2f}" for weight in weights) == printed


# ------------------------------------------------------------------------------------------------ running


def test_what_is_done_is_kept_and_the_rest_goes_on(tmp_path: Path) -> None:
    """As after Ctrl-C or kill: the claim that was interrupted is tested again, and no other."""
    calls: list[str] = []

    def claim(name: str, broken: bool = False) -> Claim:
        def test(setup: ExperimentSetup) -> ClaimResult:
            calls.append(name)
            part = setup.cache.get(f"{name}-part", lambda: calls.append(f"{name} part") or 3)
            if broken:
                raise KeyboardInterrupt
            return ClaimResult(SHOWN, f"{part}", ["a"], [["1"]])

        return Claim(name, test, "x", "y", "z")

    out = tmp_path / "claims"
    with pytest.raises(KeyboardInterrupt):
        run_claims([claim("one"), claim("two", broken=True)], out, True, lambda line: None)
    assert calls == ["one", "one part", "two", "two part"]
    tested = run_claims([claim("one"), claim("two")], out, True, lambda line: None)
    assert calls == ["one", "one part", "two", "two part", "two"]
    assert [one.result.figure for one in tested] == ["3", "3"]
    with pytest.raises(RunError, match="holds quick experiments"):
        run_claims([claim("one")], out, False, lambda line: None)


def test_a_strange_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(RunError, match="already holds something else"):
        run_claims([], tmp_path, True, lambda line: None)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_kept_part_is_the_same_when_it_is_read_again(tmp_path: Path) -> None:
    cache = JsonCache(tmp_path)
    first = cache.get("a", lambda: [(1, 2.5)])
    assert first == cache.get("a", lambda: pytest.fail("made again")) == [[1, 2.5]]


def test_names() -> None:
    assert len({claim.name for claim in ALL}) == len(ALL) >= 14
    assert [claim.name for claim in choose(["mask", "beam"])] == ["mask", "beam"]
    with pytest.raises(InputError, match='no claim "maks"; did you mean "mask"'):
        choose(["maks"])


def test_every_form_of_the_report(tmp_path: Path) -> None:
    tested = run_claims(PRINTED, tmp_path / "claims", False, lambda line: None)
    odd = replace(tested[0], result=ClaimResult("not shown", "a < b | c", ["x"], [["<1> | 2"]], "odd & rare"))
    text, markdown, html = (form([odd, *tested], False) for form in (render_text, render_markdown, render_html))
    for claim in PRINTED:
        assert claim.name in text
        assert f"## {claim.name}" in markdown
        assert f'id="{claim.name}"' in html
    assert "<1> \\| 2" in markdown
    assert "&lt;1&gt;" in html
    assert "http" not in html.replace("http-equiv", "")


def test_the_command_line(tmp_path: Path, call: Call) -> None:
    done = call("claims", "--only", "notes-bigrams", "--out", tmp_path / "c")
    assert done.code == 0, done.err
    assert "the notes are wrong" in done.out
    assert {"report.md", "report.html"} <= {path.name for path in (tmp_path / "c").iterdir()}
    assert json.loads((tmp_path / "c" / "claims" / "notes-bigrams.json").read_text())["finding"]["verdict"]
    wrong = call("claims", "--only", "irony", "--out", tmp_path / "d")
    assert wrong.code == 2
    assert wrong.err.count("\n") == 1
    assert not (tmp_path / "d").exists()


@pytest.mark.slow
def test_a_training_goes_on_and_is_not_repeated(tmp_path: Path) -> None:
    told: list[str] = []
    setup = ExperimentSetup(tmp_path / "claims", quick=True, tell=told.append)
    blind = ModelSpec("without positions", ablation="without positions")
    assert setup.bleu(BASE, 1) >= 0
    first = setup.loss(blind, 1)
    again = ExperimentSetup(tmp_path / "claims", quick=True, tell=told.append)
    assert again.loss(blind, 1) == first
    with again.trained(blind, 1) as bundle:
        ids = [[5, 9, 14], [14, 9, 5]]
        a, b = (logits(bundle.model, source, [7]) for source in ids)
        close(a, b)
    assert sum("training" in line for line in told) == 2
