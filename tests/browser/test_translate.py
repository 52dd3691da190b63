"""The entrance *Translate*: interactions 1 to 3, 12 and 14, files, and a server that goes away."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from browsing import CAT, Open, RunningServer, serious

pytestmark = pytest.mark.browser


def test_ribbons_follow_what_is_typed(open_page: Open) -> None:
    page = open_page()
    page.get_by_label("Text to translate").type("The black cat sleeps.")
    expect(page.locator("#output")).to_have_text("Le chat noir dort.")
    noir = page.locator(".ribbons .target").get_by_text("noir", exact=True)
    expect(noir).to_have_attribute("aria-label", re.compile("corresponds to black"))
    expect(page.locator(".band")).to_have_count(page.locator(".ribbons .source .word").count())


def test_the_form_of_address_is_chosen_where_the_model_has_it(open_page: Open) -> None:
    page = open_page(text="You sleep. I see you.", model="with-registers")
    output, box = page.locator("#output"), page.get_by_label("Form of address")
    expect(output).to_have_text("Vous dormez. Je vous vois.")  # its own register of the second sentence is informal
    expect(output.locator(".word").first).to_be_visible()
    box.select_option("informal")
    expect(output).to_have_text("Tu dors. Je te vois.")
    expect(output.locator(".word").first).to_have_text("Tu")
    page.get_by_label("Translate from").select_option("fr")  # by a model without tags
    expect(box).to_be_hidden()


def test_another_word_is_chosen_by_keyboard_and_the_rest_follows_and_can_be_undone(open_page: Open) -> None:
    page = open_page(text="Je le vois. Le chat noir dort sur le vieux canapé.", model="fr-en", sentence=1)
    output = page.locator("#output")
    word = output.locator('[data-key="word-1-3"]')
    expect(word).to_have_text("sleeps")
    before = output.inner_text()
    word.focus()
    page.keyboard.press("Enter")
    window = page.locator("#alternatives")
    expect(window).to_have_accessible_name("Other words for sleeps")
    options = window.get_by_role("option")
    expect(window.get_by_role("option", selected=True)).to_be_focused()
    expect(window).to_contain_text("How probable the model finds the word here")
    assert serious(page, "#alternatives") == []
    page.keyboard.press("End")
    last = options.last
    expect(last).to_have_text(re.compile(r"^is\d+%$"))
    expect(last).to_be_focused()
    wanted = last.get_attribute("title") or "?"
    page.keyboard.press("Enter")
    expect(output).to_contain_text(wanted)
    expect(last).to_have_attribute("aria-selected", "true")
    expect(word).to_have_text("is")  # the words of the new translation have come
    expect(last).to_be_focused()
    expect(page).to_have_url(re.compile("edits="))
    page.keyboard.press("u")
    expect(output).to_have_text(before)
    page.keyboard.press("Enter")
    expect(output).to_contain_text(wanted)
    expect(window).to_have_accessible_name("Other words for is")
    window.get_by_role("button", name="Back to “sleeps”").click()
    expect(output).to_have_text(before)
    expect(window).to_have_accessible_name("Other words for sleeps")
    expect(window.get_by_role("option", name="sleeps")).to_be_focused()
    page.keyboard.press("Escape")
    expect(window).to_have_count(0)
    expect(word).to_be_focused()
    page.keyboard.press("Enter")
    window.get_by_role("button", name="Why this word?").click()
    expect(page.locator("#panel-words")).to_be_focused()
    expect(window).to_have_count(0)
    expect(page.locator("#panel-words .card h3").first).to_have_text("“sleeps”")


VOICE = """
const said = (window.said = []);
const voice = { lang: "en-GB", localService: true };
const speak = (one) => said.push([one.text, one.lang]);
const speech = { getVoices: () => [voice], speak, cancel: () => {}, addEventListener: () => {} };
Object.defineProperty(window, "speechSynthesis", { value: speech });
window.SpeechSynthesisUtterance = function (text) { this.text = text; };
"""


def test_a_translation_is_reworded_edited_copied_downloaded_read_aloud_and_found_again(open_page: Open) -> None:
    page = open_page()
    page.add_init_script(VOICE)

    def with_state(route: Route) -> None:  # as of a server with --state
        answer = route.fetch()
        route.fulfill(response=answer, json=answer.json() | {"corrections": True})

    page.route("**/api/models", with_state)
    page.reload()
    box, output = page.get_by_label("Text to translate"), page.locator("#output")
    page.get_by_label("Translate from").select_option("fr")
    box.fill("Je le vois. Le chat noir dort sur le vieux canapé.")
    expect(output).to_contain_text("sofa")
    before = output.inner_text()
    page.get_by_role("button", name="Other wordings").press("Enter")
    window = page.get_by_role("dialog", name="Other wordings")
    expect(window.get_by_role("option", selected=True)).to_have_text(before.split(".")[0] + ".")
    page.keyboard.press("End")
    wanted = window.get_by_role("option").last.inner_text()
    page.keyboard.press("Enter")
    expect(output).to_contain_text(wanted)
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Other wordings")).to_be_focused()

    edit = page.get_by_role("button", name="Edit", exact=True)
    edit.press("Enter")
    own = page.get_by_label("Your translation")
    expect(own).to_be_focused()
    own.fill("I can see him.")
    page.get_by_label("Also send it to the people who run this server").check()
    with page.expect_response("**/suggest") as kept:
        own.press("Control+Enter")
    assert kept.value.ok
    assert kept.value.request.post_data_json["q"] == "Je le vois."
    expect(output).to_contain_text("I can see him. ")
    expect(edit).to_be_focused()
    shown = output.inner_text()
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.locator(".bubble")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == shown
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert Path(download.value.path()).read_text(encoding="utf-8") == shown
    page.get_by_role("button", name="Listen").click()
    assert page.evaluate("said") == [[shown, "en-GB"]]

    box.fill("Merci.")
    expect(output).to_contain_text("Thank")
    page.get_by_text("History of this visit").click()
    page.get_by_role("button", name=re.compile("Je le vois")).click()
    expect(box).to_have_value("Je le vois. Le chat noir dort sur le vieux canapé.")
    expect(output).to_have_text(before)


PARAGRAPHS = """The black cat sleeps on the old sofa near the window. The dog is in the garden with the man. I see him.

