"""The supervisor of login workers: opens the port, runs one process for each worker, keeps them up.

`emu.login.workers` decides; this module has the sockets, processes, signals and timers. Workers
report to the supervisor as services report to systemd (`emu.net.service_manager`): ready, a beat,
stopping. They end when their standard input ends, so none outlives its supervisor.
"""

from __future__ import annotations

import atexit
import os
import signal
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from twisted.internet.defer import Deferred, DeferredList, maybeDeferred, succeed
from twisted.internet.error import CannotListenError, ProcessExitedAlready
from twisted.internet.protocol import DatagramProtocol, ProcessProtocol
from twisted.logger import ILogObserver
from twisted.python.failure import Failure

from emu.config import Config
from emu.login.workers import BEAT_SECONDS, WorkerSupervision
from emu.net.login.shared_port import SharedPort, open_shared
from emu.net.logs import logger
from emu.net.program import ProgramService
from emu.net.scheduler import Scheduler
from emu.net.service_manager import ServiceManager
from emu.net.stream import listen_address
from emu.times import Monotonic

_log = logger("supervisor")

LISTEN: Final = "login.listen"
"""The setting of the address that the workers share."""
STOP_MARGIN: Final = 3.0
"""Seconds that workers have beyond ``network.shutdown_time``, until they are killed."""
LONGEST_LINE: Final = 65_536
"""Bytes of a log line of a worker; a longer one is cut into several."""
FAULT_MARK: Final = b"emu: "
"""Beginning of the line in which a worker says why it cannot start."""


class NotificationListener(DatagramProtocol):
    """Receives the notifications of one worker."""

    noisy = False

    def __init__(self, take: Callable[[Sequence[str]], object]) -> None:
        self._take = take

    def datagramReceived(self, datagram: bytes, addr: Any) -> None:  # noqa: ARG002
        """Pass on the lines of a notification."""
        self._take(datagram.decode("utf-8", "replace").split("\n"))


