"""Searches the files of the log from the newest line to older ones, a bounded piece at a time.

The files are the present one and those that a rotation has renamed: PATH, PATH.1, PATH.2 ... A
search goes on at a place, which stays right when the files are renamed meanwhile: the number of the
file on its disk, and a byte in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from emu.admin.log_lines import LogFilter, LogLine, log_line

BLOCK: Final = 64 * 1024
LONGEST_LINE: Final = 16 * 1024
"""Bytes of a line; the rest of a longer one is left out."""
MOST_DETAILS: Final = 60
"""Lines of a traceback."""
MOST_BYTES: Final = 4 * 1024 * 1024
"""Bytes that one search reads."""
MOST_FILES: Final = 1000


class LogPlace(NamedTuple):
    """A place in the files of a log: all before it is older."""

    file: int
    """The file's number on its disk; 0 for the end of the newest file."""
    offset: int


NEWEST: Final = LogPlace(0, 0)


class LogPage(NamedTuple):
    """A piece of the log."""

    lines: list[LogLine]
    """The newest last."""
    next: LogPlace | None
    """Where the search goes on; None at its end."""


def search_log(
    path: Path,
    wanted: LogFilter,
    place: LogPlace = NEWEST,
    *,
    most: int,
    most_bytes: int = MOST_BYTES,
) -> LogPage:
    """Return the newest lines before a place that are searched for. Raises `OSError`.

    A place in a file that was removed has no lines.
    """
    found: list[LogLine] = []
    left, details = most_bytes, list[str]()
    for name in _files_from(path, place):
        with name.open("rb") as file:
            about = os.fstat(file.fileno())
            end = place.offset if about.st_ino == place.file else about.st_size
            for offset, text in lines_backwards(file, min(end, about.st_size)):
                line = log_line(text)
                if line is None:
                    details = [text, *details[: MOST_DETAILS - 1]]
                else:
                    if line.moment < wanted.since:
                        return LogPage(found[::-1], None)
                    line = _with_details(line, details)
                    details = []
                    if wanted.admits(line):
                        found.append(line)
                if len(found) >= most or end - offset >= left:
                    return LogPage(found[::-1], LogPlace(about.st_ino, offset))
            left -= end
    return LogPage(found[::-1], None)


def _with_details(line: LogLine, details: list[str]) -> LogLine:
    if not details:
        return line
    return LogLine(line.moment, line.level, line.area, line.text, "\n".join(details))


def _files_from(path: Path, place: LogPlace) -> Iterator[Path]:
    """Yield the files of the log from a place on, the newest first."""
    names = [path, *(path.with_name(f"{path.name}.{one}") for one in range(1, MOST_FILES))]
    has_begun = place.file == 0
    for name in names:
        try:
            number = name.stat().st_ino
        except OSError:
            if name is path:
                continue  # it was renamed just now
            return
        has_begun = has_begun or number == place.file
        if has_begun:
            yield name


def lines_backwards(file: BinaryIO, end: int) -> Iterator[tuple[int, str]]:
    """Yield the lines before a byte of a file, the last one first, each with its first byte."""
    rest, position = b"", end
    while position > 0:
        size = min(BLOCK, position)
        position -= size
        file.seek(position)
        lines = (file.read(size) + rest).split(b"\n")
        rest = lines[0]
        at = position + sum(len(one) + 1 for one in lines)
        for line in reversed(lines[1:]):
            at -= len(line) + 1
            if line:
                yield at, line[:LONGEST_LINE].decode("utf-8", "replace")
        if len(rest) > LONGEST_LINE:
            rest = rest[:LONGEST_LINE]
    if rest:
        yield 0, rest.decode("utf-8", "replace")
