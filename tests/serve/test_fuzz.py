"""Requests at random from the OpenAPI document, also wrong ones: none is a fault of the server (make test-fuzz)."""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from hypothesis.strategies import SearchStrategy, builds, one_of, sampled_from

from server_process import ServerProcess, running

if TYPE_CHECKING:  # it takes a second, which every worker of every test run would wait
    from schemathesis import BaseSchema, Case, GenerationMode
    from schemathesis.schemas import APIOperation

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


EXAMPLES = 1  # of each endpoint, right ones and as many wrong ones
SENTENCES = ("The cat sleeps.", "I see the black dog near the house.", "The bank is closed today.", "Who is he?")
# What is asked for by a random name, so that it is never there; a file without a name; pairs that the model has not.
NEVER_ANSWERED = {
    f"positive {label}"
    for label in (
        "GET /download_file/{name}", "POST /v2/document/{id}", "POST /v2/document/{id}/result",
        "GET /v2/glossaries/{id}", "GET /v2/glossaries/{id}/entries", "DELETE /v2/glossaries/{id}",
        "POST /translate_file", "POST /api/neighbours",
    )
}  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[ServerProcess]:
    with running("--characters", "2000", "--timeout", "20") as made:
        yield made


@pytest.fixture(scope="module")
def api(server: ServerProcess) -> BaseSchema:
    import schemathesis

    return schemathesis.openapi.from_url(f"http://127.0.0.1:{server.port}/spec")


def cases_of(operation: APIOperation[Any, Any, Any], mode: GenerationMode) -> SearchStrategy[Case]:
    """At random. Right ones are also the example of the document, and random ones whose texts are sentences: random
    characters hardly get past the first check."""
    random: SearchStrategy[Case] = operation.as_strategy(generation_mode=mode)
    if not mode.is_positive or not operation.body:
        return random
    sensible = builds(with_sentence, random, sampled_from(SENTENCES))
    return one_of(random, sensible, *operation.get_strategies_from_examples())


def with_sentence(case: Case, text: str) -> Case:
    """The same case, with values that belong together: only what the document cannot say is put right."""
    if not isinstance(case.body, dict):
        return case
    better = {"q": text, "text": text, "translation": "Le chat dort.", "sentence": 0, "hypothesis": 0, "beam": 4,
              "file": text.encode(), "entries": "cat\tmatou", "glossary": "cat\tmatou", "words": ["le", "la"],
              "formality": "default"}  # fmt: skip
    several = {name for name in ("q", "text") if isinstance(case.body.get(name), list)}
    better |= {name: [text] for name in several}
    better = {name: value for name, value in better.items() if case.body.get(name) is not None}
    needed = {"/api/translate": {"text": text, "target": "fr"}, "/v2/document": {"filename": "a.txt"}}
    apart = {"texts", "output_format", "glossary_id", "glossary_ids"}
    apart |= {"beam"} if "translation" in better else set()
    changed = case.body | better | needed.get(case.path, {})
    case.body = {name: value for name, value in changed.items() if name not in apart}
    return case


def ask_often(cases: SearchStrategy[Case]) -> Counter[str]:
    """How often each kind of status was answered."""
    answers: Counter[str] = Counter()

    @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(case=cases)
    def ask(case: Case) -> None:
        answer = case.call(timeout=60)
        answers[f"{answer.status_code // 100}xx"] += 1
        assert answer.status_code < 500 or (answer.status_code == 503 and "retry-after" in answer.headers), (
            case.as_curl_command(),
            answer.text[:500],
        )

    with contextlib.suppress(Unsatisfiable):  # what has no parameters cannot be asked wrongly
        ask()
    return answers


def test_no_request_is_a_fault(api: BaseSchema, server: ServerProcess) -> None:
    from schemathesis import GenerationMode

    operations = [result.ok() for result in api.get_all_operations()]
    asked = {
        f"{mode.value} {operation.label}": ask_often(cases_of(operation, mode))
        for operation in operations
        for mode in GenerationMode
    }
    print(table_of(asked))
    assert server.ask("/health").status == 200
    assert not [line for line in server.lines if "Traceback" in line or " fault " in line]
    unanswered = {label for label, counts in asked.items() if label.startswith("positive") and not counts["2xx"]}
    assert unanswered <= NEVER_ANSWERED


def table_of(asked: Mapping[str, Counter[str]]) -> str:
    """How many requests of each kind were answered how."""
    total: dict[str, Counter[str]] = defaultdict(Counter)
    for label, counts in asked.items():
        total[f"{label.partition(' ')[0]} in all"] += counts
    rows = {**asked, **total}
    return "\n".join(f"{label:<60} {dict(sorted(counts.items()))}" for label, counts in rows.items())
