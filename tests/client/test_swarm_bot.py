"""Bots in a world over a simulated network: they walk near home, talk, and time what they see."""

import itertools
from functools import partial
from typing import Any

import pytest

from emu.client.swarm import Bot, BotHabits
from emu.client.world import Place, WorldClientCore
from emu.client.world.events import Appeared, Updated, Vanished
from emu.net.client.world_connection import ClientWorldConnection
from emu.times import Monotonic
from emu.world.reports import Said
from emu.world_stream.ghosts import POSITION, GhostEntry
from tests.support.sessions.lossy_net import LossyReactor
from tests.support.world.lossy_world import LossyWorld

pytestmark = pytest.mark.usefixtures("collect_garbage")
SECONDS = 20.0


class Chance:
    """Numbers from 0 to 1 that are the same every time."""

    def __init__(self) -> None:
        self._numbers = itertools.cycle((0.3, 0.9, 0.1, 0.6))

    def __call__(self) -> float:
        return next(self._numbers)


STILL = BotHabits(radius=0.0, rest=1e9, talk=0.0)
NOW = Monotonic(100.0)


class OneGhost:
    """Surroundings with one ghost, which stands where everybody does."""

    index = 0

    def find(self, _name: str) -> int:
        return self.index

    def part_fields(self, _part: int, _data: bytes) -> dict[str, float]:
        return {"pos_x": 0.0, "pos_y": 0.0, "pos_z": 0.0, "pos_heading1": 0.0}


class BotCore:
    """As much of a client as a bot that only watches needs."""

    def __init__(self, character: str) -> None:
        self.character = character
        self.place = Place(0.0, 0.0, 0.0)
        self.surroundings = OneGhost()


def lived(habits: BotHabits) -> tuple[LossyWorld, list[Bot]]:
    """Let two bots live for a while; the first watches the second."""
    world = LossyWorld(LossyReactor(delay=0.01))
    bots: list[Bot] = []

    async def whole() -> None:
        clients: list[ClientWorldConnection] = []
        for number in (1, 2):
            world.harness.character(number, name=f"Bot{'ab'[number - 1]}")
            client = await world.enter(number, 546, lambda _event: None)
            bot = Bot(client.core, habits, Chance(), client.now())
            client.on_step = bot.stepped

            def take(event: Any, bot: Bot = bot, client: ClientWorldConnection = client) -> None:
                bot.handle_event(event, client.now())

            client.on_event = take
            clients.append(client)
            bots.append(bot)
        bots[0].watch(bots[1])
        end = clients[0].now() + SECONDS
        while (now := clients[0].now()) < end:
            for client, bot in zip(clients, bots, strict=True):
                if bot.get_timer() <= now:
                    client.act(partial(_live, bot, now))
            await clients[0].pause(0.05)
        for client in clients:
            await client.leave()

    world.reactor.drive(whole())
    return world, bots


def _live(bot: Bot, now: Monotonic, _core: WorldClientCore) -> None:
    bot.handle_timer(now)


def test_steps_are_seen_within_a_tick_and_the_way_of_the_datagrams() -> None:
    world, bots = lived(BotHabits(talk=5.0))
    delays = bots[0].delays
    assert len(delays) > 2 * SECONDS  # most of four steps a second
    assert min(delays) > 0.0199
    assert max(delays) < 0.02 + 0.1 + 0.03
    assert bots[1].delays == []
    said = [event for event in world.harness.events if isinstance(event, Said)]
    assert {event.name for event in said} == {"Bota", "Botb"}
    assert not world.harness.world.faults.drops["moved too fast"]
    for row in world.harness.store.rows.values():
        assert row.place is not None
        assert abs(row.place[0] - bots[0]._home.x) <= 20.0


def test_a_watched_one_that_vanishes_is_watched_again_under_its_new_index() -> None:
    """Its old index may be somebody else's by then: a step seen there is none of its own."""
    watched, core = Bot(BotCore("Botb"), STILL, Chance(), NOW), BotCore("Bota")
    bot = Bot(core, STILL, Chance(), NOW)
    core.surroundings.index = 7
    bot.watch(watched)
    watched.stepped(NOW)
    step = Updated(0, (GhostEntry(POSITION, 7, None, b"place"),))
    bot.handle_event(step, Monotonic(NOW + 1.0))
    assert bot.delays == [1.0]
    bot.handle_event(Vanished(9, "Botc"), NOW)
    bot.handle_event(step, Monotonic(NOW + 2.0))
    assert bot.delays == [1.0, 2.0]
    bot.handle_event(Vanished(7, "Botb"), NOW)
    bot.handle_event(step, Monotonic(NOW + 3.0))
    assert bot.delays == [1.0, 2.0]
    bot.handle_event(Appeared(8, "Botb"), NOW)
    bot.handle_event(step, Monotonic(NOW + 4.0))
    assert bot.delays == [1.0, 2.0]
    bot.handle_event(Updated(0, (GhostEntry(POSITION, 8, None, b"place"),)), Monotonic(NOW + 5.0))
    assert bot.delays == [1.0, 2.0, 5.0]


def test_who_is_still_says_and_sends_nothing() -> None:
    world, bots = lived(BotHabits(radius=0.0, rest=1e9, talk=0.0))
    assert bots[0].delays == []
    assert not [event for event in world.harness.events if isinstance(event, Said)]
