"""Query clients that none of us wrote, driven as their documentation shows.

A program of its own, since none may hold up the server that it asks: ``query_clients.py NAME HOST
PORT`` writes what the server told as JSON: name, map, players (names), rules.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from collections.abc import Callable
from typing import Any

Told = dict[str, Any]


def _python_a2s(host: str, port: int) -> Told:
    a2s = importlib.import_module("a2s")
    info = a2s.info((host, port), timeout=5)
    return {
        "name": info.server_name,
        "map": info.map_name,
        "count": info.player_count,
        "game_port": info.port,
        "players": [player.name for player in a2s.players((host, port), timeout=5)],
        "rules": a2s.rules((host, port), timeout=5),
    }


def _python_a2s_asyncio(host: str, port: int) -> Told:
    a2s = importlib.import_module("a2s")

    async def each() -> Told:
        info, players, rules = await asyncio.gather(
            a2s.ainfo((host, port), timeout=5),
            a2s.aplayers((host, port), timeout=5),
            a2s.arules((host, port), timeout=5),
        )
        return {
            "name": info.server_name,
            "map": info.map_name,
            "count": info.player_count,
            "game_port": info.port,
            "players": [player.name for player in players],
            "rules": rules,
        }

    return asyncio.run(each())


def _opengsq(host: str, port: int) -> Told:
    source = importlib.import_module("opengsq.protocols").Source(host=host, port=port, timeout=5)

    async def each() -> Told:
        info = await source.get_info()
        return {
            "name": info.name,
            "map": info.map,
            "count": info.players,
            "game_port": info.port,
            "players": [player.name for player in await source.get_players()],
            "rules": dict(await source.get_rules()),  # which are a set of pairs
        }

    return asyncio.run(each())


def _a2squery(host: str, port: int) -> Told:
    package = importlib.import_module("a2squery")
    with package.A2SQuery(host, port, timeout=5) as server:
        info = server.info()
        return {
            "name": info.name,
            "map": info.map,
            "count": info.players,
            "game_port": info.port,
            "players": [player.name for player in server.players()],
            "rules": dict(server.rules()),
        }


CLIENTS: dict[str, Callable[[str, int], Told]] = {
    "python-a2s": _python_a2s,
    "python-a2s asyncio": _python_a2s_asyncio,
    "opengsq": _opengsq,
    "a2squery": _a2squery,
}

if __name__ == "__main__":
    name, host, port = sys.argv[1:]
    sys.stdout.write(json.dumps(CLIENTS[name](host, int(port))))
