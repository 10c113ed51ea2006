"""What spawns remember, in the database."""

from __future__ import annotations

from pathlib import Path

from emu.model import SpawnMemory
from emu.store import Store
from emu.times import Moment
from tests.support.world.world_fakes import world_character


def memory(spawn: str, char_id: int, entries: str, changed: float = 5.0) -> SpawnMemory:
    return SpawnMemory(325, spawn, char_id, entries, Moment(changed))


def test_memories_are_stored_replaced_and_removed(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "emu.sqlite")
    kept = store.world.characters.create(world_character(0, name="Aldana"))
    memories = store.world.memories
    own, of_visitor = memory("inn", 0, '{"a":1}'), memory("inn", kept.id, '{"b":1}', 4.0)
    memories.save_memories([own, of_visitor, memory("inn", kept.id + 1, '{"c":1}')])
    assert list(memories.of_zone(325, 0, 9)) == [of_visitor, own], "the third has no character"
    assert list(memories.of_zone(12, 0, 9)) == []
    assert list(memories.of_zone(325, 1, 9)) == [own]
    assert list(memories.of_zone(325, 0, 1)) == [of_visitor]
    assert list(memories.spawns()) == [(325, "inn", None)]
    memories.mark_removed(325, "inn", Moment(7.0))
    again = memory("inn", 0, '{"a":2}', 6.0)
    memories.save_memories([again, memory("inn", kept.id, "")])
    assert list(memories.of_zone(325, 0, 9)) == [again]
    assert list(memories.spawns()) == [(325, "inn", 7.0)], "a change does not make it known"
    memories.mark_removed(325, "inn", None)
    assert list(memories.spawns()) == [(325, "inn", None)]
    memories.forget(325, "inn")
    assert list(memories.of_zone(325, 0, 9)) == []


def test_what_is_remembered_of_a_character_ends_with_it(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "emu.sqlite")
    made = store.world.characters.create(world_character(0, name="Aldana"))
    own = memory("inn", 0, '{"a":1}')
    store.world.memories.save_memories([own, memory("inn", made.id, '{"b":1}')])
    store.database.connection.execute("DELETE FROM world_characters WHERE id = ?", (made.id,))
    assert list(store.world.memories.of_zone(325, 0, 9)) == [own]
