"""An evening on UDP sockets: a client enters the world, and plays by itself.

What the player does is in `emu.client.evening`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from emu.client.evening.diary import Diary
from emu.client.evening.player import THINK, EveningPlayer, Preferences
from emu.client.flow import STEP_TIMEOUT, Entrance
from emu.client.world import WorldPhase
from emu.client.world.events import WorldEvent
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from emu.opcodes import OpcodeTables


class Evening:
    """One client that plays; made by `begin_evening`."""

    def __init__(self, client: ClientWorldConnection, player: EveningPlayer) -> None:
        self.client = client
        self.player = player

    async def play(self, seconds: float, level: int) -> None:
        """Play for some seconds, or until a level is reached, or until the session ends."""
        end = self.client.now() + seconds
        while (now := self.client.now()) < end and self.player.level < level:
            if self.client.core.phase is WorldPhase.CLOSED:
                return
            self.client.act(lambda _core, now=now: self.player.think(now))  # type: ignore[misc]
            await self.client.pause(THINK)


async def begin_evening(
    reactor: Any,
    host: str,
    port: int,
    entrance: Entrance,
    *,
    diary: Diary,
    preferences: Preferences,
    timeout: float = STEP_TIMEOUT,  # noqa: ASYNC109  # per step, measured on our clock
    tables: OpcodeTables | None = None,
) -> Evening:
    """Let a client enter the world and return its player; raises as `enter_world` does."""
    early: list[WorldEvent] = []
    client = await enter_world(
        reactor, host, port, replace(entrance, reads_possessions=True),
        timeout=timeout, tables=tables, on_event=early.append,
    )  # fmt: skip
    player = EveningPlayer(client.core, diary, client.now(), preferences)
    for event in early:
        player.handle_event(event, client.now())
    client.on_event = lambda event: player.handle_event(event, client.now())
    return Evening(client, player)
