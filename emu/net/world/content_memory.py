"""The memory of zones of the content file: no long searches for garbage, and memory given back.

A large world has a million objects. Python's garbage collector visits all of them when a quarter
more have come, for tenths of a second in which nobody is served.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from twisted.internet.defer import Deferred

from emu.content.standing import Standing
from emu.net.machine import resident_bytes
from emu.world.actors.spawn import Spawn
from emu.world.zones.zone import Zone

SETTLED: Final = 100
"""Spawns after which the collector leaves alone what is there: one or two slices of a zone."""
LEFT: Final = 64 * 1024 * 1024
"""Bytes that ended zones may leave before they are searched."""


class ContentMemory:
    """Keeps the collector away from the spawns of zones; a `Watcher` of the content's zones.

    Spawns and zones that end are freed without the collector, because nothing names them any more.
    What it alone would find, for instance circles that a behavior makes, is searched for when much
    is left, the last zone has ended and nobody waits.
    """

    def __init__(
        self,
        is_anybody_there: Callable[[], bool],
        in_thread: Callable[[Callable[[], Any]], Deferred[Any]],
    ) -> None:
        """`in_thread` carries out a call in a thread."""
        self._is_anybody_there = is_anybody_there
        self._in_thread = in_thread
        self._zones: set[Zone] = set()
        self._fresh = 0
        """Spawns that the collector would still visit."""
        self._is_searched = True
        """Whether nothing has appeared since the last search."""
        self._least: int | None = None
        """The least memory of the process when all zones had ended; None before that."""
        self._is_giving = False
        """Whether memory is about to be given back."""
        self._has_scripts = False
        """Whether scripts forget the spawns of a zone some time after its end."""

    def after_scripts(self) -> Callable[[], object]:
        """Search no more when zones end; return what scripts call when they have forgotten them.

        A search before that would visit all spawns of the zones that have ended.
        """
        self._has_scripts = True
        return self.rest

    def appeared(self, zone: Zone, _spawn: Spawn, _standing: Standing) -> None:
        """Count a spawn; leave the objects of some alone from now on."""
        self._zones.add(zone)
        self._is_searched = False
        self._fresh += 1
        if self._fresh >= SETTLED:
            self._fresh = 0
            gc.freeze()

    def vanished(self, zone: Zone, spawn: Spawn) -> None:
        """Do nothing: what a spawn had is freed when it goes."""

    def ended(self, zone: Zone) -> None:
        """Give the memory of a zone back when it has ended, and once for all that end together."""
        self._zones.discard(zone)
        if not self._has_scripts:
            self.rest()

    def rest(self) -> None:
        """Give memory back to the system, unless that has begun."""
        if self._is_giving:
            return
        self._is_giving = True
        # In a turn of its own: the zone is only about to end, and others are to be served first.
        # It fails while the server stops, and then nothing is to be done.
        self._in_thread(give_back).addCallbacks(self._given, lambda _failure: None)

    def _given(self, resident: int | None) -> None:
        """Search if the process has much more memory than after the end of other zones."""
        self._is_giving = False
        if self._is_searched or self._zones or self._is_anybody_there():
            return
        self._is_searched = True
        if resident is not None:
            least = self._least
            self._least = resident if least is None else min(least, resident)
            if resident < self._least + LEFT:
                return
            # Not again for the same: what a search does not find is in use.
            self._least = resident
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        self._in_thread(give_back).addErrback(lambda _failure: None)


def give_back() -> int | None:
    """Give free memory back to the system, where the C library can. For a thread.

    Returns the resident bytes of the process, None where the system does not say them.
    """
    trim = _trim()
    if trim is not None:
        trim(0)
    return resident_bytes()


@cache
def _trim() -> Callable[[int], int] | None:
    """Return the function of the GNU C library; None with another library."""
    try:
        found: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
    return found
