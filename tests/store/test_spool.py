"""The spool of players that a stop could not save: written completely, and checked."""

from __future__ import annotations

import hashlib
import json
import math
import re
import resource
import sqlite3
import stat
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from emu.errors import FileFormatError
from emu.files import SUFFIX
from emu.model import Hotkey, Membership, SavedState, Title
from emu.store import Store
from emu.store.spool import (
    SpoolFile,
    load_spool,
    read_spool,
    set_aside_path,
    spool_path,
    write_spool,
)
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
            titles=(Title("Sir", is_prefix=True),), prefix="Sir", suffix="",
        ),
    ]  # fmt: skip
    path.write_text("what was there before")
    path.with_name(f".{path.name}.{'0' * 12}{SUFFIX}").write_text("what a kill left")
    write_spool(path, states)
    assert read_spool(path) == states
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("size", [0, 1, 40, 150, 5000])
def test_a_file_that_ends_early_is_damaged(path: Path, size: int) -> None:
    write_spool(path, [state()])
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(FileFormatError, match="damaged"):
        read_spool(path)


def test_each_byte_counts(path: Path) -> None:
    states = [state()]
    write_spool(path, states)
    whole = path.read_bytes()
    text = whole.index(b'{"char_id"')
    for at in (*range(0, len(whole), 97), *range(text, whole.index(b"}", text), 7)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        try:
            found = read_spool(path)
        except FileFormatError:
            continue
        assert found == states, "a byte that nothing depends on"
        assert at < text


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


def test_a_file_keeps_the_newest_state_of_each_until_it_is_gone(path: Path) -> None:
    file = SpoolFile(path)
    file.keep_states([state(1), state(2)])
    file.keep_states([state(1, revision=2, term=3), state(3)], [2])
    assert read_spool(path) == [state(1, revision=2, term=3), state(3)]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    file.close()
    file.keep_states([], [1])
    assert read_spool(path) == [state(3)]
    file.keep_states([], [3])
    assert list(path.parent.iterdir()) == []
    file.keep_states([state(4)])
    assert read_spool(path) == [state(4)]
    file.remove()
    assert not path.exists()


def test_a_file_that_cannot_be_written_is_one_error(path: Path) -> None:
    path.mkdir()
    with pytest.raises(OSError, match="unable to open database file"):
        SpoolFile(path).keep_states([state()])
    path.rmdir()
    path.write_bytes(b"no database" * 100)
    with pytest.raises(OSError, match="not a database"):
        SpoolFile(path).keep_states([state()])


def test_a_full_disk_is_one_error(path: Path) -> None:
    """Found by seed 5114 of the simulation: SQLite's own error ended the stop with a traceback."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, before[1]))
    try:
        with pytest.raises(OSError, match=re.escape(str(path))):
            write_spool(path, [state()])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not path.exists()


def test_states_of_an_earlier_term_are_not_stored(empty_store: Store) -> None:
    characters = empty_store.world.characters
    made = characters.create(world_character())
    [row] = characters.claim(1, made.id, "here")
    assert load_spool(empty_store, [saved_state(row, 1, term=1, zone_id=33)])
    characters.claim(1, made.id, "there")
    assert load_spool(empty_store, [saved_state(row, 9, term=1, zone_id=34)]) == []
    found = characters.find(made.id)
    assert found is not None
    assert found.zone_id == 33


def test_a_file_of_an_older_program_is_read(path: Path) -> None:
    plain = asdict(state(1)) | {"place": list(state(1).place)}
    del plain["term"]
    body = json.dumps([plain]).encode()
    head = {"format": 1, "characters": 1, "sha256": hashlib.sha256(body).hexdigest()}
    path.write_bytes(json.dumps(head).encode() + b"\n" + body + b"\n")
    assert read_spool(path) == [state(1)]
    path.write_bytes(json.dumps(head).encode() + b"\n" + body.replace(b"Name", b"Game") + b"\n")
    with pytest.raises(FileFormatError, match="checksum"):
        read_spool(path)
    write_spool(path, [state(2)])
    assert read_spool(path) == [state(2)]


WRITTEN_BY_FORMAT_2 = (
    '{"char_id":1,"account_id":1,"created":1000.5,"name":"Name1","revision":9,"zone_id":166,'
    '"place":[1.5,-2.25,3.75,90.0,7],"relations":[[0,"Borvik"]],"titles":{"given":[{"text":"Sir",'
    '"is_prefix":true}],"prefix":"Sir","suffix":""},"hotkeys":[{"bar":1,"slot":2,"type":4,'
    '"icon":0,"icon_type":0,"ability":0,"tier":0,"text":"hail"}],"channels":null,'
    '"last_played":null,"options":"lfg","last_name":"Oak","played":90,"travels":null,"past":null,'
    '"client_data":null,"skills":null,"languages":null,"progress":{"class_":4,"level":12,'
    '"tradeskill_class":2,"tradeskill_level":9,"experience":30,"experience_needed":4600,'
    '"deity":7},"term":3}'
)
"""A state as the program of 28 November 2026 has written it."""


def test_a_file_with_a_field_for_each_fact_is_read(path: Path) -> None:
    write_spool(path, [state(1)])
    text = WRITTEN_BY_FORMAT_2
    with closing(sqlite3.connect(path)) as connection, connection:
        digest = hashlib.sha256(text.encode()).hexdigest()
        connection.execute("UPDATE states SET state = ?, sha256 = ?", (text, digest))
        connection.execute("PRAGMA user_version = 2")
    expected = state(
        1, revision=9, place=(1.5, -2.25, 3.75, 90.0, 7), played=90, term=3,
        relations=((0, "Borvik"),), titles=(Title("Sir", is_prefix=True),), prefix="Sir", suffix="",
        hotkeys=(Hotkey(1, 2, 4, text="hail"),), options="lfg", last_name="Oak", class_=4, level=12,
        tradeskill_class=2, tradeskill_level=9, experience=30, experience_needed=4600, deity=7,
    )  # fmt: skip
    assert read_spool(path) == [expected]


def test_a_newer_file_is_left_alone(path: Path) -> None:
    write_spool(path, [state(1)])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 4")
    with pytest.raises(FileFormatError, match="its format 4 is unknown"):
        read_spool(path)
