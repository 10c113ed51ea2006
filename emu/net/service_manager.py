"""What systemd is told: ready, reading anew, stopping, how the server does, and that it lives.

Datagrams of lines ``NAME=value`` to the UNIX socket that ``$NOTIFY_SOCKET`` names, as sd_notify(3)
has it; without one nothing is sent. The watchdog's pace comes from the reactor's own scheduler, so
that a server whose loop stands still is found out.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping
from typing import Final

from emu.net.logs import logger
from emu.net.scheduler import DelayedCall, Scheduler

_log = logger("systemd")

STATUS_EVERY: Final = 10.0
"""Seconds between two looks at how the server does."""


class ServiceManager:
    """The way to systemd, if it has started this process. `start` when ready, `stop` at the end."""

    def __init__(
        self,
        scheduler: Scheduler,
        status: Callable[[], str],
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        """`status` says in one line how the server does; `environment` is what systemd has set."""
        self._scheduler = scheduler
        self._status = status
        self._told = ""
        self._address = _socket_name(environment.get("NOTIFY_SOCKET", ""))
        self._watchdog = _watchdog_seconds(environment) if self._address else None
        self._turns: list[DelayedCall] = []

    def start(self) -> None:
        """Say that the server is ready, and go on saying that it lives."""
        if not self._address or self._turns:
            return
        self._told = self._status()
        self._send("READY=1", f"STATUS={self._told}")
        self._turns.append(self._scheduler.every(STATUS_EVERY, self._tell_status))
        if self._watchdog is not None:
            # Half of it, as sd_watchdog_enabled(3) advises: a turn may be late.
            self._turns.append(self._scheduler.every(self._watchdog / 2, self._tell_alive))

    def reloading(self) -> None:
        """Say that configuration and tables are being read anew; `reloaded` must follow."""
        self._send("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def reloaded(self) -> None:
        """Say that what was read anew is in use, or is left as it was."""
        self._send("READY=1")

    def stopping(self) -> None:
        """Say that the server is on its way out; the watchdog is fed until `stop`."""
        self._send("STOPPING=1", "STATUS=stopping: players are saved")

    def stop(self) -> None:
        """Say nothing more."""
        for turn in self._turns:
            turn.cancel()
        self._turns.clear()

    def _tell_status(self) -> None:
        status = self._status()
        if status != self._told:
            self._told = status
            self._send(f"STATUS={status}")

    def _tell_alive(self) -> None:
        self._send("WATCHDOG=1")

    def _send(self, *lines: str) -> None:
        if not self._address:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as way:
                way.setblocking(False)
                way.sendto("\n".join(lines).encode(), self._address)
        except OSError as error:
            _log.warn(
                "systemd cannot be told {what}: {reason}", what=lines[0], reason=error.strerror
            )


def _socket_name(name: str) -> str:
    """Return the socket's name as the kernel has it; of other kinds than UNIX sockets, none."""
    if name.startswith("@"):
        return "\0" + name[1:]
    return name if name.startswith("/") else ""


def _watchdog_seconds(environment: Mapping[str, str]) -> float | None:
    """Return within how many seconds a sign of life is wanted of this process, None for never."""
    wanted_of = environment.get("WATCHDOG_PID") or str(os.getpid())
    microseconds = environment.get("WATCHDOG_USEC", "")
    if wanted_of != str(os.getpid()) or not microseconds.isdecimal() or int(microseconds) == 0:
        return None
    return int(microseconds) / 1_000_000
