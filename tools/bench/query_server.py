"""A server of 200 players that is asked how it is, in a process of its own.

Run as ``python -m tools.bench.query_server ogp|a2s|ssq``; prints ``ready PORT``.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from twisted.internet import reactor as _reactor

from emu.admin.a2s.responder import A2sResponder
from emu.admin.ogp.content import ContentSource, Presentation
from emu.admin.ogp.responder import OgpResponder
from emu.admin.ssq.responder import SsqResponder
from emu.admin.ssq.tables import Told
from emu.admin.ssq.tokens import Tokens
from emu.admin.status import PlayerStatus, ServerStatus
from emu.limits.answers import AnswerRules
from emu.limits.challenges import Challenges
from emu.net.logs import logger
from emu.net.scheduler import Scheduler
from emu.net.udp.query import QueryCore, QueryShell, listen_query
from emu.times import Monotonic

UNLIMITED = AnswerRules(10**9, 1e9, 1e9, 1e9)
"""The limits are asked, and let everything through: one address stands for many here."""
PLAYERS = 200
reactor: Any = _reactor


def status_of(now: Monotonic) -> ServerStatus:
    """Return a server with many players."""
    players = tuple(
        PlayerStatus(
            id=number, name=f"Player{number:03}", level=number % 50, race="Human", class_="Wizard",
            zone=-1, since=now, ping=50, address="192.0.2.7", link_dead=False, game_master=False,
        )
        for number in range(PLAYERS)
    )  # fmt: skip
    return ServerStatus(
        taken=now, name="Qeynos", game="EverQuest II", version="0", platform="linux", port=9100,
        since=now, locked=False, places=500, online=PLAYERS, map="Qeynos Harbor",
        map_file="qey_harbor", players=players, rules=(("motd", "hi"),),
    )  # fmt: skip


def core_of(protocol: str) -> QueryCore:
    """Return the core of a protocol, with a status that stays the same."""
    status, challenges = status_of(Monotonic(0.0)), Challenges(os.urandom(32))
    if protocol == "ogp":
        content = ContentSource(lambda _now: status, Presentation())
        return OgpResponder(content.content, challenges)
    if protocol == "a2s":
        return A2sResponder(lambda _now: status, challenges)
    return SsqResponder(lambda _now: Told(status, "192.0.2.1"), Tokens("", os.urandom))


def main() -> None:
    """Serve until terminated."""
    shell = QueryShell(core_of(sys.argv[1]), Scheduler(reactor), logger("bench"), UNLIMITED)
    port: Any = listen_query(reactor, "127.0.0.1", 0, shell)
    print(f"ready {port.getHost().port}", flush=True)
    reactor.run()


if __name__ == "__main__":
    main()
