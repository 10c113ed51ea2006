"""Writes the server's sessions to a capture file, together with their keys.

The file is created with the first record and has a size limit. A full disk ends only the trace.
`emu.capture.trace` defines the format.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from twisted.logger import Logger

from emu.capture.trace import TraceWriter
from emu.errors import StoreError
from emu.times import Moment

HostPort = tuple[str, int]


class TraceFile:
    """A pcapng file for appending; see ``[trace]`` in the configuration."""

    def __init__(self, path: Path, max_bytes: int, log: Logger) -> None:
        """Open the file for appending; only its owner may read it, because it contains keys.

        Raises `StoreError` if it cannot be opened.
        """
        self.path = path
        self._log = log
        self._writer = TraceWriter()
        try:
            if not _ends_complete(path):
                # The incomplete file may still have useful sessions, so it is kept.
                aside = path.with_name(path.name + ".cut")
                path.replace(aside)
                self._log.warn(
                    "{path} ends with an incomplete record; it was renamed to {aside}",
                    path=path,
                    aside=aside,
                )
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            self._left = max_bytes - os.fstat(descriptor).st_size
        except OSError as error:
            raise StoreError(
                f"{path}: cannot be written ({error.strerror}); see [trace] file"
            ) from None
        # Without a buffer: a crash must not lose the datagrams before it.
        self._file: BinaryIO | None = os.fdopen(descriptor, "ab", buffering=0)
        self._begun = False

    def datagram(
        self, moment: Moment, source: HostPort, destination: HostPort, data: bytes
    ) -> None:
        """Write one datagram as it is on the wire."""
        if self._file is not None:
            self._append(self._writer.datagram(moment, source, destination, data))

    def key(self, session_id: int, check_key: int, rc4_key: bytes) -> None:
        """Write the keys of one session."""
        if self._file is not None:
            self._append(self._writer.key(session_id, check_key=check_key, rc4_key=rc4_key))

    def close(self) -> None:
        """End the trace."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _append(self, record: bytes) -> None:
        if self._file is None:
            return
        if not self._begun:  # not earlier: a server that fails to start writes nothing
            self._begun = True
            # A continued file gets a second header, which pcapng allows: it begins a new section.
            record = self._writer.header() + record
        self._left -= len(record)
        if self._left < 0:
            self._log.warn("{path} has reached trace.max_bytes; tracing ends", path=str(self.path))
            self.close()
            return
        try:
            self._file.write(record)
        except OSError as error:
            self._log.error(
                "{path}: {error}; tracing ends", path=str(self.path), error=error.strerror
            )
            self.close()


def _ends_complete(path: Path) -> bool:
    """Return whether a file ends with a complete pcapng block, so that it can be continued.

    Each block begins and ends with its length. A missing or empty file is complete.
    """
    if not path.is_file() or path.stat().st_size == 0:
        return True
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 4))
        length = int.from_bytes(file.read(4), "little")
        # The smallest block of pcapng has 12 bytes.
        if not 12 <= length <= size:
            return False
        file.seek(size - length + 4)
        return int.from_bytes(file.read(4), "little") == length
