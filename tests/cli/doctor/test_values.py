"""Stored values that cannot be used: they block nobody, the doctor finds and repairs them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from emu.cli.doctor.findings import Level
from emu.cli.doctor.values import MOST_SHOWN, check_values, problems_of, repair_values
from emu.model import Character, Membership, Title
from emu.store import Store
from emu.store.server_lock import ServerLock
from emu.worlds import RegisteredWorld
from tests.support.world.world_fakes import world_character
from tests.support.world.worlds import WorldHarness

ZONES = {325, 12}
DAMAGE = {
    "heading": "UPDATE world_characters SET heading = NULL",
    "place": "UPDATE world_characters SET x = 9e999, y = -9e999, z = 1e300",
    "half a place": "UPDATE world_characters SET y = NULL",
    "level": "UPDATE world_characters SET level = 1000000000000",
    "race": "UPDATE world_characters SET race = -77, class = 9999, gender = 256, deity = -1",
    "zone": "UPDATE world_characters SET zone_id = 987654",
    "times": "UPDATE world_characters SET created = 9e999, last_played = -1, muted_until = 9e999",
    "name": "UPDATE world_characters SET name = CAST(x'41ff42' AS TEXT)",
    "control": "UPDATE world_characters SET name = 'a' || char(7)",
    "titles": "UPDATE world_titles SET title = CAST(x'c328' AS TEXT)",
    "friends": "UPDATE world_relations SET name = CAST(x'ff' AS TEXT)",
    "borne": "UPDATE world_characters SET suffix = CAST(x'ff' AS TEXT)",
    "hotkeys": "INSERT INTO world_hotkeys VALUES (5, 4000, -9, 99999999999, 0, 0, 0, 0, x'41')"
               .replace("x'41'", "CAST(x'ff' AS TEXT)"),
    "channels": "UPDATE world_memberships SET channel = CAST(x'ff' AS TEXT), password = 'x'",
    "appearance": """UPDATE world_characters SET appearance =
        '{"appearance": {"race_file": 99999999999}, "colors": {"a": [5000, -5000, 0, 0]}}'""",
    "text": """UPDATE world_characters SET appearance =
        '{"appearance": {"' || CAST(x'ff' AS TEXT) || '": 1}}'""",
}  # fmt: skip
LISTED_DAMAGE = {
    "name": "UPDATE characters SET name = CAST(x'41ff42' AS TEXT)",
    "level": "UPDATE characters SET level = -99999999999",
    "race": "UPDATE characters SET race = 99999999999, tradeskill_level = -1",
    "times": "UPDATE characters SET created = 9e999, last_played = 9e999",
    "zone": "UPDATE characters SET zone_description = CAST(x'ff' AS TEXT), zone_id = -1",
    "appearance": """UPDATE characters SET appearance =
        '{"appearance": {"race_type": 99999999999}, "colors": {"skin_color": [5000, 0, 0, 0]}}'""",
    "worn": """UPDATE characters SET appearance =
        '{"equipment": [[3, -5, 9999, 0, 0, 0, 0, 0]]}'""",
    "text": "UPDATE characters SET appearance = 'no JSON'",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with one character, in the world and in the list, that has everything."""
    with Store.create(tmp_path / "emu.sqlite") as store:
        store.login.accounts.add("Alice", "hash", 1.0)
        store.login.worlds.add(RegisteredWorld(0, "Norrath", "norrath", ""))
        store.login.characters.add(Character(0, 1, 1, 5, "Aldana", level=7))
        for _ in range(5):
            store.world.characters.create(
                world_character(0, account_id=1, name=f"N{_}", starting_zone=12, zone_id=325)
            )
        store.database.connection.execute("DELETE FROM world_characters WHERE id < 5")
        store.world.characters.save_place(5, 325, (1.0, 2.0, 240.0, 90.0, 3))
        belongings = store.world.belongings
        belongings.save(5, {"relations": [(0, "Borvik")], "channels": [Membership("Grove")]})
        belongings.save(5, {"titles": [Title("the Brave")], "prefix": "", "suffix": "the Brave"})
    return tmp_path / "emu.sqlite"


