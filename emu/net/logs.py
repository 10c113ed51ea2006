"""The server's own log: one line for people, or one JSON object per line.

All code logs through `logger(area)`. The level of ``[log] level`` is kept here, so that events
below it are not formatted. Never give a password or a key to a logger.

`LogFile` is rotated by size or by another program such
as logrotate. That program renames the file and may create an empty one in its place (``create``),
or copies it and truncates it (``copytruncate``). The next line that is written notices both, at
most a second later, so nothing needs to call `reopen`.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, TextIO

from twisted.internet.error import ReactorNotRunning
from twisted.logger import (
    FilteringLogObserver,
    ILogFilterPredicate,
    ILogObserver,
    LogEvent,
    Logger,
    LogLevel,
    LogLevelFilterPredicate,
    PredicateResult,
    formatEvent,
    globalLogPublisher,
)
from twisted.python import logfile
from twisted.python.failure import Failure
from zope.interface import implementer

from emu.config import Address
from emu.errors import StoreError, Unanswered
from emu.texts import timestamp
from emu.times import Moment

_threshold = LogLevelFilterPredicate(defaultLogLevel=LogLevel.info)
# The levels that are written, as a set: the check is a single look-up for each event.
_written: set[object] = set()
_LINE = "{line}"
_IN_MEMORY = re.compile(r"( object)? at 0x[0-9a-f]+")
_in_json = json.JSONEncoder(ensure_ascii=False).encode
_ONLY_TEXT = ("line", "details")
_INTERNAL = ("log_", "isError", "time", "system", "message", "format")


def log_fault(log: Logger, text: str, failure: Failure, **values: Any) -> None:
    """Log that something has failed: with its traceback, if that is a fault of the server.

    A database, a bus or another process that does not answer is none: the line of the error says
    what to do, and a warning has it.
    """
    if isinstance(failure.value, StoreError | Unanswered):
        log.emit(LogLevel.warn, text + ": {why}", why=str(failure.value), **values)
    else:
        log.failure(text, failure, **values)


def current_failure() -> Failure:
    """Return the exception that is handled now, for `log_fault`."""
    return Failure()  # type: ignore[no-untyped-call]


def logger(area: str) -> Logger:
    """Return a logger for one area of the server, for instance ``"login"``."""
    return Logger(namespace=f"emu.{area}", observer=_publish)


@implementer(ILogObserver)
def _publish(event: LogEvent) -> None:
    """Publish an event of our own if its level is written."""
    if event["log_level"] in _written:
        globalLogPublisher(event)


def write_line(
    log: Logger,
    level: object,
    line: str,
    event: str,
    details: Mapping[str, object],
) -> None:
    """Write a finished line; the event's name and fields go into JSON."""
    # The same as ``log.emit(level, "{line}", line=line, ...)``, which searches the levels and
    # formats the line again. Every login writes one.
    _publish(
        {
            "log_logger": log,
            "log_level": level,
            "log_namespace": log.namespace,
            "log_source": None,
            "log_format": _LINE,
            "log_time": time.time(),
            "line": line,
            "event": event,
            "details": details,
        }
    )


def set_level(name: str) -> None:
    """Set the lowest level that is written: ``debug``, ``info``, ``warn`` or ``error``."""
    level = LogLevel.levelWithName(name)
    _threshold.setLogLevelForNamespace("", level)
    _written.clear()
    _written.update(one for one in LogLevel.iterconstants() if one >= level)
    for namespace in ("log_legacy", "twisted"):
        # Twisted's info lines (ports starting, protocols stopping) repeat our own.
        quiet = level if level in (LogLevel.debug, LogLevel.error) else LogLevel.warn
        _threshold.setLogLevelForNamespace(namespace, quiet)


def is_written(level: object) -> bool:
    """Return whether our events of a `LogLevel` are written.

    The check is cheaper than a dropped event; hot paths use it.
    """
    return level in _written


