"""A trial of the bus for `emu doctor`: one message to this process itself, over its broker."""

from __future__ import annotations

import asyncio
import secrets
import ssl
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

from emu.config import Config
from emu.database import ServerUrl
from emu.errors import ConfigError

PATIENCE: Final = 2.0
"""Seconds for the message."""
RIGHTS: Final = "permissions violation"
MESSAGE: Final = b'["note","doctor",0]'
"""A message in the form of the nodes, of a process that none of them knows: they ignore it."""


@dataclass(frozen=True, slots=True)
class BusTrial:
    """What a trial has shown."""

    broker: str
    delay: float = 0.0
    """Seconds that the message took."""
    problem: str = ""
    """Why the bus cannot be used; empty if it can."""
    cure: str = ""


def try_bus(config: Config, steady: Callable[[], float]) -> BusTrial:
    """Send a message over the broker of a node and receive it; `steady` returns seconds."""
    where, settings = config.database.url, config.bus
    if settings.url:
        try:
            from emu.net.bus import nats  # noqa: PLC0415  # an extra
        except ImportError:
            return BusTrial(
                settings.url, 0.0, "nats-py is not installed", "pip install 'eq2emu[nats]'"
            )
        server = nats.NatsServer(
            settings.url, settings.prefix, settings.credentials_file, settings.certificate
        )
        return asyncio.run(_try_nats(server, steady))
    assert isinstance(where, ServerUrl)  # noqa: S101  # only such a database has nodes
    return _try_postgresql(where, steady)


def _try_postgresql(where: ServerUrl, steady: Callable[[], float]) -> BusTrial:
    import psycopg  # noqa: PLC0415  # an extra

    from emu.net.bus.postgresql import connect  # noqa: PLC0415  # an extra

    channel = f"emu.doctor.{secrets.token_hex(8)}"
    try:
        with closing(connect(where)) as connection:
            connection.execute(f'LISTEN "{channel}"'.encode())
            begun = steady()
            connection.execute("SELECT pg_notify(%s, '')", (channel,))
            for _ in connection.notifies(timeout=PATIENCE, stop_after=1):
                return BusTrial(str(where), steady() - begun)
    except psycopg.Error as error:
        text = where.hide(" ".join(str(error).split()))
        return BusTrial(str(where), 0.0, text, "start the database, or set [database] url")
    return BusTrial(
        str(where), 0.0, "a notification does not come back",
        "a pooler before the database must pool sessions, or set [bus] url",
    )  # fmt: skip


async def _try_nats(server: Any, steady: Callable[[], float]) -> BusTrial:
    from nats.aio.client import Client  # noqa: PLC0415  # an extra
    from nats.errors import Error  # noqa: PLC0415

    client, errors = Client(), list[Exception]()

    async def failed(error: Exception) -> None:
        errors.append(error)

    def bad(problem: object, cure: str) -> BusTrial:
        return BusTrial(server.url, 0.0, str(problem), cure)

    try:
        await asyncio.wait_for(
            client.connect(
                server.url.split(","), name="emu doctor", allow_reconnect=False,
                connect_timeout=2, error_cb=failed, **server.options(),
            ),
            2 * PATIENCE,
        )  # fmt: skip
        delay = await _echo(client, server.prefix, errors, steady)
    except (Error, OSError, TimeoutError, ConfigError, ImportError) as error:
        return bad(*judged(errors or [error], server.prefix))
    finally:
        # The client waits for ever for the end of a connection whose certificate it has refused.
        await asyncio.wait([asyncio.ensure_future(client.close())], timeout=PATIENCE / 4)
    if delay is None:
        return bad(*judged(errors or [Error("a message does not come back")], server.prefix))
    return BusTrial(server.url, delay)


async def _echo(
    client: Any, prefix: str, errors: list[Exception], steady: Callable[[], float]
) -> float | None:
    """Use a subject of each kind; return the seconds of a message, None if one is refused."""
    came = asyncio.Event()

    async def take(_message: object) -> None:
        came.set()

    own = f"{prefix}.node.doctor-{secrets.token_hex(4)}"
    for subject in (f"{prefix}.note.>", f"{prefix}.channel.doctor", own):
        await client.subscribe(subject, cb=take if subject == own else None)
    begun = steady()
    for subject in (f"{prefix}.note.doctor", f"{prefix}.channel.doctor", own):
        await client.publish(subject, MESSAGE)
    await client.flush(2)
    try:
        await asyncio.wait_for(came.wait(), PATIENCE)
    except TimeoutError:
        return None
    return None if errors else steady() - begun


def judged(errors: list[Exception], prefix: str) -> tuple[str, str]:
    """Return the problem that the first error of NATS means, and its cure."""
    found = "no answer" if isinstance(errors[0], TimeoutError) else str(errors[0])
    text, error = found.lower(), errors[0]
    if isinstance(error, ConfigError):
        cure = "set it to a file that the server's user can read"
    elif isinstance(error, ImportError):
        cure = "pip install 'eq2emu[nats]'"
    elif RIGHTS in text:
        cure = f"let the user publish and subscribe to {prefix}.>"
    elif "authorization" in text or "user credentials" in text:
        cure = "set bus.credentials_file to the file of a user of this broker"
    elif isinstance(error, ssl.SSLError):
        cure = "set bus.certificate to the authority that signed the broker's certificate"
    else:
        cure = "start the broker, or set bus.url to its address: nats://HOST:PORT"
    return found, cure
