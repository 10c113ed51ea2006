"""The test client, with its session already set up."""

from __future__ import annotations

from typing import Any

from emu.client import Credentials, flow
from emu.client.flow import STEP_TIMEOUT
from emu.net.client.connection import ClientConnection, open_client
from emu.session import SessionConfig
from emu.versions import CLIENT_2006


async def connect(
    reactor: Any,
    host: str,
    port: int,
    user: str,
    password: str,
    *,
    version: int = CLIENT_2006,
    timeout: float = STEP_TIMEOUT,  # noqa: ASYNC109  # per step, measured on our clock
    config: SessionConfig | None = None,
) -> ClientConnection:
    """Open a session with a login server; key exchange and login then go on by themselves.

    Raises `CommandError` when nobody answers; `open_client` says the rest.
    """
    credentials = Credentials(user, password)
    client = await open_client(
        reactor, host, port, credentials, version=version, timeout=timeout, config=config
    )
    try:
        await client.run(flow.session())
    except BaseException:
        await client.stop()
        raise
    return client
