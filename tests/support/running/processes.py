"""What processes share, for a test that is one process."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from emu.model import Present
from emu.processes.bus import LocalBus
from emu.processes.presence import SharedPresence
from emu.processes.shared import LocalHandoffKeys
from emu.processes.tables import run_now
from emu.times import Clock
from tests.support.times import ManualClock


def bus() -> LocalBus:
    """Return a bus that raises what a subscriber raises."""

    def failed(error: Exception) -> NoReturn:
        raise error

    return LocalBus(failed)


def present(account_id: int, char_id: int, zone_id: int, name: str = "") -> Present:
    """Return a character as its process notes it."""
    return Present(account_id, char_id, zone_id, name=name or f"Name{char_id}")


def presence() -> SharedPresence:
    """Return the presence of a world that is one process."""
    return SharedPresence(bus(), "here", spawn=run_now)


def handoff_keys(
    draw: Callable[[], int], clock: Clock | None = None, *, most: int = 1000
) -> LocalHandoffKeys:
    """Return keys on a clock that stands still unless a test moves it."""
    return LocalHandoffKeys(draw, clock or ManualClock(), most=most)
