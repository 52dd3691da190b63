"""Programs that speak to LibreTranslate or DeepL, unchanged, against a server in a process of its own.

`libretranslatepy` and `deepl` are the published clients. What Mastodon, Weblate and Discourse send was read in their
sources; the requests are written out here, and what those programs read of the answers is checked.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import deepl
import httpx
import pytest
from libretranslatepy import LibreTranslateAPI

CAT, CHAT = "The cat is black.", "Le chat est noir."


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server."""
    state = tmp_path_factory.mktemp("state")
    command = [sys.executable, "-m", "regard", "serve", "en-fr-classic", "--port", "0", "--state", str(state)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            found = None
            for line in process.stderr:
                if found := re.search(r"http://\S+", line):
                    break
            assert found is not None
            wait_for(found[0])
            yield found[0]
        finally:
            process.terminate()
            process.communicate(timeout=60)


def wait_for(address: str) -> None:
    for _ in range(600):
        try:
            httpx.get(f"{address}/health")
            return
        except httpx.TransportError:
            time.sleep(0.05)


@pytest.fixture(scope="module")
def translator(server: str) -> Iterator[deepl.DeepLClient]:
    client = deepl.DeepLClient("any key", server_url=server, send_platform_info=False)
    yield client
    client.close()


def test_libretranslatepy(server: str) -> None:
    client = LibreTranslateAPI(server)
    assert client.translate(CAT, "en", "fr") == CHAT
    assert client.detect(CAT)[0]["language"] == "en"
    assert [one["code"] for one in client.languages()] == ["en", "fr"]


def test_deepl_texts(translator: deepl.DeepLClient) -> None:
    one = translator.translate_text(CAT, target_lang="FR")
    assert isinstance(one, deepl.TextResult)
    assert (one.text, one.detected_source_lang, one.billed_characters) == (CHAT, "EN", 17)
    tags = translator.translate_text(
        ["The cat is <b>black</b>.", "<i>cat</i> Thank you!"], target_lang="FR", source_lang="EN", tag_handling="xml",
        ignore_tags=["i"], split_sentences=deepl.SplitSentences.NO_NEWLINES, formality=deepl.Formality.PREFER_LESS,
    )  # fmt: skip
    assert [str(found) for found in tags] == ["Le chat est <b>noir</b>.", "<i>cat</i> Merci !"]  # type: ignore[union-attr]
    with pytest.raises(deepl.DeepLException, match="'target_lang' not supported"):
        translator.translate_text(CAT, target_lang="JA")


def test_deepl_languages_and_usage(translator: deepl.DeepLClient) -> None:
    assert [one.code for one in translator.get_source_languages()] == ["EN"]
    assert [(one.code, one.supports_formality) for one in translator.get_target_languages()] == [("FR", False)]
    assert not translator.get_usage().any_limit_reached


def test_deepl_glossaries(translator: deepl.DeepLClient) -> None:
    pairs = [(one.source_lang, one.target_lang) for one in translator.get_glossary_languages()]
    assert pairs == [("en", "fr")]
    made = translator.create_glossary("Pets", "EN", "FR", {"cat": "chatte", "dog": "chien"})
    assert (made.name, made.entry_count, made.ready) == ("Pets", 2, True)
    assert translator.get_glossary(made.glossary_id).creation_time == made.creation_time
    assert translator.get_glossary_entries(made) == {"cat": "chatte", "dog": "chien"}
    assert "chatte" in str(translator.translate_text_with_glossary(CAT, made))
    table = translator.create_glossary_from_csv("Table", "EN", "FR", "cat,matou\n")
    assert [one.name for one in translator.list_glossaries()] == ["Pets", "Table"]
    for glossary in (made, table):
        translator.delete_glossary(glossary)
    assert translator.list_glossaries() == []
    with pytest.raises(deepl.GlossaryNotFoundException):
        translator.get_glossary(made.glossary_id)


def test_deepl_documents(translator: deepl.DeepLClient, tmp_path: Path) -> None:
    given, made = tmp_path / "cat.html", tmp_path / "chat.html"
    given.write_text("<p>The cat is <b>black</b>.</p>", encoding="utf-8")
    status = translator.translate_document_from_filepath(given, made, target_lang="FR")
    assert (status.done, status.billed_characters) == (True, 17)
    assert made.read_text(encoding="utf-8") == "<p>Le chat est <b>noir</b>.</p>"
    with pytest.raises(deepl.DeepLException, match="file format not supported"):
        translator.translate_document_upload(b"x", filename="x.exe", target_lang="FR")
    handle = translator.translate_document_upload("Thank you!", filename="t.txt", target_lang="FR")
    assert translator.translate_document_wait_until_done(handle).done
    into = io.BytesIO()
    translator.translate_document_download(handle, into)
    assert into.getvalue().decode() == "Merci !"


def test_mastodon(server: str) -> None:
    """app/lib/translation_service/libre_translate.rb: a JSON content type also on GET, `q` always a list."""
    kind = {"Content-Type": "application/json"}
    languages = httpx.get(f"{server}/languages", headers=kind).json()
    assert {one["code"]: [to for to in one["targets"] if to != one["code"]] for one in languages} == {
        "en": ["fr"],
        "fr": [],
    }
    post = b'{"q":["<p>The cat is <a href=\\"https://a.example/@b\\" class=\\"u-url\\">@<span>b</span></a> black.</p>",'
    post += b'"Thank you!"],"source":"auto","target":"fr","format":"html","api_key":null}'
    answer = httpx.post(f"{server}/translate", content=post, headers=kind)
    assert answer.status_code == 200
    said = answer.json()
    assert '<a href="https://a.example/@b" class="u-url">@<span>b</span></a>' in said["translatedText"][0]
    assert said["translatedText"][1] == "Merci !"
    assert [one["language"] for one in said["detectedLanguage"]] == ["en", "en"]


def test_weblate(server: str) -> None:
    """weblate/machinery/libretranslate.py and deepl.py: highlighted parts are masked as `<x id="7"></x>`."""
    asked: dict[str, Any] = {"api_key": "", "q": [CAT, "Thank you!"], "source": "en", "target": "fr"}
    assert [one["code"] for one in httpx.get(f"{server}/languages").json()] == ["en", "fr"]
    assert httpx.post(f"{server}/translate", json=asked).json()["translatedText"] == [CHAT, "Merci !"]
    headers = {"Authorization": "DeepL-Auth-Key any"}
    targets = httpx.get(f"{server}/v2/languages", params={"type": "target"}, headers=headers).json()
    assert [one["language"] for one in targets] == ["FR"]
    assert not targets[0].get("supports_formality")
    masked = {
        "text": ['Hello, <x id="7"></x>! &lt;Thank you&gt; &amp; &#x27;<x id="30"></x>&#x27;'],
        "source_lang": "EN",
        "target_lang": "FR",
        "formality": "default",
        "tag_handling": "xml",
        "ignore_tags": ["x"],
    }
    said = httpx.post(f"{server}/v2/translate", json=masked, headers=headers).json()["translations"][0]["text"]
    assert re.findall(r"<.*?>", said) == ['<x id="7">', "</x>", '<x id="30">', "</x>"]


def test_discourse(server: str) -> None:
    """discourse-translator, libre_translate.rb: forms; /detect first, then /languages, then HTML."""
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    found = httpx.post(f"{server}/detect", content="q=The+cat+is+black.&api_key=", headers=form)
    assert (found.status_code, found.json()[0]["language"]) == (200, "en")
    codes = [one["code"] for one in httpx.get(f"{server}/languages").json()]
    assert {"en", "fr"} <= set(codes)
    asked = "q=%3Cp%3EThe+cat+is+black.%3C%2Fp%3E&source=en&target=fr&format=html&api_key="
    said = httpx.post(f"{server}/translate", content=asked, headers=form)
    assert (said.status_code, said.json()["translatedText"]) == (200, "<p>Le chat est noir.</p>")
