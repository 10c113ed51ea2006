"""Who hears what a player says, here and in other processes.

Chat reaches clients as OP_EqHearChatCmd, with the speaker's index as the hearer knows it and the
hearer's own name (docs/protocol/world/chat.md#hear-chat). Whoever ignores the speaker hears
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from emu.dialects.dialect import NOT_SEEN
from emu.dialects.rules import ChannelNumbers
from emu.errors import CommandError, Unanswered
from emu.model import Membership, Present, may_see
from emu.processes.ports import Note
from emu.times import Monotonic, unix_seconds
from emu.world.actors.client import text_fields
from emu.world.actors.hiding import sees
from emu.world.actors.player import Player, Relation
from emu.world.actors.spawn import Spawn
from emu.world.entry import saving
from emu.world.events import Said
from emu.world.rules import ChatRules
from emu.world.social.channels import (
    OTHER_JOINED,
    OTHER_LEFT,
    YOU_JOINED,
    YOU_LEFT,
    Channel,
    Channels,
    FarChannels,
)
from emu.world.world import World

BROADCAST: Final = "chat.broadcast"
ANNOUNCE: Final = "chat.announce"
TELL: Final = "chat.tell"
"""Topics; that of tells is followed by a dot and the process that hears them."""


def not_found(name: str) -> str:
    """Return what a speaker is answered for whom it cannot reach, by the name as it was typed.

    The same for those who are not in the world and for those whom the speaker may not see.
    """
    return f"Unable to find client {name}"


class FarChat:
    """Speaks to other processes, and hears them."""

    def __init__(self, world: World, hear_tell: Callable[[Player, str, str], str]) -> None:
        """Begin to hear the others. `hear_tell` is the chat's of this process."""
        self._hear_tell = hear_tell
        self._world = world
        world.bus.answer(f"{TELL}.{world.process}", self._tell_here)

    async def tell(self, speaker: Player, name: str, text: str) -> tuple[str, str]:
        """Tell a player of another process something.

        Returns its name, and what it answers when it is away. Raises `CommandError` when it cannot
        be reached or does not want to hear it.
        """
        present = self._world.presence.named(name)
        rank = speaker.character.admin_status
        if (
            present is None
            or present.link_dead
            or present.process == self._world.process
            or not may_see(rank, present)
        ):
            raise CommandError(not_found(name))
        note: Note = {
            "speaker": speaker.name, "rank": rank, "char_id": present.char_id, "name": name,
            "text": text,
        }  # fmt: skip
        try:
            told = await self._world.bus.request(f"{TELL}.{present.process}", note)
        except Unanswered:
            raise CommandError(f"{present.name} cannot be reached now") from None
        return present.name, str(told["reply"])

    def everybody(self, topic: str, text: str) -> int:
        """Show a text to everybody in the world; returns how many there are."""
        self._world.bus.publish(topic, {"text": text})
        return sum(not present.link_dead for present in self._world.presence)

    async def _tell_here(self, note: Note) -> Note:
        target = self._world.players.get(int(note["char_id"] or 0))
        if target is None or not may_see(int(note["rank"] or 0), target.spawn):
            raise CommandError(not_found(str(note["name"])))
        return {"reply": self._hear_tell(target, str(note["speaker"]), str(note["text"]))}


MUTED: Final = "you are muted"
AWAY: Final = "I am away from the keyboard"
HIDDEN: Final = Present(0, 0, 0, hidden=True)
"""Stands for any hidden character where only that counts."""


