"""Settings of a world that runs in several processes."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

from emu.config.readers import FINGERPRINT_OR_NONE, Address
from emu.config.setting import address_or_none, file_or_none, secret_text, setting


@frozen
class ProcessesConfig:
    """``[processes]``: several processes that serve one world; unused without listen and hub."""

    name: str = setting(
        "", 'Name of this process among the others. Empty: "hub", at the hub.', limits=(0, 31)
    )
    listen: Address | None = address_or_none(
        "Listen here for the other processes (TCP). Makes this process the hub, which has the"
        " database."
    )
    hub: Address | None = address_or_none(
        "Address of the hub to connect to. Makes this process a member."
    )
    secret: str = secret_text(
        "The secret that all processes of the world share, at least 16 characters. Also"
        " $EMU_PROCESSES_SECRET."
    )
    secret_file: Path | None = file_or_none("File whose first line is the secret.")
    zones: tuple[str, ...] = setting(
        (),
        'Hub only: the zones of members, each as "ZONE=PROCESS". The hub serves all others.',
        limits=(3, 200),
        most=5000,
    )
    certificate: Path | None = file_or_none(
        "Hub only: PEM file with certificate and private key. Members must then use TLS."
    )
    hub_tls_fingerprint: str = setting(
        "",
        "Member only: SHA-256 fingerprint of the hub's certificate. Empty: plain TCP.",
        form=FINGERPRINT_OR_NONE,
    )

    @property
    def own_name(self) -> str:
        """Name of this process among the others."""
        return self.name or "hub"
