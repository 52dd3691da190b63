"""Pictures that build up: their groups and rules, and the still form."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from regard.report.animation import SECONDS, animation_rules
from regard.report.colour import ACCENT
from regard.report.drawing import Box, Drawing, Label, framed, gathered
from regard.report.render import png, svg
from support import need_font

ITEMS = (Box(0, 0, 20, 20, ACCENT), Label(30, 10, "one"), Box(0, 0, 90, 40, "#f1ede3"), Label(30, 30, "two"))
BUILDS = Drawing(100, 40, ITEMS, "Two steps", frames=(0, 1, -2, 2))
GROUP = "{http://www.w3.org/2000/svg}g"


def test_items_of_a_frame_are_a_group_and_marks_are_hidden_without_motion() -> None:
    found = {group.get("class"): group for group in ET.fromstring(svg(BUILDS)).iter(GROUP)}
    assert set(found) == {"frame-1", "during-2", "frame-2"}
    assert found["during-2"].get("opacity") == "0"
    assert all(found[name].get("opacity") is None for name in ("frame-1", "frame-2"))


def test_all_motion_is_for_screens_of_readers_who_have_nothing_against_it() -> None:
    rules = animation_rules(BUILDS.frames)
    assert rules.startswith("@media screen and (prefers-reduced-motion:no-preference){")
    assert rules.count("{") == rules.count("}")
    assert rules.count("@keyframes") == 3
    assert set(re.findall(r"linear (\w+)", rules)) == {"both"}
    assert f"{2 * SECONDS:g}s" in rules
    assert "infinite" not in rules
    assert rules in svg(BUILDS)


def test_percentages_of_each_keyframe_rise() -> None:
    for block in re.findall(r"@keyframes [\w-]+\{(.*?\})\}", animation_rules(tuple(range(-9, 10)))):
        shares = [float(share) for share in re.findall(r"([\d.]+)%", block)]
        assert shares == sorted(shares)
        assert shares[0] == 0
        assert shares[-1] == 100


def test_a_still_picture_has_no_rules() -> None:
    assert not animation_rules(())
    assert "keyframes" not in svg(Drawing(100, 40, ITEMS, "Still"))


def test_a_frame_and_a_sheet_keep_what_belongs_to_them() -> None:
    whole = framed(BUILDS)
    assert len(whole.frames) == len(whole.items)
    assert [frame for frame in whole.frames if frame] == [1, -2, 2]
    assert [label.text for label in whole.labels] == ["Two steps", "one", "two"]
    assert len(gathered([BUILDS, BUILDS]).items) == 6  # without the marks


def test_a_png_is_the_end() -> None:
    need_font()
    end = Drawing(100, 40, tuple(item for n, item in enumerate(ITEMS) if n != 2), "Two steps")
    assert png(BUILDS) == png(end)
