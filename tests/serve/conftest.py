"""A server in this process over the small model in the box, loaded once for each file of tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from regard.serve.app import create_app
from regard.serve.settings import ServeConfig

MODEL = "en-fr-classic"


@pytest.fixture(scope="module")
def config() -> ServeConfig:
    """A module may have another one."""
    return ServeConfig(models=(MODEL,), preload=(MODEL,))


@pytest.fixture(scope="module")
def client(config: ServeConfig) -> Iterator[TestClient]:
    with TestClient(create_app(config), base_url="http://127.0.0.1:8000") as made:
        yield made
