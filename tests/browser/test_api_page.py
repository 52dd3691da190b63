"""The page at /docs: requests sent from its forms, and the curl commands, which are run and compared."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from browsing import Open, RunningServer, serious

pytestmark = pytest.mark.browser


@pytest.fixture
def docs(open_page: Open, server: RunningServer) -> Any:
    def start(operation: str = "", **look: Any) -> Page:
        page = open_page("lesson", **look)
        page.goto(f"{server.address}docs#{operation}")
        expect(page.locator("summary").first).to_be_visible()
        return page

    return start


def answer(operation: Locator) -> str:
    """Send the form and return the body of the answer."""
    operation.get_by_role("button", name="Send").click()
    expect(operation.get_by_role("status")).to_contain_text(re.compile(r"\d{3} .* ms"))
    return operation.get_by_label("Body of the answer").inner_text()


def curl(operation: Locator, folder: Path) -> str:
    """Run the command that the page shows."""
    command = operation.get_by_label("curl command").inner_text()
    done = subprocess.run(
        ["bash", "-c", f"{command} --silent --show-error"], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, (command, done.stderr)
    return done.stdout


def test_the_curl_command_sends_what_the_form_sends(docs: Any, tmp_path: Path) -> None:
    page = docs("post-translate")
    operation = page.locator("#post-translate")
    operation.get_by_label("q", exact=True).fill("It's the cat's \"mat\", isn't it? $HOME `id`\nThank you!")
    operation.get_by_label("alternatives").fill("2")
    shown = json.loads(answer(operation))
    assert len(shown["alternatives"]) == 2
    assert json.loads(curl(operation, tmp_path)) == shown

    page.goto(f"{page.url.partition('#')[0]}#get-v2-languages")  # a query
    operation = page.locator("#get-v2-languages")
    operation.get_by_label("type", exact=True).select_option("target")
    shown = json.loads(answer(operation))
    assert {one["language"] for one in shown} >= {"EN-GB", "FR"}
    assert json.loads(curl(operation, tmp_path)) == shown

    file = tmp_path / 'the "cat".txt'  # a file, and the result by its path
    file.write_text("The cat sleeps.\n", encoding="utf-8")
    page.goto(f"{page.url.partition('#')[0]}#post-translate_file")
    operation = page.locator("#post-translate_file")
    operation.get_by_label("file", exact=True).set_input_files(file)
    operation.get_by_label("source", exact=True).select_option("en")
    operation.get_by_label("target", exact=True).select_option("fr")
    url = json.loads(answer(operation))["translatedFileUrl"]
    assert "translatedFileUrl" in json.loads(curl(operation, tmp_path))
    page.goto(f"{page.url.partition('#')[0]}#get-download_file-name")
    operation = page.locator("#get-download_file-name")
    operation.get_by_label("name", exact=True).fill(url.rpartition("/")[2])
    operation.get_by_role("button", name="Send").click()
    with page.expect_download() as download:
        operation.get_by_role("link", name=re.compile("^Save .*_fr.txt")).click()
    assert download.value.path().read_text() == "Le chat dort.\n"
    curl(operation, tmp_path)
    assert [path.read_text() for path in tmp_path.glob("*_fr.txt")] == ["Le chat dort.\n"]


def test_the_page_by_keyboard_with_a_stream_errors_and_a_key(docs: Any) -> None:
    page = docs(width=390)
    page.get_by_label("Find an operation").fill("stream")
    expect(page.locator("details.operation:visible")).to_have_count(1)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    operation = page.locator("#post-api-translate-stream")
    expect(operation.get_by_label("text", exact=True)).to_be_visible()  # the form is made when the operation opens
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(operation.get_by_label("text", exact=True)).to_be_focused()
    assert re.search(r"event: sentence\s.*event: done", answer(operation), re.DOTALL)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    operation.get_by_text("more optional parameters").click()
    found = {"light": serious(page)}
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    found["dark"] = serious(page)
    assert found == {"light": [], "dark": []}

    page.get_by_label("Find an operation").fill("api cut")
    page.locator("#post-api-cut > summary").click()
    operation = page.locator("#post-api-cut")
    operation.get_by_label("heads").fill("[[")
    operation.get_by_role("button", name="Send").click()
    assert "not JSON" in operation.get_by_label("heads").evaluate("control => control.validationMessage")
    operation.get_by_label("heads").fill('[["cross", 1]]')
    assert json.loads(answer(operation))["error"]["status"] == 400


def test_a_server_with_keys_gets_the_key_in_a_header(docs: Any) -> None:
    page = docs()

    def secured(route: Route) -> None:
        reply = route.fetch()
        document = reply.json()
        document["paths"]["/api/detect"]["post"]["security"] = [{"key": []}]
        route.fulfill(response=reply, json=document)

    page.route("**/spec", secured)
    page.reload()
    page.get_by_label("API key").fill("secret")
    page.locator("#post-api-detect > summary").click()
    operation = page.locator("#post-api-detect")
    command = operation.get_by_label("curl command").inner_text()
    assert '-H "Authorization: Bearer $API_KEY"' in command
    assert "secret" not in page.locator("main").inner_text()
    with page.expect_request("**/api/detect") as sent:
        answer(operation)
    assert sent.value.headers["authorization"] == "Bearer secret"
