"""The OpenAPI document of all endpoints, generated from their declarations."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from regard.serve.api.api_common import VARIANTS
from regard.serve.api.endpoint import Endpoint
from regard.serve.errors import ServeError
from regard.serve.http.fields import REQUIRED, Field, object_schema
from regard.serve.pool import ModelPool
from regard.version import __version__

PLACEHOLDER = re.compile(r"\{(\w+)(?::\w+)?\}")


def openapi(endpoints: Sequence[Endpoint], known: Mapping[str, Sequence[str]], keys: bool) -> dict[str, Any]:
    """The OpenAPI document of some endpoints, with the names of this server's models and languages (`known_names`).
    `keys`: whether the server asks for API keys."""
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        path = PLACEHOLDER.sub(r"{\1}", endpoint.path)
        secured: dict[str, Any] = {"security": [{"key": []}]} if keys and not endpoint.public else {}
        paths.setdefault(path, {})[endpoint.method.lower()] = operation(endpoint, known) | secured
    interfaces = dict.fromkeys(endpoint.interface for endpoint in endpoints)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "regard",
            "version": __version__,
            "description": "A translator behind HTTP: LibreTranslate's interface, DeepL's (v2), and our own (/api).",
        },
        "tags": [{"name": one.name, "description": one.about} for one in interfaces],
        "paths": paths,
        "components": {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}} if keys else {}},
    }


def known_names(pool: ModelPool) -> dict[str, list[str]]:
    """The values that the document lists for each kind of name. Other codes of these languages (`pt-BR`, `iw`) are also
    accepted."""
    sources = sorted({direction.source for direction in pool.directions})
    targets = sorted({code for source in pool.languages for code in pool.targets(source)})
    return {
        "models": list(pool.models),
        "sources": sources,
        "sources or auto": ["auto", *sources],
        "targets": targets,
        "DeepL's sources": [code.upper() for code in sources],
        "DeepL's targets": [variant for code in targets for variant in VARIANTS.get(code, (code.upper(),))],
    }


def operation(endpoint: Endpoint, known: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    error = endpoint.interface.error_body(ServeError(400, "what is wrong"))
    refused = {"application/json": {"example": error}}
    found: dict[str, Any] = {
        "summary": endpoint.summary,
        "tags": [endpoint.interface.name],
        "responses": {
            str(endpoint.status): {"description": "done", "content": {endpoint.media_type: {}}},
            "4XX": {"description": "a request that cannot be answered", "content": refused},
            "5XX": {"description": "a server that cannot answer now", "content": refused},
        },
    }
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in PLACEHOLDER.findall(endpoint.path)
    ]
    if endpoint.method in ("GET", "DELETE"):
        for one in endpoint.fields:
            required, schema = one.default is REQUIRED, one.schema(known, null=False)
            parameters.append({"name": one.name, "in": "query", "required": required, "schema": schema})
    elif endpoint.fields:
        found["requestBody"] = {"required": True, "content": bodies(endpoint.fields, known)}
    if parameters:
        found["parameters"] = parameters
    return found


def bodies(fields: Sequence[Field], known: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The media types that support these fields, with an example if every required field has one."""
    kinds = {field.kind for field in fields}
    if "file" in kinds:
        names = ["multipart/form-data"]
    elif kinds & {"list", "object", "value"}:
        names = ["application/json"]
    else:
        names = ["application/json", "application/x-www-form-urlencoded"]
    example = {field.name: example_of(field, known) for field in fields if field.example is not None}
    whole = all(field.name in example or field.default is not REQUIRED for field in fields)
    more = {"example": example} if whole and example else {}
    return {name: {"schema": object_schema(fields, known, name == "application/json"), **more} for name in names}


def example_of(field: Field, known: Mapping[str, Sequence[str]]) -> Any:
    """The field's example; if this server does not have that name, the server's first one."""
    names = known.get(field.known, ())
    return field.example if not names or field.example in names else names[0]
