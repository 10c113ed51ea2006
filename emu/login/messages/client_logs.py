"""Client logs: four messages that carry a compressed text file of the player's machine.

Owns opening them within bounds. A log is a courtesy of the client: whatever is wrong with one, the
session goes on (docs/protocol/login.md#client-logs; a client sends its alert log right after it was
let in, and a server that stumbles over it locks real players out).
"""

from __future__ import annotations

import zlib

from emu.errors import LimitExceeded, MalformedMessage

KINDS = {
    "OP_LsClientCrashlogReplyMsg": "Crash Log",
    "OP_LsClientVerifylogReplyMsg": "Verify Log",
    "OP_LsClientAlertlogReplyMsg": "Alert Log",
    "OP_LsClientBaselogReplyMsg": "Base Log",
}
LONG_HEADER = 8
"""u32 size of what follows or of the stream (nobody agrees), u32 inflated size."""
SHORT_HEADER = 2


def read_client_log(payload: bytes, *, long_header: bool, limit: int) -> str:
    """Return a log's text up to its first NUL.

    The sizes that the client claims are not used: the stream says where it ends, and `limit` how
    many bytes are inflated at most. Raises `MalformedMessage` for a stream that is not zlib and
    `LimitExceeded` for one that goes on past the limit.
    """
    start = LONG_HEADER if long_header else SHORT_HEADER
    if len(payload) <= start:
        raise MalformedMessage("client log without a stream")
    stream = zlib.decompressobj()
    try:
        text = stream.decompress(memoryview(payload)[start:], limit)
    except zlib.error as error:
        raise MalformedMessage("client log is not zlib") from error
    if not stream.eof and (stream.unconsumed_tail or len(text) >= limit):
        raise LimitExceeded("client log too long")
    text = text.partition(b"\0")[0]
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("latin-1")