def damage(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(statement).rowcount == 1


def levels(path: Path) -> list[Level]:
    return [one.level for one in check_values(path, ZONES)]


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_character_enters_and_is_repaired(path: Path, what: str) -> None:
    assert levels(path) == [Level.OK]
    damage(path, DAMAGE[what])
    lines: list[str] = []
    with Store.open(path) as store:
        store.database.warn = lines.append
        [character] = store.world.characters.of_account(1)
        assert store.world.characters.find(5) == character
    assert bool(lines) == (what != "zone")
    harness = WorldHarness()
    harness.store.rows[5] = character
    client = harness.stand(5)
    client.say("OP_RequestCampMsg", b"\1\1")
    assert set(levels(path)) == {Level.WARN}
    found = list(repair_values(path, ZONES))
    assert {one.level for one in found} == {Level.OK}
    assert any("repaired" in one.what for one in found)
    assert levels(path) == [Level.OK]
    [copy] = path.parent.glob("*.before-repair.bak")
    assert set(levels(copy)) == {Level.WARN}, "the copy is as it was"
    with Store.open(path) as store:
        store.database.warn = pytest.fail
        [again] = store.world.characters.of_account(1)
        assert again.name
        assert again.zone_id in ZONES
        if what == "zone":
            assert (again.zone_id, again.place) == (12, None)


@pytest.mark.parametrize("what", LISTED_DAMAGE)
def test_a_damaged_character_is_listed_and_is_repaired(path: Path, what: str) -> None:
    damage(path, LISTED_DAMAGE[what])
    lines: list[str] = []
    with Store.open(path) as store:
        store.database.warn = lines.append
        [character] = store.login.characters.of_account(1)
        character.name.encode()
        character.zone_description.encode()
    assert lines
    assert set(levels(path)) == {Level.WARN}
    assert {one.level for one in repair_values(path, ZONES)} == {Level.OK}
    assert levels(path) == [Level.OK]


def test_all_at_once(path: Path) -> None:
    for statement in (*DAMAGE.values(), *LISTED_DAMAGE.values()):
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(statement)
    with Store.open(path) as store:
        assert len(problems_of(store, ZONES)) > MOST_SHOWN
    assert len(levels(path)) == MOST_SHOWN + 1
    assert {one.level for one in repair_values(path, ZONES)} == {Level.OK}
    assert levels(path) == [Level.OK]


def test_a_name_that_is_taken_gets_another_letter(path: Path) -> None:
    with Store.open(path) as store:
        store.world.characters.create(world_character(0, account_id=1, name="Character5"))
    damage(path, DAMAGE["name"] + " WHERE id = 5")
    list(repair_values(path, None))
    with Store.open(path) as store:
        names = {one.name for one in store.world.characters.of_account(1)}
    assert names == {"Character5", "Character5x"}


def test_nothing_is_repaired_while_a_server_runs_or_where_nothing_is_wrong(path: Path) -> None:
    assert [one.what for one in repair_values(path, ZONES)] == ["there is nothing to repair"]
    damage(path, DAMAGE["level"])
    with ServerLock(path):
        [finding] = repair_values(path, ZONES)
    assert finding.level is Level.FAIL
    assert "another server uses it" in finding.what
    assert levels(path) == [Level.WARN]
    assert list(path.parent.glob("*.bak")) == []
    missing = path.with_name("none.sqlite")
    assert [one.level for one in repair_values(missing, ZONES)] == [Level.OK]
    assert not missing.exists()


def test_without_a_world_no_zone_is_unknown(path: Path) -> None:
    damage(path, DAMAGE["zone"])
    assert [one.level for one in check_values(path, None)] == [Level.OK]


def test_other_lists_are_read_whose_texts_are_no_utf8(path: Path) -> None:
    damage(path, "UPDATE accounts SET ban_reason = CAST(x'ff' AS TEXT)")
    with Store.open(path) as store:
        [account] = store.login.accounts.every()
        assert account.name == "Alice"
        assert store.login.characters.of_account(1)[0].name == "Aldana"
