"""The entrance *Look inside*: the panels, and interactions 4 to 11, 13 and 15."""

from __future__ import annotations

import math
import re

import pytest
from playwright.sync_api import Page, Route, expect

from browsing import CAT, Open, see, serious

pytestmark = pytest.mark.browser


def test_a_word_shows_its_shares_and_alternatives(open_page: Open) -> None:
    page = open_page("inside", text=CAT)
    page.locator("#panel-words .target").get_by_text("noir", exact=True).click()
    card = page.locator("#panel-words .card")
    expect(card).to_contain_text(re.compile(r"% from the source"))
    expect(card).to_contain_text(re.compile(r"% from the words before"))
    expect(card.get_by_role("option").first).to_be_visible()
    expect(page).to_have_url(re.compile("word=2"))


def test_unsure_words_are_underlined(open_page: Open) -> None:
    page = open_page("inside", text="The photosynthesiser hummed quietly.")
    unsure = page.locator("#panel-words .target .low").first
    expect(unsure).to_have_css("text-decoration-line", "underline")


def test_the_sentence_and_the_word_that_were_chosen_lead_every_panel(open_page: Open) -> None:
    page = open_page(
        "inside",
        text=f"The dog eats, because the old man gave it the rest of his bread. {CAT} I see the old sofa.",
        sentence=1,
        word=2,
    )
    top = page.get_by_role("region", name="Text and model")
    expect(top.locator(".reading").first).to_have_text(CAT)
    expect(page.locator("#panel-picture .where").first).to_contain_text("predicts noir")
    expect(page).to_have_url(re.compile("step=2"))
    page.locator("#panel-words .target").get_by_text("dort", exact=True).click()
    expect(page.locator("#panel-picture .where").first).to_contain_text("predicts dort")
    page.get_by_role("slider", name="Step of the decoder").fill("1")  # the reader's own step stays
    expect(page.locator("#panel-picture .where").first).to_contain_text("predicts chat")
    see(page, "self")
    page.locator("#panel-self .arcs").get_by_role("button", name="sleeps").click()
    expect(page.locator("#panel-self .arcs [aria-pressed=true]")).to_have_text("sleeps")
    top.get_by_label("Sentence", exact=True).select_option("2")
    expect(top.locator(".reading").first).to_have_text("I see the old sofa.")
    expect(page.locator("#panel-self .arcs")).to_contain_text("see")
    expect(page.locator("#panel-self .arcs [aria-pressed=true]")).to_have_count(0)
    page.set_viewport_size({"width": 390, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.locator("#panel-picture .where").first).to_contain_text("Step 1 of")


def test_the_map_says_which_view_it_is_and_its_error_rate(open_page: Open) -> None:
    page = open_page("inside", text=CAT)
    see(page, "align")
    caption = page.locator("#panel-align .caption").first
    expect(caption).to_be_hidden()
    page.locator("#panel-align .details summary").click()
    expect(caption).to_be_visible()
    expect(caption).to_have_text(re.compile(r"layer \d · head \d · having read · AER [\d.]+% on .* · EOS mass"))
    page.locator("#panel-align").get_by_role("radio", name="predicting").check()
    expect(caption).to_have_text(re.compile("predicting · AER not evaluated"))
    expect(page).to_have_url(re.compile("reading=predicting"))


def test_the_map_is_a_grid_that_arrow_keys_walk(open_page: Open) -> None:
    page = open_page("inside", text=CAT)
    see(page, "align")
    grid = page.locator("#panel-align").get_by_role("grid")
    expect(grid.get_by_role("columnheader").nth(1)).to_have_text("The")
    cells = grid.locator("td")
    cells.first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert float(page.evaluate("document.activeElement.textContent")) > 0.5  # chat, cat
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("word=1&source=2"))
    expect(page.locator("#panel-words .target [aria-pressed=true]")).to_have_text("chat")


def test_every_row_that_is_drawn_sums_to_one(open_page: Open) -> None:
    page = open_page("inside", text=CAT)
    see(page, "align")
    rows = page.locator("#panel-align .heat tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.querySelectorAll('td')].map(cell => parseFloat(cell.textContent)))"
    )
    assert len(rows) == 9
    assert all(math.isclose(sum(row), 1, abs_tol=0.06) for row in rows)  # two decimals each


def test_a_row_that_is_no_distribution_is_not_drawn(open_page: Open) -> None:
    page = open_page("inside")

    def spoiled(route: Route) -> None:
        answer = route.fetch()
        changed = answer.json()
        for one in (*(head for layer in changed["layers"] for head in layer), *changed["means"]):
            one["values"][0][0] = 7.0
            one["values"][1][0] = None
        route.fulfill(response=answer, json=changed)

    page.route("**/api/attention", spoiled)
    page.get_by_label("Text to translate").fill(CAT)
    see(page, "align")
    undrawn = page.locator("#panel-align .undrawn")
    expect(undrawn.first).to_have_text(re.compile("not drawn: sums to 7"))
    expect(undrawn.nth(1)).to_have_text("not drawn: contains NaN or infinity")


