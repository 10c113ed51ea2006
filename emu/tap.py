"""`twistd emu` and `twist emu`: the options, and the service that runs everything.

Knows the command line and nothing else: reading the configuration is `emu.config`, joining the
parts is `emu.net.server`. Whatever cannot work is said here in one line a problem, before anything
is started, and ends the program with exit status 1.
"""

from __future__ import annotations

import gc
import resource
import signal
import tempfile
from collections.abc import Callable, Mapping, MutableMapping
from functools import partial
from pathlib import Path
from typing import Any

from twisted.application.service import IService
from twisted.logger import ILogObserver
from twisted.python import usage

from emu.config import LogConfig, default_path, doubts, exposed, load
from emu.errors import ConfigError, EmuError, StoreError, unusable
from emu.net.log_file import LogFile
from emu.net.logs import observer
from emu.net.server import EmuService, check_files

COLLECTOR_THRESHOLDS = (10_000, 20, 20)
"""New objects before a collection, and collections before one of the next older generation."""
MOST_FILES = 65_536
"""Open files, connections among them, that are asked of the system."""


class Options(usage.Options):
    """Options behind `twistd emu`."""

    synopsis = "[--config FILE] [--db FILE] [--create-database] [--set table.key=value ...]"
    longdesc = (
        "EverQuest II login and world server. Without --config it reads what $EMU_CONFIG names, "
        "./emu.toml or ./state/emu.toml, the first there is; every setting has a default. See all "
        "of them with: emu config show"
    )

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.config_file: Path | None = None
        self.overrides: list[str] = []
        self.anew = False

    def opt_config(self, name: str) -> None:
        """Read this configuration file (TOML)."""
        self.config_file = Path(name)

    def opt_db(self, name: str) -> None:
        """Keep everything in this database (SQLite) instead of the configured one."""
        self.overrides.append(f"database.url=sqlite:{Path(name).absolute()}")

    def opt_set(self, override: str) -> None:
        """Set one key, as in --set login.listen=0.0.0.0:9100; wins over the file; repeatable."""
        self.overrides.append(override)

    def opt_create_database(self) -> None:
        """Begin with an empty database where its file is empty, or was deleted under a server."""
        self.anew = True

    opt_c = opt_config
    opt_s = opt_set


def makeService(options: Options) -> IService:  # noqa: N802  # the name twistd looks for
    """Return the service that runs login, world and everything beside them.

    Raises `SystemExit` with one line for each problem when the configuration or a file it names
    cannot be used.
    """
    path = options.config_file if options.config_file is not None else default_path()
    hangups: list[Callable[[], object]] = []
    read = partial(load, path.absolute() if path else None, tuple(options.overrides))
    try:
        config = read()
        spare_the_pid_file(options.parent)
        after_crash = check_files(config, anew=options.anew)
        written_by = log_observer(config.log, options.parent or {}, hangups)
        warnings = (*exposed(config, path), *doubts(config))
    except ConfigError as error:
        raise SystemExit("\n".join(f"emu: {problem}" for problem in error.problems)) from None
    except EmuError as error:
        raise SystemExit(f"emu: {error}") from None
    except OSError as error:
        raise SystemExit(f"emu: {unusable(error)}") from None
    service = EmuService(
        config,
        log_observer=written_by,
        warnings=warnings,
        after_crash=after_crash,
        given_up=partial(drop_pid_file, options.parent),
        reread=read,
    )
    hangups.append(service.reload)
    on_signal(signal.SIGHUP, lambda: [call() for call in hangups])
    spare_the_collector()
    allow_more_files()
    return service


def spare_the_pid_file(twistd: MutableMapping[str, Any] | None) -> None:
    """Let `twistd` run in the foreground in a folder that cannot be written to.

    Nobody needs a PID file there. Raises `StoreError` where a daemon could not write its own.
    """
    name = (twistd or {}).get("pidfile")
    if twistd is None or not name:
        return
    try:
        with tempfile.TemporaryFile(dir=Path(name).absolute().parent):
            return
    except OSError as error:
        if not twistd.get("nodaemon"):
            raise StoreError(
                f"{name}: cannot be written ({error.strerror}); give twistd another --pidfile"
            ) from None
    twistd["pidfile"] = ""


def drop_pid_file(twistd: MutableMapping[str, Any] | None) -> None:
    """Remove a daemon's PID file, and have `twistd` know of none.

    It removes the file itself only after it has told whoever started it, who then finds a server
    that seems to run.
    """
    name = (twistd or {}).get("pidfile")
    if twistd is not None and name:
        Path(name).unlink(missing_ok=True)
        twistd["pidfile"] = ""


def log_observer(
    log: LogConfig, twistd: Mapping[str, Any], hangups: list[Callable[[], object]] | None = None
) -> ILogObserver | None:
    """Return what writes the log in our form to where `twistd`'s own options want it.

    That is standard output, ``--logfile``, or for a daemon twistd.log in the working directory.
    SIGUSR1 begins a new file as usual, and so does the size; the oldest go. To `hangups` is added
    what SIGHUP has to do: another program may have moved the file away. None leaves
    ``--syslog`` to twistd. Raises `StoreError` when the file cannot be written.
    """
    if twistd.get("syslog"):
        return None
    name = twistd.get("logfile") or ("-" if twistd.get("nodaemon", True) else "twistd.log")
    if name == "-":
        return observer(log.format)
    try:
        file = LogFile.fromFullPath(  # type: ignore[no-untyped-call]
            name, rotateLength=log.max_bytes, maxRotatedFiles=log.files
        )
    except OSError as error:
        raise StoreError(
            f"{name}: cannot be written ({error.strerror}); give twistd another --logfile"
        ) from None
    on_signal(signal.SIGUSR1, file.rotate)
    if hangups is not None:
        hangups.append(file.reopen)
    return observer(log.format, file)


def on_signal(number: signal.Signals, call: Callable[[], object]) -> None:
    """Have the reactor do something at a signal that nobody else has taken.

    Not at once: it may come in the middle of a line, or before the reactor runs.
    """

    def caught(*_: object) -> None:
        from twisted.internet import reactor  # noqa: PLC0415  # after it was chosen

        reactor.callFromThread(call)  # type: ignore[attr-defined]

    if signal.getsignal(number) is signal.SIG_DFL:
        signal.signal(number, caught)


def spare_the_collector() -> None:
    """Have Python look for garbage less often, and never again among what is loaded now.

    Every client that comes is a few dozen objects that stay; with the defaults a crowd at the door
    means a walk through all of them for every dozen clients.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTOR_THRESHOLDS)


def allow_more_files() -> None:
    """Take as many open files as the system gives unasked: each connection is one.

    The usual 1,024 are fewer than the connections that the settings allow.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
