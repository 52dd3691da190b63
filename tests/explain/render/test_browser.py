"""In a real browser: text is no wider than the layout thinks, and arrow keys walk through the table."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest

from maps import HARD, hard
from regard.explain.render.html import maps_page
from regard.explain.render.map_drawing import heat, ribbons
from regard.report.colour import on_scale
from regard.report.drawing import Drawing, Label
from regard.report.palette import PALETTE
from regard.report.render import svg
from regard.report.text import width

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no browser here")


def shown(folder: Path, text: str, *more: str) -> str:
    """The page after its scripts have run; they leave what they found in <pre id="found">."""
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={folder / 'profile'}",
        "--dump-dom",
        *more,
    ]
    assert BROWSER is not None
    done = subprocess.run([BROWSER, *options, path.as_uri()], capture_output=True, text=True, check=True, timeout=120)
    found = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found is not None, done.stdout[-500:]
    return unescape(found[1])


EACH = (
    *"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789éœßøÅŁ.,:;!?'’-←→▁<>&\"@%+=_/{}~$#*—…«»",
    *"אבגדהוזחטיכלמנסעפצקרשתабвгдежзийклмнопрстуфхцчшщъыьэюяЖЩЮФαβγδωΩ猫が黒。😀🍕",
    *("ب", "س", "م", "القطة", "السوداء", "مستشفى", "شمس"),
)


def leave(code: str) -> str:
    return (
        f"<pre id='found'></pre><script>document.getElementById('found').textContent = JSON.stringify({code})</script>"
    )


def test_no_text_is_wider_than_the_layout_thinks(tmp_path: Path) -> None:
    """All sentences at once. A script that this machine has no font for is drawn as boxes, which are narrow, too."""
    drawings = [draw(hard(name)) for name in HARD for draw in (heat, ribbons)]
    page_text = "<!doctype html><meta charset=utf-8>" + "".join(svg(d, inline=True) for d in drawings)
    lengths = json.loads(
        shown(tmp_path, page_text + leave("[...document.querySelectorAll('text')].map(t => t.getComputedTextLength())"))
    )
    words: list[Label] = [w for drawing in drawings for w in drawing.labels]
    assert len(lengths) == len(words)
    for found, item in zip(lengths, words, strict=True):
        (x0, y0), (x1, y1) = item.corners()[:2]
        allowed = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5 * (1.1 if item.bold else 1)
        assert found <= allowed + 0.5, item


def test_no_letter_is_wider_than_the_table_says(tmp_path: Path) -> None:
    drawing = Drawing(900, 900, tuple(Label(10, 20, text, size=100) for text in EACH), "letters")
    code = "[...document.querySelectorAll('text')].map(t => t.getComputedTextLength())"
    lengths = json.loads(
        shown(tmp_path, "<!doctype html><meta charset=utf-8>" + svg(drawing, inline=True) + leave(code))
    )
    wider = [text for text, found in zip(EACH, lengths, strict=True) if found > width(text) * 100]
    assert wider == []


@pytest.mark.parametrize("dark", [False, True])
def test_a_picture_is_dark_where_the_reader_wants_it(tmp_path: Path, dark: bool) -> None:
    code = "['.paper', '.ink'].map(name => getComputedStyle(document.querySelector(name)).fill)"
    text = "<!doctype html><meta charset=utf-8>" + svg(heat(hard("words"))) + leave(code)
    found = json.loads(shown(tmp_path, text, f"--blink-settings=preferredColorScheme={0 if dark else 1}"))
    colours = [PALETTE[name][int(dark)] for name in ("surface", "ink")]
    assert found == [f"rgb{tuple(bytes.fromhex(colour[1:]))}" for colour in colours]


@pytest.mark.parametrize("dark", [False, True])
def test_the_table_has_the_colours_of_the_scale(tmp_path: Path, dark: bool) -> None:
    """A style sheet mixes them in the browser, for reports as on the server's page; drawings get them from Python."""
    code = """[...document.querySelectorAll('.map td[style]')].map(cell => {
      const canvas = document.createElement('canvas').getContext('2d');
      canvas.fillStyle = getComputedStyle(cell).backgroundColor;
      canvas.fillRect(0, 0, 1, 1);
      return [parseInt(cell.style.getPropertyValue('--w')), ...canvas.getImageData(0, 0, 1, 1).data];
    })"""
    text = maps_page("title", [hard("words")]).replace("</body>", leave(code) + "</body>")
    found = json.loads(shown(tmp_path, text, f"--blink-settings=preferredColorScheme={0 if dark else 1}"))
    assert len({weight for weight, *_ in found}) > 3
    for weight, *colour, _ in found:
        assert colour == pytest.approx(on_scale(weight / 100, dark), abs=1)


@pytest.mark.parametrize(("name", "on", "back"), [("words", "Right", "Left"), ("arabic", "Left", "Right")])
def test_arrow_keys_walk_through_the_table(tmp_path: Path, name: str, on: str, back: str) -> None:
    """From the cell that the tab key reaches; nothing leads out of the table, and one cell stays reachable by tab."""
    keys = [
        f"Arrow{on}",
        "ArrowDown",
        f"Arrow{back}",
        f"Arrow{back}",
        "End",
        f"Arrow{on}",
        "ArrowUp",
        "ArrowUp",
        "Home",
    ]
    code = """(() => {
      const rows = [...document.querySelector('[role=grid]').tBodies[0].rows].map(r => [...r.querySelectorAll('td')]);
      const cells = rows.flatMap((row, y) => row.map((cell, x) => [cell, y, x]));
      document.querySelector('td[tabindex="0"]').focus();
      const path = [];
      for (const key of KEYS) {
        document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
        path.push(cells.find(cell => cell[0] === document.activeElement).slice(1));
      }
      return { path, reachable: document.querySelectorAll('td[tabindex="0"]').length, last: rows[0].length - 1 };
    })()""".replace("KEYS", json.dumps(keys))
    found = json.loads(shown(tmp_path, maps_page("title", [hard(name)]).replace("</body>", leave(code) + "</body>")))
    last = found["last"]
    assert found["path"] == [[0, 1], [1, 1], [1, 0], [1, 0], [1, last], [1, last], [0, last], [0, last], [0, 0]]
    assert found["reachable"] == 1