def test_keys_go_through_layers_heads_and_results(open_page: Open) -> None:
    page = open_page("inside", text=CAT)
    see(page, "align")
    page.locator("#main").focus()
    page.keyboard.press("]")
    expect(page).to_have_url(re.compile("layer=2"))
    page.keyboard.press(".")
    expect(page.locator("#live")).to_have_text(re.compile("layer 2, head"))
    page.keyboard.press("j")
    expect(page).to_have_url(re.compile("hypothesis=1"))
    page.keyboard.press("k")
    expect(page).not_to_have_url(re.compile("hypothesis="))
    page.keyboard.press("/")
    expect(page.get_by_label("Text to translate")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()


def test_a_head_is_cut_and_restored(open_page: Open) -> None:
    page = open_page("inside", text=CAT)
    see(page, "heads")
    panel = page.locator("#panel-heads")
    panel.get_by_role("button", name=re.compile("^layer 1 head 2")).click()
    panel.get_by_role("button", name="See head 2 of layer 1").click()
    expect(page).to_have_url(re.compile("part=decoder.1.cross.2"))
    expect(page.locator("#panel-picture .crumbs [aria-current]")).to_have_text("Head 2")
    panel.get_by_role("button", name="Cut head 2 of layer 1").click()
    expect(panel.locator(".card")).to_contain_text("log p")
    expect(page).to_have_url(re.compile("cut=cross.1.2"))
    panel.get_by_role("button", name="Restore head 2 of layer 1").click()
    expect(panel.get_by_text("No head is cut.")).to_be_visible()


def test_attention_is_edited_by_hand(open_page: Open) -> None:
    page = open_page("inside", text=CAT, word=1)
    see(page, "align")
    page.get_by_text("Edit a row by hand").click()
    sliders = page.locator("#steering input[type=range]")
    expect(sliders).to_have_count(9)
    for number in range(9):
        sliders.nth(number).fill("1" if number == 7 else "0")  # sofa
    page.get_by_role("button", name="Translate with this attention").click()
    expect(page.locator("#steering .card")).to_contain_text(
        re.compile("It (says something else now|still says the same)")
    )
    expect(page.locator("#steering .card")).to_contain_text("log p")


def test_a_source_word_is_blanked(open_page: Open) -> None:
    page = open_page("inside", text=CAT)
    see(page, "evidence")
    panel = page.locator("#panel-evidence")
    panel.get_by_role("button", name=re.compile("^blank black")).click()
    expect(panel.locator(".note").first).to_contain_text("Without “black”")
    expect(panel.locator(".note").first).to_contain_text("“noir”")
    expect(panel).to_contain_text("Spearman’s ρ")


def test_a_minimal_pair_stands_side_by_side(open_page: Open) -> None:
    page = open_page("inside", text=CAT)
    see(page, "self")
    page.get_by_role("button", name="Use the example").click()
    cards = page.locator("#panel-self .card")
    expect(cards).to_have_count(2)
    expect(cards.nth(0)).to_contain_text("tired")
    expect(cards.nth(1)).to_contain_text("wide")
    expect(cards.nth(1)).to_contain_text("elle")
    expect(page.locator("#panel-self .arc").first).to_be_attached()


def test_a_branch_that_was_given_up_goes_on(open_page: Open) -> None:
    page = open_page("inside", text=CAT)
    see(page, "beam")
    panel = page.locator("#panel-beam")
    panel.locator(".node.given-up").first.click()
    expect(panel.locator(".card")).to_contain_text("log p of the token")
    panel.get_by_role("button", name="Go on from here").click()
    expect(panel.get_by_text("From there it goes on to")).to_be_visible()
    panel.get_by_role("button", name="Take this translation into all panels").click()
    expect(page.get_by_text("This is your own choice")).to_be_visible()


def test_another_result_loads_its_own_attention(open_page: Open) -> None:
    page = open_page("inside", text=CAT)
    see(page, "beam")
    second = page.locator("#panel-beam tbody tr").nth(1).locator(".reading").inner_text()
    page.get_by_role("button", name="Show result 2 in all panels").click()
    rows = page.locator("#panel-align .heat tbody th")
    expect(rows.first).to_be_attached()
    expect(page.locator("#panel-words .target")).to_have_text(spaced(second))


def spaced(sentence: str) -> re.Pattern[str]:
    """The words of a sentence, whatever stands between them."""
    return re.compile(r"\s*".join(map(re.escape, re.findall(r"\w+|[^\w\s]", sentence))))


def test_every_layer_says_what_it_would_say(open_page: Open) -> None:
    page = open_page("inside", text=CAT)
    see(page, "lens")
    grid = page.locator("#panel-lens").get_by_role("grid")
    top = grid.locator("tbody tr").first  # the last layer is the model itself
    assert top.locator("td.right").count() >= 8
    grid.locator("td").nth(3).click()
    expect(page.locator("#panel-lens .card tr")).to_have_count(5)


def test_a_step_is_written_out(open_page: Open) -> None:
    page = open_page("inside", text=CAT)
    see(page, "step")
    panel = page.locator("#panel-step")
    weights = panel.locator("td.weight").evaluate_all("cells => cells.map(cell => parseFloat(cell.textContent))")
    assert math.isclose(sum(weights), 1, abs_tol=0.01)
    panel.get_by_role("slider").press("ArrowRight")
    expect(panel).to_contain_text("Step 2 of")


def test_bleu_is_counted_before_the_reader(open_page: Open) -> None:
    page = open_page("inside", text=CAT)
    see_reference(page, "Le chat noir dort sur le vieux canapé.")
    expect(page.locator("#panel-bleu .score b")).to_have_text("100.0")
    see_reference(page, "Un chien blanc mange.")
    expect(page.locator("#panel-bleu .ngram.none").first).to_be_visible()


def test_what_is_drawn_is_not_drawn_again_when_it_comes_back_into_view(open_page: Open) -> None:
    """A click that follows a scroll would fall between an old cell and a new one."""
    page = open_page("inside", text=CAT)
    see(page, "lens")
    page.locator("#panel-lens table").evaluate("table => { table.dataset.first = 'yes'; }")
    page.evaluate("window.scrollTo(0, 0)")
    page.wait_for_function("document.querySelector('#panel-lens').getBoundingClientRect().top > innerHeight + 400")
    page.wait_for_timeout(200)
    page.locator("#panel-lens").scroll_into_view_if_needed()
    page.wait_for_timeout(500)
    expect(page.locator("#panel-lens table[data-first]")).to_have_count(1)


def see_reference(page: Page, text: str) -> None:
    page.locator("#panel-bleu").scroll_into_view_if_needed()
    page.get_by_label("Reference translation").fill(text)
    expect(page.locator("#panel-bleu .score")).to_be_visible()


def test_positions_are_drawn(open_page: Open) -> None:
    page = open_page("inside", text=CAT)
    see(page, "positions")
    expect(page.get_by_role("img", name=re.compile("Sinusoidal"))).to_be_visible()
    assert page.locator("#panel-positions polyline").count() >= 1


def test_training_pairs_are_shown_where_the_model_has_them(open_page: Open) -> None:
    page = open_page("inside", model="with-pairs", text=CAT)
    see(page, "evidence")
    pairs = page.locator("#panel-evidence .neighbours li")
    expect(pairs.first).to_contain_text("Le chat noir dort.")
    expect(pairs.first).to_contain_text("similarity 0.")
    expect(page.locator("#panel-evidence .caption", has_text="3 pairs searched")).to_have_count(1)  # in Details


def test_training_pairs_are_hidden_where_the_model_has_none(open_page: Open) -> None:
    page = open_page("inside", text=CAT)
    see(page, "evidence")
    expect(page.get_by_role("heading", name="The nearest sentences it learned from")).to_be_hidden()


def test_two_models_stand_side_by_side(open_page: Open) -> None:
    page = open_page("inside", text=CAT)
    page.get_by_role("combobox", name="A second model").select_option("fr-en")
    expect(page.get_by_text("Beside it: fr-en")).to_be_visible()


def test_a_link_opens_exactly_this_view(open_page: Open) -> None:
    page = open_page("inside", text=CAT, layer=2, head=3, reading="predicting", units="pieces", word=1)
    see(page, "align")
    caption = page.locator("#panel-align .caption").first
    expect(caption).to_have_text(re.compile("layer 2 · head 3 · predicting .* subwords"))
    page.get_by_role("button", name="Copy the link to this view").click()
    expect(page.locator(".bubble", has_text="The link is copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_a_sentence_that_is_too_long_is_refused_in_words(open_page: Open) -> None:
    page = open_page("inside")
    page.get_by_label("Text to translate").fill("the cat and " * 45 + "the dog sleep")
    expect(page.locator("#panel-words .note", has_text="tokens")).to_be_visible()


def test_nothing_typed_is_said_calmly(open_page: Open) -> None:
    page = open_page("inside")
    page.get_by_label("Text to translate").fill("")
    expect(page.locator("#panel-words")).to_contain_text("Type a sentence above to see this.")
    expect(page.locator("#panel-picture .steps")).to_be_hidden()


def test_the_whole_model_opens_down_to_one_dot_product_and_leads_to_its_panels(open_page: Open) -> None:
    page = open_page("inside")  # with an example
    picture = page.locator("#panel-picture")
    expect(picture.locator(".side").first).to_contain_text("Encoder layer 6")
    expect(picture.locator(".side").nth(1)).to_contain_text("Le chat noir dort")
    picture.get_by_role("button", name="Decoder layer 2").click()
    expect(picture.locator(".flow > li:not(.columns)")).to_have_count(9)  # three sublayers with norm and sum
    picture.get_by_role("button", name="Head 3").nth(1).click()
    expect(page).to_have_url(re.compile("part=decoder.2.cross.3"))
    weights = picture.get_by_role("grid", name=re.compile("^Weights"))
    weights.locator("tbody tr").nth(2).locator("td").nth(1).click()
    expect(page).to_have_url(re.compile("query=2&key=1"))
    expect(picture.locator(".chain")).to_contain_text("÷ √64")
    expect(picture.locator(".products i")).to_have_count(64)
    expect(picture.locator(".crumbs [aria-current]")).to_be_focused()
    assert serious(page, "#panel-picture") == []
    page.keyboard.press("Escape")
    expect(weights).to_be_visible()
    assert serious(page, "#panel-picture") == []
    picture.get_by_role("button", name="One step in numbers").click()
    expect(page.locator("#panel-step")).to_be_focused()
    expect(page.locator("#panel-step .caption")).to_contain_text("cross attention · layer 2 · head 3")
    page.locator("#panel-positions").get_by_role("button", name="Show in the whole model").click()
    expect(picture.get_by_role("grid", name=re.compile("^Positions"))).to_be_visible()
    page.go_back()
    expect(page).to_have_url(re.compile("part=decoder.2.cross.3"))
    index = page.get_by_role("navigation", name="Panels")
    index.get_by_role("link", name="Words that look at words").click()
    panel = page.locator("#panel-self")
    expect(panel.locator('[data-state="ready"]').first).to_be_visible()
    page.wait_for_timeout(500)  # panels above it have grown
    expect(index.locator("[aria-current]")).to_have_text(re.compile("Words that look at words"))
    assert 0 <= panel.evaluate("panel => panel.getBoundingClientRect().top") < 150


def test_without_torch_one_notice_stands_above_the_panels_that_work(open_page: Open) -> None:
    page = open_page()

    def without(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json=answer.json() | {"explains": False})

    page.route("**/api/models*", without)
    page.goto(page.url.split("#")[0] + "?again#/inside")  # a new document, not a change within the first one
    notice = page.get_by_text("Explanations need PyTorch, which this server lacks")
    expect(notice).to_have_count(1)
    expect(notice.locator("code")).to_have_text('pip install "regard[torch]"')
    expect(page.locator(".panel h2")).to_have_text(["AWord by word", "GHow BLEU counts"])
    page.locator("#panel-words .target button").first.click()
    expect(page.locator("#panel-words .card").get_by_role("option").first).to_be_visible()
    expect(page.get_by_text("PyTorch")).to_have_count(1)
    expect(page.get_by_role("button", name="Show in the whole model")).to_have_count(0)


def test_the_decoder_plays_and_its_temperature_is_exact(open_page: Open) -> None:
    page = open_page("inside", text=CAT, part="output")
    picture = page.locator("#panel-picture")
    first = picture.locator(".distribution tr").first
    expect(first).to_contain_text("Le")
    picture.get_by_role("button", name="Play").click()
    expect(page).to_have_url(re.compile("step=2"))
    picture.get_by_role("button", name="Pause").click()
    expect(picture.locator(".where").first).to_contain_text("reads chat, predicts noir")
    before = first.inner_text()
    picture.get_by_role("slider", name="Temperature").fill("30")
    expect(page).to_have_url(re.compile("temperature=30"))
    expect(first).not_to_have_text(before)


def test_the_model_is_drawn_and_another_architecture_by_its_sizes(open_page: Open) -> None:
    page = open_page("inside", text=CAT)
    see(page, "model")
    panel = page.locator("#panel-model")
    expect(panel.locator("figure.drawing")).to_have_count(4)  # the whole, two kinds of attention, numbers
    expect(panel.get_by_role("img").first).to_have_attribute("aria-label", re.compile("9,947,904 parameters"))
    panel.get_by_label("Drawn").select_option("rnn:tiny")
    panel.scroll_into_view_if_needed()  # the panels above grew
    expect(panel.get_by_role("heading", name="Unrolled over the sentence")).to_be_visible()
    expect(page).to_have_url(re.compile("drawn=rnn"))
