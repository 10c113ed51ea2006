"""Settings of the bus: how the nodes of a cluster reach each other."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

from emu.config.readers import BUS_PREFIX, BUS_URL
from emu.config.setting import file_or_none, setting


@frozen
class BusConfig:
    """``[bus]``: the messages between nodes; unused with a SQLite database."""

    url: str = setting(
        "",
        "Brokers of NATS: nats://HOST:PORT or tls://HOST:PORT, several with commas. Empty: the"
        " PostgreSQL database carries the messages.",
        form=BUS_URL,
        unquoted=True,
    )
    prefix: str = setting(
        "emu",
        "First part of every subject on NATS. The same in all nodes; clusters that share a broker"
        " need different ones.",
        form=BUS_PREFIX,
    )
    credentials_file: Path | None = file_or_none(
        "File with NATS credentials (JWT), or whose first line is USER:PASSWORD or a token."
    )
    certificate: Path | None = file_or_none(
        "PEM file with the authority that signed the brokers' certificates. Empty: those of the"
        " machine, for tls://."
    )
