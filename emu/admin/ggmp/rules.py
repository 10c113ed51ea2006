"""What a server does: whom it lets in, and how long it waits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from emu.admin.ggmp.grants import Grant, StaticClient
from emu.admin.ggmp.orders import BIG, ByteOrder
from emu.admin.ggmp.outbox import WAIT


@dataclass(frozen=True, slots=True)
class GgmpRules:
    """What the server does."""

    grants: Sequence[Grant] = ()
    anonymous: Grant | None = None
    """What those may do who show no token; None lets nobody in without one."""
    clients: Mapping[int, StaticClient] = field(default_factory=dict)
    """Known clients by their numbers."""
    wait: float = WAIT
    """Seconds to the first repetition of what is not acknowledged."""
    silence: float = 60.0
    """Seconds after which a client that says nothing is gone."""
    most_clients: int = 256
    order: ByteOrder = BIG

    @property
    def lets_anybody_in(self) -> bool:
        """Whether there is somebody who may join."""
        return bool(self.grants or self.clients) or self.anonymous is not None
