"""Our own interface under /api: how it writes a problem and where the key is. `api_*.py` have its endpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from regard.serve.endpoint import Interface
from regard.serve.fields import Field
from regard.serve.problems import ServeError
from regard.serve.state.keys import given_key


def problem(error: ServeError) -> dict[str, Any]:
    about = {} if error.field is None else {"field": error.field}
    return {"error": {"message": error.message, "status": error.status, **about}}


def key_of(request: Request, values: Mapping[str, Any]) -> str | None:
    return given_key(request.headers.get("authorization"))


OWN = Interface("regard", problem, key_of)
MODEL = Field(
    "model",
    "text",
    "the name of a model; it wins over the languages",
    None,
    nullable=True,
    most=200,
    known="models",
    example="en-fr",
)
SOURCE = Field(
    "source", "text", "the code of its language; none: found in the text", None, nullable=True, most=40, known="sources"
)
TARGET = Field(
    "target", "text", "the code of the language to translate into", None, nullable=True, most=40, known="targets"
)
WHICH_MODEL = (MODEL, SOURCE, TARGET)
