from __future__ import annotations

import json
import random
from html.parser import HTMLParser

import pytest
import sacrebleu

from regard.compare.plot import line_chart, log_scatter
from regard.compare.report import LONG, make_report
from regard.compare.run import Result
from regard.compare.show import render_html, render_markdown, render_text
from regard.training.evaluate import HeldOut

RNG = random.Random(5)
WORDS = ["the", "cat", "dog", "sees", "<b>", "&", "mat", "on", "a", "big", "|"]
REFERENCES = [" ".join(RNG.choices(WORDS, k=RNG.choice([4, 8, 14, 32]))) for _ in range(160)]
SOURCES = ["x " * len(line.split()) for line in REFERENCES]
TEST = HeldOut(SOURCES, REFERENCES)


def result(model: str, seed: int, share: float) -> Result:
    rng = random.Random(f"{model}{seed}")
    said = [" ".join(rng.choice(WORDS) if rng.random() < share else w for w in line.split()) for line in REFERENCES]
    return Result(model, seed, said, 1_000_000, 10, 5000, 3e12 if model == "good" else 1e12, 20.0, 10**9, 1.0, 1e-3, {})


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


def test_plots_put_higher_values_higher():
    chart = line_chart("t", ["a", "b"], {"one": [10.0, 20.0], "gap": [None, 5.0]}, "y")
    ys = [float(part.split('"')[0]) for part in chart.split('cy="')[1:]]
    assert ys[1] < ys[0] < ys[2]
    scatter = log_scatter("t", {"g": [(1e3, 1.0, "low"), (1e6, 2.0, "high")]}, "x", "y")
    xs = [float(part.split('"')[0]) for part in scatter.split('cx="')[1:]]
    assert xs[0] < xs[1]
    assert log_scatter("t", {}, "x", "y") == ""


def test_one_seed_and_one_model():
    report = make_report(RESULTS[:1], TEST, "10 steps")
    assert report.rows[0].sd is None
    assert report.apart is None
    assert "one seed" in render_text(report)


def test_few_long_sentences_are_not_judged():
    few = HeldOut(SOURCES[:20], REFERENCES[:20])
    short = [Result(**{**vars(r), "translations": r.translations[:20]}) for r in RESULTS]
    report = make_report(short, few, "10 steps")
    assert report.long_lines < 20
    assert {(row.long_bleu, row.long_p_value) for row in report.rows} == {(None, None)}
