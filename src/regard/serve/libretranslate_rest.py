"""LibreTranslate's /languages, /frontend/settings and /health."""

from __future__ import annotations

from typing import Any

from regard.serve.document_formats import SUFFIXES
from regard.serve.endpoint import Call, Endpoint
from regard.serve.libretranslate import AUTO, LIBRETRANSLATE
from regard.text.language import language_name


async def languages(call: Call) -> list[dict[str, Any]]:
    """Also those that are only translated into: clients look for their target here."""
    pool = call.services.pool
    return [
        {"code": code, "name": language_name(code), "targets": sorted({code, *pool.targets(code)})}
        for code in pool.languages
    ]


async def frontend_settings(call: Call) -> dict[str, Any]:
    config, pool = call.services.config, call.services.pool
    target = pool.find(pool.default).bundle.languages[1] or next(iter(pool.languages), "")
    return {
        "charLimit": config.characters,
        "frontendTimeout": 500,  # milliseconds that a page waits after a key before it asks
        "apiKeys": config.keys,
        "keyRequired": config.keys,
        "suggestions": True,
        "filesTranslation": True,
        "supportedFilesFormat": list(SUFFIXES),
        "language": {
            "source": {"code": AUTO, "name": "Auto Detect"},
            "target": {"code": target, "name": language_name(target)},
        },
    }


async def health(call: Call) -> dict[str, str]:
    return {"status": "ok"}


ENDPOINTS = (
    Endpoint("GET", "/languages", LIBRETRANSLATE, "The languages, and the targets of each", languages, open=True),
    Endpoint("GET", "/frontend/settings", LIBRETRANSLATE, "What a page should know", frontend_settings, open=True),
    Endpoint("GET", "/health", LIBRETRANSLATE, "Whether the server answers", health, open=True),
)
