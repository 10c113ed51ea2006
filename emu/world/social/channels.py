"""Chat channels: their members and passwords, in this process and in others.

A channel of players exists while it has members. The world's own channels always exist and have no
password. Names are compared without case and shown as the first member wrote them.

Every process knows which channels have members in which other process, with a salted hash of the
password: the password itself is not sent. The notes of a channel have a topic of their own, which
only processes with a member hear; those have all its members. A process that gets a first member,
or can be reached again, is sent the members of the others. The messages to clients are
`emu.world.social.chat`.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from emu.errors import CommandError
from emu.model import Present, may_see
from emu.processes.ports import CAME, GONE, LOST, Note, Subscription
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
ROUNDS: Final = 2000
"""Rounds of the hash of a password: about a millisecond."""


ON_ITS_WAY: Final = ""
"""The process of a member that has left this one for another node, and is in none yet."""


@dataclass(slots=True)
class Channel:
    """One channel; `members` has character ids in the order in which they joined.

    With each id is the other process that has the member, None for this one.
    """

    name: str
    password: str = ""
    members: dict[int, str | None] = field(default_factory=dict)
    here: int = 0
    """How many members are in this process."""

    @property
    def topic(self) -> str:
        """The topic of its notes."""
        return f"channel.{hashlib.sha256(self.name.casefold().encode()).hexdigest()[:32]}"

    def put_member(self, member: int, process: str | None = None) -> None:
        """Add a member, or note that it is in another process now."""
        if self.members.get(member, "") is None:
            self.here -= 1
        self.members[member] = process
        self.here += process is None

    def drop(self, member: int) -> None:
        """Remove a member."""
        self.here -= self.members.pop(member) is None

    def of_process(self, process: str | None) -> list[int]:
        """Return the members in another process, or with None in this one."""
        return [member for member, where in self.members.items() if where == process]


class HeldChannel(NamedTuple):
    """A channel that has members in another process, as that process publishes it."""

    name: str
    salt: str = ""
    proof: str = ""
    """The hash of the password with the salt; empty without a password."""

    def admits(self, password: str) -> bool:
        """Return whether a password is the channel's."""
        # The comparison takes the same time for every password, so it reveals no prefix.
        return hmac.compare_digest(self.proof, proof_of(password, self.salt))


def proof_of(password: str, salt: str) -> str:
    """Return the hash of a password by which other processes compare it; empty for none."""
    if not password:
        return ""
    return hashlib.pbkdf2_hmac("sha256", password.encode(), salt.encode(), ROUNDS).hex()


