"""Stored belongings of characters: each list is replaced completely."""

from __future__ import annotations

from dataclasses import replace

from emu.model import Hotkey, KnownSkill, Membership, Title
from emu.store import Store
from tests.support.database.stores import world_character

HOTKEYS = (Hotkey(0, 3, 4, text="hail"), Hotkey(1, 0, 1, 7, 65535, 0xFFFFFFFF, 3))
TITLES = (Title("of the Isle"), Title("Sir", is_prefix=True))


def test_each_list_is_kept_and_replaced(empty_store: Store) -> None:
    made = empty_store.world.characters.create(world_character())
    belongings = empty_store.world.belongings
    for relations in ([(2, "Borvik"), (0, "Cestra")], [(2, "Borvik"), (0, "Dorwin"), (0, "Ayla")]):
        belongings.save(made.id, {"relations": relations})
    belongings.save(made.id, {"hotkeys": [Hotkey(9, 9, 9)]})
    belongings.save(made.id, {"hotkeys": HOTKEYS})
    belongings.save(made.id, {"titles": TITLES, "prefix": "Sir", "suffix": ""})
    belongings.save(made.id, {"channels": [Membership("Crafts", "se cret"), Membership("Ärger")]})
    found = empty_store.world.characters.find(made.id)
    assert found is not None
    assert found.relations == ((0, "Dorwin"), (0, "Ayla"), (2, "Borvik"))
    assert found.hotkeys == HOTKEYS
    assert (found.titles, found.prefix, found.suffix) == (TITLES, "Sir", "")
    assert found.channels == (Membership("Crafts", "se cret"), Membership("Ärger"))
    belongings.save(made.id, {"channels": []})
    assert belongings.of(made.id)["channels"] == ()


def test_belongings_are_removed_with_the_character(empty_store: Store) -> None:
    made = empty_store.world.characters.create(world_character())
    empty_store.world.belongings.save(made.id, {"hotkeys": HOTKEYS})
    with empty_store.transaction() as connection:
        connection.execute("DELETE FROM world_characters")
    empty_store.world.belongings.save(made.id, {"hotkeys": HOTKEYS})
    assert empty_store.world.belongings.of(made.id)["hotkeys"] == ()


def test_a_character_is_stored_with_all_it_has(empty_store: Store) -> None:
    wanted = world_character(
        titles=TITLES, prefix="Sir", hotkeys=HOTKEYS, channels=(Membership("Grove"),),
        relations=((0, "Borvik"),), skills=(KnownSkill(3, 4, 5), KnownSkill(9, 1, 1)),
        languages=(2, 13), tradeskill_class=4, tradeskill_level=6, last_name="Stormfist",
        coins=1_020_304, status_points=77, experience=120, experience_needed=900,
    )  # fmt: skip
    made = empty_store.world.characters.create(wanted)
    empty_store.world.belongings.replace(made)
    assert empty_store.world.characters.find(made.id) == replace(
        wanted, id=made.id, ledger_revision=1
    )
    empty_store.world.belongings.replace(replace(made, skills=(), languages=(13,)))
    found = empty_store.world.characters.find(made.id)
    assert found is not None
    assert (found.skills, found.languages) == ((), (13,))


def test_an_account_is_read_with_everything_in_one_statement(empty_sqlite_store: Store) -> None:
    characters = empty_sqlite_store.world.characters
    for name in ("Ayla", "Bel", "Cilla"):
        made = characters.create(world_character(name=name))
        empty_sqlite_store.world.belongings.save(made.id, {"hotkeys": HOTKEYS})
    statements: list[str] = []
    empty_sqlite_store.sqlite.connection.set_trace_callback(statements.append)
    assert [row.hotkeys for row in characters.of_account(1)] == [tuple(HOTKEYS)] * 3
    assert len(statements) == 1
