"""Clients of two versions do the quests of the shipped isle, over UDP, up to level 5.

They take what is offered by the command that the offer names, walk, talk, take rewards, and fight
their first creature to its end. A game master's command ends the other fights, which take minutes.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from emu.client import Credentials
from emu.client.flow import Entrance, granted
from emu.client.hunting import DEAD
from emu.client.world import Place
from emu.client.world.events import DeathSeen
from emu.client.world.messages import ClientWorldMessages
from emu.dialects import Dialect
from emu.net.client.world_connection import (
    ClientWorldConnection,
    enter_world,
    world_messages,
)
from emu.world_stream.ghosts import INFO
from tests.server.test_content_travel import Traveller
from tests.support.running.whole_server import HOST, Harness, harness

ISLE = 325
ASHORE, WEAPON, CRABS, BEETLES, SHELL = range(2000000001, 2000000006)
SWORD = 2000000004
LAST_OLD, MASTER = 561, 100
OFFER, REPLY, PACK, COMPLETE = (
    "WS_OfferQuest", "WS_QuestJournalReply", "WS_QuestRewardPackMsg", "WS_QuestComplete",
)  # fmt: skip


class QuestMessages(ClientWorldMessages):
    """The messages of one version, with those about quests."""

    def __init__(self, dialect: Dialect) -> None:
        super().__init__(dialect)
        self.seen: list[tuple[str, dict[str, Any]]] = []
        self._quests = {}
        for struct in (OFFER, REPLY, PACK if dialect.version <= LAST_OLD else COMPLETE):
            layout = dialect.layout(struct)
            name = layout.definition.opcode_type or layout.definition.opcode_name
            self._quests[name] = struct

    def read_message(self, name: str, payload: bytes) -> Any:
        struct = self._quests.get(name)
        if struct is not None:
            self.seen.append((struct, self.dialect.layout(struct).decode(payload)))
        return super().read_message(name, payload)


class Quester(Traveller):
    """A client that does quests."""

    def __init__(
        self, client: ClientWorldConnection, events: list[object], messages: QuestMessages
    ) -> None:
        super().__init__(client, events)
        self.messages = messages
        self.taken = 0
        """Offers that it has taken."""

    def count(self, *structs: str) -> int:
        """Return how many messages of some structs have come."""
        return sum(one in structs for one, _ in self.messages.seen)

    async def takes(self) -> None:
        """Take the quest that is offered next, by the command that the offer names."""
        await self.client.until(lambda: self.count(OFFER) > self.taken, "an offer", timeout=60.0)
        offers = [fields for struct, fields in self.messages.seen if struct == OFFER]
        self.taken += 1
        self.client.command(f"/{offers[-1]['accept_command']}")
        before = self.count(REPLY)
        await self.client.until(lambda: self.count(REPLY) > before, "the journal", timeout=60.0)

    async def says(self, name: str, answer: str, *more: str) -> None:
        """Hail somebody, and answer."""
        index = await self.find(name)
        await self.approach(index)
        self.client.act(lambda core: core.target(index))
        self.client.command("/hail")
        for one in (answer, *more):
            await self.choose(one)
            await self.pause(1.0)

    async def rewarded(self, before: int, choice: int = 0) -> None:
        """Take the reward of the quest that is completed now."""
        await self.client.until(
            lambda: self.count(PACK, COMPLETE) > before, "a reward", timeout=60.0
        )
        self.client.command(f"/accept_reward {choice} {choice}")
        await self.pause(2.0)

    async def kills(self, name: str, *, at_once: bool = True) -> None:
        """Find a creature, and fight until it is dead; `at_once` a game master ends the fight."""
        index = await self.find_living(name)
        begin = len(self.events)
        self.client.act(lambda core: core.target(index))
        await self.approach(index, 1.5)
        self.client.command("/kill" if at_once else "/autoattack 1")

        def is_dead() -> bool:
            return any(
                isinstance(one, DeathSeen) and one.dead == index for one in self.events[begin:]
            )

        await self.client.until(is_dead, f"the death of {name}", timeout=600.0)
        await self.pause(3.0)

    async def find_living(self, name: str) -> int:
        """Wait until a creature lives, by its name, and return its index."""
        seen = self.core.surroundings
        assert seen is not None

        def found() -> int | None:
            around = seen.near(self.core.place, 500.0, besides=self.core.own_index)
            living = (
                one.ghost for one in around
                if one.name == name and seen.part(one.ghost, INFO).get("hp_remaining", 0) != DEAD
            )  # fmt: skip
            return next(living, None)

        await self.client.until(lambda: found() is not None, f"to see {name}", timeout=600.0)
        index = found()
        assert index is not None
        return index


async def enters(server: Harness, version: int) -> Quester:
    """Let a new fighter stand on the isle."""
    entrance = Entrance(Credentials("aldana", "pass"), "Aldana", create=True, version=version)
    async with await server.begun("aldana", "pass", version=version) as login:
        await login.run(granted(login.core, entrance))
    with sqlite3.connect(server.database) as database:
        database.execute(
            "UPDATE world_characters SET zone_id = ?, class = 1, admin_status = ?", (ISLE, MASTER)
        )
    database.close()
    events: list[object] = []
    messages = QuestMessages(world_messages(version).dialect)
    client = await enter_world(
        server.clock, HOST, server.login_port, entrance, on_event=events.append, messages=messages
    )
    await client.stand()
    return Quester(client, events, messages)


@pytest.mark.parametrize("version", [546, 60114])
async def test_a_beginner_comes_to_level_5_by_the_quests_of_the_isle(
    tmp_path: Path, version: int
) -> None:
    async with harness(tmp_path, accounts={"aldana": "pass"}, speed=20) as server:
        await server.world_registered()
        one = await enters(server, version)
        await one.takes()
        await one.says("Maren Saltwick", "I can work.", "I see.")
        await one.rewarded(0)
        await one.says("Corvin Stoutlock", "Let me show you.")
        await one.takes()
        await one.says("Maren Saltwick", "I will thin them out.")
        await one.takes()
        # Each death counts for both quests.
        for number in range(3):
            await one.kills("a tide crab", at_once=number > 0)
        await one.says("Corvin Stoutlock", "Show me.")
        await one.rewarded(1, SWORD)
        await one.says("Maren Saltwick", "That was me.")
        await one.rewarded(2)
        await one.says("Maren Saltwick", "I will see to the beetles.")
        await one.takes()
        for _ in range(2):
            await one.kills("a driftwood beetle")
        await one.says("Maren Saltwick", "It is safe.")
        await one.rewarded(3)
        await one.says("Maren Saltwick", "I will go and look.")
        await one.takes()
        await one.run_to(Place(-2.0, -5.2, 222.0))
        await one.says("Wenna Shellhand", "It is a shell.", "I see.")
        await one.rewarded(4)
        await one.client.leave()
        assert "fault" not in server.log.text.casefold()
        ((level, quests),) = server.rows("SELECT level, quests FROM world_characters")
        held = {item for (item,) in server.rows("SELECT item_id FROM world_things")}
    journal = json.loads(quests)
    assert level >= 5
    assert sorted(map(int, journal["done"])) == [ASHORE, WEAPON, CRABS, BEETLES, SHELL]
    assert not journal.get("open")
    assert not journal.get("rewards")
    assert {2000000001, SWORD, 2000000019, 2000000018, 2000000017} <= held
