"""Settings of a world that is several processes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from emu.config import readers
from emu.config.readers import Address
from emu.config.setting import address_or_none, file_or_none, secret_text, setting


@dataclass(frozen=True, slots=True)
class ProcessesConfig:
    """``[processes]``: several processes that are one world; alone without listen and hub."""

    name: str = setting(
        "", readers.text(0, 31), 'this process\' name among the others; empty = "hub" at the hub'
    )
    listen: Address | None = address_or_none(
        "TCP, where the others connect: makes this process the hub, which has the database"
    )
    hub: Address | None = address_or_none("the hub to connect to: makes this one a member")
    secret: str = secret_text(
        "what all of them know, at least 16 characters, or $EMU_PROCESSES_SECRET"
    )
    secret_file: Path | None = file_or_none("file whose first line is the secret")
    zones: tuple[str, ...] = setting(
        (),
        readers.list_of(readers.text(3, 200), 5000),
        'at the hub: zones of members, each "ZONE=PROCESS"; the hub serves all others',
    )
    certificate: Path | None = file_or_none("at the hub: PEM file; members then speak TLS to it")
    hub_tls_fingerprint: str = setting(
        "", readers.fingerprint_or_none, "at a member: the hub's certificate; empty = plain TCP"
    )

    @property
    def own_name(self) -> str:
        """This process' name among the others."""
        return self.name or "hub"
