"""One TCP connection that carries a link: a `Stream` whose core is a `LinkEnd`.

What messages mean is the business of whoever derives from it.
"""

from __future__ import annotations

from emu.link.end import LinkClosed, LinkEnd
from emu.link.messages import LinkMessage
from emu.net.stream import Stream
from emu.times import Monotonic


class LinkConnection(Stream):
    """Base of the two sides' protocols; they make the end and take its events."""

    core: LinkEnd

    def send(self, message: LinkMessage, now: Monotonic) -> None:
        """Send a message; does nothing on a closed link."""
        self.core.send(message, now)
        self.serve()

    def take_event(self, event: object, now: Monotonic) -> None:
        """Take an event of the end."""
        if isinstance(event, LinkClosed):
            self.link_closed(event.reason, now)
        else:
            self.link_event(event, now)

    def link_event(self, event: object, now: Monotonic) -> None:
        """Take an event of the end that is not `LinkClosed`."""
        raise NotImplementedError

    def link_closed(self, reason: str, now: Monotonic) -> None:
        """The link is over; called once."""
        raise NotImplementedError
