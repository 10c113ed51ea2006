"""The guilds of the players in this process: loaded when a member comes, changed in the store.

A change is stored before it takes effect, so that it survives the end of the process. Two processes
cannot change the same state of a guild: the store refuses the second one, which then reads the
guild again. Every process hears of a change over the bus, reads the guild again if one of its
players is a member, and sends its clients what is different.

Source: docs/protocol/world/guilds.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from emu.errors import CommandError, OutOfDate, StoreError
from emu.guilds import Guild, GuildChange, GuildMember, MemberFlag, Permission, changed
from emu.mailbox import PendingAnswer
from emu.processes.ports import GuildStore, Note
from emu.times import Monotonic
from emu.world.actors.options import Option
from emu.world.actors.player import IN_ZONE, Player, Relation
from emu.world.events import Entered, HidingChanged, LeftWorld
from emu.world.login_events import LoggedIn, LoggedOut
from emu.world.social import guilds
from emu.world.social.chat import Chat
from emu.world.social.guild_messages import (
    EVENTS,
    GUILD_OFFER,
    LEFT,
    MEMBER,
    OFFER,
    UPDATE,
    GuildMessages,
    MemberRows,
    ShownMember,
    member_fields,
    present_of,
    update_fields,
)
from emu.world.social.guilds import GuildInvitation, GuildInvitations, GuildStep
from emu.world.social.turns import Turns
from emu.world.world import World

CHANGED: Final = "guild.changed"
"""Topic: a guild was changed or deleted; with the line that its members are shown."""
SEEN: Final = "guild.seen"
"""Topic: a member has come, gone, or changed its zone; `zone_id` is 0 for one that is gone."""
SAID: Final = "guild.said"
INVITE: Final = "guild.invite"
"""Topic of invitations; it ends with a dot and the process of the invited player."""
DECLINED: Final = "guild.declined"
TRIES: Final = 5
"""How often a change is tried that other changes come before."""
EVENT, MOTD, COMING = "guild_event", "guild_motd", "guild_member"
"""Colors of lines."""


class Memberships:
    """The guilds of a world, as far as players of this process are their members."""

    def __init__(
        self,
        world: World,
        store: GuildStore,
        chat: Chat,
        answer: Callable[[], PendingAnswer],
    ) -> None:
        """`answer` makes an object that a coroutine can wait for."""
        self.turns = Turns(answer)
        self.store = store
        self.invitations = GuildInvitations()
        self._world = world
        self._chat = chat
        self._guilds: dict[int, Guild] = {}
        self._rows: dict[int, MemberRows] = {}
        """By guild, as `_guilds`."""
        self._guild_of: dict[int, int] = {}
        """The guild of each player here that was looked up; 0 for none."""
        self._here: dict[int, dict[int, None]] = {}
        """The players here by guild, in the order of coming; no guild is empty."""
        self._changes_heard = 0
        self._newcomers: set[int] = set()
        """Players that have come from outside the world and do not stand yet."""
        events = world.events
        events.subscribe(LoggedIn, lambda event: self._newcomers.add(event.player.id))
        events.subscribe(Entered, lambda event: self._stands(event.player))
        events.subscribe(LoggedOut, self._logged_out)
        events.subscribe(LeftWorld, self._has_left)
        events.subscribe(HidingChanged, self._hidden_changed)
        world.processes.bus.subscribe(CHANGED, self._heard_changed)
        world.processes.bus.subscribe(SEEN, self._heard_seen)
        world.processes.bus.subscribe(SAID, self._heard_said)
        world.processes.bus.subscribe(DECLINED, self._heard_declined)
        world.processes.bus.answer(f"{INVITE}.{world.processes.name}", self._answer_invite)

    # -- the guilds of players ------------------------------------------------------------------

    def of(self, char_id: int) -> Guild | None:
        """Return the guild of a player of this process, None if it is in none or not loaded."""
        return self._guilds.get(self._guild_of.get(char_id, 0))

    def known_name(self, char_id: int) -> str:
        """Return the name of a character's guild if it is loaded here, otherwise ""."""
        for guild in self._guilds.values():
            if char_id in guild.members:
                return guild.name
        return ""

    async def own(self, player: Player) -> Guild:
        """Return a player's guild. Raises `CommandError` if it is in none, and `StoreError`."""
        guild = await self.load(player)
        if guild is None:
            raise CommandError("you are in no guild")
        return guild

    async def load(self, player: Player) -> Guild | None:
        """Return a player's guild, read from the store if necessary. Raises `StoreError`."""
        if player.id not in self._guild_of:
            guild_id = await self.store.of_character(player.id)
            guild = await self.find(guild_id) if guild_id else None
            if guild is not None and player.id not in guild.members:
                # What is loaded is older than what the store has just said.
                guild = await self._read(guild_id)
                if guild is not None:
                    self._replace(guild, "")
            # Only now, and only for a player that is still here: it would stay for ever otherwise.
            if self._world.players.get(player.id) is player and player.id not in self._guild_of:
                is_member = guild is not None and player.id in guild.members
                if guild is not None and is_member:
                    self._keep(guild)
                self._enroll(player.id, guild_id if is_member else 0)
        return self.of(player.id)

    async def find(self, guild_id: int) -> Guild | None:
        """Return a guild: the loaded one, or as it is stored now. Raises `StoreError`."""
        return self._guilds.get(guild_id) or await self._read(guild_id)

    async def _read(self, guild_id: int) -> Guild | None:
        while True:
            heard = self._changes_heard
            guild = await self.store.find(guild_id)
            # Another process may have changed the guild after the store was asked.
            if heard == self._changes_heard:
                return guild

    def _keep(self, guild: Guild) -> None:
        known = self._guilds.get(guild.id)
        if known is None or known.revision < guild.revision:
            self._guilds[guild.id] = guild

    def _enroll(self, char_id: int, guild_id: int) -> None:
        """Note the guild of a player here, 0 for none."""
        self._dismiss(char_id)
        self._guild_of[char_id] = guild_id
        if guild_id:
            self._here.setdefault(guild_id, {})[char_id] = None

    def _dismiss(self, char_id: int) -> None:
        """Forget the guild of a player, and a guild that has no other member here."""
        guild_id = self._guild_of.pop(char_id, 0)
        here = self._here.get(guild_id)
        if here is not None:
            here.pop(char_id, None)
            if not here:
                del self._here[guild_id]
                self._guilds.pop(guild_id, None)
                self._rows.pop(guild_id, None)

    def _members_here(self, guild_id: int) -> Iterator[Player]:
        """Yield the players of this process that are members and have a client."""
        for char_id in list(self._here.get(guild_id, ())):
            player = self._world.players.get(char_id)
            if player is not None and player.is_online:
                yield player

    # -- changes --------------------------------------------------------------------------------

    async def found(self, player: Player, name: str) -> Guild:
        """Found a guild that a player leads. Raises `CommandError` and `StoreError`."""
        await self._check_free(player)
        leader = _member_of(player)
        guild = guilds.founded(name, leader, self._world.clock.moment())
        with self._unsure_of(player):
            guild = await self.store.create(guild)
        self._joined(player, guild)
        return guild

    async def join(self, player: Player, now: Monotonic) -> Guild:
        """Accept a player's invitation. Raises `CommandError` and `StoreError`."""
        invitation = self.invitations.take_invitation(player.id, now)
        await self._check_free(player)
        moment = self._world.clock.moment()
        member = _member_of(player, joined=moment)
        with self._unsure_of(player):
            guild = await self._change(
                invitation.guild_id, lambda guild: guilds.join(guild, member, invitation.inviter)
            )
        self._joined(player, guild)
        return guild

    @contextmanager
    def _unsure_of(self, player: Player) -> Iterator[None]:
        """Forget in which guild a player is if the store does not answer.

        It may have carried out what was asked for; a command or `review` reads it again.
        """
        try:
            yield
        except StoreError:
            self._dismiss(player.id)
            raise

    async def change(self, player: Player, work: Callable[[Guild], GuildStep]) -> Guild:
        """Change the guild of a player; return it. Raises `CommandError` and `StoreError`."""
        return await self._change((await self.own(player)).id, work)

    async def rename(self, guild: Guild, name: str) -> Guild:
        """Give a guild another name. Raises `CommandError` and `StoreError`."""
        name = guilds.usable_name(name)
        text = f"The guild is called {name} now."
        return await self._change(guild.id, lambda _guild: GuildStep(GuildChange(name=name), text))

    async def delete(self, guild: Guild, *, revision: int = 0) -> None:
        """Delete a guild. Raises `StoreError`; `OutOfDate` if it has changed since `revision`."""
        await self.store.delete(guild.id, revision)
        self._publish(guild.id, 0, f"The guild {guild.name} was disbanded.")
        self._gone(guild.id, f"The guild {guild.name} was disbanded.")

    async def _change(self, guild_id: int, work: Callable[[Guild], GuildStep]) -> Guild:
        for _ in range(TRIES):
            guild = await self.find(guild_id)
            if guild is None:
                raise CommandError("that guild does not exist any more")
            step = work(guild)
            after = changed(guild, step.change)
            try:
                # Nobody could come back to a guild without members.
                if not after.members:
                    await self.delete(guild, revision=guild.revision)
                    return after
                await self.store.save_change(guild.id, guild.revision, step.change)
            except OutOfDate:
                await self._refresh(guild_id, "")
                continue
            self._publish(guild.id, after.revision, step.text)
            self._replace(after, step.text)
            return after
        raise CommandError("others are changing the guild; try again")

    async def _check_free(self, player: Player) -> None:
        if await self.load(player) is not None:
            raise CommandError("you are in a guild already")

    def _joined(self, player: Player, guild: Guild) -> None:
        self._keep(guild)
        # The player may have left while the store answered; it is a member all the same.
        if self._world.players.get(player.id) is player:
            self._enroll(player.id, guild.id)
            self._show(player)
            self._send_window(player, guild, with_motd=True)
            self._publish_seen(player, "")

    def _publish(self, guild_id: int, revision: int, text: str) -> None:
        note: Note = {
            "guild_id": guild_id, "revision": revision, "text": text,
            "process": self._world.processes.name,
        }  # fmt: skip
        self._world.processes.bus.publish(CHANGED, note)

    def _heard_changed(self, note: Note) -> None:
        # This process has made its own changes before it publishes them.
        if note["process"] == self._world.processes.name:
            return
        self._changes_heard += 1
        guild_id = int(str(note["guild_id"]))
        if guild_id in self._guilds:
            self._world.start(self._refresh(guild_id, str(note["text"])))

    async def _refresh(self, guild_id: int, text: str) -> None:
        """Read a guild that has changed, and send the members here what is different."""
        try:
            guild = await self._read(guild_id)
        except StoreError as error:
            self._world.faults.add_fault("reading a guild", "", error)
            return
        if guild is None:
            self._gone(guild_id, text)
        else:
            self._replace(guild, text)

    async def review(self) -> None:
        """Read the guilds again that another program has changed. Raises `StoreError`.

        A note on the bus may have been lost, too, and an answer of the store.
        """
        for player in list(self._world.players):
            if player.id not in self._guild_of and player.state in IN_ZONE:
                await self._arrive(player, is_new=False)
        if not self._guilds:
            return
        stored = await self.store.revisions(list(self._guilds))
        for guild_id, guild in list(self._guilds.items()):
            if stored.get(guild_id, 0) != guild.revision:
                await self._refresh(guild_id, "")

    # -- what clients are sent ------------------------------------------------------------------

    def _replace(self, guild: Guild, text: str) -> None:
        """Use a newer state of a guild; send its members here what is different, and a line."""
        before = self._guilds.get(guild.id)
        if before is None or before.revision >= guild.revision:
            return
        self._guilds[guild.id] = guild
        for char_id in before.members.keys() - guild.members.keys():
            self._remove(char_id, guild.id, text)
        messages, find = GuildMessages(guild), self._world.processes.presence.find
        rows, shown = self._rows_of(guild), self._shown(guild)
        differ = [
            one for char_id, one in guild.members.items() if before.members.get(char_id) != one
        ]
        has_new_list = before.members.keys() != guild.members.keys() or any(
            before.members[one.char_id].rank != one.rank
            for one in differ
            if one.char_id in before.members
        )
        for player in self._members_here(guild.id):
            self._show(player)
            for gone in before.members.keys() - guild.members.keys():
                fields = {"guild_id": guild.id, "character_id": gone}
                player.client.send(LEFT, fields)
            for one in differ:
                zone = self._zone_of(one)
                messages.send(player, MEMBER, member_fields(one, present_of(one, find), zone))
            if _window_differs(before, guild):
                messages.send(player, UPDATE, update_fields(guild))
            if has_new_list:
                rows.send(player, guild, shown)
            if text:
                self._chat.line(player, text, EVENT)

    def _remove(self, char_id: int, guild_id: int, text: str) -> None:
        """Show a player of this process that it is no member any more."""
        if self._guild_of.get(char_id) != guild_id:
            return
        self._enroll(char_id, 0)
        player = self._world.players.get(char_id)
        if player is None:
            return
        self._show(player)
        if player.is_online:
            player.client.send(LEFT, {"guild_id": guild_id, "character_id": char_id})
            # Empty: the window has no guild any more.
            player.client.send(UPDATE, {})
            if text:
                self._chat.line(player, text, EVENT)

    def _gone(self, guild_id: int, text: str) -> None:
        """Remove a guild that was deleted."""
        for char_id in list(self._here.get(guild_id, ())):
            self._remove(char_id, guild_id, text)

    def _show(self, player: Player) -> None:
        """Show a player's guild under its name, if its rank may show it."""
        guild = self.of(player.id)
        is_shown = guild is not None and guild.may(player.id, Permission.SHOW_GUILD_NAME)
        text = f"<{guild.name}>" if guild is not None and is_shown else ""
        if player.spawn.guild != text:
            player.spawn.set_info(guild=text)
            # Some versions have the text in the visibility part, too.
            player.spawn.set_visibility()

    def _send_window(self, player: Player, guild: Guild, *, with_motd: bool) -> None:
        """Send a client the whole guild, in the order in which EQ2Emulator does."""
        client, messages = player.client, GuildMessages(guild)
        if with_motd and guild.motd:
            self._chat.line(player, f"Guild MOTD: {guild.motd}", MOTD)
        client.send(EVENTS, {"account_id": player.character.account_id})
        messages.send(player, UPDATE, update_fields(guild))
        self._rows_of(guild).send(player, guild, self._shown(guild))

    def _rows_of(self, guild: Guild) -> MemberRows:
        return self._rows.setdefault(guild.id, MemberRows())

    def _shown(self, guild: Guild) -> list[ShownMember]:
        find = self._world.processes.presence.find
        return [
            ShownMember(one, present_of(one, find), self._zone_of(one))
            for one in guild.members.values()
        ]

    def _zone_of(self, member: GuildMember) -> str:
        """Return the zone of a member as the window shows it, "" if it is not in the world."""
        present = present_of(member, self._world.processes.presence.find)
        return self._description(present.zone_id) if present is not None else ""

    def _description(self, zone_id: int) -> str:
        definition = self._world.zones.definition(zone_id)
        # A zone without a description must not look like an absent member.
        return definition.description or definition.name

    # -- coming and going -----------------------------------------------------------------------

    def _stands(self, player: Player) -> None:
        is_new = player.id in self._newcomers
        self._newcomers.discard(player.id)
        self._world.start(self._arrive(player, is_new=is_new))

    async def _arrive(self, player: Player, *, is_new: bool) -> None:
        try:
            guild = await self.load(player)
        except StoreError as error:
            # A command of the player tries again.
            self._world.faults.add_fault("reading a guild", player.name, error)
            return
        if guild is None or not player.is_online:
            return
        self._show(player)
        self._send_window(player, guild, with_motd=is_new)
        self._publish_seen(player, "in" if is_new else "")

    def _has_left(self, event: LeftWorld) -> None:
        player = event.player
        self.invitations.forget(player.id)
        self._newcomers.discard(player.id)
        self._dismiss(player.id)

    def _logged_out(self, event: LoggedOut) -> None:
        player = event.player
        if player.spawn.hidden:
            return
        if player.id in self._guild_of:
            self._say_gone(player, self._guild_of[player.id])
        else:  # it was on its way to another node
            self._world.start(self._look_gone(player))

    async def _look_gone(self, player: Player) -> None:
        try:
            self._say_gone(player, await self.store.of_character(player.id))
        except StoreError as error:
            self._world.faults.add_fault("reading a guild", player.name, error)

    def _say_gone(self, player: Player, guild_id: int) -> None:
        if guild_id:
            self._publish_place(player, guild_id, 0, "out")

    def _hidden_changed(self, event: HidingChanged) -> None:
        player = event.player
        guild_id = self._guild_of.get(player.id, 0)
        if player.spawn.hidden:
            self._say_gone(player, guild_id)
        elif guild_id:
            self._publish_seen(player, "in")

    def _publish_seen(self, player: Player, line: str) -> None:
        if not player.spawn.hidden:
            self._publish_place(player, self._guild_of[player.id], player.zone.zone_id, line)

    def _publish_place(self, player: Player, guild_id: int, zone_id: int, line: str) -> None:
        note: Note = {
            "guild_id": guild_id, "char_id": player.id, "name": player.name, "zone_id": zone_id,
            "line": line,
        }  # fmt: skip
        self._world.processes.bus.publish(SEEN, note)

    def _heard_seen(self, note: Note) -> None:
        """Show the members here that another one has come, gone or changed its zone."""
        guild_id, char_id = int(str(note["guild_id"])), int(str(note["char_id"]))
        guild = self._guilds.get(guild_id)
        member = guild.members.get(char_id) if guild is not None else None
        if guild is None or member is None:
            return
        zone_id, line = int(str(note["zone_id"])), str(note["line"])
        # The zone is the note's: the presence table may still have a player that is leaving.
        zone = self._description(zone_id) if zone_id else ""
        present = present_of(member, self._world.processes.presence.find)
        fields, messages = member_fields(member, present, zone), GuildMessages(guild)
        for player in self._members_here(guild_id):
            messages.send(player, MEMBER, fields)
            wants = guild.members[player.id].flags & MemberFlag.NOTIFY_LOGINS
            if line and wants and player.id != char_id:
                text = f"Guildmate: {note['name']!s} has logged {line}."
                self._chat.line(player, text, COMING)

    # -- chat -----------------------------------------------------------------------------------

    async def say(
        self, player: Player, text: str, now: Monotonic, *, to_officers: bool = False
    ) -> None:
        """Say something to a player's guild, or to its officers, in every process.

        Raises `CommandError` and `StoreError`.
        """
        guild = await self.own(player)
        if to_officers:
            speak, channel = Permission.SPEAK_TO_OFFICERS, "officer"
        else:
            speak, channel = Permission.SPEAK_TO_GUILD, "guild"
        guilds.check(guild, player.id, speak)
        hearers = self._hearers(guild, channel)
        said = self._chat.group_say(player, hearers, text, now, channel=channel)
        note: Note = {
            "guild_id": guild.id, "channel": channel, "speaker": player.name, "text": said,
            "process": self._world.processes.name,
        }  # fmt: skip
        self._world.processes.bus.publish(SAID, note)

    def _hearers(self, guild: Guild, channel: str) -> list[Player]:
        hears = Permission.HEAR_OFFICERS if channel == "officer" else Permission.HEAR_GUILD
        return [one for one in self._members_here(guild.id) if guild.may(one.id, hears)]

    def _heard_said(self, note: Note) -> None:
        guild = self._guilds.get(int(str(note["guild_id"])))
        if guild is None or note["process"] == self._world.processes.name:
            return
        channel = str(note["channel"])
        for hearer in self._hearers(guild, channel):
            self._chat.hear_member(hearer, channel, str(note["speaker"]), str(note["text"]))

    # -- invitations ----------------------------------------------------------------------------

    async def invite(self, player: Player, name: str, process: str) -> None:
        """Invite a player of any process to the guild of another one.

        `process` is where it is. Raises `CommandError`, `StoreError` and `Unanswered`.
        """
        guild = await self.own(player)
        guilds.check(guild, player.id, Permission.INVITE)
        note: Note = {
            "name": name, "guild_id": guild.id, "guild": guild.name, "inviter": player.name,
        }  # fmt: skip
        await self._world.processes.bus.request(f"{INVITE}.{process}", note)

    async def _answer_invite(self, note: Note) -> Note:
        name, inviter = str(note["name"]), str(note["inviter"])
        guest = self._world.players.named(name)
        if guest is None or not guest.is_online:
            raise CommandError(f"there is no player {name} in the world")
        # A player must not reach somebody who ignores it by invitations.
        if guest.relations.knows(Relation.IGNORED, inviter):
            raise CommandError(f"{guest.name} ignores you")
        if Option.DECLINE_GUILDS in guest.options:
            raise CommandError(f"{guest.name} declines such invitations")
        if await self.load(guest) is not None:
            raise CommandError(f"{guest.name} is in a guild already")
        # It may have left while the store was asked: its invitation would stay.
        if self._world.players.get(guest.id) is not guest:
            raise CommandError(f"there is no player {name} in the world")
        guild_id, guild_name = int(str(note["guild_id"])), str(note["guild"])
        invitation = GuildInvitation(guild_id, guild_name, inviter, self._world.clock.now())
        self.invitations.invite(guest.id, invitation)
        offer = {"type": GUILD_OFFER, "name": inviter, "unknown2": 1, "guild_name": guild_name}
        guest.client.send(OFFER, offer)
        text = f"{inviter} invites you to the guild {guild_name}: guild accept or guild decline."
        self._chat.line(guest, text)
        return {}

    def decline(self, player: Player, now: Monotonic) -> str:
        """Decline a player's invitation; return the name of the guild. Raises `CommandError`."""
        invitation = self.invitations.take_invitation(player.id, now)
        text = f"{player.name} declines your invitation to {invitation.guild_name}."
        self._world.processes.bus.publish(DECLINED, {"name": invitation.inviter, "text": text})
        return invitation.guild_name

    def _heard_declined(self, note: Note) -> None:
        inviter = self._world.players.named(str(note["name"]))
        if inviter is not None and inviter.is_online:
            self._chat.line(inviter, str(note["text"]))


def _member_of(player: Player, **values: Any) -> GuildMember:
    character = player.character
    return GuildMember(
        char_id=player.id,
        name=player.name,
        account_id=character.account_id,
        level=character.level,
        class_=character.class_,
        tradeskill_class=character.tradeskill_class,
        tradeskill_level=character.tradeskill_level,
        last_played=character.last_played,
        **values,
    )


def _window_differs(before: Guild, after: Guild) -> bool:
    """Return whether WS_GuildUpdate differs; it has the number of members, not the members."""
    return update_fields(before) != update_fields(after)
