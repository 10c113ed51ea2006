"""`twistd emu` and `twist emu`: the command line, and the service that it starts.

`emu.config` reads the configuration, and `emu.net.server` builds and runs the services. Problems
end the program with exit status 1 before anything is started, with one line for each.
"""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from twisted.application.service import IService
from twisted.logger import ILogObserver
from twisted.python import usage

from emu.config import Config, LogConfig, default_path, doubts, exposed, load
from emu.config.workers import of_worker
from emu.errors import ConfigError, EmuError, StoreError, unusable
from emu.net.cluster.node import machine_name
from emu.net.daemon import check_pid_file, detach
from emu.net.login.shared_port import inherited_port
from emu.net.logs import LogFile, logger, observer
from emu.net.server import EmuService, check_files
from emu.net.supervisor import WorkerSupervisor
from emu.system import allow_files

_log = logger("server")

COLLECTOR_THRESHOLDS = (10_000, 20, 20)
"""Garbage collector: new objects per collection, and collections per older generation."""
MOST_FILES = 65_536
"""Limit of open files, including connections, to request from the system."""


class Options(usage.Options):
    """Options of `twistd emu`."""

    synopsis = "[--config FILE] [--db FILE] [--create-database] [--set table.key=value ...]"
    longdesc = (
        "EverQuest II login and world server. Without --config it reads the first of these files: "
        "$EMU_CONFIG, ./emu.toml, ./state/emu.toml. Every setting has a default; show them with: "
        "emu config show"
    )

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.config_file: Path | None = None
        self.overrides: list[str] = []
        self.anew = False
        self.worker: int | None = None

    def opt_config(self, name: str) -> None:
        """Read this configuration file (TOML)."""
        self.config_file = Path(name)

    def opt_db(self, name: str) -> None:
        """Use this database (SQLite) instead of the configured one."""
        self.overrides.append(f"database.url=sqlite:{Path(name).absolute()}")

    def opt_set(self, override: str) -> None:
        """Set one key, as in --set login.listen=0.0.0.0:9100; overrides the file; repeatable."""
        self.overrides.append(override)

    def opt_create_database(self) -> None:
        """Create an empty database although the file is empty or a server has lost it."""
        self.anew = True

    def opt_worker(self, index: str) -> None:
        """Serve as this worker of a supervisor, with its sockets; only a supervisor gives this."""
        self.worker = int(index)

    def postOptions(self) -> None:  # noqa: N802  # the name Twisted calls
        """Check the PID file, before `twistd` does it with less clear errors.

        Raises `SystemExit` with one line.
        """
        try:
            check_pid_file(self.parent)
        except EmuError as error:
            raise SystemExit(f"emu: {error}") from None

    opt_c = opt_config
    opt_s = opt_set


def makeService(options: Options) -> IService:  # noqa: N802  # the name twistd looks for
    """Return the service with login, world and all others.

    Raises `SystemExit` with a line for each problem of the configuration or of a file in it.
    """
    # Absolute, because a daemon changes its working directory.
    path = options.config_file if options.config_file is not None else default_path()
    # Filled below: the log is reopened first, then the service reloads.
    hangups: list[Callable[[], object]] = []
    read = partial(load, path.absolute() if path else None, tuple(options.overrides))
    if options.worker is not None:
        # A reload reads for this worker, too.
        read = partial(_read_for_worker, read, options.worker)
    try:
        config = read()
        # Before the service is built, so that a problem of a file is one line and no traceback.
        after_crash = options.worker is None and check_files(config, anew=options.anew)
        stream = log_stream(config.log, options.parent or {}, hangups)
        written_by = None if stream is None else observer(config.log.format, stream, options.worker)
        writes_to_terminal = written_by is not None and log_name(options.parent or {}) == "-"
        warnings = (*exposed(config, path), *doubts(config)) if options.worker is None else ()
    except ConfigError as error:
        raise SystemExit("\n".join(f"emu: {problem}" for problem in error.problems)) from None
    except EmuError as error:
        raise SystemExit(f"emu: {error}") from None
    except OSError as error:
        raise SystemExit(f"emu: {unusable(error)}") from None
    startup = detach(options.parent)
    common: dict[str, Any] = {
        "log_observer": written_by,
        "warnings": warnings,
        "started": startup.ready,
        "failed": None if writes_to_terminal else startup.failed,
    }
    service: EmuService | WorkerSupervisor
    if options.worker is None and config.login.workers > 1:
        command = partial(worker_command, path, options.overrides)
        service = WorkerSupervisor(config, command, write=raw_writer(stream), **common)
    else:
        inherited = None if options.worker is None else inherited_port(options.worker)
        service = EmuService(
            config, after_crash=after_crash, reread=read, inherited=inherited,
            end=None if inherited is None else inherited.end_supervisor, **common,
        )  # fmt: skip
    hangups.append(service.reload)
    on_signal("SIGHUP", lambda: [call() for call in hangups])
    spare_the_collector()
    # Each connection is an open file, and the usual 1,024 are fewer than the settings allow.
    allow_files(MOST_FILES)
    return service


