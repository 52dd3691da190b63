"""/api/diagram: the model as pictures, or the sizes of an architecture."""

from __future__ import annotations

from typing import Any

from regard.errors import RecipeError
from regard.explain.diagram import ModelDiagram, diagram_of_pair, diagram_of_size
from regard.explain.render.model_figure import blocks_table, panels, summary
from regard.explain.sentence_pair import SentencePair
from regard.models.table import ARCHITECTURES
from regard.report.drawing_data import drawing_data
from regard.serve.api.own.explain_sentence import pair_data
from regard.serve.errors import FieldError


def diagram_answer(pair: SentencePair, model: str, drawn: str = "") -> dict[str, Any]:
    found = diagram_of_pair(pair, name=model) if not drawn else sizes(drawn, pair)
    table = blocks_table(found)
    return {
        **pair_data(pair, model),
        "drawn": drawn,
        "name": found.name,
        "parameters": found.parameters,
        "flops": found.flops,
        "summary": summary(found),
        "pictures": [drawing_data(drawing) for drawing in panels(found)],
        "header": list(table.header),
        "rows": [list(row) for row in table.rows],
        "architectures": {name: list(known.presets) for name, known in ARCHITECTURES.items()},
    }


def sizes(drawn: str, pair: SentencePair) -> ModelDiagram:
    architecture, _, preset = drawn.partition(":")
    try:
        return diagram_of_size([architecture], preset or "small", pair.source.text, pair.target.translation)
    except RecipeError as problem:
        raise FieldError("drawn", str(problem)) from None
