"""The machinery that the behaviors and the scripts of one world share."""

from __future__ import annotations

from emu.world.conversations import Conversations
from emu.world.events import Events


class Minds:
    """The parts that move actors and let them talk, whoever decides what they do."""

    def __init__(self, *, events: Events) -> None:
        """Make the parts, which subscribe to the events of their world."""
        self.conversations = Conversations(events=events)
        """The dialogs that players have open."""
