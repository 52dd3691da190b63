"""The page: one file, no network, a table that says what it is."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from maps import HARD, hard
from regard.explain.render.html import LONGEST, maps_page
from regard.explain.render.map_drawing import heat, ribbons
from regard.report.text import width


class Read(HTMLParser):
    """Every tag with its attributes, and the text in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def test_no_network() -> None:
    grid = hard("words")
    text = maps_page("title", [grid], [heat(grid)])
    assert "http:" not in text
    assert "https:" not in text
    assert "//" not in text
    found = Read(text)
    assert not {"link", "img", "iframe", "object", "base", "form", "a"} & {tag for tag, _ in found.tags}
    assert not any({"src", "href", "action"} & set(attributes) for _, attributes in found.tags)
    policy = next(meta for meta in found.all("meta") if meta.get("http-equiv") == "Content-Security-Policy")
    assert policy["content"] == (
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
    )


def test_a_page_says_its_language_its_main_part_and_what_each_picture_is() -> None:
    found = Read(maps_page("title", [hard("words")], [heat(hard("words")), ribbons(hard("words"))]))
    assert found.all("html") == [{"lang": "en"}]
    assert len(found.all("main")) == len(found.all("h1")) == 1
    assert [picture["role"] for picture in found.all("svg")] == ["img", "img"]
    names = [number for number, (tag, _) in enumerate(found.tags) if tag == "svg"]
    assert all(found.tags[number + 1][0] == "title" for number in names)


@pytest.mark.parametrize("name", HARD)
def test_the_table_has_every_word_and_number(name: str) -> None:
    grid = hard(name)
    found = Read(maps_page("title", [grid]))
    assert found.all("table") == [{"role": "grid", "aria-readonly": "true", "aria-label": grid.title}]
    scopes = [th["scope"] for th in found.all("th")]
    assert (scopes.count("col"), scopes.count("row")) == (len(grid.columns) + 1, len(grid.rows))
    assert {*grid.rows} <= set(found.text)
    assert [th["aria-label"] for th in found.all("th") if th["scope"] == "col"] == [*grid.columns, "EOS, not shown"]
    assert all(word in found.text for word in grid.columns if width(word) < LONGEST)
    cells = [td for td in found.all("td") if "aria-label" in td]
    assert len(cells) == grid.values.size
    last = f"{grid.rows[-1]} ← {grid.columns[-1]} {grid.values[-1, -1]:.3f}"
    assert (cells[-1]["aria-label"], cells[-1]["title"]) == (last, last)


def test_one_cell_of_a_table_is_reached_with_the_tab_key() -> None:
    for broken in (False, True):
        found = Read(maps_page("title", [hard("words", broken)]))
        assert [td.get("tabindex") for td in found.all("td")].count("0") == 1


def test_words_are_never_markup() -> None:
    found = Read(maps_page("<script>alert(1)</script>", [hard("markup")], [heat(hard("markup"))]))
    assert [tag for tag, _ in found.tags].count("script") == 1  # our own
    assert not found.all("img")
    assert not any(name.startswith("on") for _, attributes in found.tags for name in attributes)


def test_right_to_left_and_broken_rows() -> None:
    found = Read(maps_page("title", [hard("arabic", broken=True)]))
    assert {"class": "wide", "dir": "rtl"} in found.all("div")
    assert "not drawn: sums to 1.300" in found.text
    assert not {"nan", "inf"} & set(found.text)


def test_what_is_at_home_in_upright_lines_is_not_turned_around() -> None:
    for name, word in (("emoji", "❤️"), ("japanese", "黒い")):
        assert f"<bdi>{word}</bdi>" in maps_page("title", [hard(name)])
    assert '<bdi class="turned">because</bdi>' in maps_page("title", [hard("words")])
