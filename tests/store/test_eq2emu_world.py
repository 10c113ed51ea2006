"""Characters of old worlds that continue in the built-in world: what the store keeps of them.

`tests/cli/test_eq2emu_continued.py` has the whole import.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from emu.ledger import Owner, OwnerKind
from emu.model import Place, Title, WorldCharacter
from emu.sqldump.dump import Dump
from emu.sqldump.report import ImportReport, Tally
from emu.store import Store
from emu.store.eq2emu_rows import TABLES
from emu.store.eq2emu_world import (
    ContinuedWorld,
    ImportedCharacters,
    OldWorld,
    WorldImport,
    listed,
)
from emu.times import Moment
from emu.worlds import RegisteredWorld
from tests.support.database.stores import world_character
from tests.support.files.eq2emu_players import ANTONIA, HOMES, changed, mysqldump


def test_an_imported_character_is_known_by_world_and_number(empty_store: Store) -> None:
    imported = ImportedCharacters(empty_store.database)
    imported.add("anto", 900, 7, 1)
    assert imported.find("anto", 900) == (7, 1)
    assert imported.find("anto", 901) is None
    assert imported.find("perma", 900) is None
    assert (imported.has_world("anto"), imported.has_world("perma")) == (True, False)


def test_friends_get_new_names_only_in_new_characters(empty_store: Store) -> None:
    characters, belongings = empty_store.world.characters, empty_store.world.belongings
    ids = []
    for name in ("Old", "New"):
        made = characters.create(world_character(name=name))
        belongings.save(made.id, {"relations": [(0, "Borvik"), (2, "Borvik"), (0, "Cestra")]})
        ids.append(made.id)
    ImportedCharacters(empty_store.database).rename_friends(ids[1], "Borvik", "Borvikx")
    assert belongings.of(ids[0])["relations"] == ((0, "Borvik"), (0, "Cestra"), (2, "Borvik"))
    assert belongings.of(ids[1])["relations"] == ((0, "Borvikx"), (0, "Cestra"), (2, "Borvikx"))


def test_a_line_lists_some_names_and_counts_the_others() -> None:
    assert listed(["a", "b"]) == "a, b"
    assert listed([*"abcdefg"]) == "a, b, c, d, e and 2 more"


class Norrath:
    """A built-in world with one zone, one title and a home."""

    name = "Norrath"
    letter_seconds = 86_400.0

    def zone_file(self, zone_id: int) -> str | None:
        return "antonica" if zone_id == 12 else None

    def zone_description(self, zone_id: int) -> str:
        return "Antonica" if zone_id == 12 else ""

    def start_of(self, character: WorldCharacter) -> tuple[int, Place | None]:
        del character
        return 325, None

    def title(self, title_id: int) -> Title | None:
        return None if title_id else Title("the Known")

    def pieces_of(self, collection: int) -> tuple[int, ...]:
        return (80, 81, 82) if collection == 3 else ()

    def has_home(self, home: int) -> bool:
        return home == 5

    def spell_icon(self, spell_id: int) -> tuple[int, int]:
        del spell_id
        return 0, 0


class Imports:
    """Imports of the world Antonia into a store."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store, self.folder = store, folder
        self.report = ImportReport({table: Tally() for table in TABLES})
        self.source = ContinuedWorld("anto", "Antonia", None)
        self.bring = WorldImport(
            store, self.report, Norrath(), account_of=self.account, moment=Moment(50.0)
        )

    def account(self, number: int) -> int:
        if number == 9:
            raise ValueError("its account is not here")
        return number

    def take(self, **tables: Any) -> None:
        path = self.folder / "antonia.sql"
        path.write_text(mysqldump(changed(changed(ANTONIA, **HOMES), **tables)), encoding="utf-8")
        self.bring.bring(self.source, OldWorld("Antonia", [Dump(path)]), lambda _rows: None)


@pytest.fixture
def imports(empty_store: Store, tmp_path: Path) -> Imports:
    return Imports(empty_store, tmp_path)


def test_an_import_reports_what_stayed_behind(imports: Imports) -> None:
    imports.take()
    tally = imports.report.tables["characters"]
    assert (tally.read, tally.added, tally.present, tally.skipped) == (2, 2, 0, 0)
    notes = imports.report.notes
    assert "Antonia: deleted characters stay in the dump: 1" in notes
    assert "Antonia: characters with a rank: Borvik 100" in notes
    assert any("this server has no OldCellar (4711)" in one for one in notes)
    assert imports.report.later["character_quest_rewards"] == 1
    imports.take()
    assert (tally.added, tally.present) == (2, 2)
    assert not [one for one in imports.report.notes if "taken" in one]


def test_a_name_that_is_taken_gets_a_letter_more_also_in_lists_of_friends(
    imports: Imports,
) -> None:
    for name in ("Borvik", "Borvikx"):
        imports.store.world.characters.create(world_character(name=name))
    imports.take()
    assert "Antonia: names were taken, so Borvik is Borvikxx" in imports.report.notes
    aldana = imports.store.world.characters.find_named("Aldana")
    assert aldana is not None
    friends = imports.store.world.belongings.of(aldana.id)["relations"]
    assert friends == ((0, "Borvikxx"), (2, "Rude"))


def test_things_and_coins_come_to_their_owners(imports: Imports) -> None:
    imports.take(character_items=[
        {"id": number, "char_id": 900, "type": "NOT-EQUIPPED", "bag_id": bag, "slot": 0,
         "item_id": 70 + number, "count": 1, "condition_": 100, "attuned": 0, "creator": ""}
        for number, bag in ((1, 0), (2, -4), (3, -3))
    ])  # fmt: skip
    aldana = imports.store.world.characters.find_named("Aldana")
    assert aldana is not None
    mine, shared = Owner.character(aldana.id), Owner(OwnerKind.ACCOUNT, 7)
    found = imports.store.world.things.of([mine, shared])
    assert sorted(one.item_id for one in found[mine]) == [71, 73]
    assert [one.item_id for one in found[shared]] == [72]
    assert imports.store.world.ledger.audit().wrong_things == ()


def test_characters_of_other_accounts_are_left_out(imports: Imports) -> None:
    played = [{**row, "account_id": 9} for row in ANTONIA["characters"][:1]]
    imports.take(characters=[*played, *ANTONIA["characters"][1:2]])
    tally = imports.report.tables["characters"]
    assert (tally.added, tally.skipped) == (1, 1)
    assert any("its account is not here" in one for one in imports.report.notes)
    imports.take(characters=[{**ANTONIA["characters"][1], "account_id": 7}])
    assert any("was imported for another account" in one for one in imports.report.notes)


def test_the_old_world_makes_space_for_the_built_in_one(imports: Imports) -> None:
    worlds = imports.store.login.worlds
    other = worlds.add(RegisteredWorld(0, "Norrath", "anto", ""))
    imports.bring.make_space(ContinuedWorld("x", "Antonia", other.id + 1))
    assert worlds.find("Norrath") is not None
    imports.bring.make_space(ContinuedWorld("anto", "Antonia", other.id))
    assert worlds.find("Norrath") is None
    imports.bring.make_space(ContinuedWorld("anto", "Antonia", other.id))
    assert worlds.find("Norrath (anto)") is not None
    for _ in range(2):
        imports.bring.register()
    assert worlds.find("Norrath") is not None
