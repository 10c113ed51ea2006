"""Chat channels: who is in which, under which password, here and in other processes.

A channel of players' own is there while somebody is in it; the world's own are always, and have no
password. Names are compared without regard to case and shown as
the first one wrote them. Knows no client; what members are told is `speech`'s business.

Each process knows all members of every channel, so that passwords and lists are the same
everywhere; it tells of its own, and again when another process can be reached.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Protocol

from emu.errors import CommandError
from emu.model import Present, may_see
from emu.processes.ports import CAME, GONE, Note
from emu.world.actors.player import Player
from emu.world.world import World

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


JOINED: Final = "channel.joined"
LEFT: Final = "channel.left"
SAID: Final = "channel.said"
HIDDEN: Final = "channel.hidden"
"""Topics. Their notes name the ``process`` that tells, the ``channel``, and ``char_id``."""


class NearChannels(Protocol):
    """The chat of this process."""

    channels: Channels

    def tell_members(self, channel: Channel, action: int, who: Player | Present) -> None:
        """Tell the members that are here of somebody who came or went."""

    def tell_of_hidden(self, channel: Channel, action: int, name: str, char_id: int) -> None:
        """Tell the members here who see no hidden players of one who is hidden or shown now."""

    def hear_channel(self, channel: Channel, speaker: str, text: str) -> None:
        """Have the members that are here hear what somebody says."""


class FarChannels:
    """Tells other processes of channels, and hears them."""

    def __init__(self, near: NearChannels, world: World) -> None:
        """Begin to hear the others."""
        self._near = near
        self._world = world
        for topic, hear in (
            (JOINED, self._heard_joined),
            (LEFT, self._heard_left),
            (SAID, self._heard_said),
            (HIDDEN, self._heard_hidden),
        ):
            world.bus.subscribe(topic, self._of_others(hear))
        world.bus.subscribe(CAME, lambda _note: self._tell_all())
        world.bus.subscribe(GONE, lambda _note: self._forget_who_is_gone())

    def joined(self, player: Player, channel: Channel) -> None:
        """Tell that somebody of this process is in a channel."""
        self._tell(JOINED, player, channel, password=channel.password)

    def left(self, player: Player, channel: Channel) -> None:
        """Tell that somebody of this process has left a channel."""
        self._tell(LEFT, player, channel)

    def said(self, player: Player, channel: Channel, text: str) -> None:
        """Tell what somebody of this process says in a channel."""
        self._tell(SAID, player, channel, text=text)

    def hidden_changed(self, player: Player, channel: Channel, action: int) -> None:
        """Tell that a member of this process is hidden now, or shown again."""
        self._tell(HIDDEN, player, channel, action=action)

    def names(self, channel: Channel, rank: int) -> list[str]:
        """Return the names of a channel's members in other processes that a rank may see."""
        known = (self._elsewhere(member) for member in channel.members)
        return [
            present.name
            for present in known
            if present and not present.link_dead and may_see(rank, present)
        ]

    def _tell(self, topic: str, player: Player, channel: Channel, **more: str | int) -> None:
        note: Note = {
            "process": self._world.process,
            "char_id": player.id,
            "name": player.name,
            "hidden": player.spawn.hidden,
            "channel": channel.name,
            **more,
        }
        self._world.bus.publish(topic, note)

    def _tell_all(self) -> None:
        for player in self._world.players:
            for channel in self._near.channels.of(player.id):
                self.joined(player, channel)

    def _of_others(self, hear: Callable[[Note, int, str], None]) -> Callable[[Note], None]:
        """Return what hears a note of another process, and lets those of this one be."""

        def heard(note: Note) -> None:
            if note["process"] != self._world.process:
                hear(note, int(note["char_id"] or 0), str(note["channel"]))

        return heard

    def _heard_joined(self, note: Note, char_id: int, name: str) -> None:
        try:
            channel = self._near.channels.admit(name, char_id, str(note["password"]))
        except CommandError:
            self._world.count("no room for a channel of another process")
            return
        if channel is not None:
            self._near.tell_members(channel, OTHER_JOINED, _named(char_id, note))

    def _heard_left(self, note: Note, char_id: int, name: str) -> None:
        if self._world.players.get(char_id) is None:  # else it came here, and is in it here
            self._take_out(name, char_id, _named(char_id, note))

    def _heard_said(self, note: Note, _char_id: int, name: str) -> None:
        channel = self._near.channels.find(name)
        if channel is not None:
            self._near.hear_channel(channel, str(note["name"]), str(note["text"]))

    def _heard_hidden(self, note: Note, char_id: int, name: str) -> None:
        channel = self._near.channels.find(name)
        if channel is not None and char_id in channel.members:
            action = int(note["action"] or 0)
            self._near.tell_of_hidden(channel, action, str(note["name"]), char_id)

    def _take_out(self, name: str, char_id: int, who: Present) -> None:
        channel = self._near.channels.find(name)
        if channel is not None and char_id in channel.members:
            self._near.channels.leave(name, char_id)
            self._near.tell_members(channel, OTHER_LEFT, who)

    def _forget_who_is_gone(self) -> None:
        """Take out who is nowhere any more: a process is gone, and presence has forgotten them."""
        for channel in self._near.channels:
            for member in list(channel.members):
                if self._world.players.get(member) is None and self._elsewhere(member) is None:
                    self._near.channels.leave(channel.name, member)

    def _elsewhere(self, member: int) -> Present | None:
        found = self._world.presence.find(member)
        return found if found is not None and found.process != self._world.process else None


def _named(char_id: int, note: Note) -> Present:
    """Return as much of a character as others are told."""
    return Present(0, char_id, 0, name=str(note["name"]), hidden=bool(note.get("hidden")))
