"""Bots that fight, in a world over a simulated network."""

from functools import partial
from typing import Any

import pytest

from emu.client.hunting import Hunter
from emu.client.swarm import Bot, BotHabits
from emu.client.world.events import BlowSeen, DeathSeen
from emu.net.client.world_connection import ClientWorldConnection
from emu.world.actors.spawn import Spawn, SpawnKind
from tests.support.sessions.lossy_net import LossyReactor
from tests.support.world.lossy_world import LossyWorld

pytestmark = pytest.mark.usefixtures("collect_garbage")


def fought(version: int, seconds: float, health: int, level: int = 1) -> tuple[LossyWorld, Bot]:
    """Let a bot fight what stands near it for a while."""
    world = LossyWorld(LossyReactor(delay=0.01))
    found: list[Bot] = []

    async def whole() -> None:
        world.harness.character(1, name="Bota")
        client: ClientWorldConnection = await world.enter(1, version, lambda _event: None)
        bot = Bot(client.core, BotHabits(talk=0.0, fights=True), lambda: 0.5, client.now())
        client.on_event = lambda event: bot.handle_event(event, client.now())
        found.append(bot)
        player = world.harness.world.players.get(1)
        assert player is not None
        place = player.position._replace(x=player.position.x + 12.0)
        crab = Spawn(
            world.harness.world.zones.next_spawn_id(), SpawnKind.NPC, "a crab", place,
            level=level, attackable=True,
        )  # fmt: skip
        crab.sheet.health.fill(health)
        player.zone.add_spawn(crab, world.harness.world.clock.now())
        end = client.now() + seconds
        while (now := client.now()) < end:
            if bot.get_timer() <= now:
                client.act(partial(_live, bot, now))
            await client.pause(0.2)
        await client.leave()

    world.reactor.drive(whole())
    return world, found[0]


def _live(bot: Bot, now: Any, _core: Any) -> None:
    bot.handle_timer(now)


@pytest.mark.parametrize("version", [546, 60114])
def test_a_bot_walks_to_a_creature_and_kills_it(version: int) -> None:
    world, bot = fought(version, 60.0, health=12)
    hunter = bot.hunter
    assert hunter is not None
    assert (hunter.kills, hunter.deaths) == (1, 0)
    assert hunter.blows >= 1
    assert world.harness.store.rows[1].experience > 0


@pytest.mark.slow
def test_a_bot_that_dies_returns() -> None:
    world, bot = fought(546, 90.0, health=1_000_000, level=60)
    hunter = bot.hunter
    assert hunter is not None
    assert hunter.deaths >= 2, "it has returned, and has fought again"
    assert hunter.taken >= 1
    player_row = world.harness.store.rows[1]
    assert player_row.experience_debt > 0


class Nowhere:
    """A client that is shown no ghosts."""

    surroundings = None
    own_index = 1
    place = (0.0, 0.0, 0.0)


def test_without_ghosts_it_only_counts() -> None:
    hunter = Hunter(Nowhere(), 20.0)  # type: ignore[arg-type]
    hunter.think(1.0)  # type: ignore[arg-type]
    hunter.handle_event(BlowSeen(1, 7, 3))
    hunter.handle_event(BlowSeen(7, 1, 3))
    hunter.handle_event(DeathSeen(1, 7))
    hunter.handle_event(DeathSeen(7, 1))
    assert (hunter.blows, hunter.taken, hunter.kills, hunter.deaths) == (1, 1, 1, 1)
