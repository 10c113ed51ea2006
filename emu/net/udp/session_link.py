"""A session as the core of a service uses it: to send, to end it, to run coroutines for it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from twisted.logger import Logger
from twisted.python.failure import Failure

from emu.net.udp.dispatcher import SessionPort


class SessionLink:
    """The `ClientLink` of a client of the login service, and the `EntrantLink` of a player's."""

    __slots__ = ("_failure", "_log", "_port")

    def __init__(self, port: SessionPort, log: Logger, failure: str) -> None:
        """`failure` is what the log says when a coroutine raises."""
        self._port = port
        self._log = log
        self._failure = failure

    def send(self, opcode: int, payload: bytes) -> None:
        """Send one application message in this turn of the reactor."""
        self._port.session.send(opcode, payload)
        self._port.touch()

    def trust(self) -> None:
        """Lift the limits of a stranger."""
        self._port.session.trust()

    def close(self, reason: str = "") -> None:  # noqa: ARG002  # the service has logged it
        """Close the session after what was sent has left."""
        self._port.session.close()
        self._port.touch()

    def room(self) -> int:
        """Return how many bytes may usefully be sent now."""
        return self._port.room()

    def round_trip(self) -> float | None:
        """Return the seconds that a datagram takes there and back; None while not measured."""
        return self._port.session.statistics().smoothed_round_trip

    def wake(self) -> None:
        """Have the timer asked for again."""
        self._port.touch()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine of the service; the session ends with what it raises."""
        run(work, self._failed)

    def _failed(self, failure: Failure) -> None:
        self._log.failure(self._failure, failure)
        self.close()


def run(work: Coroutine[Any, Any, Any], failed: Callable[[Failure], Any]) -> None:
    """Run a coroutine of a service to its end; `failed` gets what it raises.

    What they await in the end are Deferreds, and those alone are made: Twisted's own way would
    make two more for each of them.
    """
    _step(work, failed, work.send, None)


def _step(
    work: Coroutine[Any, Any, Any],
    failed: Callable[[Failure], Any],
    advance: Callable[[Any], Any],
    value: object,
) -> None:
    """Advance a coroutine up to the next Deferred that has not fired."""
    try:
        waiting = advance(value)
    except StopIteration:
        return
    except Exception:  # noqa: BLE001  # whatever it is, it must not leave the shell
        failed(Failure())  # type: ignore[no-untyped-call]
        return
    waiting.addBoth(_go_on, work, failed)


def _go_on(
    result: object, work: Coroutine[Any, Any, Any], failed: Callable[[Failure], Any]
) -> None:
    """Go on with a coroutine whose Deferred has fired."""
    if isinstance(result, Failure):
        _step(work, failed, work.throw, result.value)
    else:
        _step(work, failed, work.send, None)  # the Deferred itself hands its result over
