"""What behaviors remember."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.behaviors import OutOfTime
from emu.world.behaviors.memory import Memory
from emu.world.reports import BehaviorFailed, NotSaved
from emu.world_stream.movement import Position
from tests.support.world.world_fakes import MemoriesInMemory
from tests.support.world.worlds import Client, WorldHarness

NEAR = Position(1.56, -7.97, 243.45, 92.0)


class Innkeeper:
    """Counts its guests, and knows them again."""

    def __init__(self, me: Any, options: Any) -> None:
        self.me = me
        self.own = me.memory

    def on_hail(self, visitor: Any) -> None:
        guests = self.own["guests"] = self.own.get("guests", 0) + 1
        known = self.me.memory_of(visitor)
        known["visits"] = known.get("visits", 0) + 1
        self.me.say(f"{guests} hails, {known['visits']} by you")

    def on_say(self, visitor: Any, text: str) -> None:
        self.own["said"] = eval(text)  # the test's own text


class Inn:
    """A world with an innkeeper; another one `after` it has the same stored memories."""

    def __init__(self, after: Inn | None = None) -> None:
        self.harness = WorldHarness()
        if after is not None:
            self.memories.rows = after.memories.rows
        self.harness.library._classes["innkeeper"] = Innkeeper
        self.guest = self.harness.stand(5, name="Aldana")
        self.zone = self.guest.player.zone
        self.spawn = Spawn(self.harness.world.zones.next_spawn_id(), SpawnKind.NPC, "Guard", NEAR)
        self.zone.add_spawn(self.spawn, self.harness.now)
        assert self.harness.behaviors.start_behavior(
            "innkeeper", {}, self.zone, self.spawn, key="inn"
        )
        self.harness.run(0.5)

    @property
    def memories(self) -> MemoriesInMemory:
        return self.harness.memories

    def hail(self, guest: Client | None = None) -> str:
        guest = guest or self.guest
        index = guest.player.index_of(self.spawn)
        guest.say("OP_UpdateTargetMsg", index.to_bytes(2, "little"))
        guest.types("/hail")
        return guest.hears()[-1][2]

    def failures(self) -> list[str]:
        return [one.line for one in self.harness.events if isinstance(one, BehaviorFailed)]


def test_a_spawn_remembers_after_a_reload_and_a_restart() -> None:
    inn = Inn()
    other = inn.harness.stand(6, name="Borvik")
    assert inn.hail() == "1 hails, 1 by you"
    assert inn.hail(other) == "2 hails, 1 by you"
    inn.harness.behaviors.restart()
    assert inn.hail() == "3 hails, 2 by you"
    assert not inn.memories.rows, "stored a little later"
    assert len(inn.harness.behaviors.memories) == 3
    inn.harness.run(2.5)
    assert {key: row.entries for key, row in inn.memories.rows.items()} == {
        (325, "inn", 0): '{"guests":3}',
        (325, "inn", 5): '{"visits":2}',
        (325, "inn", 6): '{"visits":1}',
    }
    assert len(inn.harness.behaviors.memories) == 0
    assert Inn(after=inn).hail() == "4 hails, 3 by you"


def test_a_zone_that_starts_again_has_its_memory() -> None:
    inn = Inn()
    inn.hail()
    behaviors = inn.harness.behaviors
    behaviors.forget_zone(inn.zone)
    assert behaviors.start_behavior("innkeeper", {}, inn.zone, inn.spawn, key="inn")
    assert inn.hail() == "2 hails, 2 by you", "what is not stored yet stays"
    inn.harness.run(2.5)
    behaviors.forget_zone(inn.zone)
    assert not behaviors.memories._zones
    assert behaviors.start_behavior("innkeeper", {}, inn.zone, inn.spawn, key="inn")
    assert inn.hail() == "3 hails, 3 by you"


def test_the_memory_of_a_zone_that_has_ended_is_released_when_it_is_stored() -> None:
    inn = Inn()
    inn.hail()
    behaviors = inn.harness.behaviors
    behaviors.forget_zone(inn.zone)
    assert behaviors.memories._zones
    inn.harness.run(2.5)
    assert not behaviors.memories._zones
    row = inn.memories.rows[325, "inn", 0]
    # Another process may have served the zone meanwhile.
    inn.memories.rows[325, "inn", 0] = replace(row, entries='{"guests":7}')
    behaviors.start_behavior("innkeeper", {}, inn.zone, inn.spawn, key="inn")
    assert inn.hail() == "8 hails, 2 by you"


def test_what_cannot_be_stored_is_tried_again() -> None:
    inn = Inn()
    inn.memories.broken = True
    inn.hail()
    inn.harness.run(20.0)
    assert not inn.memories.rows
    assert len([one for one in inn.harness.events if isinstance(one, NotSaved)]) == 1
    inn.memories.broken = False
    inn.hail()
    inn.harness.run(60.0)
    assert inn.memories.rows[325, "inn", 0].entries == '{"guests":2}'
    assert len(inn.harness.behaviors.memories) == 0


def test_a_behavior_begins_when_its_memory_can_be_read() -> None:
    inn = Inn()
    inn.hail()
    inn.harness.run(2.5)
    inn.harness.behaviors.forget_zone(inn.zone)
    inn.memories.broken = True
    inn.harness.behaviors.start_behavior("innkeeper", {}, inn.zone, inn.spawn, key="inn")
    assert inn.hail() == "Hail, Guard", "it does not answer yet, and has forgotten nothing"
    inn.memories.broken = False
    inn.harness.run(10.0)
    assert inn.hail() == "2 hails, 2 by you"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("{1, 2}", "TypeError: memory: set cannot be stored"),
        ("visitor", "TypeError: memory: Visitor cannot be stored"),
        ("float('nan')", "ValueError: memory: a number is not finite"),
        ("10 ** 30", "ValueError: memory: a number is too large"),
        ("'x' * 5000", "ValueError: memory: it would have more than 4096 bytes as JSON"),
        ("[0] * 10 ** 6", "ValueError: memory: a value is too large"),
        ("'\\ud800'", "ValueError: memory: a text has half of a surrogate pair"),
        ("{1: 2}", "TypeError: memory: a key must be a text"),
        ("self.own.setdefault('list', []).append(1)", "AttributeError: 'tuple' object"),
    ],
)
def test_a_mistake_is_a_fault_of_that_behavior_and_changes_nothing(value: str, reason: str) -> None:
    inn = Inn()
    inn.hail()
    inn.guest.types(f"/say {value}")
    [line] = inn.failures()
    assert reason in line
    assert ", line " in line
    inn.harness.run(3.0)
    assert "guests" in inn.memories.rows[325, "inn", 0].entries
    assert "said" not in inn.memories.rows[325, "inn", 0].entries


@pytest.mark.slow
def test_the_visitors_of_a_spawn_are_bounded_and_the_longest_unchanged_are_forgotten() -> None:
    inn = Inn()
    memories = inn.harness.behaviors.memories
    for char_id in range(1, memories.limits.visitors + 4):
        memories.of(325, "inn", char_id)["visits"] = 1
        memories.of(325, "inn", 1)["visits"] = char_id
    inn.harness.run(3.0)
    known = {char_id for _, _, char_id in inn.memories.rows if char_id}
    assert len(known) == memories.limits.visitors
    assert 1 in known
    assert not {2, 3, 4} & known
    assert inn.harness.behaviors.counters["visitors forgotten"] == 3


def test_many_memories_are_stored_and_loaded_in_several_calls() -> None:
    inn = Inn()
    memories = inn.harness.behaviors.memories
    sizes: list[int] = []
    save = inn.memories.save_memories

    async def saved(memories: Any) -> None:
        sizes.append(len(memories))
        await save(memories)

    inn.memories.save_memories = saved  # type: ignore[method-assign]
    for char_id in range(1, 451):
        memories.of(325, "inn", char_id)["visits"] = char_id
    for number in range(1, 101):
        memories.of(325, f"large {number}")["text"] = "x" * 4000
    inn.harness.run(4.5)
    assert len(inn.memories.rows) == 550
    assert sizes[:2] == [200, 200]
    assert max(sizes[2:]) <= 100, "the larger ones are fewer"
    assert len(memories) == 0
    again = Inn(after=inn).harness.behaviors.memories
    assert again.of(325, "inn", 450)["visits"] == 450
    assert again.of(325, "large 100")["text"] == "x" * 4000


def test_two_objects_are_one_memory() -> None:
    memories = Inn().harness.behaviors.memories
    first, second = memories.of(325, "inn", 9), memories.of(325, "inn", 9)
    first["a"] = 1
    second["b"] = 2
    assert dict(memories.of(325, "inn", 9)) == {"a": 1, "b": 2}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1).filter(lambda n: n > -(2**63))
    | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@given(st.dictionaries(st.text(min_size=1, max_size=8), VALUES, max_size=4))
def test_every_plain_value_is_kept(values: dict[str, Any]) -> None:
    changes: list[int] = []
    memory = Memory(1_000_000, lambda: changes.append(1))
    memory.update(values)
    text = memory.as_text()
    assert json.loads(text or "{}") == values
    again = Memory(1_000_000, lambda: None, text)
    assert dict(again) == dict(memory)
    memory.update(values)
    assert len(changes) == len(values), "the same value is no change"


def test_it_is_a_dict() -> None:
    memory = Memory(4096, lambda: None)
    memory["list"] = [1, {"a": (2,)}]
    assert memory["list"] == (1, {"a": (2,)})
    assert memory.pop("list")
    assert (len(memory), list(memory), memory.as_text(), repr(memory)) == (0, [], "", "Memory({})")
    for key in ("", "k" * 65):
        with pytest.raises(ValueError, match="1 to 64 characters"):
            memory[key] = 1
    with pytest.raises(KeyError):
        del memory["none"]


def test_a_loop_over_a_memory_is_stopped_by_the_time_of_the_call() -> None:
    def time_is_up() -> None:
        raise OutOfTime

    memory = Memory(4096, lambda: None, '{"a":1}', check=time_is_up)
    with pytest.raises(OutOfTime):
        memory["b"] = 1
    with pytest.raises(OutOfTime):
        memory.get("a")
    with pytest.raises(OutOfTime):
        del memory["a"]
    assert memory.as_text() == '{"a":1}'