def observer(form: str, stream: TextIO | None = None, worker: int | None = None) -> ILogObserver:
    """Return the observer for ``text`` or ``json`` that writes to a stream (standard output).

    Lines of a worker of several have its number.
    """
    # Any: the modules that are compiled are checked without the plugin for zope's interfaces.
    writer: Any = JsonLines if form == "json" else TextLines
    filtered: Any = FilteringLogObserver(writer(stream or sys.stdout, worker), [_wanted])
    return filtered  # type: ignore[no-any-return]


@implementer(ILogFilterPredicate)
def _wanted(event: LogEvent) -> Any:
    """Filter out events below the level, and a second Ctrl-C while the server stops."""
    failure = event.get("log_failure")
    if failure is not None and failure.check(ReactorNotRunning):
        return PredicateResult.no
    if "log_logger" in event and event["log_logger"].observer is _publish:
        return PredicateResult.yes  # its level was checked already
    return _threshold(event)


@implementer(ILogObserver)
class TextLines:
    """Writes each event as one line: time, level, area, text."""

    def __init__(self, stream: TextIO, worker: int | None = None) -> None:
        self.stream = stream
        self._suffix = "" if worker is None else f"/{worker}"

    def __call__(self, event: LogEvent) -> None:
        """Write one event."""
        area = _area(event) + self._suffix
        lines = _line(event["log_time"], event["log_level"].name, area, _text(event)) + "\n"
        if "log_failure" in event:
            lines += without_addresses(event["log_failure"].getTraceback())
        try:
            self.stream.write(lines)
        except UnicodeEncodeError:  # a terminal or a file that is not UTF-8
            self.stream.write(lines.encode("ascii", "backslashreplace").decode())
        self.stream.flush()


@implementer(ILogObserver)
class JsonLines:
    """Writes each event as one JSON object: time, level, area, text, and the event's own fields.

    Fields may also be in a mapping `details`, where any names are allowed.
    """

    def __init__(self, stream: TextIO, worker: int | None = None) -> None:
        self.stream = stream
        self._more = {} if worker is None else {"worker": worker}

    def __call__(self, event: LogEvent) -> None:
        """Write one event."""
        record: dict[str, object] = {
            "time": timestamp(event["log_time"], 3),
            "level": event["log_level"].name,
            "area": _area(event),
            "text": _text(event),
            **self._more,
        }
        if "log_failure" in event:
            record["traceback"] = without_addresses(event["log_failure"].getTraceback())
        own = {key: value for key, value in event.items() if not key.startswith(_INTERNAL)}
        for key, value in (own | event.get("details", {})).items():
            # A field of an event must not replace the time or the level of the line.
            if key not in record and key not in _ONLY_TEXT:
                record[key] = _plain(value)
        try:
            self.stream.write(_in_json(record) + "\n")
        except UnicodeEncodeError:
            self.stream.write(json.dumps(record) + "\n")
        self.stream.flush()


@implementer(ILogObserver)
class LastLines:
    """Keeps the last lines for the dashboard and snapshots."""

    def __init__(self, most: int) -> None:
        self._kept: deque[tuple[Moment, str, str, str]] = deque(maxlen=most)

    def __call__(self, event: LogEvent) -> None:
        """Keep one event as text: the objects in it may change later."""
        if _wanted(event) is not PredicateResult.no:
            level, area = event["log_level"].name, _area(event)
            self._kept.append((event["log_time"], level, area, _text(event)))

    def lines(self) -> list[str]:
        """Return the lines, newest last."""
        return [_line(*one) for one in self._kept]


def _line(moment: Moment, level: str, area: str, text: str) -> str:
    return f"{timestamp(moment)} {level:<5} {area}: {_one_line(text)}"


