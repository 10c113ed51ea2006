"""A server of 200 players that answers queries, in its own process.

Run as ``python -m tools.bench.query_server ogp|a2s|ssq|ggmp``; prints ``ready PORT``.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from twisted.internet import reactor as _reactor

from emu.admin.a2s.responder import A2sResponder
from emu.admin.ggmp.acting import ActorState, GgmpPlace
from emu.admin.ogp.responder import OgpContentSource, OgpResponder, Presentation
from emu.admin.ssq.responder import SsqResponder, SsqTokens
from emu.admin.ssq.tables import SsqContent
from emu.admin.status import PlayerStatus, ServerStatus
from emu.config import Address
from emu.config.administration import GgmpConfig, GgmpPolicy
from emu.limits.rates import AnswerRules, Challenges
from emu.net.admin.ggmp import GgmpPort
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
        content = OgpContentSource(lambda _now: status, Presentation())
        return OgpResponder(content.content, challenges)
    if protocol == "a2s":
        return A2sResponder(lambda _now: status, challenges)
    return SsqResponder(lambda _now: SsqContent(status, "192.0.2.1"), SsqTokens("", os.urandom))


class OneActor:
    """GGMP's access to the world, with a single actor that stands still."""

    def status(self, now: Monotonic) -> ServerStatus:
        """Return the server."""
        return status_of(now)

    def find(self, actor: int) -> ActorState | None:
        """Return the actor, whatever its number."""
        return ActorState(actor, "a guard", 5, GgmpPlace(1.0, 2.0, 3.0, 90.0))

    def named(self, _name: str) -> ActorState | None:
        """Return the actor."""
        return self.find(1)

    def inside(self, _zone: int) -> Sequence[int]:
        """Return nobody."""
        return ()

    def move(self, actor: int, place: GgmpPlace) -> None:
        """Do nothing."""

    def say(self, actor: int, text: str) -> None:
        """Do nothing."""


def open_ggmp() -> int:
    """Open GGMP to clients 1 to 255, with the timers that repeat what is not acknowledged."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as clients:
        clients.writelines(f"client query {number} 127.0.0.1\n" for number in range(1, 256))
        clients.flush()
        config = GgmpConfig(
            listen=Address("127.0.0.1", 0),
            policy=GgmpPolicy.STATIC,
            clients_file=Path(clients.name),
        )
        port = GgmpPort(
            config, OneActor(), reactor, Scheduler(reactor), lambda _use: None, limits=UNLIMITED
        )
    port.listen()
    return port.port


def open_query(protocol: str) -> int:
    """Open a port of questions and answers."""
    shell = QueryShell(core_of(protocol), Scheduler(reactor), logger("bench"), UNLIMITED)
    port: Any = listen_query(reactor, "127.0.0.1", 0, shell)
    number: int = port.getHost().port
    return number


def main() -> None:
    """Serve until terminated."""
    protocol = sys.argv[1]
    print(f"ready {open_ggmp() if protocol == 'ggmp' else open_query(protocol)}", flush=True)
    reactor.run()


if __name__ == "__main__":
    main()
