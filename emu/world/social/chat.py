"""Chat: delivers what players say to its hearers, in this process and in others.

Chat reaches clients as OP_EqHearChatCmd, with the speaker's index at the hearer and the hearer's
own name (docs/protocol/world/chat.md#hear-chat). A player who ignores the speaker gets nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from emu.dialects.dialect import NOT_SEEN, ChannelNumbers
from emu.errors import CommandError, Unanswered
from emu.model import SEES_HIDDEN, Membership, Present, SavedKind, may_see
from emu.processes.ports import Note
from emu.times import Monotonic
from emu.world.actors.client import ERROR_COLOR, send_text, text_fields
from emu.world.actors.player import Player, Relation
from emu.world.actors.spawn import Spawn, StateWord
from emu.world.events import Arrived, HidingChanged, LeftWorld, SpawnSpoke, spoken
from emu.world.hiding import sees
from emu.world.login_events import LoggedOut
from emu.world.reports import Said
from emu.world.rules import ChatRules
from emu.world.social.channels import (
    ON_ITS_WAY,
    OTHER_JOINED,
    OTHER_LEFT,
    YOU_JOINED,
    YOU_LEFT,
    Channel,
    Channels,
    RemoteChannels,
)
from emu.world.social.group_texts import GroupTexts
from emu.world.world import World

BROADCAST: Final = "chat.broadcast"
ANNOUNCE: Final = "chat.announce"
TELL: Final = "chat.tell"
TELL_MARKS: Final = {"is_tell": 1, "tell_kind": 2}
"""Two fields that a tell has in newer clients (recorded)."""
"""The topics on the bus. The topic of tells ends with a dot and the receiving process."""


def not_found(name: str) -> str:
    """Return the answer to a tell that cannot be delivered; `name` is as the speaker typed it.

    A hidden player must give the same answer as an absent one, or the answer would reveal it.
    """
    return f"Unable to find client {name}"


class RemoteChat:
    """Chat with other processes: tells, and texts for all players."""

    def __init__(self, world: World, hear_tell: Callable[[Player, str, str], str]) -> None:
        """Answer tells from other processes by `hear_tell`, which delivers them here."""
        self._hear_tell = hear_tell
        self._world = world
        world.processes.bus.answer(f"{TELL}.{world.processes.name}", self._answer_tell)

    async def tell(self, speaker: Player, name: str, text: str) -> tuple[str, str]:
        """Send a tell to a player of another process.

        Return the player's name, and its away message or "". Raises `CommandError` if the player
        cannot be reached or ignores the speaker.
        """
        present = self._world.processes.presence.named(name)
        rank = speaker.character.admin_status
        if (
            present is None
            or present.link_dead
            # A player of this process was looked for before; it is here only if the speaker may not
            # see it.
            or present.process == self._world.processes.name
            or not may_see(rank, present)
        ):
            raise CommandError(not_found(name))
        note: Note = {
            "speaker": speaker.name, "rank": rank, "char_id": present.char_id, "name": name,
            "text": text,
        }  # fmt: skip
        try:
            # The other process decides: only it has the ignore list and the away message of its
            # player.
            answer = await self._world.processes.bus.request(f"{TELL}.{present.process}", note)
        except Unanswered:
            raise CommandError(f"{present.name} cannot be reached now") from None
        return present.name, str(answer["reply"])

    def publish(self, topic: str, text: str) -> int:
        """Publish a text for all players of all processes; return how many are online."""
        self._world.processes.bus.publish(topic, {"text": text})
        return self._world.processes.presence.online(SEES_HIDDEN)

    async def _answer_tell(self, note: Note) -> Note:
        target = self._world.players.get(int(note["char_id"] or 0))
        # Checked again, because the player may have left or hidden itself since the speaker's
        # process asked.
        if target is None or not may_see(int(note["rank"] or 0), target.spawn):
            raise CommandError(not_found(str(note["name"])))
        return {"reply": self._hear_tell(target, str(note["speaker"]), str(note["text"]))}


SPOKEN: Final = frozenset({"say", "shout", "yell"})
"""Channels in which a player speaks its language."""
MUTED: Final = "you are muted"
PARTLY_HEARD: Final = (
    "the other parts of the world cannot be reached at the moment; only players of your part"
    " have read that"
)
AWAY: Final = "I am away from the keyboard"
HIDDEN: Final = Present(0, 0, 0, hidden=True)
"""Any hidden character, for questions about what a rank may see."""


class Chat:
    """The chat of one world. A method that refuses raises `CommandError` with the answer."""

    def __init__(self, world: World, rules: ChatRules, numbers: ChannelNumbers) -> None:
        self.world = world
        self.channels = Channels()
        self._numbers = numbers
        self.rules = rules
        self.remote = RemoteChat(world, self.hear_tell)
        world.processes.bus.subscribe(BROADCAST, lambda note: self.broadcast(str(note["text"])))
        world.processes.bus.subscribe(ANNOUNCE, lambda note: self.announce(str(note["text"])))
        self.remote_channels = RemoteChannels(self, world)
        self.group_texts = GroupTexts(self, world)

    @property
    def rules(self) -> ChatRules:
        """The limits of chat, and the world's own channels."""
        return self._rules

    @rules.setter
    def rules(self, rules: ChatRules) -> None:
        self._rules = rules
        # Running channels go on; only the list of the world's own ones changes.
        self.channels.world_channels = rules.channels

    # -- speaking -------------------------------------------------------------------------------

    def say_near(
        self, speaker: Player, channel: str, text: str, now: Monotonic, *, bubble: bool = True
    ) -> None:
        """Say something to the players near; `channel` is ``say`` or ``emote``.

        `bubble` means that clients show the text over the speaker's head as well.
        """
        text = self._allowed(speaker, text, now)
        # By distance and not by interest sets: those follow in steps, and a speaker outside of a
        # set is still heard.
        for hearer in self.world.players.standing_in(speaker.zone):
            if hearer.spawn.position.distance_to(speaker.spawn.position) <= self.world.rules.hear:
                self._deliver(channel, speaker, hearer, text, bubble=bubble)
        # After the delivery: what the log has was heard.
        self._report(channel, speaker, text)
        self.world.events.publish(spoken(speaker, text))

    def say_in_zone(self, speaker: Player, channel: str, text: str, now: Monotonic) -> None:
        """Say something to all players in the zone; `channel` is ``shout`` or ``ooc``."""
        text = self._allowed(speaker, text, now)
        for hearer in self.world.players.standing_in(speaker.zone):
            self._deliver(channel, speaker, hearer, text)
        self._report(channel, speaker, text)

    async def tell(self, speaker: Player, name: str, text: str, now: Monotonic) -> None:
        """Say something to one player anywhere in the world; both clients show the message."""
        text = self._allowed(speaker, text, now)
        # Players of this process are asked first: no other process has to be reached for them.
        target = self.world.players.named(name)
        if target is speaker:
            raise CommandError("You can't tell yourself anything")
        # If it may not be seen, the search goes on, and the answer is the same as for an absent
        # player.
        if target is not None and sees(speaker, target):
            if not target.is_online:
                # A link-dead player gives the same answer as an absent one.
                raise CommandError(not_found(name))
            heard, reply = target.name, self.hear_tell(target, speaker.name, text)
        else:
            heard, reply = await self.remote.tell(speaker, name, text)
        # Only now: the speaker's own line is the confirmation that the tell has arrived.
        self._send_chat(speaker, "tell", speaker.name, heard, text)
        if reply:
            self._send_chat(speaker, "tell", heard, speaker.name, reply)
        self._report("tell", speaker, text, heard)

    def hear_tell(self, target: Player, speaker: str, text: str) -> str:
        """Deliver a tell to a player of this process; return its away message or "".

        Raises `CommandError` if the player is link-dead or ignores the speaker.
        """
        if not target.is_online:
            raise CommandError(not_found(target.name))
        if target.relations.knows(Relation.IGNORED, speaker):
            raise CommandError(f"{target.name} ignores you")
        self._send_chat(target, "tell", speaker, target.name, text)
        if StateWord.AFK not in target.spawn.words:
            return ""
        # A muted player's own text must not reach others, not even as an away message.
        reply = AWAY
        if target.away_message and not self.world.is_muted(target):
            # Cut here and not when it is set, so that a reload with another limit applies.
            reply = target.away_message[: self.rules.longest]
        self._send_chat(target, "tell", target.name, speaker, reply)
        return reply

    def group_say(
        self,
        speaker: Player,
        members: Iterable[Player],
        text: str,
        now: Monotonic,
        *,
        channel: str = "group",
    ) -> str:
        """Say something to the members of the speaker's group, raid or guild, by its channel.

        Return the text that they were shown.
        """
        text = self._allowed(speaker, text, now)
        for hearer in members:
            self._deliver(channel, speaker, hearer, text)
        self._report(channel, speaker, text)
        return text

    def hear_member(self, hearer: Player, channel: str, speaker: str, text: str) -> None:
        """Show a member of a guild or group what another one says in another process."""
        if not hearer.relations.knows(Relation.IGNORED, speaker):
            self._send_chat(hearer, channel, speaker, hearer.name, text)

    def broadcast(self, text: str) -> None:
        """Show a line to all players of this process."""
        for hearer in self.world.players:
            if hearer.is_online:
                self.line(hearer, text, "broadcast")

    def announce(self, text: str) -> None:
        """Show a text in the middle of the screen to all players of this process."""
        for hearer in self.world.players:
            # A link-dead player has no client that could be sent anything.
            if hearer.is_online:
                hearer.client.send_line(
                    "WS_OnScreenMsg",
                    {"unknown": 10, "text": text, "message_type": "ui_harvest_normal",
                     "size": 5.0, "red": 0xFF, "green": 0xFF, "blue": 0},
                    self.rules.backlog,
                )  # fmt: skip

    def spawn_says(
        self,
        spawn: Spawn,
        players: Iterable[Player],
        text: str,
        channel: str = "say",
        *,
        distance: float | None = None,
        to: str | None = None,
        language: int = 0,
    ) -> None:
        """Make a spawn say something to those of `players` that are near it.

        `distance` is the range of hearing unless another is given; `to` is the name of the one who
        is spoken to, the hearer's own by default.
        """
        self.world.events.publish(SpawnSpoke(spawn=spawn, text=text))
        reach = self.world.rules.hear if distance is None else distance
        for hearer in players:
            if hearer.spawn.position.distance_to(spawn.position) <= reach:
                self._send_chat(
                    hearer, channel, spawn.name, hearer.name if to is None else to, text,
                    index=hearer.index_of(spawn), language=language,
                )  # fmt: skip

    def line(self, player: Player, text: str, channel: str = "system") -> None:
        """Show a line of plain text to one player."""
        self.colored_line(player, text, self._numbers.number(channel, player.client.version))

    def colored_line(self, player: Player, text: str, color: int) -> None:
        """Show a line of plain text in a color, by the client's number of it."""
        # The text may come from an operator or a behavior and have several lines.
        # One message is one line of the chat window.
        for line in text.splitlines():
            player.client.send_line("WS_DisplayText", text_fields(line, color), self.rules.backlog)

    def notice(self, subject: Player, text: str) -> None:
        """Show a line about a player to itself and to the players near that may see it."""
        for hearer in self.world.players.standing_in(subject.zone):
            is_near = (
                hearer.spawn.position.distance_to(subject.spawn.position) <= self.world.rules.hear
            )
            is_ignored = hearer.relations.knows(Relation.IGNORED, subject.name)
            if is_near and not is_ignored and (hearer is subject or sees(hearer, subject)):
                self.line(hearer, text)

    # -- channels -------------------------------------------------------------------------------

    def join(self, player: Player, name: str, password: str, now: Monotonic) -> Channel:
        """Join a channel, now and at every later login, and notify its other members.

        The caller stores it and then confirms it to the player with `confirm_membership`.
        """
        # Joining and leaving notify every member, so a client could flood a channel without a word.
        self.pace(player, now)
        channel = self.channels.join(name, player.id, password)
        player.channels[channel.name.casefold()] = Membership(channel.name, password)
        self._notify_of_joining(player, channel)
        return channel

    def confirm_membership(self, player: Player, channel: Channel) -> None:
        """Show a player whether it is in a channel now, after it has joined or left it."""
        if player.is_online:
            is_member = channel.name.casefold() in player.channels
            self._update(player, YOU_JOINED if is_member else YOU_LEFT, channel)

    def enter_again(self, event: Arrived) -> None:
        """Send a player who enters the world's channels, then join it to its own saved channels.

        A channel that refuses the player, for example by a new password, is removed from the saved
        ones. A player who was only link-dead is still a member; then only its client is updated.
        """
        player = event.player
        if self.rules.channels:
            names = [{"channel_name": name} for name in self.rules.channels]
            player.client.send(
                "WS_AvailWorldChannels", {"num_channels": len(names), "channel_array": names}
            )
        # A copy, because a refused channel is removed in the loop.
        for key, kept in list(player.channels.items()):
            found = self.channels.find(kept.channel)
            # Other members have never seen it leave, so they are not sent that it joined.
            if found is not None and player.id in found.members:
                # It may have been in another process until now.
                found.put_member(player.id)
                self._update(player, YOU_JOINED, found)
                self.remote_channels.joined(player, found)
                continue
            try:
                self._joined(player, self.channels.join(kept.channel, player.id, kept.password))
            except CommandError as error:
                del player.channels[key]
                self.world.saves.changed(player, SavedKind.CHANNELS, event.now)
                self.line(player, str(error), "error")

    def _joined(self, player: Player, channel: Channel) -> None:
        self._update(player, YOU_JOINED, channel)
        self._notify_of_joining(player, channel)

    def _notify_of_joining(self, player: Player, channel: Channel) -> None:
        self.notify_members(channel, OTHER_JOINED, player)
        self.remote_channels.joined(player, channel)

    def leave(self, player: Player, name: str) -> Channel:
        """Leave a channel for good and notify its other members.

        The caller stores it, or the player would join again with its next entry; then it confirms
        it to the player with `confirm_membership`.
        """
        channel = self.channels.leave(name, player.id)
        player.channels.pop(channel.name.casefold(), None)
        self._left(player, channel)
        return channel

    def leave_all(self, event: LeftWorld) -> None:
        """Remove a player who has left the world from every channel; keep the saved ones.

        One that goes to another node stays a member, in whichever process it is then.
        """
        player = event.player
        if player.journey.is_elsewhere:
            for channel in self.channels.go_away(player.id):
                self.remote_channels.went(channel)
            return
        # First all removals, then all messages: a fault in one message must not keep a member in.
        left = self.channels.of(player.id)
        for channel in left:
            self.channels.leave(channel.name, player.id)
        for channel in left:
            self.world.faults.attempt("notifying a channel", player, self._left, player, channel)

    def logged_out(self, event: LoggedOut) -> None:
        """Let a player leave its channels that was on its way to another node and has not come."""
        player = event.player
        if not player.journey.is_elsewhere:
            return
        for kept in player.channels.values():
            channel = self.channels.find(kept.channel) or Channel(kept.channel)
            if channel.members.get(player.id) == ON_ITS_WAY:
                channel.drop(player.id)
            self.world.faults.attempt("notifying a channel", player, self._left, player, channel)

    def _left(self, player: Player, channel: Channel) -> None:
        self.notify_members(channel, OTHER_LEFT, player)
        self.remote_channels.left(player, channel)

    def notify_members(self, channel: Channel, action: int, who: Player | Present) -> None:
        """Send the members of this process an action: a player has joined or left."""
        subject = who.spawn if isinstance(who, Player) else who
        for other in self._members(channel):
            if other is not who and may_see(other.character.admin_status, subject):
                self.world.faults.attempt(
                    "notifying a channel", other, self._update, other, action, channel, who.name
                )

    def hidden_changed(self, event: HidingChanged) -> None:
        """Show members without the right to see hidden players that this one left, or is back."""
        player = event.player
        action = OTHER_LEFT if player.spawn.hidden else OTHER_JOINED
        for channel in self.channels.of(player.id):
            self.notify_of_hidden(channel, action, player.name, player.id)
            self.remote_channels.hidden_changed(player, channel, action)

    def notify_of_hidden(self, channel: Channel, action: int, name: str, char_id: int) -> None:
        """Send an action to the members of this process who cannot see hidden players."""
        for other in self._members(channel):
            if other.id != char_id and not may_see(other.character.admin_status, HIDDEN):
                self._update(other, action, channel, name)

    def say_in(self, speaker: Player, name: str, text: str, now: Monotonic) -> None:
        """Say something in a channel that the speaker is in."""
        text = self._allowed(speaker, text, now)
        channel = self._own_channel(speaker, name)
        self.hear_channel(channel, speaker.name, text)
        self.remote_channels.said(speaker, channel, text)
        if not self.world.processes.bus.is_connected:
            send_text(speaker.client, f"[{channel.name}] {PARTLY_HEARD}", ERROR_COLOR)
        self._report(channel.name, speaker, text)

    def hear_channel(self, channel: Channel, speaker: str, text: str) -> None:
        """Show a text to the members of this process."""
        for hearer in self._members(channel):
            # Each hearer has its own list of ignored players.
            if not hearer.relations.knows(Relation.IGNORED, speaker):
                self._send_chat(
                    hearer, "custom", speaker, hearer.name, text, channel_name=channel.name
                )

    def who_in(self, player: Player, name: str) -> list[str]:
        """Send a player the members of one of its channels; return their names, too."""
        channel = self._own_channel(player, name)
        names = [member.name for member in self._members(channel) if sees(player, member)]
        names += self.remote_channels.names(channel, player.character.admin_status)
        player.client.send(
            "WS_WhoChannelQueryReply",
            {
                "channel_name": channel.name,
                "num_players": len(names),
                "player_array": [{"player_name": name} for name in names],
            },
        )
        return names

    # -- internals ------------------------------------------------------------------------------

    def _members(self, channel: Channel) -> list[Player]:
        found = (
            self.world.players.get(member)
            for member, process in channel.members.items()
            if process is None
        )
        # Link-dead members stay in the channel but are sent nothing.
        return [one for one in found if one is not None and one.is_online]

    def _own_channel(self, player: Player, name: str) -> Channel:
        channel = self.channels.find(name)
        if channel is None or channel.members.get(player.id, "") is not None:
            raise CommandError(f"you are not in a channel {name}")
        return channel

    def _allowed(self, speaker: Player, text: str, now: Monotonic) -> str:
        """Return the text without control characters, cut to the longest; count it as speech."""
        # Control characters could break lines in logs and in other clients' windows.
        if not text.isprintable():
            text = "".join(letter for letter in text if letter.isprintable())
        text = text.strip()
        if not text:
            raise CommandError("there is nothing to say")
        if self.world.is_muted(speaker):
            raise CommandError(MUTED)
        # Counted last: an empty line, or one of a muted player, reaches nobody and costs nothing.
        self.pace(speaker, now)
        return text[: self.rules.longest]

    def pace(self, speaker: Player, now: Monotonic) -> None:
        """Count something that other players will see. Raises `CommandError` above the limit."""
        if not speaker.limits.may_speak(now, self.rules.rate, self.rules.burst):
            raise CommandError("you speak too fast")

    def _deliver(
        self, channel: str, speaker: Player, hearer: Player, text: str, *, bubble: bool = True
    ) -> None:
        if hearer.relations.knows(Relation.IGNORED, speaker.name):
            return
        index = hearer.index_of(speaker.spawn)
        # The speaker's own copy names no hearer (docs/protocol/world/chat.md#hear-chat).
        name = "" if hearer is speaker else hearer.name
        language = speaker.client_data.language if channel in SPOKEN else 0
        # It may have forgotten the language that it has chosen.
        if language and not self.world.knowledge.understands(speaker.character, language):
            language = 0
        self._send_chat(
            hearer, channel, speaker.name, name, text, index=index, bubble=bubble, language=language
        )

    def _send_chat(
        self,
        hearer: Player,
        channel: str,
        speaker: str,
        to: str,
        text: str,
        *,
        index: int | None = None,
        channel_name: str = "",
        language: int = 0,
        bubble: bool = True,
    ) -> None:
        client = hearer.client
        understands = self.world.knowledge.understands(hearer.character, language)
        client.send_line(
            "WS_HearChat",
            {
                # A hearer without the speaker's ghost has no index for it.
                "from_spawn_id": NOT_SEEN if index is None else index,
                "to_spawn_id": NOT_SEEN,
                "from": speaker,
                "to": to,
                "channel": self._numbers.number(channel, client.version),
                "language": language & 0xFF,
                "message": text,
                "channel_name": channel_name,
                "show_bubble": int(bubble),
                "understood": int(understands),
                **(TELL_MARKS if channel == "tell" else {}),
            },
            self.rules.backlog,
        )

    def _update(self, player: Player, action: int, channel: Channel, other: str = "") -> None:
        player.client.send(
            "WS_ChatChannelUpdate",
            {"action": action, "channel_name": channel.name, "player_name": other},
        )

    def _report(self, channel: str, speaker: Player, text: str, to: str = "") -> None:
        self.world.faults.report(Said(channel, speaker.name, text, to))