class Chat:
    """The chat of one world. Every method raises `CommandError` with what the speaker is told."""

    def __init__(self, world: World, rules: ChatRules, numbers: ChannelNumbers) -> None:
        self.world = world
        self.channels = Channels()
        self._numbers = numbers
        self.rules = rules
        self.far = FarChat(world, self.hear_tell)
        world.bus.subscribe(BROADCAST, lambda note: self.broadcast(str(note["text"])))
        world.bus.subscribe(ANNOUNCE, lambda note: self.announce(str(note["text"])))
        self.far_channels = FarChannels(self, world)

    @property
    def rules(self) -> ChatRules:
        """Limits of chat, and what channels the world has of its own."""
        return self._rules

    @rules.setter
    def rules(self, rules: ChatRules) -> None:
        self._rules = rules
        self.channels.worlds_own = rules.channels

    # -- speaking -------------------------------------------------------------------------------

    def say_near(self, speaker: Player, channel: str, text: str, now: Monotonic) -> None:
        """Say, or do in words, something before those who are near, in ``say`` or ``emote``."""
        text = self._allowed(speaker, text, now)
        for hearer in self.world.players.standing_in(speaker.zone):
            if hearer.position.distance_to(speaker.position) <= self.world.rules.hear:
                self._deliver(channel, speaker, hearer, text)
        self._told(channel, speaker, text)
        self.world.heard(speaker, text, now)

    def say_afar(self, speaker: Player, channel: str, text: str, now: Monotonic) -> None:
        """Speak to everybody in the zone, in the channel ``shout`` or ``ooc``."""
        text = self._allowed(speaker, text, now)
        for hearer in self.world.players.standing_in(speaker.zone):
            self._deliver(channel, speaker, hearer, text)
        self._told(channel, speaker, text)

    async def tell(self, speaker: Player, name: str, text: str, now: Monotonic) -> None:
        """Speak to one player anywhere in the world; both are shown the same message."""
        text = self._allowed(speaker, text, now)
        target = self.world.players.named(name)
        if target is speaker:
            raise CommandError("You can't tell yourself anything")
        if target is not None and sees(speaker, target):
            if not target.is_online:
                raise CommandError(not_found(name))
            heard, reply = target.name, self.hear_tell(target, speaker.name, text)
        else:
            heard, reply = await self.far.tell(speaker, name, text)
        self._hear(speaker, "tell", speaker.name, heard, text)
        if reply:
            self._hear(speaker, "tell", heard, speaker.name, reply)
        self._told("tell", speaker, text, heard)

    def hear_tell(self, target: Player, speaker: str, text: str) -> str:
        """Have a player hear a tell; returns what whoever is away answers.

        Raises `CommandError` when it does not hear it.
        """
        if not target.is_online:
            raise CommandError(not_found(target.name))
        if target.relations.knows(Relation.IGNORED, speaker):
            raise CommandError(f"{target.name} ignores you")
        self._hear(target, "tell", speaker, target.name, text)
        if "afk" not in target.spawn.words:
            return ""
        reply = AWAY
        if target.away_message and not self.world.is_muted(target):
            reply = target.away_message[: self.rules.longest]
        self._hear(target, "tell", target.name, speaker, reply)
        return reply

    def group_say(
        self, speaker: Player, members: Iterable[Player], text: str, now: Monotonic
    ) -> None:
        """Speak to one's group."""
        text = self._allowed(speaker, text, now)
        for hearer in members:
            self._deliver("group", speaker, hearer, text)
        self._told("group", speaker, text)

    def broadcast(self, text: str) -> None:
        """Show a line to everybody in this process."""
        for hearer in self.world.players:
            if hearer.is_online:
                self.line(hearer, text, "broadcast")

    def announce(self, text: str) -> None:
        """Show everybody in this process a text in the middle of the screen."""
        for hearer in self.world.players:
            if hearer.is_online:
                hearer.client.send_line(
                    "WS_OnScreenMsg",
                    {"unknown": 10, "text": text, "message_type": "ui_harvest_normal",
                     "size": 5.0, "red": 0xFF, "green": 0xFF, "blue": 0},
                    self.rules.backlog,
                )  # fmt: skip

    def spawn_says(
        self, spawn: Spawn, players: Iterable[Player], text: str, channel: str = "say"
    ) -> None:
        """Let a creature speak, or do something in words, before those of the players near it."""
        for hearer in players:
            if hearer.position.distance_to(spawn.position) <= self.world.rules.hear:
                index = hearer.index_of(spawn)
                self._hear(hearer, channel, spawn.name, hearer.name, text, index=index)

    def line(self, player: Player, text: str, channel: str = "system") -> None:
        """Show a line of plain text to one player."""
        color = self._numbers.number(channel, player.client.version)
        for part in text.splitlines():
            player.client.send_line("WS_DisplayText", text_fields(part, color), self.rules.backlog)

    # -- channels -------------------------------------------------------------------------------

    def join(self, player: Player, name: str, password: str, now: Monotonic) -> Channel:
        """Enter a channel, at every later login as well; its members are told."""
        self.pace(player, now)
        channel = self.channels.join(name, player.id, password)
        player.channels[channel.name.casefold()] = Membership(channel.name, password)
        saving.changed(self.world, player, saving.SavedKind.CHANNELS, now)
        self._joined(player, channel)
        return channel

    def enter_again(self, player: Player, now: Monotonic) -> None:
        """Put somebody who comes into the world into its channels, as far as they are open to it.

        Before that its client is told of the world's own ones. One that was away only for its
        link is in them still, and its client is told again.
        """
        if self.rules.channels:
            names = [{"channel_name": name} for name in self.rules.channels]
            player.client.send(
                "WS_AvailWorldChannels", {"num_channels": len(names), "channel_array": names}
            )
        for key, kept in list(player.channels.items()):
            found = self.channels.find(kept.channel)
            if found is not None and player.id in found.members:
                self._update(player, YOU_JOINED, found)
                self.far_channels.joined(player, found)
                continue
            try:
                self._joined(player, self.channels.join(kept.channel, player.id, kept.password))
            except CommandError as error:
                del player.channels[key]
                saving.changed(self.world, player, saving.SavedKind.CHANNELS, now)
                self.line(player, str(error), "error")

    def _joined(self, player: Player, channel: Channel) -> None:
        self._update(player, YOU_JOINED, channel)
        self.tell_members(channel, OTHER_JOINED, player)
        self.far_channels.joined(player, channel)

    def leave(self, player: Player, name: str, now: Monotonic) -> Channel:
        """Leave a channel for good; its members are told."""
        channel = self.channels.leave(name, player.id)
        player.channels.pop(channel.name.casefold(), None)
        saving.changed(self.world, player, saving.SavedKind.CHANNELS, now)
        self._update(player, YOU_LEFT, channel)
        self._left(player, channel)
        return channel

    def leave_all(self, player: Player) -> None:
        """Take somebody who is out of the world out of every channel."""
        left = self.channels.of(player.id)
        for channel in left:
            self.channels.leave(channel.name, player.id)
        for channel in left:
            self.world.attempt("telling a channel", player, self._left, player, channel)

    def _left(self, player: Player, channel: Channel) -> None:
        self.tell_members(channel, OTHER_LEFT, player)
        self.far_channels.left(player, channel)

    def tell_members(self, channel: Channel, action: int, who: Player | Present) -> None:
        """Tell the members that are here of somebody who came or went."""
        subject = who.spawn if isinstance(who, Player) else who
        for other in self._members(channel):
            if other is not who and may_see(other.character.admin_status, subject):
                self.world.attempt(
                    "telling a channel", other, self._update, other, action, channel, who.name
                )

    def hidden_changed(self, player: Player) -> None:
        """Have members who may not see a hidden player take it for gone, or for come again."""
        action = OTHER_LEFT if player.spawn.hidden else OTHER_JOINED
        for channel in self.channels.of(player.id):
            self.tell_of_hidden(channel, action, player.name, player.id)
            self.far_channels.hidden_changed(player, channel, action)

    def tell_of_hidden(self, channel: Channel, action: int, name: str, char_id: int) -> None:
        """Tell the members here who see no hidden players of one who is hidden or shown now."""
        for other in self._members(channel):
            if other.id != char_id and not may_see(other.character.admin_status, HIDDEN):
                self._update(other, action, channel, name)

    def say_in(self, speaker: Player, name: str, text: str, now: Monotonic) -> None:
        """Speak in a channel one is in."""
        text = self._allowed(speaker, text, now)
        channel = self._own_channel(speaker, name)
        self.hear_channel(channel, speaker.name, text)
        self.far_channels.said(speaker, channel, text)
        self._told(channel.name, speaker, text)

    def hear_channel(self, channel: Channel, speaker: str, text: str) -> None:
        """Have the members that are here hear what somebody says."""
        for hearer in self._members(channel):
            if not hearer.relations.knows(Relation.IGNORED, speaker):
                self._hear(hearer, "custom", speaker, hearer.name, text, channel_name=channel.name)

    def who_in(self, player: Player, name: str) -> list[str]:
        """Show who is in a channel one is in; returns their names, too."""
        channel = self._own_channel(player, name)
        names = [member.name for member in self._members(channel) if sees(player, member)]
        names += self.far_channels.names(channel, player.character.admin_status)
        player.client.send(
            "WS_WhoChannelQueryReply",
            {
                "channel_name": channel.name,
                "num_players": len(names),
                "player_array": [{"player_name": name} for name in names],
            },
        )
        return names

    # -- how ------------------------------------------------------------------------------------

    def _members(self, channel: Channel) -> list[Player]:
        found = (self.world.players.get(member) for member in channel.members)
        return [one for one in found if one is not None and one.is_online]

    def _own_channel(self, player: Player, name: str) -> Channel:
        channel = self.channels.find(name)
        if channel is None or player.id not in channel.members:
            raise CommandError(f"you are not in a channel {name}")
        return channel

    def _allowed(self, speaker: Player, text: str, now: Monotonic) -> str:
        """Return the text as it may be said."""
        text = "".join(letter for letter in text if letter.isprintable()).strip()
        if not text:
            raise CommandError("there is nothing to say")
        if self.world.is_muted(speaker):
            raise CommandError(MUTED)
        self.pace(speaker, now)
        return text[: self.rules.longest]

    def pace(self, speaker: Player, now: Monotonic) -> None:
        """Count something that others are told of. Raises `CommandError` when it is too much."""
        if not speaker.may_speak(now, self.rules.rate, self.rules.burst):
            raise CommandError("you speak too fast")

    def _deliver(self, channel: str, speaker: Player, hearer: Player, text: str) -> None:
        if hearer.relations.knows(Relation.IGNORED, speaker.name):
            return
        index = hearer.index_of(speaker.spawn)
        name = "" if hearer is speaker else hearer.name
        self._hear(hearer, channel, speaker.name, name, text, index=index)

    def _hear(
        self,
        hearer: Player,
        channel: str,
        speaker: str,
        to: str,
        text: str,
        *,
        index: int | None = None,
        channel_name: str = "",
    ) -> None:
        client = hearer.client
        client.send_line(
            "WS_HearChat",
            {
                "from_spawn_id": NOT_SEEN if index is None else index,
                "to_spawn_id": NOT_SEEN,
                "from": speaker,
                "to": to,
                "channel": self._numbers.number(channel, client.version),
                "message": text,
                "channel_name": channel_name,
                "show_bubble": 1,
                "understood": 1,
                "time": unix_seconds(self.world.clock.moment()),
            },
            self.rules.backlog,
        )

    def _update(self, player: Player, action: int, channel: Channel, other: str = "") -> None:
        player.client.send(
            "WS_ChatChannelUpdate",
            {"action": action, "channel_name": channel.name, "player_name": other},
        )

    def _told(self, channel: str, speaker: Player, text: str, to: str = "") -> None:
        self.world.report(Said(channel, speaker.name, text, to))