def subscribe(take: Callable[[Moment, str, str, str], object]) -> Callable[[], None]:
    """Call `take` with moment, level, area and text of every line above the debug level.

    Returns the function that ends the subscription.
    """

    @implementer(ILogObserver)
    def observe(event: LogEvent) -> None:
        level = event["log_level"]
        # Debug lines are too many to deliver to a subscriber.
        if level > LogLevel.debug and _wanted(event) is not PredicateResult.no:
            take(event["log_time"], level.name, _area(event), _one_line(_text(event)))

    globalLogPublisher.addObserver(observe)
    return lambda: globalLogPublisher.removeObserver(observe)


def _area(event: LogEvent) -> str:
    return str(event.get("log_namespace", "-")).removeprefix("emu.")


def _plain(value: Any) -> Any:
    """Return a value for JSON: mappings and lists as they are, an address as host and port."""
    if isinstance(value, (str, int, float, bool, type(None))):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, Address):
        return {"host": value.host, "port": value.port}
    return without_addresses(str(value))


def _text(event: LogEvent) -> str:
    if event.get("log_format") is _LINE:
        return without_addresses(str(event["line"]))
    text = formatEvent(event)
    if not text and "log_failure" in event:
        text = event["log_failure"].getErrorMessage()
    return without_addresses(text)


def without_addresses(text: str) -> str:
    """Return a text without the places of Python objects in memory, which say nothing to readers.

    Libraries write them in the form ``<module.Class object at 0x7f...>``.
    """
    # A quick test: the expression is slow, and nearly no line has an address.
    return _IN_MEMORY.sub("", text) if " at 0x" in text else text


def _one_line(text: str) -> str:
    """Make control characters visible: a name from the network must not forge a log line."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


# Until the configuration is read, also for tools without one.
set_level("info")

_files: deque[Path] = deque(maxlen=1)


def written_to() -> Path | None:
    """Return the file of this process's log; None for a terminal, a pipe or syslog."""
    return _files[-1] if _files else None


CHECK_INTERVAL: Final = 1.0
"""Seconds between two checks whether the path still leads to the open file."""


class LogFile(logfile.LogFile):
    """A Twisted log file that is reopened when its path leads to another file.

    If it cannot be reopened, lines go to the old file.
    """

    size: int
    path: str
    _file: BinaryIO

    def __init__(
        self,
        name: str,
        directory: str,
        rotateLength: int | None = None,  # Twisted's names
        maxRotatedFiles: int | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._now = now
        self._checked_at = now()
        _files.append(Path(directory, name).absolute())
        super().__init__(  # type: ignore[no-untyped-call]
            name, directory, rotateLength=rotateLength, maxRotatedFiles=maxRotatedFiles
        )

    def _openFile(self) -> None:
        """Open the file for appending: another program may truncate it."""
        self._file = open(self.path, "ab", 0)  # noqa: SIM115, PTH123  # open as long as this is
        self.closed = False
        self.size = os.fstat(self._file.fileno()).st_size

    def write(self, data: str | bytes) -> None:
        """Write a line, to a new file if the path leads to another one."""
        now = self._now()
        if now - self._checked_at >= CHECK_INTERVAL:
            self._checked_at = now
            self._follow()
        super().write(data)  # type: ignore[no-untyped-call]

    def rotate(self) -> None:
        """Start a new file, unless another program has just done so."""
        if self._follow():
            return
        super().rotate()  # type: ignore[no-untyped-call]

    def reopen(self) -> bool:
        """Open the file of this path; return False if that fails, and keep the old one."""
        before = self._file
        try:
            self._openFile()
        except OSError:
            return False  # no folder or no permission; the next check tries again
        # Closed last: without a new file the lines go on to the old one.
        before.close()
        return True

    def _follow(self) -> bool:
        """Reopen the file if the path leads to another one; return whether it was reopened."""
        opened = os.fstat(self._file.fileno())
        try:
            present = os.stat(self.path)  # noqa: PTH116  # text: this is on the path of every line
        except OSError:
            return self.reopen()
        if not os.path.samestat(opened, present):
            return self.reopen()
        # Another program may have truncated the file; the size decides when to rotate.
        self.size = opened.st_size
        return False
