"""The client's sockets: one for every session, and waiting that ends."""

import pytest

from emu.client.world import WorldClientCore, WorldPhase
from emu.errors import CommandError, UnknownVersion
from emu.net.client.connection import world_messages
from tests.support.sessions.lossy_net import LossyReactor
from tests.support.world.lossy_world import LossyWorld

pytestmark = pytest.mark.usefixtures("collect_garbage")


def lossy_world() -> LossyWorld:
    world = LossyWorld(LossyReactor())
    world.harness.character(5, name="Aldana", admin_status=100)
    return world


def test_waiting_ends_when_it_is_so_or_too_late_or_the_session_is_over() -> None:
    world = lossy_world()

    async def whole() -> None:
        client = await world.enter(5, 546, lambda _event: None)
        await client.until(lambda: True, "nothing")
        with pytest.raises(CommandError, match=r"waited in vain for snow \(2 s\)"):
            await client.until(lambda: False, "snow", timeout=2.0)
        client.act(WorldClientCore.quit)
        with pytest.raises(CommandError, match="the session ended before snow"):
            await client.until(lambda: False, "snow")
        await client.leave()
        with pytest.raises(CommandError, match="the session ended before snow"):
            await client.until(lambda: False, "snow")

    world.reactor.drive(whole())


def test_every_zone_has_a_socket_of_its_own_and_the_old_one_is_closed() -> None:
    world = lossy_world()

    async def whole() -> None:
        async with await world.enter(5, 546, lambda _event: None) as client:
            before = client._port.address
            client.act(lambda core: core.command("/zone Antonica"))
            await client.until(lambda: client.core.phase is WorldPhase.KNOCKING, "the way")
            await client.stand()
            assert client._port.address != before
            assert before not in world.reactor._ports
        assert len(world.reactor._ports) == 1

    world.reactor.drive(whole())


def test_a_server_that_falls_silent_does_not_hold_up_the_leaving() -> None:
    world = lossy_world()

    async def whole() -> float:
        client = await world.enter(5, 546, lambda _event: None)
        world.reactor.loss = 1.0
        before = client.now()
        await client.leave()
        return client.now() - before

    assert world.reactor.drive(whole()) < 6.0


def test_versions_that_nobody_knows_are_refused() -> None:
    with pytest.raises(UnknownVersion):
        world_messages(400)
    with pytest.raises(CommandError, match="64753 enters a zone"):
        world_messages(64753)
