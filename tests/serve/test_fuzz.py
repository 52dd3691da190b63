"""Requests at random from the OpenAPI document, also wrong ones: none is a fault of the server (make test-fuzz)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, settings

from server_process import running

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def api() -> Iterator[schemathesis.BaseSchema]:
    with running("--characters", "2000", "--timeout", "20") as server:
        yield schemathesis.openapi.from_url(f"http://127.0.0.1:{server.port}/spec")
        assert server.ask("/health").status == 200
        assert not any("Traceback" in line for line in server.lines)


schema = schemathesis.pytest.from_fixture("api")


@schema.parametrize()
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_request_is_a_fault(case: schemathesis.Case) -> None:
    answer = case.call(timeout=60)
    if answer.status_code == 503:
        assert "retry-after" in answer.headers
    else:
        assert answer.status_code < 500, answer.text[:500]
