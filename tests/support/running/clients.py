"""The test client, with its session already set up."""

from __future__ import annotations

import array
import fcntl
import termios
from typing import Any

from emu.client import Credentials, flow
from emu.client.flow import STEP_TIMEOUT
from emu.net.client.connection import ClientConnection, open_client
from emu.net.client.world_connection import ClientWorldConnection
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


async def stop_drained(client: ClientWorldConnection) -> None:
    """Close the socket of a client whose server is gone, once it has read all datagrams in it."""
    port = client._port  # the system alone knows what is left to read
    waiting = array.array("i", [1])
    while port is not None and waiting[0]:
        port.doRead()
        fcntl.ioctl(port.socket, termios.FIONREAD, waiting)
    await client.stop()
