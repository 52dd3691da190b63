"""The OpenAPI document of all endpoints, made from their declarations."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from regard.serve.endpoint import Endpoint
from regard.serve.fields import REQUIRED, object_schema
from regard.version import __version__

PLACE = re.compile(r"\{(\w+)(?::\w+)?\}")


def openapi(endpoints: Iterable[Endpoint]) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        path = PLACE.sub(r"{\1}", endpoint.path)
        paths.setdefault(path, {})[endpoint.method.lower()] = operation(endpoint)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "regard",
            "version": __version__,
            "description": "A translator behind HTTP: LibreTranslate's interface, DeepL's (v2), and our own (/api).",
        },
        "paths": paths,
    }


def operation(endpoint: Endpoint) -> dict[str, Any]:
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
            {"name": one.name, "in": "query", "required": one.default is REQUIRED, "schema": one.schema()}
            for one in own
        ]
    elif own:
        schema = object_schema(own)
        file = any(one.kind == "file" for one in own)
        kinds = ["multipart/form-data"] if file else ["application/json", "application/x-www-form-urlencoded"]
        found["requestBody"] = {"required": True, "content": {kind: {"schema": schema} for kind in kinds}}
    if places:
        found["parameters"] = places
    return found
