"""Spawns as tables of zone files: read again they are the same."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.facts import FARTHEST
from emu.world.actors.spawn import SpawnKind, SpawnTemplate, Verb
from emu.world.population.files import read_fixtures
from emu.world.population.rows import spawn_row
from emu.world.zones.definitions import Fixture
from emu.world_stream.movement import Position

HERE = Path("test")
NUMBERS = st.floats(-FARTHEST, FARTHEST)
TEXTS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=20)
PLACES = st.lists(NUMBERS, min_size=3, max_size=3) | st.tuples(
    NUMBERS, NUMBERS, NUMBERS, st.floats(0, 359)
).map(list)


def optional(**keys: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=keys)


VERBS = st.lists(
    st.tuples(
        st.fixed_dictionaries({"name": st.sampled_from(["Hail", "touch the altar", 'a "b" \\c'])}),
        optional(distance=st.floats(0, 500), command=TEXTS),
    ).map(lambda both: both[0] | both[1]),
    max_size=3,
)
COMMON = {
    "id": st.text("abc-9", min_size=1, max_size=9), "grid": st.integers(0, 2**32 - 2),
    "last_name": TEXTS, "title": TEXTS, "level": st.integers(1, 255),
    "size": st.integers(1, 32767), "model": st.integers(0, 65535),
    "looks": optional(gender=st.integers(0, 3), skin_color=st.just([1, 2, 255])),
    "attackable": st.booleans(), "targetable": st.booleans(), "show_name": st.booleans(),
    "visual_state": st.integers(0, 65535), "mood_state": st.integers(0, 65535),
    "collision_radius": st.integers(0, 32767), "verbs": VERBS,
    "to": st.tuples(st.just({"zone": 9}), optional(place=PLACES)).map(lambda b: b[0] | b[1]),
    "behavior": st.just("greeter"), "behavior_options": st.just({"greeting": "a\x7fb", "n": 1.5}),
}  # fmt: skip
WIDGET = optional(id=st.integers(0, 2**31), place=PLACES)
SIGN = optional(title=TEXTS, text=TEXTS, show=st.booleans(), language=st.integers(0, 255))


def rows(kind: str, **more: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    needed = st.fixed_dictionaries({"kind": st.just(kind), "name": TEXTS, "place": PLACES})
    return st.tuples(needed, optional(**COMMON, **more)).map(lambda both: both[0] | both[1])


SPAWNS = (
    rows("npc") | rows("object") | rows("widget", widget=WIDGET)
    | rows("sign", widget=WIDGET, sign=SIGN)
)  # fmt: skip


@pytest.mark.slow
@given(st.lists(SPAWNS, max_size=4))
def test_any_spawn_that_is_written_is_read_as_the_same(tables: list[dict[str, Any]]) -> None:
    fixtures = read_fixtures(HERE, tables, int)
    again = read_fixtures(HERE, [spawn_row(one) for one in fixtures], int)
    assert again == fixtures


def test_what_is_usual_is_not_written() -> None:
    looks = {"model_type": 85, "soga_model_type": 85}
    wolf = SpawnTemplate(SpawnKind.NPC, "a wolf", appearance=looks)
    fixture = Fixture(wolf, Position(1.0, 2.0, 3.0, 90.0))
    shown = {"kind": "npc", "name": "a wolf", "place": [1.0, 2.0, 3.0, 90.0], "model": 85}
    assert spawn_row(fixture) == shown
    other = replace(wolf, verbs=(Verb("Hail", 10.0, "hail", visual=7),), icon=4)
    assert spawn_row(replace(fixture, template=other)) == shown | {
        "icon": 4, "verbs": [{"name": "Hail", "distance": 10.0, "command": "hail", "visual": 7}],
    }  # fmt: skip
