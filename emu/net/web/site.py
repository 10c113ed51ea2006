"""The site: the tree of resources, with what came of every request counted."""

from __future__ import annotations

from twisted.web.http import Request
from twisted.web.resource import Resource
from twisted.web.server import Site

from emu.measures import Uses


class CountingSite(Site):
    """Counts requests in `uses` by the status of the answer, each when it is over."""

    displayTracebacks = False

    def __init__(self, root: Resource, uses: Uses, idle: float) -> None:
        """Connections that say nothing for `idle` seconds are closed."""
        super().__init__(root, timeout=idle)
        self._uses = uses

    def log(self, request: Request) -> None:
        """Count a request; called by Twisted at its end."""
        self._uses.requests[str(request.code)] += 1
