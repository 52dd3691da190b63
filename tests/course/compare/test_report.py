from __future__ import annotations

import json
import random
from html.parser import HTMLParser

import pytest
import sacrebleu

from regard.course.compare.entrants import read_name
from regard.course.compare.learn import LearningCost
from regard.course.compare.report import LONG, PUBLISHED, make_report
from regard.course.compare.run import EntrantResult
from regard.course.compare.show import published_table, render_html, render_markdown, render_text
from regard.report.chart import Spot, line_chart, log_scatter
from regard.report.render import svg
from regard.training.evaluate import HeldOut

RNG = random.Random(5)
WORDS = ["the", "cat", "dog", "sees", "<b>", "&", "mat", "on", "a", "big", "|"]
REFERENCES = [" ".join(RNG.choices(WORDS, k=RNG.choice([4, 8, 14, 32]))) for _ in range(160)]
SOURCES = ["x " * len(line.split()) for line in REFERENCES]
TEST = HeldOut(SOURCES, REFERENCES)


def result(model: str, seed: int, share: float) -> EntrantResult:
    rng = random.Random(f"{model}{seed}")
    said = [" ".join(rng.choice(WORDS) if rng.random() < share else w for w in line.split()) for line in REFERENCES]
    flops = 3e12 if model == "good" else 1e12
    return EntrantResult(model, seed, said, 1.0, LearningCost(20.0, 10**9, flops, 10, 5000, 1_000_000), 1e-3)


RESULTS = [result("bad", 1, 0.6), result("bad", 2, 0.6), result("good", 1, 0.2), result("good", 2, 0.2)]
REPORT = make_report(RESULTS, TEST, "10 steps")


def test_figures_against_sacrebleu():
    for row in REPORT.rows:
        texts = [r.translations for r in RESULTS if r.model == row.model]
        expected = [sacrebleu.corpus_bleu(text, [REFERENCES]).score for text in texts]
        assert row.bleu == pytest.approx(expected, abs=1e-9)
        long = [i for i, line in enumerate(SOURCES) if len(line.split()) > LONG]
        both = [text[i] for text in texts for i in long]
        assert row.long_bleu == pytest.approx(sacrebleu.corpus_bleu(both, [[REFERENCES[i] for i in long] * 2]).score)
    assert sum(bucket.lines for bucket in REPORT.rows[0].buckets) == len(SOURCES)
    assert REPORT.rows[0].p_value is None
    assert REPORT.rows[1].p_value < 0.001
    assert REPORT.signature == str(sacrebleu.BLEU(references=[REFERENCES]).get_signature())


class Balanced(HTMLParser):
    """Every element that is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_startendtag(self, tag, attrs):
        """<line/> closes itself."""

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_all_forms_say_the_same():
    good = REPORT.rows[1]
    shown = f"{good.mean:.2f} ± {good.sd:.2f}"
    text, markdown, html = render_text(REPORT), render_markdown(REPORT), render_html(REPORT)
    assert shown in text
    assert shown in markdown
    assert shown in html
    assert "GNMT + RL" in markdown
    assert html.count("<svg") == 3
    assert "<b>" not in html.split("</style>")[1]
    checker = Balanced()
    checker.feed(html)
    assert checker.open == []
    data = json.loads(json.dumps(REPORT.to_dict()))
    assert data["rows"][1]["mean"] == good.mean
    widths = {line.count(" | ") for line in markdown.splitlines() if line.startswith("| ")}
    assert len(widths) == 3  # three tables, each with as many cells in every row


def test_a_system_without_a_network_has_blanks_where_it_has_no_figure():
    rules = EntrantResult(
        "rules", None, [*REFERENCES[:-1], ""], 0.5, LearningCost(0.0), note="read 159 of 160 sentences"
    )
    report = make_report([*RESULTS, rules], TEST, "10 steps")
    row = report.rows[-1]
    assert (row.sd, row.flops, row.parameters, row.peak_bytes, row.tokens_per_second) == (None,) * 5
    assert row.mean > 99
    text, markdown, html = render_text(report), render_markdown(report), render_html(report)
    for form in (text, markdown, html):
        assert "rules: read 159 of 160 sentences." in form
        assert "without ±, one translator stands for all seeds" in form
    (line,) = (line for line in markdown.splitlines() if line.startswith("| rules |"))
    assert line.split(" | ")[5:7] == ["–", "–"]
    assert json.loads(json.dumps(report.to_dict()))["rows"][-1]["flops"] is None
    assert html.count("stroke-dasharray") == 1  # its level in the plot over FLOPs
    assert html.count("<polyline") == 4  # and by length it is there like all others
    assert len(report.rows[0].buckets) == len(row.buckets)


def test_published_systems_stand_beside_the_same_kind_here():
    results = [
        EntrantResult(**{**vars(r), "model": name})
        for r, name in zip(RESULTS, ["gnmt+rl", "rnn", "moe", "transformer"], strict=True)
    ]
    report = make_report(results, TEST, "10 steps")
    table = published_table(report)
    here = {row[0]: row[-1] for row in table.rows if row[-1] != "–"}
    means = {row.model: f"{row.mean:.2f}" for row in report.rows}
    assert here == {
        "GNMT + RL": means["gnmt+rl"],
        "MoE": means["moe"],
        "Transformer (base model)": means["transformer"],
    }
    assert {len(row) for row in table.rows} == {len(table.header)}
    for published in PUBLISHED:
        read_name(published.here)


def test_plots_put_higher_values_higher():
    chart = svg(line_chart("t", ["a", "b"], {"one": [10.0, 20.0], "gap": [None, 5.0]}, "y"))
    ys = [float(part.split('"')[0]) for part in chart.split('cy="')[1:]]
    assert ys[1] < ys[0] < ys[2]
    scatter = svg(log_scatter("t", {"g": [Spot(1e3, 1.0, "low"), Spot(1e6, 2.0, "high")]}, "x", "y"))
    xs = [float(part.split('"')[0]) for part in scatter.split('cx="')[1:]]
    assert xs[0] < xs[1]
    assert log_scatter("t", {}, "x", "y") is None
    assert log_scatter("t", {"g": [Spot(None, 1.0)]}, "x", "y") is None


def test_one_seed_and_one_model():
    report = make_report(RESULTS[:1], TEST, "10 steps")
    assert report.rows[0].sd is None
    assert report.apart is None
    assert "one seed" in render_text(report)


def test_few_long_sentences_are_not_judged():
    few = HeldOut(SOURCES[:20], REFERENCES[:20])
    short = [EntrantResult(**{**vars(r), "translations": r.translations[:20]}) for r in RESULTS]
    report = make_report(short, few, "10 steps")
    assert report.long_lines < 20
    assert {(row.long_bleu, row.long_p_value) for row in report.rows} == {(None, None)}
