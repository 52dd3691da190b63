"""/api/lessons: the lessons that the page shows."""

from __future__ import annotations

from typing import Any

from regard.course.lessons import lessons
from regard.serve.endpoint import Call, Endpoint
from regard.serve.own import OWN


async def all_lessons(call: Call) -> dict[str, Any]:
    return lessons()


ENDPOINTS = (Endpoint("GET", "/api/lessons", OWN, "The lessons of the page", all_lessons, open=True),)
