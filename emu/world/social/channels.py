"""Chat channels: their members and passwords, in this process and in others.

A channel of players exists while it has members. The world's own channels always exist and have no
password. Names are compared without case and shown as the first member wrote them.

Each process has all members of every channel, so passwords and lists are the same everywhere. A
process publishes its own members, and again when another process becomes reachable. The messages to
clients are `emu.world.social.chat`.
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
"""The actions of ChatChannelUpdate."""
LONGEST_NAME: Final = 32
"""Characters of a channel's name."""
MOST_CHANNELS: Final = 2000
"""Channels of one world."""
MOST_OF_ONE: Final = 10
"""Channels that one player may be in."""


@dataclass(slots=True)
class Channel:
    """One channel; `members` has character ids in the order in which they joined."""

    name: str
    password: str = ""
    members: dict[int, None] = field(default_factory=dict)


class Channels:
    """All channels of a world, by name."""

    __slots__ = ("_channels", "world_channels")

    def __init__(self, world_channels: Iterable[str] = ()) -> None:
        self.world_channels = tuple(world_channels)
        """The names of the world's own channels, which each player is sent on arrival."""
        self._channels: dict[str, Channel] = {}

    def __len__(self) -> int:
        return len(self._channels)

    def __iter__(self) -> Iterator[Channel]:
        """Iterate over a snapshot of all channels."""
        return iter(list(self._channels.values()))

    def find(self, name: str) -> Channel | None:
        """Return a channel by name in any case, None if there is none."""
        return self._channels.get(name.casefold())

    def of(self, member: int) -> list[Channel]:
        """Return the channels that a character is in."""
        return [channel for channel in self._channels.values() if member in channel.members]

    def join(self, name: str, member: int, password: str = "") -> Channel:
        """Add a member to a channel; create the channel if needed. Raises `CommandError`."""
        found = self.find(name)
        if found is not None and member in found.members:
            # A second join would notify all members again.
            raise CommandError(f"you are in the channel {found.name} already")
        # Each membership is stored and published to every process.
        if len(self.of(member)) >= MOST_OF_ONE:
            raise CommandError(f"you are in {MOST_OF_ONE} channels, the limit; leave one first")
        if found is None:
            found = self._make(name, password)
        # The comparison takes the same time for every password, so it reveals no prefix.
        elif not hmac.compare_digest(found.password.encode(), password.encode()):
            raise CommandError(f"the channel {found.name} has another password")
        found.members[member] = None
        return found

    def join_from_elsewhere(self, name: str, member: int, password: str) -> Channel | None:
        """Add a member of another process, without a password; return None if it is in already.

        Raises `CommandError` if the world has too many channels.
        """
        # The other process has checked the password. If both made the channel at the same time, the
        # first one here stays.
        found = self.find(name) or self._make(name, password)
        if member in found.members:
            return None
        found.members[member] = None
        return found

    def leave(self, name: str, member: int) -> Channel:
        """Remove a member; the last one ends the channel. Raises `CommandError` if it is absent."""
        found = self.find(name)
        if found is None or member not in found.members:
            raise CommandError(f"you are not in a channel {name}")
        del found.members[member]
        if not found.members:
            # A channel with nobody in it has no owner who could change its password.
            del self._channels[name.casefold()]
        return found

    def _make(self, name: str, password: str) -> Channel:
        # The first player who joins makes it, but under the operator's spelling and without a
        # password.
        for known in self.world_channels:
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
"""The topics on the bus. Each note has the publishing ``process``, the ``channel``, ``char_id``."""


class LocalChannels(Protocol):
    """The chat of this process, as `RemoteChannels` uses it."""

    channels: Channels

    def notify_members(self, channel: Channel, action: int, who: Player | Present) -> None:
        """Send the members of this process an action: a player has joined or left."""

    def notify_of_hidden(self, channel: Channel, action: int, name: str, char_id: int) -> None:
        """Send an action to the members of this process who cannot see hidden players."""

    def hear_channel(self, channel: Channel, speaker: str, text: str) -> None:
        """Show a text to the members of this process."""


