"""Edits of the content file: what is stored, conflicts, and their form as a zone file."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from emu.content.layers import OWN_NUMBERS, Edit, read_layer
from emu.errors import StoreError
from emu.processes.ports import ContentEdit
from emu.schema import TomlSource
from emu.times import Moment
from emu.world.population.edits import CHANGED, OWN_RANGE, GameEdits, conflict, edit_of, edits_text
from tests.support.coroutines import finish
from tests.support.world.world_fakes import EditsInMemory
from tests.support.world.worlds import bus

OWN = 2_000_000_001


def row(
    number: int, name: str, value: str, old: str = "null", subject: str = "placement"
) -> ContentEdit:
    return ContentEdit(subject, number, name, value, old, "Aldana", Moment(5.0))


class Zones:
    def __init__(self) -> None:
        self.refreshed = 0

    async def refresh(self) -> Sequence[str]:
        self.refreshed += 1
        return []


def made(
    store: EditsInMemory, zones: Zones, lines: list[str], shared: Any = None, before: Any = None
) -> GameEdits:
    async def stored(_subject: str, _number: int, _column: str) -> Any:
        return before

    return GameEdits(
        store, shared or bus(), "here", zones, stored, start=finish, failed=lines.append,
        choose=lambda count: count - 1,
    )  # fmt: skip


def test_a_change_is_stored_applied_and_announced_to_other_processes() -> None:
    store, zones, shared = EditsInMemory(), Zones(), bus()
    notes: list[Mapping[str, Any]] = []
    shared.subscribe(CHANGED, notes.append)
    edits = made(store, zones, [], shared, before=2.5)
    finish(edits.change("placement", 11, {"x": 1.5}, "Aldana", Moment(5.0)))
    assert list(store.rows.values()) == [row(11, "x", "1.5", "2.5")]
    assert edits.edits == [Edit("placement", 11, "x", 1.5)]
    assert (zones.refreshed, notes) == (1, [{"process": "here"}])
    assert finish(edits.undo("placement", 11)) == 1
    assert edits.edits == []
    assert (zones.refreshed, notes) == (2, [{"process": "here"}] * 2)


def test_an_added_placement_has_one_of_the_own_numbers() -> None:
    store = EditsInMemory()
    edits = made(store, Zones(), [])
    number = finish(edits.add_placement({"x": 1.5}, "Aldana", Moment(5.0)))
    assert number == OWN_NUMBERS + OWN_RANGE - 1
    assert list(store.rows.values()) == [row(number, "x", "1.5")]


def test_edits_that_do_not_fit_are_reported_and_left_out() -> None:
    store, lines = EditsInMemory(), list[str]()
    finish(store.save_edits([row(11, "x", "1.5"), row(11, "colour", "1"),
                             row(5, "x", "1", subject="quest")]))  # fmt: skip
    edits = made(store, zones := Zones(), lines)
    edits.start()
    assert edits.edits == [Edit("placement", 11, "x", 1.5)]
    assert zones.refreshed == 1
    assert len(lines) == 1
    assert lines[0].startswith("2 edits have no effect; the first: ")


def test_the_last_edit_that_another_process_removes_loses_its_effect() -> None:
    store, zones = EditsInMemory(), Zones()
    finish(store.save_edits([row(11, "x", "1.5")]))
    shared = bus()
    edits = made(store, zones, [], shared)
    edits.start()
    finish(store.remove("placement", 11))
    shared.publish(CHANGED, {"process": "there"})
    assert edits.edits == []
    assert zones.refreshed == 2
    shared.publish(CHANGED, {"process": "there"})
    assert zones.refreshed == 2


def test_without_the_database_the_start_goes_on() -> None:
    store, lines = EditsInMemory(), list[str]()
    store.is_broken = True
    made(store, Zones(), lines).start()
    assert lines == ["edits of the content file were not applied: the disk is full"]
    edits = made(store, Zones(), lines)
    with pytest.raises(StoreError):
        finish(edits.change("placement", 11, {"x": 1.0}, "Aldana", Moment(1.0)))


@pytest.mark.parametrize(
    ("old", "stored", "text"),
    [
        ("1.0", 1.0, ""),
        ("1.0", 2.0, "the content file had 1.0, and has 2.0 now"),
        ("1.0", None, "is no longer in the content file"),
        ("null", None, ""),
    ],
)
def test_a_conflict_is_a_row_that_has_changed(old: str, stored: float | None, text: str) -> None:
    assert conflict(row(11, "x", "3.0", old), stored) == text


def test_the_file_of_edits_has_their_effect(tmp_path: Path) -> None:
    rows = [
        row(11, "x", "1.5"), row(12, "removed", "true"), row(31, "weight", "5.0", subject="group"),
        row(90001, "name", '"a \\"meek\\" gnoll"', subject="spawn"),
        row(OWN, "zone", "9"), row(OWN, "x", "1.0"), row(OWN, "y", "2.0"), row(OWN, "z", "3.0"),
        row(OWN, "entries",
            '[{"spawn": 90001, "weight": 100.0, "condition": 0, "script": ""}]'),
    ]  # fmt: skip
    document = tomllib.loads(edits_text(rows, 9))
    assert document["zone"] == {"id": 9, "extends": True}
    source = TomlSource(tmp_path / "edits.toml")
    assert sorted(read_layer(source, 9, document), key=lambda one: one[:3]) == sorted(
        map(edit_of, rows), key=lambda one: one[:3]
    )
