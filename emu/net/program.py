"""A Twisted service that is the program: its log, its start, and one line if it cannot start.

The server and the supervisor of several workers are such services.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from twisted.application.service import Service
from twisted.internet.error import CannotListenError
from twisted.logger import ILogObserver, Logger

from emu.errors import EmuError, unusable
from emu.net import logs
from emu.net.daemon import CannotStart
from emu.net.stream import cannot_listen


class ProgramService(Service):
    """Opens ports while the process may still open low ones, and writes the application's log."""

    def __init__(
        self,
        log: Logger,
        level: str,
        *,
        reactor: Any,
        log_observer: ILogObserver | None,
        warnings: Sequence[str],
        started: Callable[[], object],
        failed: Callable[[str], object] | None,
    ) -> None:
        """Make the service, whose lines are of `level` and more; it opens nothing.

        With an observer the whole application's log goes there. `warnings` are lines for the
        operator, written at the start. `started` is called when the program is ready. `failed`
        prints why it cannot start; without it the log is at the terminal and shows that.
        """
        self._log = log
        self._warnings = warnings
        self._started = started
        self._failed = failed
        self._log_observer = log_observer
        self._writes_log = False
        self._reactor = reactor
        # A daemon forks after this constructor, and threads and sockets would not survive that.
        self._is_open = False
        logs.set_level(level)

    def setServiceParent(self, parent: Any) -> None:
        """Join the application, and write its log in our form if it accepts an observer."""
        if self._log_observer is not None and hasattr(parent, "setComponent"):
            parent.setComponent(ILogObserver, self._log_observer)
            self._writes_log = True
        super().setServiceParent(parent)  # type: ignore[no-untyped-call]

    def privilegedStartService(self) -> None:
        """Open the ports while the process may still open low ones."""
        super().privilegedStartService()  # type: ignore[no-untyped-call]
        self._open_once()

    def startService(self) -> None:
        """Open the ports, unless that is done, and begin to serve."""
        super().startService()  # type: ignore[no-untyped-call]
        # Not every starter calls `privilegedStartService`.
        self._open_once()
        for line in self._warnings:
            self._log.warn("{line}", line=line)
        self._serve()

    def _open_once(self) -> None:
        if self._is_open:
            return
        if self._reactor is None:
            from twisted.internet import reactor  # noqa: PLC0415  # after it was chosen

            self._reactor = reactor
        try:
            self._open()
        except CannotListenError as error:
            self._give_up(cannot_listen(self._key_of(error), error))
        except EmuError as error:
            self._give_up(str(error))
        except OSError as error:
            self._give_up(unusable(error))
        self._is_open = True

    def _give_up(self, line: str) -> NoReturn:
        self._take_back()
        if self._writes_log:
            self._log.error("{line}", line=line)
            if self._failed is not None:
                self._failed(line)
        raise CannotStart(line, is_shown=self._writes_log) from None

    @abstractmethod
    def _open(self) -> None:
        """Open what the program serves. Raises `EmuError`, `OSError`, `CannotListenError`."""

    @abstractmethod
    def _key_of(self, error: CannotListenError) -> str:
        """Return the setting of the address that cannot be opened."""

    def _take_back(self) -> None:
        """Take back what a start that fails has done."""

    @abstractmethod
    def _serve(self) -> None:
        """Begin to serve."""