class RemoteChannels:
    """The channels of other processes: publishes changes of this process, applies theirs."""

    def __init__(self, local: LocalChannels, world: World) -> None:
        """Subscribe to the notes of other processes."""
        self._local = local
        self._world = world
        for topic, hear in (
            (JOINED, self._receive_joined),
            (LEFT, self._receive_left),
            (SAID, self._receive_said),
            (HIDDEN, self._receive_hidden),
        ):
            # The bus delivers a process its own notes, too.
            world.bus.subscribe(topic, self._of_others(hear))
        world.bus.subscribe(CAME, lambda _note: self._publish_members())
        world.bus.subscribe(GONE, lambda _note: self._forget_lost_members())

    def joined(self, player: Player, channel: Channel) -> None:
        """Publish that a player of this process is in a channel."""
        self._publish(JOINED, player, channel, password=channel.password)

    def left(self, player: Player, channel: Channel) -> None:
        """Publish that a player of this process has left a channel."""
        self._publish(LEFT, player, channel)

    def said(self, player: Player, channel: Channel, text: str) -> None:
        """Publish what a player of this process says in a channel."""
        self._publish(SAID, player, channel, text=text)

    def hidden_changed(self, player: Player, channel: Channel, action: int) -> None:
        """Publish that a member of this process is hidden or shown again."""
        self._publish(HIDDEN, player, channel, action=action)

    def names(self, channel: Channel, rank: int) -> list[str]:
        """Return the names of a channel's members in other processes that a rank may see."""
        known = (self._elsewhere(member) for member in channel.members)
        return [
            present.name
            for present in known
            if present and not present.link_dead and may_see(rank, present)
        ]

    def _publish(self, topic: str, player: Player, channel: Channel, **more: str | int) -> None:
        note: Note = {
            "process": self._world.process,
            "char_id": player.id,
            "name": player.name,
            "hidden": player.spawn.hidden,
            # The channel's own spelling, not that of the command.
            "channel": channel.name,
            **more,
        }
        self._world.bus.publish(topic, note)

    def _publish_members(self) -> None:
        for player in self._world.players:
            for channel in self._local.channels.of(player.id):
                # A process that was out of reach has missed notes. It ignores the members that it
                # has already.
                self.joined(player, channel)

    def _of_others(self, hear: Callable[[Note, int, str], None]) -> Callable[[Note], None]:
        """Return a subscriber that passes on notes of other processes and ignores our own."""

        def heard(note: Note) -> None:
            if note["process"] != self._world.process:
                hear(note, int(note["char_id"] or 0), str(note["channel"]))

        return heard

    def _receive_joined(self, note: Note, char_id: int, name: str) -> None:
        try:
            channel = self._local.channels.join_from_elsewhere(name, char_id, str(note["password"]))
        except CommandError:
            # Counted and not raised: the note comes from another process, which has joined its
            # player already.
            self._world.count("too many channels of other processes")
            return
        if channel is not None:
            self._local.notify_members(channel, OTHER_JOINED, _named(char_id, note))

    def _receive_left(self, note: Note, char_id: int, name: str) -> None:
        # A player that changes the process joins here before the other process reports its leaving.
        if self._world.players.get(char_id) is None:
            self._take_out(name, char_id, _named(char_id, note))

    def _receive_said(self, note: Note, _char_id: int, name: str) -> None:
        channel = self._local.channels.find(name)
        if channel is not None:
            self._local.hear_channel(channel, str(note["name"]), str(note["text"]))

    def _receive_hidden(self, note: Note, char_id: int, name: str) -> None:
        channel = self._local.channels.find(name)
        if channel is not None and char_id in channel.members:
            action = int(note["action"] or 0)
            self._local.notify_of_hidden(channel, action, str(note["name"]), char_id)

    def _take_out(self, name: str, char_id: int, who: Present) -> None:
        channel = self._local.channels.find(name)
        if channel is not None and char_id in channel.members:
            self._local.channels.leave(name, char_id)
            self._local.notify_members(channel, OTHER_LEFT, who)

    def _forget_lost_members(self) -> None:
        """Remove the members of a lost process: those that presence no longer has."""
        for channel in self._local.channels:
            for member in list(channel.members):
                if self._world.players.get(member) is None and self._elsewhere(member) is None:
                    self._local.channels.leave(channel.name, member)

    def _elsewhere(self, member: int) -> Present | None:
        found = self._world.presence.find(member)
        return found if found is not None and found.process != self._world.process else None


def _named(char_id: int, note: Note) -> Present:
    """Return the name and visibility of a note's character."""
    return Present(0, char_id, 0, name=str(note["name"]), hidden=bool(note.get("hidden")))
