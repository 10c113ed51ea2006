"""The client's sockets: one for every session, and waiting that ends."""

import gc

import pytest
from twisted.internet.defer import Deferred

from emu.client.world import WorldClientCore, WorldPhase
from emu.client.world.events import Heard, LineShown, WhoListed
from emu.errors import CommandError, UnknownVersion
from emu.net.client.world_connection import ClientWorldConnection, world_messages
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
        with pytest.raises(CommandError, match="timed out after 2 s while waiting for snow"):
            await client.until(lambda: False, "snow", timeout=2.0)
        client.act(WorldClientCore.quit)
        with pytest.raises(CommandError, match="the session ended before snow"):
            await client.until(lambda: False, "snow")
        await client.leave()
        with pytest.raises(CommandError, match="the session ended before snow"):
            await client.until(lambda: False, "snow")

    world.reactor.drive(whole())


def test_a_queue_has_the_events_of_its_kinds_from_then_on() -> None:
    world = lossy_world()

    async def whole() -> None:
        client = await world.enter(5, 546, lambda _event: None)
        early = client.events(Heard)
        client.command("say one")
        assert (await early.next()).text == "one"
        late = client.events(Heard, LineShown)
        client.command("/say two")
        client.command("loc")
        assert [type(await late.next()) for _ in range(2)] == [Heard, LineShown]
        assert len(early) == 1
        assert (await early.next()).text == "two"
        with pytest.raises(CommandError, match="after 2 s while waiting for the event Heard"):
            await early.next(timeout=2.0)
        await client.leave()

    world.reactor.drive(whole())


def test_an_iteration_over_events_ends_with_the_session() -> None:
    world = lossy_world()

    async def whole() -> list[str]:
        client = await world.enter(5, 546, lambda _event: None)
        heard = []
        queue = client.events(Heard)
        client.command("say one")
        async for event in queue:
            heard.append(event.text)
            if len(heard) < 3:
                client.command(f"say {len(heard)}")
            else:
                client.act(WorldClientCore.quit)
        with pytest.raises(CommandError, match="the session ended before the event Heard"):
            await queue.next()
        await client.leave()
        return heard

    assert world.reactor.drive(whole()) == ["one", "1", "2"]


def test_stopping_the_client_ends_a_waiting_iteration() -> None:
    world = lossy_world()

    async def read(client: ClientWorldConnection) -> int:
        return len([event async for event in client.events(WhoListed)])

    async def whole() -> int:
        client = await world.enter(5, 546, lambda _event: None)
        reading = Deferred.fromCoroutine(read(client))
        await client.stop()
        return await reading

    assert world.reactor.drive(whole()) == 0


def test_a_forgotten_queue_is_no_longer_filled() -> None:
    world = lossy_world()

    async def whole() -> int:
        async with await world.enter(5, 546, lambda _event: None) as client:
            queue = client.events(Heard)
            assert len(client._queues) == 1
            del queue
            gc.collect()
            return len(client._queues)

    assert world.reactor.drive(whole()) == 0


def test_a_walk_ends_at_its_goal() -> None:
    world = lossy_world()

    async def whole() -> None:
        async with await world.enter(5, 546, lambda _event: None) as client:
            x, y, z = client.core.place[:3]
            client.walk_to(x + 10, y, z)
            with pytest.raises(CommandError, match="the end of the walk"):
                await client.arrival(timeout=0.1)
            await client.arrival()
            assert client.core.place[:3] == (x + 10, y, z)

    world.reactor.drive(whole())


def test_a_command_that_the_world_has_not_given_is_refused_here() -> None:
    world = lossy_world()

    async def whole() -> None:
        async with await world.enter(5, 546, lambda _event: None) as client:
            with pytest.raises(CommandError, match="no command shutdwn"):
                client.command("shutdwn")

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
    with pytest.raises(CommandError, match="550 enters a zone"):
        world_messages(550)
