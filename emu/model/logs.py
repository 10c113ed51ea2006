"""What a client sends for operators to read."""

from __future__ import annotations

from dataclasses import dataclass

from emu.times import Moment


@dataclass(frozen=True, slots=True)
class ClientLog:
    """One client log message, inflated and bounded."""

    kind: str
    """``Crash Log``, ``Verify Log``, ``Alert Log`` or ``Base Log``."""
    text: str
    account_id: int
    account_name: str
    address: str
    client_version: int
    received: Moment
