"""Client logs: four messages that carry a compressed text file of the player's machine.

Owns opening them within bounds. A log is a courtesy of the client: whatever is wrong with one, the
session goes on (docs/protocol/login.md#client-logs; a client sends its alert log right after it was
let in, and a server that stumbles over it locks real players out).
"""

from __future__ import annotations

import zlib

from emu.errors import LimitExceeded, MalformedMessage
from emu.login.client import Client, guarded
from emu.login.events import ClientLogStored
from emu.login.service import LoginService
from emu.model import ClientLog
from emu.times import Monotonic

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


async def keep(
    service: LoginService, client: Client, payload: bytes, _now: Monotonic, *, kind: str
) -> None:
    """Store one client log; what cannot be opened, or is one too many, is counted and dropped."""
    config = service.config
    if client.logs_stored >= config.client_logs:
        client.drop(kind, "too many client logs")
        return
    long_header = client.dialect.rules.long_log_header
    text = read_client_log(payload, long_header=long_header, limit=config.client_log_bytes)
    client.logs_stored += 1
    owner = client.owner
    log = ClientLog(
        kind=kind,
        text=text,
        account_id=owner.id,
        account_name=owner.name,
        address=client.address,
        client_version=client.version,
        received=service.clock.moment(),
    )
    service.start(guarded(client, kind, _store(service, log)))  # nobody waits for it


async def _store(service: LoginService, log: ClientLog) -> None:
    await service.logs.add_client_log(log)
    service.counters["client logs"] += 1
    service.log(ClientLogStored(log.address, log.account_name, log.kind, len(log.text)))
