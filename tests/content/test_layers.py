"""Changes laid over the content of a zone."""

from pathlib import Path
from typing import Any

import pytest

from emu.content.file import ContentFile, ZoneContent, zone_of
from emu.content.importing import import_content
from emu.content.layers import (
    GROUP,
    PLACEMENT,
    SPAWN,
    Edit,
    columns_of,
    lay_over,
    read_edits,
    read_layer,
    read_value,
    spawns_named,
    stored_value,
)
from emu.content.sources import dump_parts
from emu.errors import FileFormatError
from emu.schema import TomlSource
from tests.support.content.dumps import meadow, write_dumps

OWN = 2_000_000_001


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("layers")
    target = folder / "content.sqlite"
    import_content(dump_parts([write_dumps(folder / "dumps", meadow())]), target)
    return target


@pytest.fixture(scope="module")
def content(path: Path) -> ZoneContent:
    found = zone_of(path, 9)
    assert found is not None
    return found


def laid(content: ZoneContent, subject: str, number: int, **values: Any) -> ZoneContent:
    return lay_over(content, read_edits(subject, number, values))


def places(content: ZoneContent) -> list[int]:
    return [one.id for one in content.placements]


@pytest.mark.parametrize(
    ("subject", "number", "column", "value"),
    [
        ("placement", 15, "zone", 9), ("placement", 15, "group", 0), ("placement", 13, "group", 31),
        ("placement", 15, "x", 0.0), ("placement", 15, "removed", False),
        ("placement", 15, "entries", [{"spawn": 90003, "weight": 100.0, "condition": 0}]),
        ("placement", 4711, "x", None), ("spawn", 90001, "name", "a guard"),
        ("spawn", 90001, "max_level", 7), ("spawn", 90001, "removed", False),
        ("spawn", 4711, "name", None), ("group", 31, "set", 31), ("group", 31, "removed", False),
        ("group", 4711, "set", None),
    ],
)  # fmt: skip
def test_the_file_s_own_value_of_each_column(
    path: Path, subject: str, number: int, column: str, value: Any
) -> None:
    """What an edit replaces; the values are those of `meadow`."""
    with ContentFile(path) as file:
        assert stored_value(file, subject, number, column) == value


def test_without_changes_the_content_is_the_same(content: ZoneContent) -> None:
    assert lay_over(content, []) is content
    assert lay_over(content, [Edit(PLACEMENT, 999, "x", 1.0)]) == content


def test_a_placement_is_changed_removed_and_moved_to_another_zone(content: ZoneContent) -> None:
    changed = laid(content, PLACEMENT, 11, place=[1, 2, 3, 90], respawn=60)
    one = next(one for one in changed.placements if one.id == 11)
    assert (one.x, one.y, one.z, one.heading, one.respawn) == (1.0, 2.0, 3.0, 90.0, 60)
    assert places(laid(content, PLACEMENT, 11, removed=True)) == [12, 13, 14, 15]
    assert places(laid(content, PLACEMENT, 11, zone=12)) == [12, 13, 14, 15]


def test_a_placement_of_ones_own_has_entries(content: ZoneContent) -> None:
    values: dict[str, Any] = {
        "zone": 9, "place": [1.0, 2.0, 3.0], "group": 31,
        "entries": [{"spawn": 90001, "weight": 86}, {"spawn": 90002, "condition": 2}],
    }  # fmt: skip
    added = laid(content, PLACEMENT, OWN, **values)
    assert places(added)[-1] == OWN
    entries = [(one.spawn_id, one.weight, one.condition, one.script) for one in added.entries[OWN]]
    assert entries == [
        (90001, 86.0, 0, "SpawnScripts/meadow/guard.lua"),
        (90002, 100.0, 2, "SpawnScripts/meadow/captain.lua"),
    ]
    assert next(one.placements for one in added.groups if one.id == 31) == (13, OWN)
    assert places(lay_over(content, [Edit(PLACEMENT, OWN, "x", 1.0)])) == places(content)
    assert spawns_named(read_edits(PLACEMENT, OWN, values), 9) == {90001, 90002}
    assert spawns_named(read_edits(PLACEMENT, OWN, values), 10) == set()


def test_a_spawn_is_changed_in_the_table_of_the_column_or_removed(content: ZoneContent) -> None:
    changed = laid(content, SPAWN, 90001, name="a watchman", min_level=8)
    template = changed.templates[90001]
    assert (template.spawn["name"], template.own["min_level"]) == ("a watchman", 8)
    assert content.templates[90001].spawn["name"] == "a guard"
    removed = laid(content, SPAWN, 90001, removed=True)
    assert [one.spawn_id for one in removed.entries[1]] == [90002]
    assert 3 not in removed.entries


