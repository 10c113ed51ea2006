"""`emu item` and `emu character items`: kinds, and what somebody has."""

from __future__ import annotations

from emu.items.held import Place, Thing, Where
from emu.ledger import Movement, Owner, OwnerKind, Part, Reason, ThingChanges, What
from emu.model import BUILT_IN_ACCOUNT
from emu.store import Store
from emu.times import Moment
from emu.worlds import RegisteredWorld
from tests.support.database.stores import character
from tests.support.running.command_line import CommandLine
from tests.support.world.world_fakes import world_character

SWORD = 2000000004


def test_kinds_are_found_and_shown(emu: CommandLine) -> None:
    rows = emu.rows("item", "search", "militia")
    assert [(row["number"], row["name"], row["sort"]) for row in rows] == [
        (SWORD, "Militia Short Sword", "weapon")
    ]
    shown = emu.good("item", "show", str(SWORD)).stdout
    assert "primary, secondary" in shown
    assert "there is no item 77" in emu.refused("item", "show", "77")


def test_what_a_character_has_is_listed(emu: CommandLine) -> None:
    with Store.create(emu.database) as store:
        store.login.accounts.add("Alice", "hash", Moment(1.0))
        store.login.worlds.add(RegisteredWorld(0, "Here", BUILT_IN_ACCOUNT, ""))
        own = store.world.characters.create(world_character(0, 1, name="Borvik"))
        store.login.characters.add(
            character(name="Borvik", account_id=1, world_id=1, char_id=own.id)
        )
        owner = Owner.character(own.id)
        things = (
            Thing(1000, SWORD, Place(Where.WORN, 0, 0), creator="Meg"),
            Thing(1001, 77, Place(Where.BAGS, 0, 3), 5),
        )
        master = Owner(OwnerKind.GAME_MASTER)
        parts = [Part(master, owner, one.count, What.THINGS, one.item_id) for one in things]
        moved = Movement("a", Reason.COMMAND, tuple(parts), things=(ThingChanges(owner, things),))
        assert store.world.ledger.move(moved, Moment(1.0)).is_done
    rows = emu.rows("item", "show", str(SWORD), "--holders")
    assert rows == [{"keeper": "character", "number": own.id, "thing": 1000, "count": 1}]
    rows = emu.rows("character", "items", "borvik")
    assert [(row["list"], row["slot"], row["name"], row["count"]) for row in rows] == [
        ("bags", 3, "not described", 5), ("worn", 0, "Militia Short Sword", 1),
    ]  # fmt: skip
    log = emu.rows("character", "log", "borvik")
    assert [(row["what"], row["kind"], row["change"]) for row in log] == [
        ("things", 77, 5), ("things", SWORD, 1),
    ]  # fmt: skip