The house is near the river. The old man reads a book in the garden and the cat sleeps."""


def test_every_sentence_comes_with_its_words_in_one_answer(open_page: Open) -> None:
    page = open_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/api/" in request.url else None)
    page.get_by_label("Text to translate").fill(PARAGRAPHS)
    output, ribbons = page.locator("#output"), page.locator(".ribbons")
    expect(output.locator(".sentence")).to_have_count(5)
    expect(ribbons.locator(".source")).to_have_text(re.compile("^Theblackcat"))
    words = output.locator(".word")
    assert words.count() > 40
    expect(words.first).to_have_attribute("aria-label", re.compile(r"^\S+, probability .*%$"))
    first, second = output.inner_text().split("\n\n")
    assert [len(re.findall(r"[.!?]", part)) for part in (first, second)] == [3, 2]
    assert "\n" not in first + second
    line = "node => { const all = node.getClientRects(); return [all[0].top, all[all.length - 1].bottom, all.length] }"
    rows = output.evaluate(f"box => [...box.querySelectorAll('.sentence')].map({line})")
    # A sentence begins in the line in which the one before it ended, unless a paragraph lies between.
    assert [after[0] < before[1] for before, after in pairwise(rows)] == [True, True, False, True]
    assert max(count for *_, count in rows) > 1  # some sentence is broken over two lines, else nothing was tried
    words.first.focus()
    page.keyboard.press("ArrowDown")  # to the next sentence
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("sentence=1&word=1"))
    expect(ribbons.locator(".source")).to_have_text(re.compile("^Thedogis"))
    page.keyboard.press("Escape")
    expect(output.locator('[data-key="word-1-1"]')).to_be_focused()
    page.get_by_role("button", name="Next sentence").click()
    expect(ribbons.locator(".source")).to_have_text(re.compile("^Isee"))
    expect(ribbons.locator(".band").first).to_be_attached()
    assert [url for url in asked if "alternatives" not in url] == [f"{page.url.partition('#')[0]}api/translate"]


def test_marks_have_a_legend_that_leads_to_the_sentence(open_page: Open) -> None:
    page = open_page(text="The cat sleeps. He kicked the bucket.")
    legend = page.locator(".marks")
    expect(legend).to_contain_text("perhaps wrong: 1 sentence")
    expect(page.get_by_text("This sentence is")).to_have_count(0)  # it is not the chosen one
    legend.get_by_role("button").click()
    expect(page.get_by_text(re.compile("This sentence is perhaps wrong .*word by word"))).to_be_visible()
    marked = page.locator("#output .check")
    expect(marked).to_have_count(1)
    assert "underline" in marked.evaluate("one => getComputedStyle(one).textDecorationLine")


def test_what_must_stay_has_a_receipt(open_page: Open) -> None:
    page = open_page(text="The cat has 3 mice and 12 birds.")
    page.get_by_text("Words to translate in your way").click()
    glossary, output = page.get_by_label("Glossary"), page.locator("#output")
    glossary.fill("# as in a file of the command line\nmice")
    glossary.blur()
    expect(output).to_contain_text('glossary, line 2 must be a term, one tab or "=", and its translation')
    glossary.fill("mice = sourisseaux\nbirds\toiseaux\ndog = chien")  # applied without leaving the box
    expect(page.get_by_text("mice: used once · birds: used once · dog: not used")).to_be_visible()
    receipt = page.locator("details", has_text="Your words, names and numbers kept: 4 of 4")
    receipt.locator("summary").click()
    expect(receipt.get_by_role("row", name=re.compile("mice.*sourisseaux"))).to_be_visible()
    expect(receipt.get_by_role("row", name=re.compile("12"))).to_be_visible()
    term = output.locator(".word", has_text="sourisseaux")
    expect(term).to_have_attribute("class", re.compile(r"^word\s*$"))  # the reader is sure of it


def test_languages_are_detected_chosen_and_swapped(open_page: Open) -> None:
    page = open_page()
    output, box = page.locator("#output"), page.get_by_label("Text to translate")
    source, target = page.get_by_label("Translate from"), page.get_by_label("Translate to")
    expect(box).to_be_focused()
    assert "classic" not in page.locator("main").inner_text()  # models are chosen in Look inside
    expect(source.locator("option")).to_have_text(["Detect language", "English", "French", "German"])
    box.fill("Die schwarze Katze schläft.")
    expect(output).to_have_text("Le chat noir dort.")
    expect(source.locator("option").first).to_have_text("German (detected)")
    expect(page.get_by_text("by way of English")).to_be_visible()
    box.fill("Le chat dort.")  # into the language that French is translated into
    expect(output).to_have_text(re.compile(r"^The cat (sleeps|is sleeping)\.$"))
    said = output.inner_text()
    expect(target).to_have_value("en")
    swap = page.get_by_role("button", name="Swap the two languages")
    swap.focus()
    page.keyboard.press("Enter")
    expect(box).to_have_value(said)
    expect(output).to_have_text("Le chat dort.")
    assert (source.input_value(), target.input_value()) == ("en", "fr")
    page.keyboard.press("u")
    expect(box).to_have_value("Le chat dort.")
    source.select_option("de")
    expect(page).to_have_url(re.compile("from=de"))
    expect(swap).to_be_disabled()  # nothing here translates into German
    box.fill("Taxi")
    source.select_option("")
    expect(source.locator("option").first).to_have_text(re.compile("perhaps"))


def test_a_text_in_another_language_is_said_once_with_a_button(open_page: Open) -> None:
    page = open_page(text="Die schwarze Katze schläft. Der Hund ist im Garten.", to="fr", **{"from": "en"})
    expect(page.get_by_text("This text seems to be German.")).to_be_visible()
    assert page.locator("main").inner_text().count("German") == 3  # the menu, the sentence and its button
    page.get_by_role("button", name="Translate from German").click()
    expect(page.locator("#output")).to_have_text("Le chat noir dort. Le chien est dans le jardin.")
    expect(page.get_by_text("seems to be")).to_have_count(0)
    box, source = page.get_by_label("Text to translate"), page.get_by_label("Translate from")
    box.fill("Le chat dort sur le sofa.")  # another text: its language is followed, with a way back
    expect(page.get_by_text("This text is French, and is now translated from French.")).to_be_visible()
    expect(page.locator("#output")).to_have_text(re.compile(r"The cat .* on the sofa\."))
    expect(source.locator("option").first).to_have_text("French (detected)")
    page.get_by_role("button", name="Back to German").click()
    expect(source).to_have_value("de")
    page.get_by_role("button", name="Translate from French").click()
    expect(page.locator("#output")).to_have_text(re.compile(r"The cat .* on the sofa\."))
    source.select_option("")
    page.get_by_role("button", name="Clear").click()
    expect(box).to_be_focused()
    expect(source.locator("option").first).to_have_text("Detect language")


def test_a_long_text_comes_sentence_by_sentence_and_none_changes(open_page: Open) -> None:
    page = open_page()
    seen = "window.seen = []; new MutationObserver(() => seen.push(box.innerText)).observe(box, {childList: true})"
    page.locator("#output").evaluate(f"box => {{ {seen} }}")
    text = "".join(f"The cat sleeps near the {noun}. " for noun in ("house", "river", "garden", "window", "dog")) * 4
    page.get_by_label("Text to translate").fill(text)
    expect(page.locator("#output .sentence")).to_have_count(20)
    final = page.locator("#output").inner_text()
    shown = page.evaluate("seen.filter((text) => text.trim() !== '…')")
    assert len(shown) > 1
    sentences = {part.strip() for text in shown for part in re.split(r"(?<=\.)|…", text) if part.strip()}
    assert [one for one in sentences if one not in final] == []
    box = page.get_by_label("Text to translate")
    box.fill("\n".join("The cat sleeps." for _ in range(30)))  # more than the window shows
    assert box.evaluate("one => [one.scrollHeight - one.clientHeight, one.clientHeight > innerHeight]") == [0, True]


def test_a_file_comes_back_translated(open_page: Open, tmp_path: Path) -> None:
    page = open_page()
    file = tmp_path / "cat.txt"
    file.write_text("The cat sleeps.\n", encoding="utf-8")
    page.get_by_text("Translate a file").click()
    expect(page.locator(".drop")).to_contain_text(
        re.compile(r"\.txt \.md .* · up to 20 MB and 1,000,000 characters · ")
    )
    expect(page.locator(".drop")).to_contain_text("The language of the file → French")
    page.locator("#file").set_input_files({"name": "x.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.7"})
    expect(page.locator(".drop .note")).to_have_text(re.compile(r"^x\.pdf: PDF files cannot be translated\. Open it"))
    page.locator("#file").set_input_files(file)
    with page.expect_download() as download:
        page.get_by_role("link", name="Save the translation").click()
    assert Path(download.value.path()).read_text(encoding="utf-8") == "Le chat dort.\n"


def test_the_server_goes_away_and_comes_back(open_page: Open, server: RunningServer) -> None:
    page = open_page(text="The cat sleeps.")
    expect(page.locator("#output")).to_have_text("Le chat dort.")
    server.stop()
    try:
        page.get_by_label("Text to translate").fill("The dog sleeps.")
        expect(page.get_by_role("status").filter(has_text="does not answer")).to_be_visible()
        expect(page.get_by_label("Text to translate")).to_have_value("The dog sleeps.")
    finally:
        server.start()
    expect(page.locator("#output")).to_have_text("Le chien dort.")
    expect(page.get_by_text("does not answer")).to_have_count(0)


def test_a_key_is_asked_for_when_the_server_wants_one(open_page: Open) -> None:
    page = open_page()

    def guarded(route: Route) -> None:
        if route.request.headers.get("authorization") == "Bearer open-sesame":
            route.continue_()
        else:
            route.fulfill(status=403, json={"error": {"message": "an API key is needed", "status": 403}})

    page.route("**/api/translate", guarded)
    page.get_by_label("Text to translate").fill("The cat sleeps.")
    page.get_by_label("API key").fill("open-sesame")
    page.get_by_role("button", name="Use this key").click()
    expect(page.locator("#output")).to_have_text("Le chat dort.")


def test_old_output_is_grey_and_gone_for_a_text_that_is_too_long(open_page: Open) -> None:
    page = open_page(text=CAT)
    box, output = page.get_by_label("Text to translate"), page.locator("#output")
    expect(page.locator(".ribbons")).to_be_visible()
    held: list[Route] = []
    page.route("**/api/translate", lambda route: held.append(route))  # playwright asks how many arguments it takes
    box.fill("The dog sleeps.")
    opacity = "one => getComputedStyle(one).opacity"
    assert [page.locator(one).evaluate(opacity) for one in ("#output", "[aria-label^=How]")] == ["0.45", "0.45"]
    page.wait_for_timeout(400)
    held[0].continue_()
    expect(output).to_have_text("Le chien dort.")
    assert output.evaluate(opacity) == "1"
    box.fill("cat " * 5001)
    expect(output).to_have_text(re.compile("^This text is too long"))
    expect(page.locator(".ribbons")).to_have_count(0)
    page.wait_for_timeout(500)
    assert len(box.input_value()) == 20_004
    assert "cat" not in page.url
    page.unroute("**/api/translate")
    box.fill("The dog sleeps.")  # as before
    expect(output).to_have_text("Le chien dort.")


def test_a_sentence_is_text_whatever_it_holds(open_page: Open) -> None:
    page = open_page(text='<img src=x onerror="document.title=1"> <b>cat</b>')
    expect(page.locator("#output")).to_contain_text("<img")
    assert page.locator("#output img, #output b").count() == 0
    assert page.title() != "1"
