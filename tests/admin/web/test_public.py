"""The public status: what everybody reads, and what nobody does."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from string import Template
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from defusedxml.ElementTree import fromstring

from emu.admin.status import ListedWorldStatus, ServerStatus, ZoneStatus
from emu.admin.web.public import (
    COLORS,
    FRESH,
    MOST_ROWS,
    OpenZone,
    PageLink,
    PublicForm,
    PublicSource,
    ServerCondition,
    open_zones,
    public_status,
    status_badge,
    status_json,
    status_page,
)
from emu.files import data_file
from emu.times import Moment
from tests.support.admin.statuses import HARBOR, server_status
from tests.support.times import ManualClock

TEMPLATE = data_file("web", "status.html").read_text(encoding="utf-8")
STARTED = Moment(1_763_900_000.0)
WORLDS = (ListedWorldStatus("Norrath", True, False, 2), ListedWorldStatus("Old", False, False, 0))


def facts(**changes: Any) -> Any:
    return public_status(server_status(**{"worlds": WORLDS, **changes}), STARTED, is_ready=True)


def test_the_json_has_counts_and_no_names_of_players() -> None:
    value = status_json(facts())
    assert value == {
        "name": "Qeynos", "game": "EverQuest II", "up": True, "locked": False,
        "since": "2025-11-23T12:13:20Z", "players": 2, "places": 500,
        "worlds": [
            {"name": "Norrath", "up": True, "locked": False, "players": 2},
            {"name": "Old", "up": False, "locked": False, "players": 0},
        ],
        "zones": [{"name": "Qeynos Harbor", "players": 2, "instances": 2}],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "is_ready", "condition"),
    [
        ({}, True, ServerCondition.UP),
        ({"locked": True}, True, ServerCondition.LOCKED),
        ({}, False, ServerCondition.DOWN),
        ({"locked": True}, False, ServerCondition.DOWN),
    ],
)
def test_conditions(changes: dict[str, Any], is_ready: bool, condition: ServerCondition) -> None:
    status = public_status(server_status(**changes), STARTED, is_ready=is_ready)
    assert status.condition is condition
    value = status_json(status)
    assert value["up"] is is_ready
    assert value["locked"] is (condition is ServerCondition.LOCKED)
    page = status_page(status, Template(TEMPLATE), [])
    assert f">{condition.value}</p>" in page
    assert condition is ServerCondition.UP or condition.value in status_badge(status)


def test_zones_are_joined_and_the_fullest_is_first() -> None:
    def zone(name: str, players: int) -> ZoneStatus:
        return replace(HARBOR, name=name, players=players)

    assert open_zones([zone("b", 1), zone("a", 1), zone("c", 4), zone("b", 2)]) == (
        OpenZone("c", 4, 1), OpenZone("b", 3, 2), OpenZone("a", 1, 1),
    )  # fmt: skip
    assert len(open_zones(zone(str(n), 0) for n in range(MOST_ROWS + 50))) == MOST_ROWS


HOSTILE = "<script>alert(1)</script>\"'&$name\x00\u202e"


def test_names_are_text_in_every_form() -> None:
    worlds = (ListedWorldStatus(HOSTILE, True, True, 1),)
    status = facts(name=HOSTILE, worlds=worlds, zones=(replace(HARBOR, name=HOSTILE),))
    page = status_page(status, Template(TEMPLATE), [PageLink('x"y', "<b>")])
    assert "<script>alert" not in page
    assert 'href="x"y"' not in page
    assert "$name" in page, "a value is not a template"
    assert json.loads(json.dumps(status_json(status)))["name"] == HOSTILE
    image = fromstring(status_badge(status))
    assert [one for one in image.iter() if one.tag.endswith("script")] == []


@pytest.mark.parametrize(
    "name", ["", "Qeynos", "A server with a name that is far too long", "é" * 9]
)
def test_the_badge_is_an_image_with_a_text_for_everybody(name: str) -> None:
    image: ET.Element = fromstring(status_badge(facts(name=name)))
    texts = [one.text or "" for one in image.iter() if one.tag.endswith("}text")]
    assert texts[1] == "2 players"
    assert len(texts[0]) <= 24
    assert image.get("aria-label") == f"{texts[0]}: 2 players"
    assert int(image.get("width", 0)) < 320


def contrast_with_white(color: str) -> float:
    """Return WCAG's contrast of a color with white."""
    channels = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return 1.05 / (luminance + 0.05)


def test_everybody_can_read_the_badge() -> None:
    badge = status_badge(facts())
    for color in {*COLORS.values(), *re.findall(r'fill="(#[0-9a-f]{6})"', badge)}:
        assert contrast_with_white(color) >= 4.5, color


class Source:
    """A source, and how often its status was asked for."""

    def __init__(self) -> None:
        self.asked = 0
        self.status = server_status(worlds=WORLDS)
        self.missing = ""
        self.clock = ManualClock()
        self.source = PublicSource(self.ask, lambda: self.missing, self.clock, TEMPLATE)

    def ask(self) -> ServerStatus:
        self.asked += 1
        return self.status


def test_a_snapshot_is_made_at_most_every_few_seconds_for_all_forms() -> None:
    made = Source()
    for _ in range(100):
        for form in PublicForm:
            made.source.answer(form)
    assert made.asked == 1
    made.clock.seconds += FRESH
    made.source.answer(PublicForm.JSON)
    assert made.asked == 2


def test_the_validator_changes_with_the_content_only() -> None:
    made = Source()
    before = {form: made.source.answer(form) for form in PublicForm}
    assert len({one.etag for one in before.values()}) == 3
    made.clock.seconds += FRESH
    made.clock.stepped += 0.4  # somebody sets the clock
    made.status = replace(made.status, taken=type(made.status.taken)(made.status.taken + FRESH))
    assert {form: made.source.answer(form) for form in PublicForm} == before
    made.clock.seconds += FRESH
    made.status = replace(made.status, online=3)
    after = {form: made.source.answer(form) for form in PublicForm}
    assert all(after[form].etag != before[form].etag for form in PublicForm)


def test_a_server_that_is_not_ready_says_no_reason() -> None:
    made = Source()
    made.missing = "the zone antonica is stalled"
    for form in PublicForm:
        body = made.source.answer(form).body
        assert b"antonica" not in body
    assert json.loads(made.source.answer(PublicForm.JSON).body)["up"] is False
