"""The one deflate stream of a session, server to client.

Source: docs/protocol/transport.md#compression.
"""

from __future__ import annotations

import zlib

from emu.errors import LimitExceeded, MalformedMessage
from emu.session.configuration import SessionConfig


class Deflater:
    """Compresses message after message into one stream, with a sync flush behind each.

    `compressor` is made at first use and may be let go behind any message (None): what follows is a
    raw stream that continues the first one and refers to nothing before it, which every inflater
    reads on. A session lets go of it whenever it hands out datagrams, so only messages that leave
    together profit from each other: of what is sent over and over, movement, a history of 30 kB for
    each player saved one byte in ten.
    """

    __slots__ = ("_config", "_started", "compressor")

    def __init__(self, config: SessionConfig) -> None:
        self._config = config
        self.compressor: zlib._Compress | None = None
        self._started = False

    def deflate(self, data: bytes) -> bytes:
        """Return the next piece of the stream, complete up to the end of `data`."""
        compressor = self.compressor
        if compressor is None:
            config = self._config
            bits = config.deflate_window_bits
            compressor = self.compressor = zlib.compressobj(
                config.deflate_level,
                zlib.DEFLATED,
                -bits if self._started else bits,
                config.deflate_memory_level,
            )
            self._started = True
        return compressor.compress(data) + compressor.flush(zlib.Z_SYNC_FLUSH)


class Inflater:
    """Reads the stream of a `Deflater`, with a bound on what one message may become."""

    __slots__ = ("_inflater", "_limit")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._inflater = zlib.decompressobj()

    def inflate(self, data: bytes) -> bytes:
        """Return the plain bytes of one piece.

        Raises `MalformedMessage` for a damaged stream, `LimitExceeded` beyond the limit; the stream
        cannot be used after either.
        """
        try:
            plain = self._inflater.decompress(data, self._limit + 1)
        except zlib.error:
            raise MalformedMessage("damaged compressed message") from None
        if len(plain) > self._limit:
            raise LimitExceeded("inflated message too long")
        if self._inflater.eof:
            raise MalformedMessage("damaged compressed message")
        return plain
