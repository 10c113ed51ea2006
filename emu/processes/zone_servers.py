"""Which process serves a zone: all in this one, or as a table says that the hub tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Final

from emu.errors import Unanswered

MOST_PORT: Final = 0xFFFF


@dataclass(frozen=True, slots=True, eq=False)
class ZoneTable:
    """`ZoneServers` of several processes.

    `table` returns the zones that members serve, with their processes' names, and `rest` the name
    of the process that serves all others; `others` are the processes that can be reached, each with
    ``host`` and ``port`` for clients.
    """

    process: str
    _: KW_ONLY
    table: Callable[[], Mapping[int, str]]
    rest: Callable[[], str]
    others: Mapping[str, Mapping[str, Any]]

    def serves(self, zone_id: int) -> bool:
        """Say whether a zone is this process' business."""
        return self.server_of(zone_id) == self.process

    def elsewhere(self, zone_id: int) -> tuple[str, int] | None:
        """Return host and port by which clients reach a zone's process, None for this process.

        Raises `Unanswered` when that process cannot be reached.
        """
        server = self.server_of(zone_id)
        if server == self.process:
            return None
        about = self.others.get(server)
        if about is None:
            raise Unanswered(f"that zone cannot be reached now: its server {server} is away")
        address = address_of(about)
        if address is None:
            raise Unanswered(f"that zone cannot be reached: its server {server} tells no address")
        return address

    def server_of(self, zone_id: int) -> str:
        """Return the name of the process that serves a zone."""
        return self.table().get(zone_id) or self.rest()


def served_here() -> ZoneTable:
    """Return the `ZoneServers` of a world that is one process: nobody is elsewhere."""
    return ZoneTable("", table=dict, rest=str, others={})


def address_of(about: Mapping[str, Any]) -> tuple[str, int] | None:
    """Return host and port that a process tells for clients; None when it tells none."""
    match about:
        case {"host": str() as host, "port": int() as port} if host and 0 < port <= MOST_PORT:
            return host, port
    return None
