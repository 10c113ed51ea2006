"""Settings of the OGP responder with their defaults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from emu.admin.ogp.fields import DIALECTS, OgpVersion


@dataclass(frozen=True, slots=True)
class OgpRules:
    """The settings of the responder."""

    dialects: Sequence[OgpVersion] = DIALECTS
    """The supported versions, tried in this order."""
    most_parts: int = 16
    """Maximum number of datagrams of one answer."""
    banned_interval: float = 10.0
    """Seconds between two answers to a banned address."""
