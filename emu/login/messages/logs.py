"""The four client log messages: opened within bounds, stored, never answered."""

from __future__ import annotations

from emu.login.client import Client, guarded
from emu.login.events import ClientLogStored
from emu.login.messages.client_logs import read_client_log
from emu.login.service import LoginService
from emu.model import ClientLog
from emu.times import Monotonic


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
    log = ClientLog(
        kind=kind,
        text=text,
        account_id=client.account_id,
        account_name=client.account_name,
        address=client.address,
        client_version=client.version,
        received=service.clock.moment(),
    )
    service.start(guarded(client, kind, _store(service, log)))  # nobody waits for it


async def _store(service: LoginService, log: ClientLog) -> None:
    await service.logs.add_client_log(log)
    service.counters["client logs"] += 1
    service.log(ClientLogStored(log.address, log.account_name, log.kind, len(log.text)))
