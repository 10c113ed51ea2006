"""What one call of other people's code may take, and what is told of one that fails.

How a call that does not return is interrupted is the shell's business: its guard raises `OutOfTime`
inside the call. The time is judged here as well, for guards that cannot interrupt.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable

Guard = Callable[[Callable[[], object], float], None]
"""Makes a call, and raises `OutOfTime` in it when it takes longer than so many seconds."""


class OutOfTime(BaseException):
    """A behavior did not return in time. Not an `Exception`: behaviors catch those."""

    def __init__(self, place: str = "") -> None:
        """Say where it was, if whoever interrupts it knows."""
        super().__init__(place)
        self.place = place


def unguarded(call: Callable[[], object], _seconds: float) -> None:
    """Make a call that nothing interrupts: the guard where there is none."""
    call()


class Budget:
    """The seconds that each call has."""

    def __init__(self, seconds: float, guard: Guard, clock: Callable[[], float]) -> None:
        """`clock` measures (monotonic seconds)."""
        self._seconds = seconds
        self._guard = guard
        self._clock = clock

    def spend(self, call: Callable[[], object]) -> str:
        """Make a call; return what was wrong, with file and line, or "" when all is well."""
        began = self._clock()
        too_long = f"took longer than {self._seconds:g} s"
        try:
            self._guard(call, self._seconds)
        except OutOfTime as error:
            return f"{error.place or where(error)}: {too_long}"
        except BaseException as error:  # noqa: BLE001  # other people's code, which may `exit()`
            return where(error)
        return too_long if self._clock() - began > self._seconds else ""


def where(error: BaseException) -> str:
    """Return what went wrong with its file and line, on one line."""
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].filename}, line {frames[-1].lineno}: " if frames else ""
    text = " ".join(str(error).split())
    return f"{place}{type(error).__name__}: {text}" if text else f"{place}{type(error).__name__}"
