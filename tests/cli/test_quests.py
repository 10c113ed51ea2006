"""`emu character quests`: the stored journal of a character."""

from __future__ import annotations

from emu.model import BUILT_IN_ACCOUNT
from emu.quests.journal import Completion, Journal, TakenQuest
from emu.store import Store
from emu.times import Moment
from emu.worlds import RegisteredWorld
from tests.support.database.stores import character
from tests.support.running.command_line import CommandLine
from tests.support.world.world_fakes import world_character

ASHORE, CRABS, GONE = 2000000001, 2000000003, 77


def add(store: Store, name: str, text: str) -> None:
    """Add a character of this world with a journal."""
    own = store.world.characters.create(world_character(0, 1, name=name))
    with store.transaction():
        store.database.connection.execute(
            "UPDATE world_characters SET quests = ? WHERE id = ?", (text, own.id)
        )
    store.login.worlds.add(RegisteredWorld(0, "Here", BUILT_IN_ACCOUNT, ""))
    store.login.characters.add(character(name=name, account_id=1, world_id=1, char_id=own.id))


def test_open_and_completed_quests_are_listed(emu: CommandLine) -> None:
    journal = Journal()
    journal.open[CRABS] = TakenQuest(CRABS, Moment(1e9), done={1})
    journal.open[GONE] = TakenQuest(GONE, Moment(1e9))
    journal.completed[ASHORE] = Completion(2, Moment(1e9))
    with Store.create(emu.database) as store:
        store.login.accounts.add("Alice", "hash", Moment(1.0))
        add(store, "Borvik", journal.text)
    rows = emu.rows("character", "quests", "borvik")
    found = [(row["quest"], row["title"], row["state"], row["steps done"], row["completed"])
             for row in rows]  # fmt: skip
    assert found == [
        (GONE, "not on this server now", "open", 0, 0),
        (ASHORE, "Ashore", "completed", None, 2),
        (CRABS, "Crabs under the Dock", "open", 1, 0),
    ]