class Channels:
    """All channels with members in this process by name, and what others have."""

    __slots__ = ("_channels", "elsewhere", "world_channels")

    def __init__(self, world_channels: Iterable[str] = ()) -> None:
        self.world_channels = tuple(world_channels)
        """The names of the world's own channels, which each player is sent on arrival."""
        self._channels: dict[str, Channel] = {}
        self.elsewhere: dict[str, dict[str, HeldChannel]] = {}
        """The channels of other processes by name without case, each by process."""

    def __len__(self) -> int:
        return len(self._channels)

    def __iter__(self) -> Iterator[Channel]:
        """Iterate over a snapshot of the channels with members here."""
        return iter(list(self._channels.values()))

    def find(self, name: str) -> Channel | None:
        """Return a channel with members here by name in any case, None if there is none."""
        return self._channels.get(name.casefold())

    def of(self, member: int) -> list[Channel]:
        """Return the channels that a character of this process is in."""
        # A member that another process has let in since is that one's.
        return [one for one in self._channels.values() if one.members.get(member, "") is None]

    def join(self, name: str, member: int, password: str = "") -> Channel:
        """Add a member to a channel; create the channel if needed. Raises `CommandError`."""
        found = self.find(name)
        if found is not None and found.members.get(member, "") is None:
            # A second join would notify all members again.
            raise CommandError(f"you are in the channel {found.name} already")
        # Each membership is stored and published.
        if len(self.of(member)) >= MOST_OF_ONE:
            raise CommandError(f"you are in {MOST_OF_ONE} channels, the limit; leave one first")
        if found is None:
            found = self._make(name, password)
        # The comparison takes the same time for every password, so it reveals no prefix.
        elif not hmac.compare_digest(found.password.encode(), password.encode()):
            raise CommandError(f"the channel {found.name} has another password")
        found.put_member(member)
        return found

    def leave(self, name: str, member: int) -> Channel:
        """Remove a member of this process; without another one here the channel is removed.

        Raises `CommandError` if it is absent.
        """
        found = self.find(name)
        if found is None or found.members.get(member, "") is not None:
            raise CommandError(f"you are not in a channel {name}")
        found.drop(member)
        self.remove_empty(found)
        return found

    def go_away(self, member: int) -> list[Channel]:
        """Note that a member of this process is on its way to another node; return its channels."""
        left = self.of(member)
        for channel in left:
            channel.put_member(member, ON_ITS_WAY)
            self.remove_empty(channel)
        return left

    def remove_empty(self, channel: Channel) -> None:
        """Remove a channel that has no member here: nobody here hears what happens in it."""
        # A channel with nobody in it has no owner who could change its password.
        if not channel.here:
            self._channels.pop(channel.name.casefold(), None)

    def hold_elsewhere(self, process: str, held: HeldChannel) -> bool:
        """Note that another process has a channel; return whether there is a place for it."""
        key = held.name.casefold()
        if key not in self.elsewhere and self._count() >= MOST_CHANNELS:
            return False
        self.elsewhere.setdefault(key, {})[process] = held
        return True

    def drop_elsewhere(self, process: str, name: str) -> None:
        """Note that another process has no member of a channel any more."""
        key = name.casefold()
        holders = self.elsewhere.get(key, {})
        holders.pop(process, None)
        if not holders:
            self.elsewhere.pop(key, None)

    def lose(self, process: str) -> None:
        """Remove what a lost process has."""
        for name in list(self.elsewhere):
            self.drop_elsewhere(process, name)
        for channel in self._channels.values():
            for member in channel.of_process(process):
                channel.drop(member)

    def _make(self, name: str, password: str) -> Channel:
        held = next(iter(self.elsewhere.get(name.casefold(), {}).values()), None)
        if held is not None:
            # If both processes made the channel at the same time, each one's first stays.
            if not held.admits(password):
                raise CommandError(f"the channel {held.name} has another password")
            name = held.name
        # The first player who joins makes it, but under the operator's spelling and without a
        # password.
        for known in self.world_channels:
            if known.casefold() == name.casefold():
                name, password = known, ""
        if not name.isprintable() or not 0 < len(name) <= LONGEST_NAME or " " in name:
            raise CommandError(f"a channel's name is a word of up to {LONGEST_NAME} letters")
        if held is None and self._count() >= MOST_CHANNELS:
            raise CommandError("there are too many channels")
        made = self._channels[name.casefold()] = Channel(name, password)
        return made

    def _count(self) -> int:
        return len(self._channels.keys() | self.elsewhere.keys())


