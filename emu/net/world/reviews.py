"""Reviews: the players in the world compared with what the database says of them, now and then.

Other programs change ranks, names, bans and guilds there.
"""

from __future__ import annotations

from typing import Any

from emu.errors import StoreError
from emu.net.cluster.service import ProcessesEndpoint
from emu.net.logs import logger
from emu.net.scheduler import Scheduler, Tasks
from emu.world.assembly import Assembly
from emu.world.entry.account_changes import REVIEW

_log = logger("world")


class Reviews:
    """The reviews of one world; `begin` starts them."""

    def __init__(
        self, parts: Assembly, cluster: ProcessesEndpoint, scheduler: Scheduler, tasks: Tasks
    ) -> None:
        self._parts = parts
        self._cluster = cluster
        self._scheduler = scheduler
        self._tasks = tasks
        self._loop: Any = None
        self._is_reviewing = False
        self._is_asked_again = False
        """A review was requested while one was in progress, which may have read older rows."""
        cluster.processes.bus.subscribe(REVIEW, lambda _note: self._review(is_asked=True))

    def begin(self, seconds: float) -> None:
        """Review the players from now on with so many seconds between."""
        self.stop()
        self._loop = self._scheduler.every(seconds, self._review)

    def stop(self) -> None:
        """Begin no further review."""
        if self._loop is not None:
            self._loop.cancel()

    async def reload(self) -> str:
        """Apply changes that another program made to accounts and characters."""
        self._parts.account_changes.ask_for_review()
        return "ranks, names and bans of the players in the world are those of the database"

    def _review(self, *, is_asked: bool = False) -> None:
        """Start a review of the players here, unless one is in progress."""
        if not self._is_reviewing:
            self._is_reviewing = True
            self._tasks.spawn(self._reviewed())
        elif is_asked:
            self._is_asked_again = True

    async def _reviewed(self) -> None:
        try:
            await self._parts.account_changes.review(self._cluster.accounts)
            await self._review_guilds()
        finally:
            self._is_reviewing = False
        # The rows of the review that has just ended may be older than the change.
        if self._is_asked_again:
            self._is_asked_again = False
            self._review()

    async def _review_guilds(self) -> None:
        try:
            await self._parts.memberships.review()
        except StoreError as error:
            _log.warn("guilds could not be compared with the database: {why}", why=str(error))
