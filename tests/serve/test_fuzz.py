"""Requests at random from the OpenAPI document, also wrong ones: none is a fault of the server (make test-fuzz)."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import BaseSchema, Case, GenerationMode

from server_process import ServerProcess, running

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


EXAMPLES = 25  # of each endpoint, right ones and as many wrong ones


@pytest.fixture(scope="module")
def server() -> Iterator[ServerProcess]:
    with running("--characters", "2000", "--timeout", "20") as made:
        yield made


@pytest.fixture(scope="module")
def api(server: ServerProcess) -> BaseSchema:
    return schemathesis.openapi.from_url(f"http://127.0.0.1:{server.port}/spec")


def test_no_request_is_a_fault(api: BaseSchema, server: ServerProcess) -> None:
    asked: Counter[str] = Counter()
    for result in api.get_all_operations():
        operation = result.ok()
        for mode in GenerationMode:
            cases = operation.as_strategy(generation_mode=mode)

            @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
            @given(case=cases)
            def ask(case: Case) -> None:
                answer = case.call(timeout=60)
                asked[f"{answer.status_code // 100}xx"] += 1
                assert answer.status_code < 500 or (answer.status_code == 503 and "retry-after" in answer.headers), (
                    case.as_curl_command(),
                    answer.text[:500],
                )

            with contextlib.suppress(Unsatisfiable):  # what has no parameters cannot be asked wrongly
                ask()
    print(dict(asked))
    assert server.ask("/health").status == 200
    assert not [line for line in server.lines if "Traceback" in line or " fault " in line]
