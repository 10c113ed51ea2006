"""Limits of behaviors: the time of one call, and what one behavior may hold and send.

How a call that does not return is interrupted is the shell's business: its guard raises `OutOfTime`
inside the call. The time is judged here as well, for guards that cannot interrupt. Everything that
may run a behavior's code runs inside the guard: the call, the text of what it raises, and the end
of the objects that it leaves behind.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import FrameType, TracebackType
from typing import Any, Final

from emu.limits.rates import RateLimit
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn
from emu.world.behaviors import plain
from emu.world.rules import BehaviorRules
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position

Guard = Callable[[Callable[[], object], float], None]
"""Makes a call, and raises `OutOfTime` in it when it takes longer than so many seconds."""

OURS: Final = "emu."
SHIPPED: Final = "emu.world.behaviors.shipped."
"""How names of modules begin that are the server's, and of behaviors among them."""
LONGEST_REASON: Final = 300
"""Letters that are told of what a behavior raised."""
MOST_CAUSES: Final = 100
"""Exceptions behind an exception whose frames are cleared."""


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
        self.seconds = seconds
        self._guard = guard
        self._clock = clock
        self.spent = 0.0
        """Seconds that the last call took."""
        self._end: float | None = None
        """When the time of the call that is going on is up."""

    @property
    def is_spent_on(self) -> bool:
        """Whether a call is going on."""
        return self._end is not None

    def check(self) -> None:
        """Raise `OutOfTime` when the time of the call that is going on is up.

        The guard interrupts no code of the server, so that nothing is left half done; what a
        behavior calls there asks here instead.
        """
        if self._end is not None and self._clock() > self._end:
            raise OutOfTime

    def spend(self, call: Callable[[], object]) -> str:
        """Make a call; return what was wrong, with file and line, or "" when all is well."""
        began = self._clock()
        outer, self._end = self._end, began + self.seconds
        too_long = f"took longer than {self.seconds:g} s"
        reason = ""

        def make() -> None:
            nonlocal reason
            try:
                call()
            except OutOfTime:
                raise
            except BaseException as error:  # noqa: BLE001  # other people's code, it may `exit()`
                reason = where(error)
                _release(error)

        try:
            self._guard(make, self.seconds)
        except OutOfTime as error:
            place = self._place(error)
            return reason or f"{place}: {too_long}"
        except BaseException:  # noqa: BLE001  # to describe or to release it failed as well
            return reason or "what it raised cannot be described"
        finally:
            self._end = outer
            self.spent = self._clock() - began
        if reason:
            return reason
        return too_long if self.spent > self.seconds else ""

    def _place(self, error: OutOfTime) -> str:
        """Return where a call was interrupted; what its frames hold ends here, guarded again."""
        place = error.place if type(error) is OutOfTime and type(error.place) is str else ""

        def release() -> None:
            nonlocal place
            place = place or _place(_TRACEBACK(error))
            _release(error)

        with suppress(BaseException):  # it is switched off already
            self._guard(release, self.seconds)
        return place or _place(_TRACEBACK(error))


def where(error: BaseException) -> str:
    """Return what went wrong with its file and line, on one line.

    This runs code of whoever made the exception's class.
    """
    name = plain.text(_NAME(type(error)), "a name", LONGEST_REASON)
    if type(error) in (SyntaxError, IndentationError, TabError) and isinstance(error, SyntaxError):
        return f"line {error.lineno}: {error.msg}"
    place = _place(_TRACEBACK(error))
    try:
        text = plain.text(str(error), "a text", LONGEST_REASON)
    except OutOfTime:
        raise
    except BaseException:  # noqa: BLE001  # its own text raises
        text = "(its text cannot be shown)"
    text = " ".join(text.split())
    return ": ".join(part for part in (place, name, text) if part)


def is_behavior(frame: FrameType) -> bool:
    """Say whether a frame runs other code than the server's: a behavior's or a library's."""
    module = dict.get(frame.f_globals, "__name__")
    if type(module) is not str:
        return True
    return not module.startswith(OURS) or module.startswith(SHIPPED)


def _place(trace: TracebackType | None) -> str:
    """Return file and line of the innermost frame that is not the server's, else of the last."""
    last = found = None
    while trace is not None:
        last = trace
        if is_behavior(trace.tb_frame):
            found = trace
        trace = trace.tb_next
    chosen = found or last
    if chosen is None:
        return ""
    name = plain.text(chosen.tb_frame.f_code.co_filename, "a file", LONGEST_REASON)
    return f"{name}, line {chosen.tb_lineno}"


def _release(error: BaseException) -> None:
    """Let go of what the frames hold that an exception came through: it ends now, guarded."""
    seen = 0
    left: BaseException | None = error
    while left is not None and seen < MOST_CAUSES:
        traceback.clear_frames(_TRACEBACK(left))
        left = _CAUSE(left) or _CONTEXT(left)
        seen += 1


def _of_base(owner: Any, name: str) -> Callable[[Any], Any]:
    """Return what reads an attribute as the base class has it, whatever a subclass makes of it."""
    found: Callable[[Any], Any] = owner.__dict__[name].__get__
    return found


_NAME: Final = _of_base(type, "__name__")
_TRACEBACK: Final = _of_base(BaseException, "__traceback__")
_CAUSE: Final = _of_base(BaseException, "__cause__")
_CONTEXT: Final = _of_base(BaseException, "__context__")


@dataclass(slots=True, eq=False)
class Way:
    """Points to go to in order, at a speed in units a second."""

    goals: Sequence[Position]
    speed: float
    _next: int = 0

    def step(self, spawn: Spawn, seconds: float) -> bool:
        """Move a spawn on for some seconds; returns True, and lets it stand, at the last point."""
        left = self.speed * seconds
        at = spawn.position
        while self._next < len(self.goals):
            goal = self.goals[self._next]._replace(grid=at.grid)
            there = at.toward(goal, left)
            left -= at.distance_to(there)
            at = there
            if at[:3] != goal[:3]:
                break
            self._next += 1
        arrived = self._next >= len(self.goals)
        spawn.move(at, speed=0.0 if arrived else self.speed)
        return arrived


TICK: Final = "tick"
STEP: Final = "step"
TIMER: Final = "timer "
"""Names of deadlines: the tick, the next step of a way, and a behavior's own timers."""

ALOUD: Final = 0
"""Whom somebody speaks to who speaks aloud, in place of a character's id."""


Limits = BehaviorRules
"""What a behavior may take."""


@dataclass(slots=True, eq=False)
class RunningBehavior:
    """One behavior at work: its class made, for a spawn or for a zone."""

    name: str
    options: Mapping[str, Any]
    zone: Zone
    spawn: Spawn | None
    owner: Any = None
    handles: frozenset[str] = frozenset()
    """Which of the handlers it has."""
    failed: bool = False
    reason: str = ""
    """Why it is switched off."""
    paces: dict[int, RateLimit] = field(default_factory=dict)
    """How fast it speaks: to each player by character id, aloud by `ALOUD`."""
    work: RateLimit | None = None
    """The seconds of work that it may still use; None before its first call."""
    is_slowed: bool = False
    """Whether operators know that calls of it are left out."""
    is_paced: bool = False
    """Whether operators were told that it speaks too fast."""
    near: float = 15.0
    tick: float = 1.0
    seen: dict[int, Player] = field(default_factory=dict)
    """Players near it, or in its zone, that it was told of."""
    timers: set[str] = field(default_factory=set)
    way: Way | None = None

    @property
    def whose(self) -> str:
        """Whom it moves, as people are told."""
        return self.spawn.name if self.spawn is not None else f"zone {self.zone.zone_id}"
