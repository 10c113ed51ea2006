"""Settings of a node: one process of a cluster."""

from __future__ import annotations

from attrs import frozen

from emu.cluster.ports import LEASE
from emu.config.readers import NODE_NAME
from emu.config.setting import setting


@frozen
class NodeConfig:
    """``[node]``: this process as a node of a cluster; unused with a SQLite database."""

    name: str = setting(
        "",
        "Unique name of this node among those of its database. Empty: the name of the machine.",
        form=NODE_NAME,
    )
    capacity: int = setting(
        500,
        "Players that this node should run at most, compared with the other nodes. 0: it runs no"
        " zones, as a login server does.",
        unit="players",
        limits=(0, 1_000_000),
    )
    zones: tuple[str, ...] = setting(
        (),
        "Zones that run on this node while it is alive. The others run where the load is least.",
        limits=(1, 200),
        most=5000,
    )
    drain_wait: float = setting(
        0.0,
        "How long a stop first sends the players to other nodes. 0: they are disconnected.",
        unit="seconds",
        limits=(0, 3600),
        live=True,
    )
    lease: float = setting(
        LEASE,
        "How long a node that does not answer counts as alive. The same in all nodes.",
        unit="seconds",
        limits=(0.5, 60),
    )

    @property
    def beat(self) -> float:
        """Seconds between two beats: a third of the lease."""
        return self.lease / 3
