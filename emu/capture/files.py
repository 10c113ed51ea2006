"""A capture file as an iterator of its messages: `open`, for programs.

This is the only module of the package that opens files. It connects reader, follower and decoder.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Self

from emu.capture.formats.pcap import CHUNK, CaptureReader
from emu.capture.keys import KeyRing
from emu.capture.messages import CapturedMessage, MessageDecoder, StructLookup
from emu.capture.sessions.follow import CaptureFollower, Notice
from emu.opcodes import OpcodeTables, shipped_tables
from emu.structs import shipped_catalog

NOTICES_KEPT = 1000


class Capture:
    """The messages of a capture, in the order in which they were complete.

    It reads while it is iterated and closes the file at the end; as a context manager it closes the
    file earlier. `notices` are the last thousand texts about faults of the capture (bad checks,
    missing packets).
    """

    def __init__(self, stream: BinaryIO, follower: CaptureFollower) -> None:
        self.notices: deque[str] = deque(maxlen=NOTICES_KEPT)
        self._stream = stream
        self._follower = follower
        self._messages = self._read()

    def __iter__(self) -> Iterator[CapturedMessage]:
        return self

    def __next__(self) -> CapturedMessage:
        return next(self._messages)

    def close(self) -> None:
        """Close the file; the iteration then ends."""
        # The iteration holds the file open, so it is closed first.
        self._messages.close()
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _read(self) -> Generator[CapturedMessage, None, None]:
        reader = CaptureReader()
        with self._stream as stream:
            while chunk := stream.read(CHUNK):
                for record in reader.receive_data(chunk):
                    yield from self._messages_of(self._follower.receive(record))
            # The follower reports first: a cut file raises in `close` of the reader and would
            # lose the notices.
            yield from self._messages_of(self._follower.close())
            reader.close()

    def _messages_of(
        self, happenings: Iterable[CapturedMessage | Notice]
    ) -> Iterator[CapturedMessage]:
        for happening in happenings:
            if isinstance(happening, Notice):
                self.notices.append(happening.text)
            else:
                yield happening


def open(  # noqa: A001  # meant to be called as emu.capture.open
    source: str | Path | BinaryIO,
    *,
    keys: str = "",
    version: int | None = None,
    structs: Sequence[Path] = (),
    tables: OpcodeTables | None = None,
) -> Capture:
    """Open a capture (pcap or pcapng, gzipped or not) to iterate over its messages.

    `source` is a path or a binary stream. `keys` are lines of keys from outside the capture, in the
    form of `emu.capture.keys`. `version` overrides the client version of the logins. `structs` are
    struct files that are tried before the shipped ones; `tables` are other opcode tables.

    Raises `OSError` for a file that cannot be opened and `FileFormatError` for struct files that
    cannot be used. The iteration raises `FileFormatError` where the capture is damaged, after the
    messages before that.
    """
    ring = KeyRing()
    ring.add_text(keys, name="keys")
    decoder = MessageDecoder(tables or shipped_tables(), StructLookup(shipped_catalog(), structs))
    follower = CaptureFollower(decoder, keys=ring, version=version)
    stream = Path(source).open("rb") if isinstance(source, str | Path) else source  # noqa: SIM115
    return Capture(stream, follower)
