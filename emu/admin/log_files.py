"""Searches the files of the log from the newest line to older ones, a bounded piece at a time.

The files are the present one and those that a rotation has renamed: PATH, PATH.1, PATH.2 ..., or
with logrotate's `dateext` PATH-20261129, PATH-20261128 ..., also those that logrotate has
compressed: PATH.2.gz. A search goes on at a place, which stays right when the files are renamed
meanwhile: the number of the file on its disk, and a byte in its text.
"""

from __future__ import annotations

import io
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
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
MOST_INFLATED: Final = 64 * 1024 * 1024
"""Bytes that are read of a compressed file: of a larger one the rest is left out."""
COMPRESSED: Final = ".gz"
_ROTATED: Final = re.compile(
    r"(?:\.(?P<number>[1-9][0-9]{0,5})|-(?P<date>[0-9]{8}(?:-[0-9]{1,12})?))(?:\.gz)?"
)
"""What a rotation has put behind the name of a file (`dateext`, `dateformat` of logrotate(8))."""
_GZIP: Final = 31
"""The format of gzip, for zlib."""


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
        with _opened(name) as (file, number, size):
            end = min(size, place.offset) if number == place.file else size
            for offset, text in lines_backwards(file, end):
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
                    return LogPage(found[::-1], LogPlace(number, offset))
            left -= end
    return LogPage(found[::-1], None)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[BinaryIO, int, int]]:
    """Open a file; yield it with its number on its disk and the size of its text."""
    with path.open("rb") as file:
        about = os.fstat(file.fileno())
        if path.suffix == COMPRESSED:
            text = _inflated(file)
            yield io.BytesIO(text), about.st_ino, len(text)
        else:
            yield file, about.st_ino, about.st_size


def _inflated(file: BinaryIO) -> bytes:
    """Return the text of a compressed file, as far as it is whole."""
    inflater, parts, left = zlib.decompressobj(_GZIP), list[bytes](), MOST_INFLATED
    try:
        while left > 0 and (data := inflater.unconsumed_tail or file.read(BLOCK)):
            parts.append(inflater.decompress(data, min(left, BLOCK)))
            left -= len(parts[-1])
    except zlib.error:
        pass  # a damaged one ends here
    return b"".join(parts)


def _with_details(line: LogLine, details: list[str]) -> LogLine:
    if not details:
        return line
    return LogLine(line.moment, line.level, line.area, line.text, "\n".join(details))


def _files_from(path: Path, place: LogPlace) -> Iterator[Path]:
    """Yield the files of the log from a place on, the newest first."""
    has_begun = place.file == 0
    for name in (path, *_rotated(path)):
        try:
            number = name.stat().st_ino
        except OSError:
            continue  # it was renamed just now
        has_begun = has_begun or number == place.file
        if has_begun:
            yield name


def _rotated(path: Path) -> list[Path]:
    """Return the older files of a log, the newest first: by their numbers, then by their dates."""
    numbers, dates = dict[int, str](), dict[str, str]()
    with os.scandir(path.parent) as entries:
        # Of a file that is just being compressed there are two; the whole one comes last here.
        for name in sorted((entry.name for entry in entries), reverse=True):
            found = _ROTATED.fullmatch(name, len(path.name)) if name.startswith(path.name) else None
            if found and found["number"]:
                numbers[int(found["number"])] = name
            elif found:
                dates[found["date"]] = name
    names = [numbers[one] for one in sorted(numbers)]
    names += [dates[one] for one in sorted(dates, reverse=True)]
    return [path.with_name(name) for name in names[:MOST_FILES]]


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
