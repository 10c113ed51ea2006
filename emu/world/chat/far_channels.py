"""Channels whose members are in several processes, over the bus.

Each process knows all members of every channel, so that passwords and lists are the same
everywhere; it tells of its own, and again when another process can be reached.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from emu.errors import CommandError
from emu.model import Present
from emu.processes.ports import CAME, GONE, Note
from emu.world.chat.channels import OTHER_JOINED, OTHER_LEFT, Channel, Channels
from emu.world.players.player import Player
from emu.world.world import World

JOINED: Final = "channel.joined"
LEFT: Final = "channel.left"
SAID: Final = "channel.said"
"""Topics. Their notes name the ``process`` that tells, the ``channel``, and ``char_id``."""


class NearChannels(Protocol):
    """The chat of this process."""

    channels: Channels

    def tell_members(self, channel: Channel, action: int, who: Player | Present) -> None:
        """Tell the members that are here of somebody who came or went."""

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

    def names(self, channel: Channel) -> list[str]:
        """Return the names of a channel's members that are in other processes."""
        known = (self._elsewhere(member) for member in channel.members)
        return [present.name for present in known if present and not present.link_dead]

    def _tell(self, topic: str, player: Player, channel: Channel, **more: str) -> None:
        note: Note = {
            "process": self._world.process,
            "char_id": player.id,
            "name": player.name,
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
    return Present(0, char_id, 0, name=str(note["name"]))
