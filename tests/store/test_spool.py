"""The spool of players that a stop could not save: written completely, and checked."""

from __future__ import annotations

import json
import math
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from emu.errors import FileFormatError
from emu.files import SUFFIX
from emu.model import BorneTitles, Hotkey, Membership, SavedState, Title
from emu.store import Store
from emu.store.spool import load_spool, read_spool, set_aside_path, spool_path, write_spool
from tests.support.database.stores import saved_state, world_character


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return spool_path(tmp_path / "emu.sqlite")


def state(number: int = 1, **changes: Any) -> SavedState:
    return saved_state(world_character(id=number, name=f"Name{number}"), **changes)


def test_states_come_back_as_they_were(path: Path) -> None:
    states = [
        state(1),
        state(
            2, revision=9, relations=((0, "Borvik"),), hotkeys=(Hotkey(1, 2, 4, text="hail"),),
            channels=(Membership("Ärger", "x"),), last_played=-math.inf,
            titles=BorneTitles(given=(Title("Sir", is_prefix=True),), prefix="Sir"),
        ),
    ]  # fmt: skip
    path.write_text("what was there before")
    path.with_name(f".{path.name}.{'0' * 12}{SUFFIX}").write_text("what a kill left")
    write_spool(path, states)
    assert read_spool(path) == states
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("size", [0, 1, 40, 150, 300])
def test_a_file_that_ends_early_is_damaged(path: Path, size: int) -> None:
    write_spool(path, [state()])
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(FileFormatError, match="damaged"):
        read_spool(path)


def test_each_byte_counts(path: Path) -> None:
    write_spool(path, [state()])
    whole = path.read_bytes()
    body = whole.index(b"\n") + 1
    for at in range(body, len(whole) - 1, 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(FileFormatError):
            read_spool(path)


@pytest.mark.parametrize(
    "text", ["[]\n[]\n", "{}\n", '{"format": 2}\n', "\0\xff" * 20, "[" * 5000, "null\nnull"]
)
def test_another_file_is_none(path: Path, text: str) -> None:
    path.write_text(text, encoding="latin-1")
    with pytest.raises(FileFormatError):
        read_spool(path)


@pytest.mark.parametrize(
    "changes",
    [{"place": (math.nan, 0.0, 0.0, 0.0, 0)}, {"place": (1.0, 2.0)}, {"zone_id": "x"},
     {"revision": None}, {"place": (math.inf, 0.0, 0.0, 0.0, 0)}],
)  # fmt: skip
def test_values_that_cannot_be_stored_are_refused(path: Path, changes: dict[str, Any]) -> None:
    write_spool(path, [state(**changes)])
    with pytest.raises(FileFormatError):
        read_spool(path)


def test_a_folder_of_that_name_is_no_file(path: Path) -> None:
    path.mkdir()
    with pytest.raises(OSError, match="directory"):
        read_spool(path)


def test_only_what_is_newer_is_stored_and_only_for_its_own_character(empty_store: Store) -> None:
    characters = empty_store.world.characters
    rows = [characters.create(world_character(name=f"Name{number}")) for number in range(1, 5)]
    characters.save_character(2, saved_state(rows[1], 5, zone_id=12))
    states = [
        saved_state(rows[0], 1, zone_id=33),
        saved_state(rows[1], 5, zone_id=33),
        replace(saved_state(rows[2], 1, zone_id=33), account_id=99),
        replace(saved_state(rows[3], 1, zone_id=33), created=1.0),
        state(77),
    ]
    assert load_spool(empty_store, states) == states[:1]
    zones = [found.zone_id for row in rows if (found := characters.find(row.id)) is not None]
    assert zones == [33, 12, 12, 12]
    assert load_spool(empty_store, states) == [], "a second time changes nothing"


def test_damaged_files_get_names_of_their_own(path: Path) -> None:
    names = []
    for _ in range(3):
        aside = set_aside_path(path)
        aside.write_text("")
        names.append(aside.name)
    assert names == [f"{path.name}.damaged{end}" for end in ("", "1", "2")]


def test_the_head_says_what_is_in_it(path: Path) -> None:
    write_spool(path, [state(1), state(2)])
    head = json.loads(path.read_text().partition("\n")[0])
    assert (head["format"], head["characters"]) == (1, 2)
