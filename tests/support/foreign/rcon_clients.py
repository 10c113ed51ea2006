"""RCON clients that none of us wrote, driven as their documentation shows.

A program of its own, because one of them wants the main thread's signals, and none may hold up the
server that it speaks to: ``rcon_clients.py NAME HOST PORT PASSWORD LINE...`` writes the answers as
a JSON list. It ends with the status 3 when the password is refused.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

REFUSED = 3

Client = Callable[[Any, "Server", list[str]], Any]
"""Called with its package, the server and lines; returns the answers, or what to await for them."""


class Server(NamedTuple):
    """Where a client goes, and what it says there."""

    host: str
    port: int
    password: str


def _rcon(package: Any, to: Server, lines: list[str]) -> list[str]:
    with package.Client(to.host, to.port, passwd=to.password, timeout=5) as client:
        return [client.run(*line.split(" ")) for line in lines]


async def _rcon_asyncio(package: Any, to: Server, lines: list[str]) -> list[str]:
    return [
        await package.rcon(*line.split(" "), host=to.host, port=to.port, passwd=to.password)
        for line in lines
    ]


def _mcrcon(package: Any, to: Server, lines: list[str]) -> list[str]:
    with package.MCRcon(to.host, to.password, port=to.port) as client:
        return [client.command(line) for line in lines]


async def _aiorcon(package: Any, to: Server, lines: list[str]) -> list[str]:
    loop = asyncio.get_running_loop()
    client = await package.RCON.create(*to, loop, 0, timeout=5)
    try:
        return [await client(line) for line in lines]
    finally:
        client.close()


def _python_valve(package: Any, to: Server, lines: list[str]) -> list[str]:
    with package.RCON(to[:2], to.password, timeout=5) as client:
        return [client(line) for line in lines]


async def _asyncrcon(package: Any, to: Server, lines: list[str]) -> list[str]:
    client = package.AsyncRCON(f"{to.host}:{to.port}", to.password)
    await client.open_connection()
    try:
        return [await client.command(line) for line in lines]
    finally:
        client.close()


async def _opengsq(package: Any, to: Server, lines: list[str]) -> list[str]:
    with package.SourceRcon(to.host, to.port, timeout=5.0) as client:
        await client.authenticate(to.password)
        return [await client.send_command(line) for line in lines]


async def _aio_mc_rcon(package: Any, to: Server, lines: list[str]) -> list[str]:
    async with package.Client(*to) as client:
        return [(await client.send_cmd(line))[0] for line in lines]


def _rconx(package: Any, to: Server, lines: list[str], preset: str) -> list[str]:
    with package.RconClient.create(to.host, to.port, preset=preset) as client:
        client.connect_and_authenticate(to.password)
        return [client.execute(line).text for line in lines]


CLIENTS: dict[str, tuple[Client, str, str]] = {
    "rcon": (_rcon, "rcon.source", "rcon.exceptions:WrongPassword"),
    "rcon-asyncio": (_rcon_asyncio, "rcon.source", "rcon.exceptions:WrongPassword"),
    "mcrcon": (_mcrcon, "mcrcon", "mcrcon:MCRconException"),
    "aiorcon": (_aiorcon, "aiorcon", "aiorcon:RCONAuthenticationError"),
    "python-valve": (_python_valve, "valve.rcon", "valve.rcon:RCONAuthenticationError"),
    "asyncrcon": (_asyncrcon, "asyncrcon", "asyncrcon:AuthenticationException"),
    "opengsq": (
        _opengsq,
        "opengsq.rcon_protocols.source_rcon",
        "opengsq.exceptions:AuthenticationException",
    ),
    "aio-mc-rcon": (_aio_mc_rcon, "aiomcrcon", "aiomcrcon:IncorrectPasswordError"),
    "rconx": (partial(_rconx, preset="minecraft"), "rconx", "rconx:RconAuthenticationError"),
}
"""How each is driven, its package, and what it raises when the password is refused."""
FOR_SRCDS: dict[str, tuple[Client, str, str]] = {
    "rconx-srcds": (partial(_rconx, preset="srcds"), "rconx", "rconx:RconAuthenticationError"),
}
"""Clients for the dialect `srcds`."""


def main(name: str, host: str, port: str, password: str, *lines: str) -> None:
    """Drive one of them."""
    drive, package, refusal = (CLIENTS | FOR_SRCDS)[name]
    module, _, refused = refusal.partition(":")
    try:
        to = Server(host, int(port), password)
        answers = drive(importlib.import_module(package), to, list(lines))
        if inspect.isawaitable(answers):
            answers = asyncio.run(answers)  # type: ignore[arg-type]  # they are coroutines
    except getattr(importlib.import_module(module), refused):
        sys.exit(REFUSED)
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
