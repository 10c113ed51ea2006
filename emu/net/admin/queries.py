"""The UDP ports of the query protocols: which are open, over one status and one kind of limits.

Each protocol is a core of `emu.admin`; here it gets its settings, its challenges and its port.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from twisted.internet.error import CannotListenError

from emu.admin.a2s.responder import A2sResponder
from emu.admin.ogp.colors import ColorChange
from emu.admin.ogp.content import ContentSource, Presentation
from emu.admin.ogp.fields import DIALECTS
from emu.admin.ogp.responder import OgpResponder, OgpRules
from emu.admin.status import OpenDoor, ServerStatus
from emu.config import Address, Config
from emu.errors import CommandError
from emu.limits.answers import AnswerRules
from emu.limits.challenges import Challenges
from emu.net.admin.masters import MasterUplink
from emu.net.hosts import cannot_listen, door, listen_address
from emu.net.logs import logger
from emu.net.scheduler import Scheduler
from emu.net.udp.query import QueryCore, QueryShell, listen_query
from emu.times import Monotonic

SECRET_SIZE = 32

_log = logger("query")


class QueryPart:
    """All query ports of a server. `listen`, then `stop`."""

    def __init__(
        self,
        config: Config,
        *,
        reactor: Any,
        scheduler: Scheduler,
        status: Callable[[Monotonic], ServerStatus],
        is_banned: Callable[[str], bool],
    ) -> None:
        self._config = config
        self._reactor = reactor
        self._scheduler = scheduler
        self._status = status
        self._is_banned = is_banned
        self._challenges = Challenges(os.urandom(SECRET_SIZE))
        self._ports: list[Any] = []
        self._masters: MasterUplink | None = None
        self.shells: dict[str, QueryShell] = {}
        """The open ports by the name of their protocol."""

    def listen(self) -> None:
        """Open what the configuration names, and say where. Raises `CommandError`."""
        ogp, a2s = self._config.ogp, self._config.a2s
        if ogp.listen is not None:
            shell = self._open("ogp.listen", "OGP", ogp.listen, self._ogp())
            if ogp.masters:
                self._masters = MasterUplink(shell.send, ogp.masters, ogp.game_id, self._scheduler)
                self._masters.start()
        if a2s.listen is not None:
            core = A2sResponder(self._status, self._challenges)
            self._open("a2s.listen", "A2S", a2s.listen, core)

    def doors(self) -> Iterator[OpenDoor]:
        """Yield the ports that are open."""
        for (name, shell), port in zip(self.shells.items(), self._ports, strict=True):
            yield door(f"{name}.listen", port, shell.counters)

    async def stop(self) -> None:
        """Close all ports."""
        if self._masters is not None:
            self._masters.stop()
        for port in self._ports:
            await port.stopListening()
        self._ports.clear()

    def _open(self, key: str, title: str, address: Address, core: QueryCore) -> QueryShell:
        """Open the port of one protocol; `key` is the setting of its address."""
        shell = QueryShell(core, self._scheduler, _log, answer_rules(self._config))
        at = listen_address(key, address)
        try:
            port: Any = listen_query(self._reactor, at.host, at.port, shell)
        except CannotListenError as error:  # a TCP port may have the same number
            raise CommandError(cannot_listen(key, error)) from None
        self._ports.append(port)
        self.shells[key.partition(".")[0]] = shell
        host = port.getHost()
        _log.info("{title} on UDP {at}", title=title, at=Address(host.host, host.port))
        return shell

    def _ogp(self) -> OgpResponder:
        content = ContentSource(self._status, presentation(self._config))
        rules = ogp_rules(self._config)
        return OgpResponder(content.content, self._challenges, rules, is_banned=self._is_banned)


def answer_rules(config: Config) -> AnswerRules:
    """Return how often the query ports answer."""
    query = config.query
    return AnswerRules(
        address_burst=2 * query.per_address,
        address_rate=float(query.per_address),
        share_burst=float(query.per_second),
        share_rate=float(query.per_second),
        most_addresses=query.addresses,
    )


def ogp_rules(config: Config) -> OgpRules:
    """Return how OGP is answered."""
    wanted = config.ogp.dialect
    dialects = tuple(one for one in DIALECTS if wanted in ("auto", one.name))
    return OgpRules(dialects=dialects, most_parts=config.ogp.most_parts)


def presentation(config: Config) -> Presentation:
    """Return how the server appears in OGP."""
    ogp = config.ogp
    return Presentation(ogp.game_id, tuple(ColorChange(*one) for one in ogp.host_name_colors))
