"""The endpoints of the training that a learner watches; only a server that `regard course` started has them."""

from __future__ import annotations

from typing import Any

import anyio.to_thread

from regard.serve.api.api_common import OWN
from regard.serve.api.endpoint import Call, Endpoint
from regard.serve.errors import ServeError
from regard.serve.explain_service import check_torch
from regard.serve.http.fields import Field
from regard.serve.training_service import MODELS, TrainingService

LONGEST = 600  # seconds


def allowed(call: Call) -> TrainingService:
    if call.services.config.course is None:
        raise ServeError(403, "this server trains no models; start it with: regard course 1")
    check_torch()
    return call.services.training


async def get_training(call: Call) -> dict[str, Any]:
    return allowed(call).state()


async def start_training(call: Call) -> dict[str, Any]:
    service = allowed(call)
    await anyio.to_thread.run_sync(service.start, call["model"], call["seconds"])
    return service.state()


async def stop_training(call: Call) -> dict[str, Any]:
    service = allowed(call)
    await anyio.to_thread.run_sync(service.stop)
    return service.state()


ENDPOINTS = (
    Endpoint("GET", "/api/training", OWN, "The trainings so far; only under regard course", get_training),
    Endpoint(
        "POST", "/api/training", OWN, "Train a tiny model on the grammar; only under regard course", start_training,
        (
            Field("model", "choice", "what to train", "rnn-attention", choices=MODELS),
            Field("seconds", "number", "for how long", 60.0, least=1, most=LONGEST),
        ),
    ),
    Endpoint("DELETE", "/api/training", OWN, "Stop the training; only under regard course", stop_training),
)  # fmt: skip
