"""Notifications to systemd: ready, reloading, stopping, a status line, and the watchdog.

They are datagrams of lines ``NAME=value`` to the UNIX socket in ``$NOTIFY_SOCKET`` (sd_notify(3)).
Without the variable nothing is sent. The watchdog's timer is one of the reactor's scheduler, so
systemd notices a blocked event loop.
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
"""Seconds between two checks of the status line."""


class ServiceManager:
    """Notifies systemd, if it has started this process. `start` when ready, `stop` at the end."""

    def __init__(
        self,
        scheduler: Scheduler,
        status: Callable[[], str],
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        """`status` returns the status line; `environment` has the variables set by systemd."""
        self._scheduler = scheduler
        self._status = status
        self._sent_status = ""
        self._address = _socket_name(environment.get("NOTIFY_SOCKET", ""))
        self._watchdog = _watchdog_seconds(environment) if self._address else None
        self._timers: list[DelayedCall] = []

    def start(self) -> None:
        """Send that the server is ready, and start the status and watchdog timers."""
        # A second call must not start a second watchdog.
        if not self._address or self._timers:
            return
        self._sent_status = self._status()
        self._send("READY=1", f"STATUS={self._sent_status}")
        self._timers.append(self._scheduler.every(STATUS_EVERY, self._send_status))
        if self._watchdog is not None:
            # Half of the interval, as sd_watchdog_enabled(3) advises: a timer may be late.
            self._timers.append(self._scheduler.every(self._watchdog / 2, self._send_watchdog))

    def reloading(self) -> None:
        """Send that configuration and tables are being reloaded; `reloaded` must follow."""
        # systemd needs this time to match the notification with its own request to reload.
        self._send("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def reloaded(self) -> None:
        """Send that the reload is done, with or without an error."""
        self._send("READY=1")

    def stopping(self) -> None:
        """Send that the server stops; the watchdog timer continues until `stop`."""
        self._send("STOPPING=1", "STATUS=stopping: players are saved")

    def stop(self) -> None:
        """Send nothing more."""
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()

    def _send_status(self) -> None:
        status = self._status()
        if status != self._sent_status:
            self._sent_status = status
            self._send(f"STATUS={status}")

    def _send_watchdog(self) -> None:
        self._send("WATCHDOG=1")

    def _send(self, *lines: str) -> None:
        if not self._address:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
                # The reactor must not wait for systemd.
                sender.setblocking(False)
                sender.sendto("\n".join(lines).encode(), self._address)
        except OSError as error:
            _log.warn(
                "cannot notify systemd of {what}: {reason}", what=lines[0], reason=error.strerror
            )


def _socket_name(name: str) -> str:
    """Return the name of the UNIX socket in the kernel's form, or an empty one for other kinds."""
    # The kernel marks an abstract socket with a zero byte, the variable with an at sign.
    if name.startswith("@"):
        return "\0" + name[1:]
    return name if name.startswith("/") else ""


def _watchdog_seconds(environment: Mapping[str, str]) -> float | None:
    """Return the watchdog's interval in seconds for this process, or None."""
    watched_pid = environment.get("WATCHDOG_PID") or str(os.getpid())
    microseconds = environment.get("WATCHDOG_USEC", "")
    # A child process inherits the variables, but the watchdog is not meant for it.
    if watched_pid != str(os.getpid()) or not microseconds.isdecimal() or int(microseconds) == 0:
        return None
    return int(microseconds) / 1_000_000
