"""RCON clients that none of us wrote, driven as their documentation shows.

A program of its own, because one of them wants the main thread's signals, and none may hold up the
server that it speaks to: ``rcon_clients.py NAME HOST PORT PASSWORD LINE...`` writes the answers as
a JSON list. It ends with the status 3 when the password is refused.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

REFUSED = 3


def _rcon(host: str, port: int, password: str, lines: list[str]) -> list[str]:
    package = importlib.import_module("rcon.source")
    try:
        with package.Client(host, port, passwd=password, timeout=5) as client:
            return [client.run(*line.split(" ")) for line in lines]
    except importlib.import_module("rcon.exceptions").WrongPassword as error:
        raise PermissionError from error


def _rcon_asyncio(host: str, port: int, password: str, lines: list[str]) -> list[str]:
    package = importlib.import_module("rcon.source")

    async def each() -> list[str]:
        return [
            await package.rcon(*line.split(" "), host=host, port=port, passwd=password)
            for line in lines
        ]

    try:
        return asyncio.run(each())
    except importlib.import_module("rcon.exceptions").WrongPassword as error:
        raise PermissionError from error


def _mcrcon(host: str, port: int, password: str, lines: list[str]) -> list[str]:
    package = importlib.import_module("mcrcon")
    try:
        with package.MCRcon(host, password, port=port) as client:
            return [client.command(line) for line in lines]
    except package.MCRconException as error:
        raise PermissionError from error


def _aiorcon(host: str, port: int, password: str, lines: list[str]) -> list[str]:
    package = importlib.import_module("aiorcon")

    async def each() -> list[str]:
        loop = asyncio.get_running_loop()
        client = await package.RCON.create(host, port, password, loop, 0, timeout=5)
        try:
            return [await client(line) for line in lines]
        finally:
            client.close()

    try:
        return asyncio.run(each())
    except package.RCONAuthenticationError as error:
        raise PermissionError from error


def _python_valve(host: str, port: int, password: str, lines: list[str]) -> list[str]:
    package = importlib.import_module("valve.rcon")
    try:
        with package.RCON((host, port), password, timeout=5) as client:
            return [client(line) for line in lines]
    except package.RCONAuthenticationError as error:
        raise PermissionError from error


def _asyncrcon(host: str, port: int, password: str, lines: list[str]) -> list[str]:
    package = importlib.import_module("asyncrcon")

    async def each() -> list[str]:
        client = package.AsyncRCON(f"{host}:{port}", password)
        await client.open_connection()
        try:
            return [await client.command(line) for line in lines]
        finally:
            client.close()

    try:
        return asyncio.run(each())
    except package.AuthenticationException as error:
        raise PermissionError from error


def _opengsq(host: str, port: int, password: str, lines: list[str]) -> list[str]:
    package = importlib.import_module("opengsq.rcon_protocols.source_rcon")
    refused = importlib.import_module("opengsq.exceptions").AuthenticationException

    async def each() -> list[str]:
        with package.SourceRcon(host, port, timeout=5.0) as client:
            await client.authenticate(password)
            return [await client.send_command(line) for line in lines]

    try:
        return asyncio.run(each())
    except refused as error:
        raise PermissionError from error


def _aio_mc_rcon(host: str, port: int, password: str, lines: list[str]) -> list[str]:
    package = importlib.import_module("aiomcrcon")

    async def each() -> list[str]:
        async with package.Client(host, port, password) as client:
            return [(await client.send_cmd(line))[0] for line in lines]

    try:
        return asyncio.run(each())
    except package.IncorrectPasswordError as error:
        raise PermissionError from error


def _rconx(host: str, port: int, password: str, lines: list[str], preset: str) -> list[str]:
    package = importlib.import_module("rconx")
    try:
        with package.RconClient.create(host, port, preset=preset) as client:
            client.connect_and_authenticate(password)
            return [client.execute(line).text for line in lines]
    except package.RconAuthenticationError as error:
        raise PermissionError from error


CLIENTS: dict[str, Callable[[str, int, str, list[str]], Any]] = {
    "rcon": _rcon,
    "rcon-asyncio": _rcon_asyncio,
    "mcrcon": _mcrcon,
    "aiorcon": _aiorcon,
    "python-valve": _python_valve,
    "asyncrcon": _asyncrcon,
    "opengsq": _opengsq,
    "aio-mc-rcon": _aio_mc_rcon,
    "rconx": partial(_rconx, preset="minecraft"),
}
FOR_SRCDS: dict[str, Callable[[str, int, str, list[str]], Any]] = {
    "rconx-srcds": partial(_rconx, preset="srcds"),
}
"""Clients for the dialect `srcds`."""

if __name__ == "__main__":
    name, host, port, password, *lines = sys.argv[1:]
    try:
        json.dump((CLIENTS | FOR_SRCDS)[name](host, int(port), password, lines), sys.stdout)
    except PermissionError:
        sys.exit(REFUSED)
