"""Five clients of two versions see each other do all that players do, decoded field by field."""

from collections.abc import Callable
from pathlib import Path

import pytest

from emu.client import Credentials
from emu.client.flow import Entrance, granted
from emu.client.world.events import WorldEvent
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from tests.support.running.whole_server import HOST, harness
from tests.support.sessions.lossy_net import LossyReactor
from tests.support.world.cast import Cast
from tests.support.world.lossy_world import LossyWorld

pytestmark = pytest.mark.usefixtures("collect_garbage")
VERSIONS = [546, 561, 546, 561, 546]
ACCOUNTS = {name: f"{name}pass" for name in ("aldana", "borvik", "cenwyn", "dorlas", "elswyth")}


async def test_through_login_and_hand_off_over_real_udp(tmp_path: Path) -> None:
    async with harness(tmp_path, accounts=ACCOUNTS, speed=5) as server:
        await server.world_registered()

        async def enter(
            name: str, version: int, on_event: Callable[[WorldEvent], None]
        ) -> ClientWorldConnection:
            user = name.lower()
            entrance = Entrance(
                Credentials(user, ACCOUNTS[user]), name, create=True, version=version
            )
            if not server.rows("SELECT 1 FROM world_characters WHERE name = ?", name):
                async with await server.begun(user, ACCOUNTS[user], version=version) as login:
                    await login.run(granted(login.core, entrance))
                server.make_game_master(name)
            return await enter_world(
                server.clock, HOST, server.login_port, entrance, on_event=on_event
            )

        await Cast(VERSIONS, enter).play()


@pytest.mark.parametrize("seed", [1, 2])
def test_with_a_tenth_of_all_datagrams_lost_and_many_late(seed: int) -> None:
    reactor = LossyReactor(loss=0.1, repeated=0.05, late=0.2, seed=seed)
    world = LossyWorld(reactor)
    names: dict[str, int] = {}

    async def enter(
        name: str, version: int, on_event: Callable[[WorldEvent], None]
    ) -> ClientWorldConnection:
        number = names.setdefault(name, len(names) + 1)
        if number not in world.harness.store.rows:
            world.harness.character(number, name=name, admin_status=100)
        return await world.enter(number, version, on_event)

    reactor.drive(Cast(VERSIONS, enter).play())
    assert reactor.lost > reactor.carried / 20