class WorkerProcess(ProcessProtocol):
    """One process of a worker; its output goes line by line to the supervisor's log."""

    def __init__(
        self, write: Callable[[bytes], object], ended: Callable[[WorkerProcess], object]
    ) -> None:
        self._write = write
        self._ended = ended
        self._held: dict[int, bytes] = {}
        self.fault = ""
        """Why the worker could not start, as it printed that last."""
        self.outcome = ""
        """How it ended."""

    def childDataReceived(self, childFD: int, data: bytes) -> None:
        """Write the complete lines of the output."""
        *lines, rest = (self._held.get(childFD, b"") + data).split(b"\n")
        if len(rest) > LONGEST_LINE:
            lines, rest = [*lines, rest], b""
        self._held[childFD] = rest
        for line in lines:
            self._take_line(line)

    def processEnded(self, reason: Failure) -> None:
        """Write what is left of the output, and report the end."""
        for rest in filter(None, self._held.values()):
            self._take_line(rest)
        self._held.clear()
        value: Any = reason.value
        number = getattr(value, "signal", None)
        if number:
            self.outcome = f"killed by {signal.Signals(number).name}"
        else:
            self.outcome = f"exit status {getattr(value, 'exitCode', 0) or 0}"
        self._ended(self)

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal, unless the process has ended."""
        try:
            self.transport.signalProcess(number.value)  # type: ignore[union-attr]
        except ProcessExitedAlready:
            return

    def _take_line(self, line: bytes) -> None:
        if line.startswith(FAULT_MARK):
            self.fault = line.removeprefix(FAULT_MARK).decode("utf-8", "replace")
        self._write(line + b"\n")


class WorkerSupervisor(ProgramService):
    """The service of the supervisor; it serves no client itself."""

    def __init__(
        self,
        config: Config,
        command: Callable[[int], Sequence[str]],
        *,
        write: Callable[[bytes], object],
        reactor: Any = None,
        log_observer: ILogObserver | None = None,
        warnings: Sequence[str] = (),
        started: Callable[[], object] = lambda: None,
        failed: Callable[[str], object] | None = None,
        end: Callable[[], object] | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        """Make the service; `command` returns the words that run a worker by its number.

        `write` appends the workers' lines to the log. `started` is called when all workers are
        ready; `failed` prints why they cannot start, and `end` stops the program then. The other
        arguments are those of `EmuService`.
        """
        super().__init__(
            _log, config.log.level, reactor=reactor, log_observer=log_observer, warnings=warnings,
            started=started, failed=failed,
        )  # fmt: skip
        self.config = config
        self._command = command
        self._write = write
        self._end = end or self._end_program
        self._is_over = False
        self._environment = environment
        self._port: SharedPort | None = None
        self._processes: dict[int, WorkerProcess] = {}
        self._notifications: list[Any] = []
        self._stopped: Deferred[None] | None = None
        self._fault = ""

    @property
    def port(self) -> SharedPort:
        """The sockets; there are some from `privilegedStartService` on."""
        if self._port is None:
            raise RuntimeError("the service has not been started")
        return self._port

    def _serve(self) -> None:
        config, count = self.config, self.config.login.workers
        self._scheduler = Scheduler(self._reactor)
        self._folder = tempfile.TemporaryDirectory(prefix="emu-workers-")
        self._notifications = [
            self._reactor.listenUNIXDatagram(
                str(self._socket(index)), NotificationListener(self._hearing(index))
            )
            for index in range(count)
        ]
        stop_seconds = config.network.shutdown_time + STOP_MARGIN
        self.supervision = WorkerSupervision(count, self, stop_seconds=stop_seconds)
        self._timer = self._scheduler.timer(self)
        self._manager = ServiceManager(self._scheduler, self._in_short, self._environment)
        _log.info("{count} workers for clients on UDP {at}", count=count, at=self.port.address)
        # From inside the reactor's loop: a signal then stops the workers in order.
        self._reactor.callWhenRunning(self._begin)

    def reload(self) -> None:
        """Let every worker read its settings and files again."""
        for process in self._processes.values():
            process.send_signal(signal.SIGHUP)

    def stopService(self) -> Deferred[None]:
        """Ask all workers to end, and answer when they have."""
        super().stopService()  # type: ignore[no-untyped-call]
        if self._is_over:
            return succeed(None)
        self._stopped = Deferred()
        self._manager.stopping()
        self.supervision.stop(self._scheduler.now())
        self._arm()
        return self._stopped

    # -- what the supervision has done ------------------------------------------------------------

    def start(self, index: int) -> None:
        """Start a process as this worker."""
        words = list(self._command(index))
        process = WorkerProcess(self._write, lambda one: self._process_ended(index, one))
        self._processes[index] = process
        self._reactor.spawnProcess(
            process, words[0], words, env=self._environment_of(index),
            # The standard input is a pipe that only ends with this process.
            childFDs={0: "w", 1: "r", 2: "r", **self.port.descriptors(index)},
        )  # fmt: skip

    def terminate(self, index: int) -> None:
        """Ask a worker to end in order."""
        self._processes[index].send_signal(signal.SIGTERM)

    def kill(self, index: int) -> None:
        """End a worker at once."""
        _log.error("worker {index} does not answer and is killed", index=index)
        self._processes[index].send_signal(signal.SIGKILL)

    def all_ready(self) -> None:
        """Report that clients can log in."""
        _log.info("ready, {count} workers", count=self.supervision.ready)
        self._started()
        # `started` may have stopped the service already.
        if self.running:
            self._manager.start()

    def all_ended(self) -> None:
        """Finish the stop; without one, the start has failed and the program ends."""
        self._is_over = True
        self._scheduler.drop(self._timer)
        self._manager.stop()
        self.port.close()
        closing = [maybeDeferred(listening.stopListening) for listening in self._notifications]
        DeferredList(closing).addCallback(self._closed)

    def _closed(self, _results: object) -> None:
        self._folder.cleanup()
        _log.info("stopped")
        if self._stopped is not None:
            self._stopped.callback(None)
            return
        line = self._fault or "a worker ended during its start; the log says why"
        if self._failed is not None:
            self._failed(line)
        self._end()

    # -- what workers and clocks report -----------------------------------------------------------

    def handle_timer(self, now: Monotonic) -> None:
        """Replace or kill workers; called by the scheduler."""
        self.supervision.handle_timer(now)
        self._arm()

    def _begin(self) -> None:
        self.supervision.begin(self._scheduler.now())
        self._arm()

    def _hearing(self, index: int) -> Callable[[Sequence[str]], None]:
        def hear(lines: Sequence[str]) -> None:
            now = self._scheduler.now()
            if "READY=1" in lines:
                self.supervision.report_ready(index, now)
            else:
                self.supervision.report_beat(index, now)
            self._arm()

        return hear

    def _process_ended(self, index: int, process: WorkerProcess) -> None:
        del self._processes[index]
        self._fault = process.fault or self._fault
        delay = self.supervision.report_end(index, self._scheduler.now())
        if delay is not None:
            _log.warn(
                "worker {index} has ended ({outcome}); it is replaced in {delay:g} s",
                index=index, outcome=process.outcome, delay=delay,
            )  # fmt: skip
        self._arm()

    def _arm(self) -> None:
        self._scheduler.arm(self._timer, self.supervision.get_timer())

    def _in_short(self) -> str:
        return f"{self.supervision.ready} of {self.config.login.workers} workers are ready"

    # -- sockets and processes --------------------------------------------------------------------

    def _open(self) -> None:
        login = self.config.login
        self._port = open_shared(listen_address(LISTEN, login.listen), login.workers)

    def _key_of(self, _error: CannotListenError) -> str:
        return LISTEN

    def _socket(self, index: int) -> Path:
        return Path(self._folder.name) / f"worker-{index}"

    def _environment_of(self, index: int) -> dict[str, str]:
        """Return the environment of a worker, which reports to this process."""
        # systemd's watchdog is for the supervisor, and so is its socket.
        kept = {key: value for key, value in self._environment.items() if key != "WATCHDOG_PID"}
        # A worker beats at half of this interval.
        beat = str(int(BEAT_SECONDS / 2 * 1_000_000))
        return kept | {"NOTIFY_SOCKET": str(self._socket(index)), "WATCHDOG_USEC": beat}

    def _end_program(self) -> None:
        """Stop the reactor, and let the program end with exit status 1."""
        # twistd always ends with 0 once the reactor has run; it removes its PID file before this.
        atexit.register(os._exit, 1)
        self._reactor.stop()
