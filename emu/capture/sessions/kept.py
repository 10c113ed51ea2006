"""How much the sessions of one capture may keep of what they were told, all together.

Ghosts, sheets and books are kept for every session, as later messages say only what changed. Who
wrote a capture may be anybody, so there is an end to it: the sessions that were silent for longest
forget, and their next changes are said to be of something that is not known.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from emu.sight import WorldStream

MOST_KEPT: Final = 256 * 1024 * 1024
"""Bytes; some 200,000 ghosts."""


class KeptStates:
    """Counts what sessions keep. `limit` is in bytes."""

    def __init__(self, limit: int = MOST_KEPT) -> None:
        self._limit = limit
        self._sizes: OrderedDict[WorldStream, int] = OrderedDict()
        self.total = 0
        """Bytes that are kept now, about."""

    def note(self, stream: WorldStream) -> None:
        """Count what a session keeps after a message; have others forget when it is too much.

        A session that alone keeps too much forgets as well.
        """
        self.total -= self._sizes.pop(stream, 0)
        size = stream.size
        if size:
            self._sizes[stream] = size
            self.total += size
        while self.total > self._limit:
            oldest, freed = self._sizes.popitem(last=False)
            self.total -= freed
            for to_server in (True, False):
                oldest.miss(to_server=to_server)
