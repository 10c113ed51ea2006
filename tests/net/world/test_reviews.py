"""Reviews: one at a time, and another one for what was asked meanwhile."""

from __future__ import annotations

from collections.abc import Coroutine
from types import SimpleNamespace
from typing import Any, cast

from twisted.internet.task import Clock

from emu.errors import StoreError
from emu.net.scheduler import Scheduler
from emu.net.world.reviews import Reviews
from emu.world.entry.account_changes import REVIEW
from tests.support.coroutines import finish
from tests.support.running.processes import bus
from tests.support.running.whole_server import captured_log


class Scene:
    """Reviews of nobody, whose work a test carries out."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.bus = bus()
        self.waiting: list[Coroutine[Any, Any, None]] = []
        self.done: list[str] = []
        self.asked = 0
        self.error: StoreError | None = None
        parts = SimpleNamespace(
            account_changes=SimpleNamespace(review=self._accounts, ask_for_review=self._ask),
            memberships=SimpleNamespace(review=self._guilds),
        )
        cluster = SimpleNamespace(processes=SimpleNamespace(bus=self.bus), accounts=None)
        self.reviews = Reviews(
            cast("Any", parts), cast("Any", cluster), Scheduler(self.clock),
            cast("Any", SimpleNamespace(spawn=self.waiting.append)),
        )  # fmt: skip

    async def _accounts(self, _accounts: object) -> None:
        self.done.append("accounts")

    async def _guilds(self) -> None:
        self.done.append("guilds")
        if self.error is not None:
            raise self.error

    def _ask(self) -> None:
        self.asked += 1

    def work(self) -> None:
        finish(self.waiting.pop(0))


def test_a_review_is_made_again_and_again_until_it_stops() -> None:
    scene = Scene()
    scene.reviews.begin(60.0)
    for _ in range(2):
        scene.clock.advance(60.0)
        scene.work()
    assert scene.done == ["accounts", "guilds"] * 2
    scene.reviews.begin(600.0)
    scene.clock.advance(60.0)
    assert not scene.waiting, "the earlier rhythm has ended"
    scene.reviews.stop()
    scene.clock.advance(600.0)
    assert not scene.waiting


def test_what_is_asked_during_a_review_is_made_after_it() -> None:
    scene = Scene()
    for _ in range(3):
        scene.bus.publish(REVIEW, {})
    assert len(scene.waiting) == 1
    scene.work()
    assert len(scene.waiting) == 1, "one more for both that came meanwhile"
    scene.work()
    assert not scene.waiting


def test_guilds_that_cannot_be_read_are_logged() -> None:
    scene = Scene()
    scene.error = StoreError("the disk is full")
    scene.bus.publish(REVIEW, {})
    with captured_log("text") as log:
        scene.work()
    assert "guilds could not be compared with the database: the disk is full" in log.text


def test_a_reload_of_accounts_asks_all_processes() -> None:
    scene = Scene()
    assert "ranks, names and bans" in finish(scene.reviews.reload())
    assert scene.asked == 1
