"""The address bans for those who cannot wait for the store: read now and then, and remembered."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final

from twisted.internet.defer import Deferred

from emu.errors import EmuError
from emu.limits.bans import BanList
from emu.store import BannedAddress
from emu.times import Clock

REREAD: Final = 5.0
"""Seconds between two looks at the store."""


class KnownBans:
    """Says at once whether an address is banned, as far as was known a moment ago."""

    def __init__(
        self, read: Callable[[], Awaitable[Sequence[BannedAddress]]], clock: Clock
    ) -> None:
        self._read = read
        self._clock = clock
        self._list = BanList(())
        self._is_empty = True
        self._looked = -math.inf

    def covers(self, host: str) -> bool:
        """Say whether a ban covers a host; has the bans read again when that is due."""
        now = self._clock.now()
        if now - self._looked >= REREAD:
            self._looked = now
            Deferred.fromCoroutine(self._look())
        return not self._is_empty and self._list.covers(host, self._clock.moment())

    async def _look(self) -> None:
        with suppress(EmuError):  # those that are known still hold
            bans = await self._read()
            self._list = BanList([(ban.prefix, ban.until) for ban in bans])
            self._is_empty = not bans
