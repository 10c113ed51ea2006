"""The time budget of a behavior's call.

`emu.net.world.guard` interrupts a call that does not return: it raises `OutOfTime` inside the call.
`Budget` measures the time too, for guards that cannot interrupt. Three things run a behavior's code
and are therefore done inside the guard: the call itself, the text of the exception that it raises,
and the release of the objects that it leaves behind.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Any, Final

from emu.world.minds import plain

Guard = Callable[[Callable[[], object], float], None]
"""Makes a call and raises `OutOfTime` in it after a number of seconds."""

OURS: Final = "emu."
"""The prefix of the server's modules."""
SHIPPED: Final = "emu.world.behaviors.shipped."
"""The prefix of the modules among them that contain behaviors."""
LONGEST_REASON: Final = 300
"""Characters of an exception's text that are reported."""
MOST_CAUSES: Final = 100
"""Exceptions in a chain of causes whose frames are cleared."""


class OutOfTime(BaseException):
    """A behavior did not return in time. No `Exception`, because behaviors catch those."""

    def __init__(self, place: str = "") -> None:
        """`place` is the file and line of the interruption, "" if it is unknown."""
        super().__init__(place)
        self.place = place


def unguarded(call: Callable[[], object], _seconds: float) -> None:
    """Make a call without interrupting it: the guard of threads and tests."""
    call()


class Budget:
    """The time that each call may take."""

    def __init__(self, seconds: float, guard: Guard, clock: Callable[[], float]) -> None:
        """`clock` returns monotonic seconds."""
        self.seconds = seconds
        self._guard = guard
        self._clock = clock
        self.spent = 0.0
        """Seconds that the last call took."""
        self._end: float | None = None
        """The end of the running call's time, None if no call runs."""

    @property
    def is_spent_on(self) -> bool:
        """Whether a call is running."""
        return self._end is not None

    def check(self) -> None:
        """Raise `OutOfTime` if the running call has used up its time.

        The guard never interrupts code of the server, so no change is left half done. The functions
        of the world API call this instead.
        """
        if self._end is not None and self._clock() > self._end:
            raise OutOfTime

    def spend(self, call: Callable[[], object]) -> str:
        """Make a call; return "" or the fault with file and line."""
        began = self._clock()
        # Calls nest: one behavior can cause an event that the host passes to another.
        outer, self._end = self._end, began + self.seconds
        too_long = f"took longer than {self.seconds:g} s"
        reason = ""

        def make() -> None:
            nonlocal reason
            try:
                call()
            except OutOfTime:
                raise
            except BaseException as error:  # noqa: BLE001  # foreign code; it may call `exit()`
                # Still inside the guard: `str(error)` and `__del__` run code of the behavior.
                reason = where(error)
                _release(error)

        try:
            self._guard(make, self.seconds)
        except OutOfTime as error:
            place = self._place(error)
            # `reason` wins: the call had already raised when the time was up.
            return reason or ": ".join(filter(None, (place, too_long)))
        except BaseException:  # noqa: BLE001  # describing or releasing the exception failed too
            return reason or "its exception cannot be described"
        finally:
            # The outer call goes on with its own end; what the inner one took counts for both.
            self._end = outer
            self.spent = self._clock() - began
        if reason:
            return reason
        # A guard that cannot interrupt (threads, tests) lets the call return late; it counts as a
        # fault nevertheless.
        return too_long if self.spent > self.seconds else ""

    def _place(self, error: OutOfTime) -> str:
        """Return where a call was interrupted; release its frames' objects under a new guard."""
        # The exact types are compared because a behavior can raise a subclass with its own code.
        place = error.place if type(error) is OutOfTime and type(error.place) is str else ""

        # Releasing can run `__del__` of the behavior for as long as the call itself, so it has a
        # guard of its own.
        def release() -> None:
            nonlocal place
            place = place or _place(_TRACEBACK(error))
            _release(error)

        with suppress(BaseException):  # the behavior is switched off in any case
            self._guard(release, self.seconds)
        return place or _place(_TRACEBACK(error))


def where(error: BaseException) -> str:
    """Describe an exception on one line: file and line, class, text.

    This runs code of the exception's class; call it inside the guard.
    """
    name = plain.text(_NAME(type(error)), "a name", LONGEST_REASON)
    # The frames of a syntax error are those of the importer; its own line is what helps. A subclass
    # of the behavior could have any `lineno`.
    if type(error) in (SyntaxError, IndentationError, TabError) and isinstance(error, SyntaxError):
        return f"line {error.lineno}: {error.msg}"
    place = _place(_TRACEBACK(error))
    try:
        text = plain.text(str(error), "a text", LONGEST_REASON)
    except OutOfTime:
        raise
    except BaseException:  # noqa: BLE001  # `__str__` of the exception raises
        text = "(its text cannot be shown)"
    # A line break in the text would let a behavior write lines of its own into the log.
    text = " ".join(text.split())
    return ": ".join(behavior for behavior in (place, name, text) if behavior)


def place_of(reason: str) -> tuple[str, int, str]:
    """Return the file, the line and the text of what `Budget.spend` returns.

    Without a place they are "", 0 and the whole reason.
    """
    file, found, rest = reason.partition(", line ")
    number, colon, text = rest.partition(": ")
    if found and colon and number.isascii() and number.isdigit():
        return file, int(number), text
    return "", 0, reason


def is_behavior(frame: FrameType) -> bool:
    """Return whether a frame runs code of a behavior or a library, not of the server."""
    # `dict.get` and the exact type: a behavior can run code with its own globals and names.
    module = dict.get(frame.f_globals, "__name__")
    if type(module) is not str:
        return True
    return not module.startswith(OURS) or module.startswith(SHIPPED)


def _place(trace: TracebackType | None) -> str:
    """Return file and line of the innermost frame outside of the server; "" without one.

    A line of the server would be of no use to the behavior's author.
    """
    chosen = None
    while trace is not None:
        if is_behavior(trace.tb_frame):
            chosen = trace
        trace = trace.tb_next
    if chosen is None:
        return ""
    name = plain.text(chosen.tb_frame.f_code.co_filename, "a file", LONGEST_REASON)
    return f"{name}, line {chosen.tb_lineno}"


def _release(error: BaseException) -> None:
    """Clear the frames of an exception and of its causes, so that their objects end now.

    Otherwise the garbage collector would end them later, outside of the guard, and run their
    `__del__` there without a time limit.
    """
    seen = 0
    left: BaseException | None = error
    while left is not None and seen < MOST_CAUSES:
        traceback.clear_frames(_TRACEBACK(left))
        # The chain can be a circle, which a behavior can build on purpose; `MOST_CAUSES` ends it.
        left = _CAUSE(left) or _CONTEXT(left)
        seen += 1


def _of_base(owner: Any, name: str) -> Callable[[Any], Any]:
    """Return a reader of the base class's attribute, which a subclass cannot replace."""
    found: Callable[[Any], Any] = owner.__dict__[name].__get__
    return found


_NAME: Final = _of_base(type, "__name__")
_TRACEBACK: Final = _of_base(BaseException, "__traceback__")
_CAUSE: Final = _of_base(BaseException, "__cause__")
_CONTEXT: Final = _of_base(BaseException, "__context__")
