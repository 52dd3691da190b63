"""The OpenAPI document of all endpoints, made from their declarations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from regard.serve.api.api_common import VARIANTS
from regard.serve.api.endpoint import Endpoint
from regard.serve.http.fields import REQUIRED, Field, object_schema
from regard.serve.pool import ModelPool
from regard.version import __version__

PLACE = re.compile(r"\{(\w+)(?::\w+)?\}")


def openapi(endpoints: Iterable[Endpoint], known: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """`known` has the names that this server knows: "models", "sources" and so on (`known_names`)."""
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        path = PLACE.sub(r"{\1}", endpoint.path)
        paths.setdefault(path, {})[endpoint.method.lower()] = operation(endpoint, known)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "regard",
            "version": __version__,
            "description": "A translator behind HTTP: LibreTranslate's interface, DeepL's (v2), and our own (/api).",
        },
        "paths": paths,
    }


def known_names(pool: ModelPool) -> dict[str, list[str]]:
    """What the document names as allowed. Codes that mean one of these languages (`pt-BR`, `iw`) are read too."""
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
    answer = {"application/json": {"schema": dict(endpoint.answer)}} if endpoint.answer else {}
    content: dict[str, Any] = {kind: {} for kind in endpoint.answers} | answer
    found: dict[str, Any] = {
        "summary": endpoint.summary,
        "tags": [endpoint.interface.name],
        "responses": {
            str(endpoint.status): {"description": "done", "content": content},
            "4XX": {"description": "a request that cannot be answered", "content": {"application/json": {}}},
            "5XX": {"description": "a server that cannot answer now", "content": {"application/json": {}}},
        },
    }
    places = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in PLACE.findall(endpoint.path)
    ]
    own = [one for one in endpoint.fields if one.name not in PLACE.findall(endpoint.path)]
    if endpoint.method in ("GET", "DELETE"):
        places += [
            {
                "name": one.name,
                "in": "query",
                "required": one.default is REQUIRED,
                "schema": one.schema(known, null=False),
            }
            for one in own
        ]
    elif own:
        found["requestBody"] = {"required": True, "content": bodies(own, known)}
    if places:
        found["parameters"] = places
    return found


def bodies(fields: Sequence[Field], known: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The kinds of body that carry these fields, each with an example where no field lacks one that it needs."""
    kinds = {field.kind for field in fields}
    if "file" in kinds:
        names = ["multipart/form-data"]
    elif kinds & {"list", "object"}:
        names = ["application/json"]
    else:
        names = ["application/json", "application/x-www-form-urlencoded"]
    example = {field.name: example_of(field, known) for field in fields if field.example is not None}
    whole = all(field.name in example or field.default is not REQUIRED for field in fields)
    more = {"example": example} if whole and example else {}
    return {name: {"schema": object_schema(fields, known, name == "application/json"), **more} for name in names}


def example_of(field: Field, known: Mapping[str, Sequence[str]]) -> Any:
    """One that this server answers: of names that it does not know, its first."""
    names = known.get(field.known, ())
    return field.example if not names or field.example in names else names[0]
