"""The link of a cluster's world: the node that has its lease registers the world."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from twisted.internet.task import Clock

from emu.config.load import parse
from emu.errors import StoreAway
from emu.net.scheduler import Scheduler
from emu.net.world.registration import TRY_AGAIN, LinkAccount, WorldLink
from tests.support.coroutines import finish


class LeaseScene:
    """A node that has the lease, and a database that fails the first calls."""

    def __init__(self, failures: int) -> None:
        self.clock = Clock()
        self.failures = failures
        self.calls = 0
        self.made: list[LinkAccount] = []
        self.begin: Callable[[], object] = lambda: None
        node: Any = SimpleNamespace(want=self._want, give_up_lease=lambda _name: self.end())
        ground: Any = SimpleNamespace(
            config=parse({}, []), node=SimpleNamespace(node=node), scheduler=Scheduler(self.clock),
            storage=SimpleNamespace(with_store=self._with_store), atlas=None,
        )  # fmt: skip
        processes: Any = SimpleNamespace(
            processes=SimpleNamespace(
                bus=SimpleNamespace(subscribe=lambda *_: None),
                presence=SimpleNamespace(observe=lambda _: None),
            )
        )
        with patch("emu.net.world.registration.login_link", self._make):
            self.link = WorldLink(
                ground, processes, LinkAccount("one", "old"), None, None,  # type: ignore[arg-type]
                login_address=("127.0.0.1", 9100),
            )  # fmt: skip
        self.link.start()

    def _want(self, _name: str, begin: Callable[[], object], end: Callable[[], object]) -> None:
        self.begin, self.end = begin, end

    async def _with_store(self, _call: object) -> LinkAccount:
        self.calls += 1
        if self.calls <= self.failures:
            raise StoreAway("the connection was lost during a commit")
        return LinkAccount("one", f"new {self.calls}")

    def _make(self, _ground: object, _processes: object, account: LinkAccount, **_: Any) -> Any:
        self.made.append(account)
        return SimpleNamespace(start=lambda: None, stop=self._stopped)

    async def _stopped(self) -> None:
        pass


def test_a_node_that_has_the_lease_registers_again_after_a_lost_connection() -> None:
    """Found by seed 11 of the simulation: nobody could log in any more."""
    scene = LeaseScene(failures=2)
    scene.begin()
    assert scene.made == []
    for _ in range(2):
        scene.clock.advance(TRY_AGAIN)
    assert [one.password for one in scene.made] == ["new 3"]
    scene.clock.advance(10 * TRY_AGAIN)
    assert scene.calls == 3


def test_a_node_that_has_lost_the_lease_does_not_register() -> None:
    scene = LeaseScene(failures=1)
    scene.begin()
    scene.end()
    scene.clock.advance(10 * TRY_AGAIN)
    assert (scene.calls, scene.made) == (1, [])


def test_a_node_that_stops_does_not_register() -> None:
    scene = LeaseScene(failures=1)
    scene.begin()
    finish(scene.link.stop())
    scene.clock.advance(10 * TRY_AGAIN)
    assert (scene.calls, scene.made) == (1, [])
    assert scene.clock.getDelayedCalls() == []