def test_a_group_is_changed_removed_and_left(content: ZoneContent) -> None:
    changed = laid(content, GROUP, 31, weight=5, set=77)
    assert [(one.id, one.set_id, one.weight) for one in changed.groups if one.id == 31] == [
        (31, 77, 5.0)
    ]
    removed = laid(content, GROUP, 31, removed=True)
    assert [one.id for one in removed.groups] == [32]
    assert 13 not in places(removed)
    left = laid(content, PLACEMENT, 13, group=0)
    assert [one.id for one in left.groups] == [32]
    assert 13 in places(left)


def test_a_replaced_zone_has_only_what_is_added(content: ZoneContent) -> None:
    edits = read_edits(PLACEMENT, 13, {
        "zone": 9, "place": [0, 0, 0], "group": 31, "entries": [{"spawn": 90001}],
    })  # fmt: skip
    replaced = lay_over(content, edits, replaces=True)
    assert places(replaced) == [13]
    assert list(replaced.entries) == [13]
    assert [one.id for one in replaced.groups] == [31]
    assert replaced.groups[0].set_id == next(one.set_id for one in content.groups if one.id == 31)


def test_later_changes_win(content: ZoneContent) -> None:
    edits = [*read_edits(PLACEMENT, 11, {"x": 1.0}), *read_edits(PLACEMENT, 11, {"x": 2.0})]
    assert next(one.x for one in lay_over(content, edits).placements if one.id == 11) == 2.0


@pytest.mark.parametrize(
    ("subject", "name", "value", "text"),
    [
        (PLACEMENT, "colour", 1, "colour: a placement has no such key"),
        (PLACEMENT, "x", "far", "x: must be a number"),
        (SPAWN, "race", 900, "race: must be a whole number from 0 to 255"),
        (SPAWN, "name", 5, "name: must be a text"),
        (PLACEMENT, "place", [1, 2], "place: must be [x, y, z] or [x, y, z, heading]"),
        (PLACEMENT, "entries", [], "entries: must be a list of 1 to 64 tables"),
        (PLACEMENT, "entries", [{"weight": 1}], "entries: needs spawn, and may have weight"),
        (PLACEMENT, "entries", [{"spawn": 1, "script": 5}], "script: must be a text"),
        (PLACEMENT, "zone", -1, "zone: must be a whole number from 0 up"),
        (GROUP, "weight", -1, "weight: must be a number from 0 to 1000000"),
        (GROUP, "removed", False, "removed: must be true"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(
    subject: str, name: str, value: Any, text: str
) -> None:
    with pytest.raises(ValueError, match="^" + text.replace("[", r"\[").replace("]", r"\]")):
        read_edits(subject, 11, {name: value})


def test_numbers_begin_at_one() -> None:
    with pytest.raises(ValueError, match="placement: must be a number above 0"):
        read_edits(PLACEMENT, 0, {"x": 1.0})


def test_values_are_kept_in_the_form_of_their_column() -> None:
    assert read_value(SPAWN, "is_attackable", True) == 1
    assert read_value(PLACEMENT, "x", 3) == 3.0
    assert "spawn_id" not in columns_of(SPAWN)
    assert {"x", "respawn", "location_id"} <= set(columns_of(PLACEMENT))


def test_tables_of_a_file_become_changes(tmp_path: Path) -> None:
    source = TomlSource(tmp_path / "meadow.toml")
    assert read_layer(source, 9, {
        "placement": [{"id": OWN, "place": [1, 2, 3], "entries": [{"spawn": 90001}]}],
        "change": [{"placement": 11, "group": 31}, {"group": 31, "weight": 5}],
        "remove": [{"spawn": 90002}],
    }) == [
        Edit(PLACEMENT, OWN, "x", 1.0), Edit(PLACEMENT, OWN, "y", 2.0),
        Edit(PLACEMENT, OWN, "z", 3.0),
        Edit(PLACEMENT, OWN, "entries",
             [{"spawn": 90001, "weight": 100.0, "condition": 0, "script": ""}]),
        Edit(PLACEMENT, OWN, "zone", 9),
        Edit(PLACEMENT, 11, "group", 31), Edit(GROUP, 31, "weight", 5.0),
        Edit(SPAWN, 90002, "removed", True),
    ]  # fmt: skip


def test_all_faults_of_a_file_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "meadow.toml"
    path.write_text("")
    with pytest.raises(FileFormatError) as caught:
        read_layer(TomlSource(path), 9, {
            "placement": [{"place": [1, 2, 3]}, {"id": OWN, "place": [1, 2, 3]}],
            "change": [{"x": 1.0}, {"placement": 11}],
            "remove": [{"placement": 11, "x": 1.0}],
        })  # fmt: skip
    text = str(caught.value)
    for fault in (
        "placement 1: id: must be a number; use those from 2000000000 up for your own",
        "placement 2: place and entries are required",
        "change 1: needs one of placement, spawn, group with its number",
        "change 2: has no key to change",
        "remove 1: x: unknown; it may only have placement, spawn, group",
    ):
        assert fault in text
    with pytest.raises(FileFormatError, match=r"change: must be written as \[\[change\]\]"):
        read_layer(TomlSource(path), 9, {"change": {"placement": 1}})
