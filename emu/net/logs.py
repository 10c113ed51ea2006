"""How the server's own log looks: one line for people, or one JSON object a line.

Everything in the package logs through `logger(area)`; the level of ``[log] level`` is kept here,
so that what is below it costs no formatting. Never give a password or a key to a logger.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any, TextIO

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
from zope.interface import implementer

from emu.config import Address
from emu.timestamps import timestamp

_threshold = LogLevelFilterPredicate(defaultLogLevel=LogLevel.info)
_observer = FilteringLogObserver(globalLogPublisher, [_threshold])
_written: set[object] = set()
_ONLY_TEXT = ("line", "details")
_INTERNAL = ("log_", "isError", "time", "system", "message", "format")


def logger(area: str) -> Logger:
    """Return a logger for one area of the server, for instance ``"login"``."""
    return Logger(namespace=f"emu.{area}", observer=_observer)


def set_level(name: str) -> None:
    """Set the least level that is written: ``debug``, ``info``, ``warn`` or ``error``."""
    level = LogLevel.levelWithName(name)
    _threshold.setLogLevelForNamespace("", level)
    _written.clear()
    _written.update(one for one in LogLevel.iterconstants() if one >= level)
    for namespace in ("log_legacy", "twisted"):
        # What Twisted tells at info (ports starting, protocols stopping) our own lines tell better.
        quiet = level if level in (LogLevel.debug, LogLevel.error) else LogLevel.warn
        _threshold.setLogLevelForNamespace(namespace, quiet)


def is_written(level: object) -> bool:
    """Say whether our events of a `LogLevel` are written at all.

    To ask is cheaper than an event that is dropped; the paths that every datagram takes do.
    """
    return level in _written


def observer(form: str, stream: TextIO | None = None) -> ILogObserver:
    """Return the observer for ``text`` or ``json`` that writes to a stream (standard output)."""
    writer = JsonLines if form == "json" else TextLines
    return FilteringLogObserver(writer(stream or sys.stdout), [_SecondSignal(), _threshold])


@implementer(ILogFilterPredicate)
class _SecondSignal:
    """Keeps silent of a second Ctrl-C while the server is stopping already."""

    def __call__(self, event: LogEvent) -> Any:
        """Judge one event."""
        failure = event.get("log_failure")
        again = failure is not None and failure.check(ReactorNotRunning)
        return PredicateResult.no if again else PredicateResult.maybe


@implementer(ILogObserver)
class TextLines:
    """Writes each event as one line: time, level, area, text."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def __call__(self, event: LogEvent) -> None:
        """Write one event."""
        moment = timestamp(event["log_time"])
        area = str(event.get("log_namespace", "-")).removeprefix("emu.")
        text = _one_line(_text(event))
        level = event["log_level"].name
        lines = f"{moment} {level:<5} {area}: {text}\n"
        if "log_failure" in event:
            lines += event["log_failure"].getTraceback()
        try:
            self.stream.write(lines)
        except UnicodeEncodeError:  # a terminal or a file that is not UTF-8
            self.stream.write(lines.encode("ascii", "backslashreplace").decode())
        self.stream.flush()


@implementer(ILogObserver)
class JsonLines:
    """Writes each event as one JSON object: time, level, area, text, and the event's own fields.

    Fields may also stand in a mapping `details`, where their names are free.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def __call__(self, event: LogEvent) -> None:
        """Write one event."""
        record = {
            "time": timestamp(event["log_time"], 3),
            "level": event["log_level"].name,
            "area": str(event.get("log_namespace", "-")).removeprefix("emu."),
            "text": _text(event),
        }
        if "log_failure" in event:
            record["traceback"] = event["log_failure"].getTraceback()
        own = {key: value for key, value in event.items() if not key.startswith(_INTERNAL)}
        for key, value in (own | event.get("details", {})).items():
            if key not in record and key not in _ONLY_TEXT:
                record[key] = _plain(value)
        try:
            self.stream.write(json.dumps(record, ensure_ascii=False) + "\n")
        except UnicodeEncodeError:
            self.stream.write(json.dumps(record) + "\n")
        self.stream.flush()


def _plain(value: Any) -> Any:
    """Return what JSON can hold: mappings and lists as they are, an address as host and port."""
    if isinstance(value, (str, int, float, bool, type(None))):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, Address):
        return {"host": value.host, "port": value.port}
    return str(value)


def _text(event: LogEvent) -> str:
    text = formatEvent(event)
    if not text and "log_failure" in event:
        text = event["log_failure"].getErrorMessage()
    return text


def _one_line(text: str) -> str:
    """Make control characters visible: a name from the network must not forge a log line."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


set_level("info")
