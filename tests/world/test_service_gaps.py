"""Players whose link carries nothing for a while: what waits for them, and what they find."""

from __future__ import annotations

from typing import Any

import pytest

from emu.client.world import WorldPhase
from emu.client.world.core import RETURN_TIME
from emu.client.world.events import Heard, LineShown
from emu.net.client.world_connection import ClientWorldConnection
from emu.world.reports import PlayerLeft
from emu.world.rules import ChatRules
from tests.support.sessions.lossy_net import LossyReactor
from tests.support.world.lossy_world import LossyWorld

pytestmark = pytest.mark.usefixtures("collect_garbage")
WAYS = pytest.mark.parametrize("ways", [{"in"}, {"out"}, {"in", "out"}], ids=["in", "out", "both"])


class CutReactor(LossyReactor):
    """A network on which one client's link can be cut, each way for itself."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.victim: ClientWorldConnection | None = None
        self.cut: set[str] = set()
        self.to_victim = 0

    def carry(self, data: bytes, source: tuple[str, int], to: tuple[str, int]) -> None:
        port = self.victim._port if self.victim is not None else None
        own = port.address if port is not None else None
        self.to_victim += len(data) if to == own else 0
        if (source == own and "in" in self.cut) or (to == own and "out" in self.cut):
            self.carried += 1
            self.lost += 1
            return
        super().carry(data, source, to)


class Scene:
    """A world with somebody whose link is going to be cut, and others."""

    def __init__(self, **settings: Any) -> None:
        self.reactor = CutReactor(**settings)
        self.world = LossyWorld(self.reactor)
        self.harness = self.world.harness
        self.events: list[Any] = []

    async def enter(self, char_id: int, name: str) -> ClientWorldConnection:
        self.harness.character(char_id, name=name, admin_status=100)
        take = self.events.append if char_id == 5 else lambda _event: None
        client = await self.world.enter(char_id, 546, take)
        if char_id == 5:
            self.reactor.victim = client
        return client

    def heard(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, Heard)]

    def left(self) -> list[PlayerLeft]:
        return [event for event in self.harness.events if isinstance(event, PlayerLeft)]

    def held(self) -> int:
        """Bytes that wait for the one whose link is cut."""
        player = self.harness.world.players.get(5)
        assert player is not None
        return int(player.client.link.session.held_bytes)  # type: ignore[attr-defined]


@pytest.mark.slow
@WAYS
def test_a_gap_of_forty_seconds_in_a_crowd(ways: set[str]) -> None:
    scene = Scene()

    async def whole() -> None:
        async with await scene.enter(5, "Aldana") as client:
            others = [await scene.enter(number, f"Name{number}") for number in range(6, 12)]
            session = client.core.session
            await client.pause(2.0)
            scene.reactor.cut = ways
            most = 0
            for step in range(40):
                for number, other in enumerate(others):
                    place = other.core.place
                    other.walk_to(place.x + (3.0 if step % 2 else -3.0), place.y, place.z)
                    if step % len(others) == number:
                        other.act(lambda core, step=step: core.command(f"/say line {step}"))  # type: ignore[misc]
                await client.pause(1.0)
                most = max(most, scene.held())
            assert most < 100_000
            scene.reactor.cut = set()
            others[0].act(lambda core: core.command("/say after"))
            await client.until(lambda: "after" in scene.heard(), "the last line", timeout=10.0)
            await client.pause(3.0)
            assert client.core.session is session
            assert client.core.phase is WorldPhase.STANDING
            assert scene.left() == []
            assert scene.heard() == [*(f"line {step}" for step in range(40)), "after"]
            seen = client.core.surroundings
            assert seen is not None
            for other in others:
                ghost = seen.find(other.core.character)
                assert ghost is not None
                assert seen.place(ghost).distance_to(other.core.place) < 1.0
            assert scene.held() == 0
            for other in others:
                await other.leave()

    scene.reactor.drive(whole())


@pytest.mark.slow
def test_chat_for_a_link_that_takes_nothing_is_bounded_and_the_player_is_shown() -> None:
    scene = Scene()
    scene.harness.chat.rules = ChatRules(burst=100_000, rate=10_000.0, backlog=20_000)

    async def whole() -> None:
        async with await scene.enter(5, "Aldana") as client:
            other = await scene.enter(6, "Borvik")
            scene.reactor.cut = {"in", "out"}
            for number in range(600):
                text = f"{number} " + "x" * 200
                other.act(lambda core, text=text: core.command(f"/say {text}"))  # type: ignore[misc]
                await client.pause(0.05)
            assert scene.held() < 20_000 + 40_000
            scene.reactor.cut = set()
            reported = lambda: [e.text for e in scene.events if isinstance(e, LineShown)]  # noqa: E731
            await client.until(
                lambda: any("that were lost" in text for text in reported()), "the loss",
                timeout=20.0,
            )  # fmt: skip
            await client.pause(5.0)
            (line,) = [text for text in reported() if "were lost" in text]
            count = int(line.rstrip(".").split()[-1])
            assert len(scene.heard()) + count == 600
            assert 60 < len(scene.heard()) < 250
            other.act(lambda core: core.command("/say again"))
            await client.until(lambda: "again" in scene.heard(), "the next line", timeout=5.0)
            await other.leave()

    scene.reactor.drive(whole())


@pytest.mark.parametrize("moment", [0.0, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3])
@pytest.mark.parametrize("gap", [12.0, 30.0])
def test_a_gap_while_a_player_changes_zones(moment: float, gap: float) -> None:
    scene = Scene()

    async def whole() -> None:
        async with await scene.enter(5, "Aldana") as client:
            client.act(lambda core: core.command("/zone Antonica"))
            await client.pause(moment)
            scene.reactor.cut = {"in", "out"}
            await client.pause(gap)
            scene.reactor.cut = set()
            await client.until(
                lambda: (
                    client.core.phase is WorldPhase.STANDING
                    and client.core.zone is not None
                    and client.core.zone.file == "antonica"
                ),
                "Antonica",
                timeout=RETURN_TIME,
            )
            player = scene.harness.world.players.get(5)
            assert player is not None
            assert player.is_online
            assert scene.left() == []

    scene.reactor.drive(whole())


def test_a_session_that_a_mistake_of_ours_ends_frees_its_account_at_once(
    logged_failures: Any,
) -> None:
    scene = Scene()

    def mistake(*_arguments: object) -> None:
        raise RuntimeError("a mistake")

    async def whole() -> None:
        client = await scene.enter(5, "Aldana")
        account = scene.harness.store.rows[5].account_id
        scene.harness.service.message = mistake  # type: ignore[method-assign, assignment]
        scene.reactor.cut = {"out"}  # the client hears nothing, and so does not answer
        client.act(lambda core: core.command("/say x"))
        await client.pause(0.1)
        assert not scene.harness.presence.is_playing(account)
        assert scene.world.dispatcher.session_count == 1, "it waits for the client's last word"
        await client.pause(10.0)
        assert scene.world.dispatcher.session_count == 0
        await client.stop()

    scene.reactor.drive(whole())
    assert logged_failures.flush(RuntimeError)
