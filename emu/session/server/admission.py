"""Who may have a session: how many each host has, how many there are in all, and who is barred.

Where strangers know the check key, a session counts only once its client has acknowledged
something: until then it is one of a bounded number that make room for each other, the oldest first.
Knows no datagrams and no keys. Source: docs/protocol/transport.md#strangers.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable

from emu.limits.addresses import address_key, is_loopback
from emu.session.configuration import EndpointConfig
from emu.session.session import Session
from emu.times import Monotonic


def host_of(address: Hashable) -> Hashable | None:
    """Return what the limit per host counts by, for a (host, port, ...) address; None: no limit.

    An IPv6 host is counted by its /64 network. A loopback host is not limited: it is this machine.
    """
    host: Hashable = next(iter(address), None) if isinstance(address, tuple) else address
    if not isinstance(host, str):
        return host
    return None if is_loopback(host) else address_key(host)


class Admission:
    """The limits of one endpoint on whom it serves.

    `unacknowledged` holds the sessions whose address nothing validates yet, oldest first; it is to
    be looked at only. `host_key` names the host of an address, or None for one without a limit.
    """

    __slots__ = ("_barred", "_config", "_counted", "_hosts", "host_key", "unacknowledged")

    def __init__(
        self, config: EndpointConfig, host_key: Callable[[Hashable], Hashable | None]
    ) -> None:
        self._config = config
        self._counted = 0
        self._hosts: dict[Hashable, int] = {}
        self._barred: dict[Hashable, float] = {}
        self.host_key = host_key
        self.unacknowledged: OrderedDict[Session, None] = OrderedDict()

    def reason_against(self, host: Hashable | None) -> str | None:
        """Return why a host gets no session more now, else None."""
        if host is not None and self._hosts.get(host, 0) >= self._config.sessions_per_host_limit:
            return "too many sessions of one host"
        if self._counted >= self._config.session_limit:
            return "too many sessions"
        return None

    def bar(self, address: Hashable, now: Monotonic) -> None:
        """Let nobody take over the session of an address for a while."""
        self._barred[address] = now + self._config.takeover_pause

    def is_barred(self, address: Hashable, now: Monotonic) -> bool:
        """Whether nobody may take over the session of an address now."""
        return now < self._barred.get(address, now)

    def count(self, session: Session) -> None:
        """Count a session whose address is validated."""
        self.unacknowledged.pop(session, None)
        self._counted += 1
        host = self.host_key(session.address)
        if host is not None:
            self._hosts[host] = self._hosts.get(host, 0) + 1

    def keep(self, session: Session) -> Session | None:
        """Keep a session that is not to be counted yet; return which one has to go for it."""
        is_full = len(self.unacknowledged) >= self._config.half_open_limit
        oldest = next(iter(self.unacknowledged)) if is_full else None
        self.unacknowledged[session] = None
        return oldest

    def remove(self, session: Session) -> None:
        """Let go of a session that was counted or kept."""
        self._barred.pop(session.address, None)
        if session in self.unacknowledged:
            del self.unacknowledged[session]
            return
        self._counted -= 1
        host = self.host_key(session.address)
        if host is not None:
            left = self._hosts[host] - 1
            if left:
                self._hosts[host] = left
            else:
                del self._hosts[host]
