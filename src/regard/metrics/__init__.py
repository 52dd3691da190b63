"""Scores of translations: BLEU, chrF, TER and GLEU, with signatures, significance and explanations.

`METRICS` is the only list of metrics; the command line and `make_metric` use it. Each class is a frozen dataclass of
the metric's options that follows `base.Metric`. Modules are imported when a metric is used: the names alone cost
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.metrics.base import Metric

METRICS = {
    "bleu": ("regard.metrics.bleu", "Bleu"),
    "chrf": ("regard.metrics.chrf", "Chrf"),
    "ter": ("regard.metrics.ter", "Ter"),
}


def make_metric(name: str, options: Mapping[str, Any] | None = None) -> Metric:
    """A metric by name. Of `options`, which may be meant for several metrics, it takes those it has.

    >>> make_metric("chrf", {"word_order": 2, "tokenize": "13a"}).name
    'chrF2++'
    """
    if name not in METRICS:
        from regard.metrics.base import unknown

        raise unknown("metric", name, METRICS)
    module, kind = METRICS[name]
    metric = getattr(import_module(module), kind)
    known = {field.name for field in fields(metric)}
    made: Metric = metric(**{key: value for key, value in (options or {}).items() if key in known})
    return made
