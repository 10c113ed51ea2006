"""Query clients that none of us wrote, driven as their documentation shows.

It is a program of its own, so that it cannot block the server. ``query_clients.py NAME HOST PORT``
writes the answer as JSON: name, map, players (names), rules.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from collections.abc import Callable, Iterable
from typing import Any

Reported = dict[str, Any]


def _answer(info: Iterable[str | int], players: Iterable[Any], rules: Any) -> Reported:
    """Return what a client learnt; `rules` is a mapping, or pairs."""
    names = [player.name for player in players]
    reported = dict(zip(("name", "map", "count", "game_port"), info, strict=True))
    return {**reported, "players": names, "rules": dict(rules)}


def _facts(info: Any) -> tuple[str, str, int, int]:
    return info.server_name, info.map_name, info.player_count, info.port


def _python_a2s(host: str, port: int) -> Reported:
    a2s = importlib.import_module("a2s")
    info, players, rules = (
        ask((host, port), timeout=5) for ask in (a2s.info, a2s.players, a2s.rules)
    )
    return _answer(_facts(info), players, rules)


def _python_a2s_asyncio(host: str, port: int) -> Reported:
    a2s = importlib.import_module("a2s")

    async def each() -> Reported:
        asked = (ask((host, port), timeout=5) for ask in (a2s.ainfo, a2s.aplayers, a2s.arules))
        info, players, rules = await asyncio.gather(*asked)
        return _answer(_facts(info), players, rules)

    return asyncio.run(each())


def _opengsq(host: str, port: int) -> Reported:
    source = importlib.import_module("opengsq.protocols").Source(host=host, port=port, timeout=5)

    async def each() -> Reported:
        info, players = await source.get_info(), await source.get_players()
        rules = await source.get_rules()
        return _answer((info.name, info.map, info.players, info.port), players, rules)

    return asyncio.run(each())


def _a2squery(host: str, port: int) -> Reported:
    package = importlib.import_module("a2squery")
    with package.A2SQuery(host, port, timeout=5) as server:
        info = server.info()
        players, rules = server.players(), server.rules()
        return _answer((info.name, info.map, info.players, info.port), players, rules)


CLIENTS: dict[str, Callable[[str, int], Reported]] = {
    "python-a2s": _python_a2s,
    "python-a2s asyncio": _python_a2s_asyncio,
    "opengsq": _opengsq,
    "a2squery": _a2squery,
}

if __name__ == "__main__":
    name, host, port = sys.argv[1:]
    sys.stdout.write(json.dumps(CLIENTS[name](host, int(port))))
