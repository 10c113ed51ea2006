"""Lines and chat for the members of groups and raids, and invitations, in all processes of a world.

A text is handled by the processes of its members only.

Source: docs/guides/cluster.md#groups.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from emu.errors import CommandError, Unanswered
from emu.model import Present, may_see
from emu.processes.ports import Note
from emu.times import Monotonic
from emu.world.actors.options import Option
from emu.world.actors.player import Player, Relation
from emu.world.deadlines import Deadlines
from emu.world.groups.groups import INVITATION
from emu.world.groups.shared import MALFORMED
from emu.world.world import World

TEXTS: Final = "groups.texts"
"""Topic of lines and chat; it ends with a dot and the process of the members."""
GUESTS: Final = "groups.guests"
"""Topic of questions whether a player may be invited; it ends with a dot and its process."""
LINE: Final = "line"
"""The kind of a note that is a line of text; other kinds are channels of chat."""
OFFER: Final = "WS_ReceiveOffer"
"""The client's window of an invitation."""
CLOSE: Final = "WS_CloseGroupInviteWindow"
"""Closes that window, for clients of 546 to 561 (docs/protocol/world/chat.md#groups)."""
GROUP_OFFER: Final = 1
COLOR: Final = "group_change"
"""The color of lines about groups, by its name in `data/world/chat.toml` (recorded)."""
CHANNELS: Final = frozenset({"group", "raid"})
DECLINED: Final = {one.value: one for one in (Option.DECLINE_GROUPS, Option.DECLINE_RAIDS)}
"""The options that decline invitations, by their values on the bus."""


def check_guest(guest: Player, inviter: str, declined: Option) -> None:
    """Raise `CommandError` if a player of this process may not be invited by another one."""
    # A player must not reach somebody who ignores it by invitations.
    if guest.relations.knows(Relation.IGNORED, inviter):
        raise CommandError(f"{guest.name} ignores you")
    if declined in guest.options:
        raise CommandError(f"{guest.name} declines such invitations")


class LocalChat(Protocol):
    """The chat of this process, as `GroupTexts` uses it."""

    def line(self, player: Player, text: str, channel: str = "system") -> None:
        """Show a line of plain text to one player."""

    def group_say(
        self, speaker: Player, members: Iterable[Player], text: str, now: Monotonic, *,
        channel: str = "group",
    ) -> str:  # fmt: skip
        """Say something to members in this process; return the text that they were shown."""

    def hear_member(self, hearer: Player, channel: str, speaker: str, text: str) -> None:
        """Show a member what another one says in another process."""


class GroupTexts:
    """Sends texts to members, and shows those of other processes."""

    def __init__(self, chat: LocalChat, world: World) -> None:
        self._chat = chat
        self._world = world
        self._windows: Deadlines[int, None] = world.timetable.deadlines(
            "windows of invitations", self._is_over
        )
        """When to close the window of an invitation that nobody has answered, by character id."""
        if world.groups.is_shared:
            world.processes.bus.subscribe(f"{TEXTS}.{world.processes.name}", self._heard)
            world.processes.bus.answer(f"{GUESTS}.{world.processes.name}", self._answer_guest)

    def line(self, members: Iterable[int], text: str) -> None:
        """Show a line of text to members, wherever they are."""
        numbers = list(members)
        for member in self._here(numbers):
            if member.is_online:
                self._chat.line(member, text, COLOR)
        self._publish(numbers, {"kind": LINE, "speaker": "", "text": text})

    def offer(self, guest: int, inviter: str, text: str) -> None:
        """Show a player an invitation to a group: the client's window, and a line of text."""
        for player in self._here([guest]):
            self._show_offer(player, inviter, text)
        # A line for processes of an earlier release, which do not read the last field.
        note: Note = {"kind": LINE, "speaker": inviter, "text": text, "offer": GROUP_OFFER}
        self._publish([guest], note)

    def _show_offer(self, guest: Player, inviter: str, text: str) -> None:
        if guest.is_online:
            guest.client.send(OFFER, {"type": GROUP_OFFER, "name": inviter, "unknown2": 1})
            self._chat.line(guest, text, COLOR)
            due = Monotonic(self._world.clock.now() + INVITATION)
            self._windows.set(guest.id, None, due)

    def answered(self, guest: Player) -> None:
        """Note that a player has answered an invitation: its client has closed the window."""
        self._windows.clear(guest.id, None)

    def _is_over(self, guest: int, _name: None, _now: Monotonic) -> None:
        """Close the window of an invitation that is not valid any more."""
        player = self._world.players.get(guest)
        if player is not None and player.is_online:
            player.client.send(CLOSE)

    def say(
        self, speaker: Player, members: Sequence[int], channel: str, text: str, now: Monotonic
    ) -> None:
        """Say something to members, wherever they are. Raises `CommandError`."""
        text = self._chat.group_say(speaker, self._here(members), text, now, channel=channel)
        self._publish(members, {"kind": channel, "speaker": speaker.name, "text": text})

    async def check_guest_elsewhere(
        self, guest: Present, inviter: Player, declined: Option
    ) -> None:
        """Raise `CommandError` if a player of another process may not be invited."""
        note: Note = {
            "char_id": guest.char_id, "inviter": inviter.name, "rank": inviter.rank,
            "declined": declined.value,
        }  # fmt: skip
        try:
            await self._world.processes.bus.request(f"{GUESTS}.{guest.process}", note)
        except Unanswered:
            raise CommandError(f"{guest.name} cannot be reached now") from None

    def _here(self, members: Iterable[int]) -> list[Player]:
        found = (self._world.players.get(member) for member in members)
        return [player for player in found if player is not None]

    def _publish(self, members: Iterable[int], note: Note) -> None:
        world = self._world
        if not world.groups.is_shared:
            return
        elsewhere: dict[str, list[int]] = {}
        for member in members:
            found = world.processes.presence.find(member)
            if found is not None and found.process != world.processes.name:
                elsewhere.setdefault(found.process, []).append(member)
        for process, numbers in elsewhere.items():
            world.processes.bus.publish(f"{TEXTS}.{process}", {**note, "to": json.dumps(numbers)})

    def _heard(self, note: Note) -> None:
        match note:
            case {"kind": str() as kind, "speaker": str() as speaker, "text": str() as text,
                  "to": str() as to}:  # fmt: skip
                members = _numbers(to)
            case _:
                members, kind = None, ""
        if members is None or not (kind == LINE or kind in CHANNELS):
            self._world.count(MALFORMED)
            return
        for hearer in self._here(members):
            if kind != LINE:
                self._chat.hear_member(hearer, kind, speaker, text)
            elif note.get("offer") == GROUP_OFFER:
                self._show_offer(hearer, speaker, text)
            elif hearer.is_online:
                self._chat.line(hearer, text, COLOR)

    async def _answer_guest(self, note: Note) -> Note:
        match note:
            case {"char_id": int() as char_id, "inviter": str() as inviter, "rank": int() as rank,
                  "declined": declined} if declined in DECLINED:  # fmt: skip
                guest = self._world.players.get(char_id)
            case _:
                self._world.count(MALFORMED)
                raise CommandError("that player cannot be invited now")
        # It may have left, or have hidden, since the inviter's process has looked.
        if guest is None or not may_see(rank, guest.spawn):
            raise CommandError("that player is not in the world any more")
        check_guest(guest, inviter, DECLINED[declined])
        return {}


def _numbers(text: str) -> list[int] | None:
    """Return the numbers of a JSON array of numbers, None for anything else."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    is_right = isinstance(found, list) and all(type(one) is int for one in found)
    return found if is_right else None