def _read_for_worker(read: Callable[[], Config], index: int) -> Config:
    return of_worker(read(), index, machine_name())


def worker_command(path: Path | None, overrides: Sequence[str], index: int) -> list[str]:
    """Return the words that run a login worker with the same configuration."""
    run_twistd = "from twisted.scripts.twistd import run; run()"
    words = [sys.executable, "-c", run_twistd, "--nodaemon", "--pidfile=", "--logfile=-", "emu"]
    if path is not None:
        words += ["--config", str(path.absolute())]
    for override in overrides:
        words += ["--set", override]
    return [*words, f"--worker={index}"]


def raw_writer(stream: TextIO | None) -> Callable[[bytes], object]:
    """Return a function that appends lines to the log as they are; without one, logs each."""
    if stream is None:
        return lambda line: _log.info("{line}", line=line.decode("utf-8", "replace").rstrip("\n"))
    if isinstance(stream, LogFile):
        return stream.write

    def write(line: bytes) -> None:
        stream.write(line.decode("utf-8", "backslashreplace"))
        stream.flush()

    return write


def log_name(twistd: Mapping[str, Any]) -> str:
    """Return the file of the log, or ``-`` for standard output, by `twistd`'s options."""
    return twistd.get("logfile") or ("-" if twistd.get("nodaemon", True) else "twistd.log")


def log_observer(
    log: LogConfig, twistd: Mapping[str, Any], hangups: list[Callable[[], object]] | None = None
) -> ILogObserver | None:
    """Return the observer that writes the log in our form to `log_stream`; None for syslog."""
    stream = log_stream(log, twistd, hangups)
    return None if stream is None else observer(log.format, stream)


def log_stream(
    log: LogConfig, twistd: Mapping[str, Any], hangups: list[Callable[[], object]] | None = None
) -> Any:
    """Return the file of the log, by `twistd`'s options.

    That is standard output, ``--logfile``, or for a daemon twistd.log in the working directory.
    SIGUSR1 and the size limit start a new file; the oldest files are removed. The function adds the
    action for SIGHUP to `hangups`: open the file again, because another program may have moved it.
    Return None for ``--syslog``, which twistd handles. Raises `StoreError` if the file cannot be
    written.
    """
    if twistd.get("syslog"):
        return None
    name = log_name(twistd)
    if name == "-":
        return sys.stdout
    try:
        file = LogFile.fromFullPath(  # type: ignore[no-untyped-call]
            name, rotateLength=log.max_bytes, maxRotatedFiles=log.files
        )
    except OSError as error:
        raise StoreError(
            f"{name}: cannot be written ({error.strerror}); give twistd another --logfile"
        ) from None
    on_signal("SIGUSR1", file.rotate)
    if hangups is not None:
        hangups.append(file.reopen)
    return file


def on_signal(name: str, call: Callable[[], object]) -> None:
    """Call a function in the reactor after a signal, unless the signal has a handler already.

    Windows has neither SIGHUP nor SIGUSR1: there the console's `reload` does what SIGHUP does.

    A handler runs between any two bytecodes, or before the reactor runs. So it only schedules the
    call.
    """

    def caught(*_: object) -> None:
        from twisted.internet import reactor  # noqa: PLC0415  # after it was chosen

        reactor.callFromThread(call)  # type: ignore[attr-defined]

    number = getattr(signal, name, None)
    # A handler of twistd stays, and so does the choice of `nohup` to ignore a signal.
    if number is not None and signal.getsignal(number) is signal.SIG_DFL:
        signal.signal(number, caught)


def spare_the_collector() -> None:
    """Collect garbage less often, and never among the objects that are loaded now.

    Each client adds a few dozen objects that stay. With Python's defaults, a crowd that logs in
    causes a collection of all objects for every dozen clients.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTOR_THRESHOLDS)