HELD: Final = "channels.held"
"""Topic: a process has its first member of a channel. `to` is the process that is to send its own
members; empty for all that have some.
"""
DROPPED: Final = "channels.dropped"
"""Topic: a process has no member of a channel any more."""
JOINED, LEFT, SAID, CHANGED, MEMBERS = "joined", "left", "said", "hidden", "members"
"""The kinds of notes of a channel's own topic. `MEMBERS` has all members of a process; the others
have the ``char_id`` and ``name`` of one.
"""


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
        self._heard: dict[str, tuple[Subscription, HeldChannel]] = {}
        """The channels of this process by topic."""
        world.processes.bus.subscribe(HELD, self._receive_held)
        world.processes.bus.subscribe(DROPPED, self._receive_dropped)
        world.processes.bus.subscribe(CAME, self._publish_all)
        world.processes.bus.subscribe(LOST, self._publish_all)
        world.processes.bus.subscribe(GONE, lambda note: local.channels.lose(str(note["process"])))

    def joined(self, player: Player, channel: Channel) -> None:
        """Publish that a player of this process is in a channel."""
        topic = channel.topic
        if topic not in self._heard:
            salt = f"{self._world.processes.name} {self._world.clock.moment()} {topic}"
            held = HeldChannel(channel.name, salt, proof_of(channel.password, salt))
            # First, because the others answer with their members.
            heard = self._world.processes.bus.subscribe(topic, self._receiver(channel))
            self._heard[topic] = heard, held
            self._publish_held(held)
        self._publish(JOINED, player, channel)

    def left(self, player: Player, channel: Channel) -> None:
        """Publish that a player of this process has left a channel."""
        self._publish(LEFT, player, channel)
        self.went(channel)

    def went(self, channel: Channel) -> None:
        """Note that a player of this process is in a channel no more, which it may not have left.

        A channel that has no member here is heard no longer.
        """
        if not channel.here and channel.topic in self._heard:
            heard, _ = self._heard.pop(channel.topic)
            heard.cancel()
            note: Note = {"process": self._world.processes.name, "channel": channel.name}
            self._world.processes.bus.publish(DROPPED, note)

    def said(self, player: Player, channel: Channel, text: str) -> None:
        """Publish what a player of this process says in a channel."""
        self._publish(SAID, player, channel, text=text)

    def hidden_changed(self, player: Player, channel: Channel, action: int) -> None:
        """Publish that a member of this process is hidden or shown again."""
        self._publish(CHANGED, player, channel, action=action)

    def names(self, channel: Channel, rank: int) -> list[str]:
        """Return the names of a channel's members in other processes that a rank may see."""
        known = (
            self._world.processes.presence.find(member)
            for member, process in channel.members.items()
            if process is not None
        )
        return [
            present.name
            for present in known
            if present and not present.link_dead and may_see(rank, present)
        ]

    def _publish(self, kind: str, player: Player, channel: Channel, **more: str | int) -> None:
        note: Note = {
            "process": self._world.processes.name,
            "kind": kind,
            "char_id": player.id,
            "name": player.name,
            "hidden": player.spawn.hidden,
            **more,
        }
        self._world.processes.bus.publish(channel.topic, note)

    def _publish_held(self, held: HeldChannel, to: str = "") -> None:
        note: Note = {
            "process": self._world.processes.name, "channel": held.name, "salt": held.salt,
            "proof": held.proof, "to": to,
        }  # fmt: skip
        self._world.processes.bus.publish(HELD, note)

    def _publish_all(self, note: Note) -> None:
        """Publish the channels here to a process that may have missed notes."""
        process = str(note["process"])
        for _, held in list(self._heard.values()):
            self._publish_held(held, process)

    # Notes of other processes; the bus delivers a process its own notes, too.

    def _receive_held(self, note: Note) -> None:
        process, name = str(note["process"]), str(note["channel"])
        if process == self._world.processes.name:
            return
        held = HeldChannel(name, str(note["salt"]), str(note["proof"]))
        if not self._local.channels.hold_elsewhere(process, held):
            # Counted and not raised: the other process has joined its player already.
            self._world.count("too many channels of other processes")
        channel = self._local.channels.find(name)
        if channel is not None and note["to"] in ("", self._world.processes.name):
            members = json.dumps(channel.of_process(None))
            answer: Note = {
                "process": self._world.processes.name,
                "kind": MEMBERS,
                "members": members,
            }
            self._world.processes.bus.publish(channel.topic, answer)

    def _receive_dropped(self, note: Note) -> None:
        if note["process"] != self._world.processes.name:
            self._local.channels.drop_elsewhere(str(note["process"]), str(note["channel"]))

    def _receiver(self, channel: Channel) -> Callable[[Note], None]:
        def receive(note: Note) -> None:
            process = str(note["process"])
            if process == self._world.processes.name:
                return
            if note["kind"] == MEMBERS:
                self._receive_members(channel, process, json.loads(str(note["members"])))
            else:
                self._receive(channel, process, note)

        return receive

    def _receive(self, channel: Channel, process: str, note: Note) -> None:
        char_id, name = int(note["char_id"] or 0), str(note["name"])
        is_known = char_id in channel.members
        match note["kind"]:
            case "joined":
                channel.put_member(char_id, process)
                if not is_known:
                    self._local.notify_members(channel, OTHER_JOINED, _named(char_id, note))
                self._settle(channel)
            # A player that changes the process may join there before this one reports its leaving.
            case "left" if channel.members.get(char_id) == process:
                channel.drop(char_id)
                self._local.notify_members(channel, OTHER_LEFT, _named(char_id, note))
            case "said":
                self._local.hear_channel(channel, name, str(note["text"]))
            case "hidden" if is_known:
                action = int(note["action"] or 0)
                self._local.notify_of_hidden(channel, action, name, char_id)

    def _receive_members(self, channel: Channel, process: str, members: list[int]) -> None:
        """Replace the members in another process; a member here stays here."""
        for member in set(channel.of_process(process)).difference(members):
            channel.drop(member)
        for member in members:
            if channel.members.get(member, "") is not None:
                channel.put_member(member, process)

    def _settle(self, channel: Channel) -> None:
        """Remove a channel whose last member here is in another process now."""
        self._local.channels.remove_empty(channel)
        self.went(channel)


def _named(char_id: int, note: Note) -> Present:
    """Return the name and visibility of a note's character."""
    return Present(0, char_id, 0, name=str(note["name"]), hidden=bool(note.get("hidden")))
