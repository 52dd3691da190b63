"""Scores of translations: BLEU, chrF, TER and GLEU, with signatures, significance and explanations.

`METRICS` is the only list of metrics; the command line and `make_metric` use it. Each class is a frozen dataclass of
the metric's options that follows `base.Metric`. Modules are imported when a metric is first used, so listing the names
is fast.
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
    """Returns a metric by name. Options that it does not have are ignored, so several metrics can share `options`.

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
