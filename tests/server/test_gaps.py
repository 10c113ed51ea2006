"""Links that carry nothing for a while, and clients that crash, over real UDP through a relay."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from emu.client import Credentials
from emu.client.flow import Entrance
from emu.client.world import WorldClientCore, WorldPhase
from emu.client.world.events import Heard
from emu.errors import CommandError
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from tests.support.running.whole_server import HOST, Harness, harness, reactor, until
from tools.relay import Relay

BEHIND = "127.0.0.2"
"""Address of the relay, which players get with the world's own port."""
SPEED = 10.0
SETTINGS = {"login.auto_create_accounts": True, "world.advertise": BEHIND}
CRASHES = 3


class Scene:
    """A server whose world is reached through a relay."""

    def __init__(self, server: Harness, relay: Relay) -> None:
        self.server = server
        self.relay = relay
        self.events: list[object] = []

    async def enter(self, user: str, name: str) -> ClientWorldConnection:
        entrance = Entrance(Credentials(user, "secret"), name, create=True)
        return await enter_world(
            self.server.clock, HOST, self.server.login_port, entrance,
            timeout=90.0, on_event=self.events.append,
        )  # fmt: skip

    async def seconds(self, seconds: float) -> None:
        """Let time of the server's clock pass."""
        await self.server.clock.sleep(seconds)

    async def hears(self, client: ClientWorldConnection, text: str) -> None:
        client.act(lambda core: core.command(f"/say {text}"))
        await until(
            lambda: any(isinstance(one, Heard) and one.text == text for one in self.events),
            f"hearing {text}",
        )


@asynccontextmanager
async def scene(folder: Path) -> AsyncIterator[Scene]:
    async with harness(folder, SETTINGS, speed=SPEED) as server:
        await server.world_registered()
        relay = Relay(reactor, (HOST, server.world_port))
        relay.listen(BEHIND, server.world_port)
        try:
            yield Scene(server, relay)
        finally:
            await relay.stop()


@pytest.mark.parametrize("ways", ["in", "out", "both"])
@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
async def test_a_player_survives_a_gap_of_forty_seconds(
    tmp_path: Path, ways: str, busy: bool
) -> None:
    async with scene(tmp_path) as made, await made.enter("aldana", "Aldana") as client:
        session = client.core.session
        await made.hears(client, "before")
        made.relay.cuts_in, made.relay.cuts_out = ways in ("in", "both"), ways in ("out", "both")
        if busy:
            client.act(lambda core: core.command("/say lost for a while"))
        await made.seconds(40.0)
        assert made.relay.lost > 5
        made.relay.cuts_in = made.relay.cuts_out = False
        await made.hears(client, "after")
        assert client.core.session is session
        assert client.core.phase is WorldPhase.STANDING
        assert "link-dead" not in made.server.log.text
        heard = [one for one in made.events if isinstance(one, Heard)]
        said = [one.text for one in heard if one.speaker == "Aldana"]
        assert said == ["before", *(["lost for a while"] if busy else []), "after"]


async def test_a_link_that_is_dead_for_a_minute_is_given_up(tmp_path: Path) -> None:
    async with scene(tmp_path) as made, await made.enter("aldana", "Aldana") as client:
        made.relay.cuts_in = made.relay.cuts_out = True
        begun = made.server.clock.seconds()
        await until(lambda: "link-dead" in made.server.log.text, "the end", 9.0)
        assert 40.0 <= made.server.clock.seconds() - begun <= 65.0
        await until(lambda: client.core.phase is WorldPhase.CLOSED, "the end of the client", 3.0)


async def test_a_client_that_crashes_comes_back_at_once_and_its_other_character_does_not(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path) as made:
        client = await made.enter("aldana", "Aldana")
        for _ in range(CRASHES):
            await client.stop()  # no word to the server, and the next socket has another port
            begun = made.server.clock.seconds()
            client = await made.enter("aldana", "Aldana")
            assert made.server.clock.seconds() - begun < 10.0
        with pytest.raises(CommandError, match="the account is in use"):
            await made.enter("aldana", "Borvik")
        await made.hears(client, "here I am")
        assert made.server.log.text.count("Aldana entered from") == CRASHES + 1
        assert "link-dead" not in made.server.log.text
        client.act(WorldClientCore.quit)
        await until(lambda: client.core.phase is WorldPhase.CLOSED, "the end")
        await client.stop()
        async with await made.enter("aldana", "Borvik") as other:
            assert other.core.character == "Borvik"


async def test_of_two_clients_with_one_character_the_later_plays_and_the_other_is_notified(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path) as made:
        first = await made.enter("aldana", "Aldana")
        async with await made.enter("aldana", "Aldana") as second:
            await until(lambda: first.core.phase is WorldPhase.CLOSED, "the first one's end")
            await made.hears(second, "only I am here")
        await first.stop()
