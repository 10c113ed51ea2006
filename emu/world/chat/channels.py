"""Channels: who is in which, under which password.

A channel of players' own is there while somebody is in it; the world's own are always, and have no
password. Names are compared without regard to case and shown as
the first one wrote them. Knows no client; what members are told is `speech`'s business.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from emu.errors import CommandError

YOU_JOINED, YOU_LEFT, OTHER_JOINED, OTHER_LEFT = range(4)
"""What clients are told of a channel: actions of ChatChannelUpdate."""
LONGEST_NAME: Final = 32
MOST_CHANNELS: Final = 2000
MOST_OF_ONE: Final = 10


@dataclass(slots=True)
class Channel:
    """One channel; members are character ids in the order they came."""

    name: str
    password: str = ""
    members: dict[int, None] = field(default_factory=dict)


class Channels:
    """All channels of a world."""

    __slots__ = ("_channels", "worlds_own")

    def __init__(self, worlds_own: Iterable[str] = ()) -> None:
        self.worlds_own = tuple(worlds_own)
        """Names of those that players are told of when they come."""
        self._channels: dict[str, Channel] = {}

    def __len__(self) -> int:
        return len(self._channels)

    def __iter__(self) -> Iterator[Channel]:
        """All channels; a snapshot."""
        return iter(list(self._channels.values()))

    def find(self, name: str) -> Channel | None:
        """Return a channel by name."""
        return self._channels.get(name.casefold())

    def of(self, member: int) -> list[Channel]:
        """Return the channels that somebody is in."""
        return [channel for channel in self._channels.values() if member in channel.members]

    def join(self, name: str, member: int, password: str = "") -> Channel:
        """Put somebody into a channel, made when it is not there. Raises `CommandError`."""
        found = self.find(name)
        if found is not None and member in found.members:
            raise CommandError(f"you are in the channel {found.name} already")
        if len(self.of(member)) >= MOST_OF_ONE:
            raise CommandError(f"nobody can be in more than {MOST_OF_ONE} channels")
        if found is None:
            found = self._make(name, password)
        elif not hmac.compare_digest(found.password.encode(), password.encode()):
            raise CommandError(f"the channel {found.name} has another password")
        found.members[member] = None
        return found

    def admit(self, name: str, member: int, password: str) -> Channel | None:
        """Put somebody in who has joined in another process; None when it is in already.

        Raises `CommandError` when there is no room for another channel.
        """
        found = self.find(name) or self._make(name, password)
        if member in found.members:
            return None
        found.members[member] = None
        return found

    def leave(self, name: str, member: int) -> Channel:
        """Take somebody out of a channel. Raises `CommandError` when they are not in it."""
        found = self.find(name)
        if found is None or member not in found.members:
            raise CommandError(f"you are not in a channel {name}")
        del found.members[member]
        if not found.members:
            del self._channels[name.casefold()]
        return found

    def _make(self, name: str, password: str) -> Channel:
        for known in self.worlds_own:
            if known.casefold() == name.casefold():
                name, password = known, ""
        if not name.isprintable() or not 0 < len(name) <= LONGEST_NAME or " " in name:
            raise CommandError(f"a channel's name is a word of up to {LONGEST_NAME} letters")
        if len(self._channels) >= MOST_CHANNELS:
            raise CommandError("there are too many channels")
        made = self._channels[name.casefold()] = Channel(name, password)
        return made
