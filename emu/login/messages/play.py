"""The world list, the character list, and OP_PlayCharacterRequestMsg with the world's answer.

A client is sent a world's status only when it differs from what the client was sent last.

A client has one play request at a time. While the world is asked, the client is in the state
PLAYING. It leaves that state with the answer, at the timeout, or when the world is gone; each of
these sends exactly one play reply. A later answer finds no request and is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from emu.errors import EmuError, StoreError, StructValueError
from emu.gather import both
from emu.login.character_list import CharacterListEntry, character_list
from emu.login.client import (
    LOGGED_IN_STATES,
    Client,
    ClientDeadline,
    ClientState,
    PendingPlay,
    guarded,
)
from emu.login.directory import GONE, WorldState, state_of
from emu.login.events import CharacterDeleted, PlayGranted, PlayRefused
from emu.login.messages import replies
from emu.login.messages.table import IDLE, LoginMessageTable, ignored
from emu.login.service import LoginService
from emu.model import Character, PlayResponse
from emu.reply_codes import LoginCode, PlayCode
from emu.times import Monotonic

REQUEST = "OP_PlayCharacterRequestMsg"


BARRED = "its account or address is banned or disabled"


@dataclass(slots=True)
class _BanCheck:
    """What is known of one play request while the store is asked about it."""

    is_over: bool = False
    """Whether the character was looked for."""
    is_barred: bool | None = None
    """Whether account or address is banned, or None as long as that is not known."""
    pending: PendingPlay | None = None
    """The request to the world, if there is one."""


def _place(asked: dict[str, Any]) -> tuple[int, int]:
    """Return world and character of a request; some versions do not send the world."""
    return asked.get("server_id", 0), asked["char_id"]


def _finish(client: Client) -> None:
    client.pending_play = None
    client.clear_deadline(ClientDeadline.PLAY)
    client.set_state(ClientState.LOGGED_IN)


class PlayMessages:
    """Handles the world list, the character list and play requests."""

    def __init__(self, service: LoginService) -> None:
        self._service = service

    def register(self, messages: LoginMessageTable) -> None:
        """Add the messages to the table."""
        messages.add_handler("OP_AllWSDescRequestMsg", self.list_worlds, LOGGED_IN_STATES)
        # Only in `IDLE`: while a world is asked, a second request has no meaning.
        messages.add_handler("OP_PlayCharacterRequestMsg", self.play, IDLE)
        # The character list was sent with the worlds; see `emu.login.settings`.
        messages.add_handler("OP_AllCharactersDescRequestMsg", ignored, LOGGED_IN_STATES)

    async def list_worlds(self, client: Client, _payload: bytes) -> None:
        """Answer a request for the world list, with the character list and the flags.

        The characters are read first, so that all of it leaves in one datagram. If that fails, the
        client still gets the world list.
        """
        try:
            characters = await self._characters(client)
        except EmuError:
            self._send_worlds(client)
            raise
        self._send_worlds(client)
        if characters is not None:
            client.send("OP_AllCharactersDescReplyMsg", characters)

    def _send_worlds(self, client: Client) -> None:
        if not client.is_logged_in:
            return
        worlds = self._service.worlds.listed()
        client.shown_worlds = {world.id: state_of(world) for world in worlds}
        # The list has the newest states; a status message behind it would only repeat them.
        client.status_due.clear()
        client.send("OP_WorldListMsg", self._service.world_list(client.dialect, worlds))
        flags = replies.login_reply(
            client.dialect, self._service.config, client.account_name, response=LoginCode.FLAGS
        )
        client.send("OP_LoginReplyMsg", flags)

    async def send_characters(self, client: Client) -> None:
        """Send the character list as stored."""
        characters = await self._characters(client)
        if characters is not None:
            client.send("OP_AllCharactersDescReplyMsg", characters)

    async def _characters(self, client: Client) -> bytes | None:
        """Return the character list as stored, or None when the client has left."""
        account_id = client.owner.id
        rows = await self._service.characters.characters_of(account_id)
        # A character whose world is not connected cannot be played, so it is not listed.
        entries = [entry for row in rows if (entry := await self._entry(client, row))]
        if not client.is_logged_in:
            return None
        if client.dialect.rules.keep_deleted_entries:
            # In their old places: such a client may refer to entries by their number.
            entries += [CharacterListEntry(row, "", "", "", deleted=True) for row in client.deleted]
            entries.sort(key=lambda entry: entry.character.id)
        return character_list(
            client.dialect,
            self._service.config,
            account_id,
            entries,
            veterans=self._veterans(rows),
        )

    async def _entry(self, client: Client, row: Character) -> CharacterListEntry | None:
        world = self._service.worlds.connected(row.world_id)
        if world is None:
            return None
        zone, description = await self._service.zones.texts(
            row, by_name=client.dialect.rules.zone_by_name
        )
        return CharacterListEntry(row, world.name, zone, description)

    def _veterans(self, rows: Sequence[Character]) -> int:
        count = 0
        for row in rows:
            world = self._service.worlds.connected(row.world_id)
            # Level 0 means that the world has not reported its highest level.
            if world is not None and 0 < world.max_level <= row.level:
                count += 1
        return count

    def note_world_state(
        self, client: Client, world_id: int, state: WorldState, now: Monotonic
    ) -> None:
        """Schedule a status message about a world, unless the client has this state already."""
        # A world may come and go within the delay. Then nothing needs to be sent.
        if client.shown_worlds is None or client.shown_worlds.get(world_id, GONE) == state:
            return
        # One deadline for all changes: the first one starts it and later ones join.
        if not client.status_due:
            client.set_deadline(
                ClientDeadline.STATUS, Monotonic(now + self._service.config.status_delay)
            )
        client.status_due.add(world_id)

    def push_world_states(self, client: Client) -> None:
        """Send a client every world whose state differs from the last one sent."""
        shown = client.shown_worlds
        # Sorted, so that all clients see the worlds in the same order.
        due, client.status_due = sorted(client.status_due), set()
        if shown is None:
            return
        for world_id in due:
            state = self._service.world_states[world_id]
            sent = shown.get(world_id, GONE)
            if sent != state:
                self._send_status(client, world_id, sent, state)
                shown[world_id] = state

    def _send_status(
        self, client: Client, world_id: int, sent: WorldState, state: WorldState
    ) -> None:
        up, locked = state
        dialect = client.dialect
        long_only = self._service.config.choices.long_status_only
        # Two layouts: 7 bytes for a world that comes or goes, 8 for its lock; see
        # `emu.login.settings`.
        if up != sent[0] and not long_only:
            payload = replies.world_came_or_went(dialect, world_id, up=up)
            client.send("OP_WorldStatusChangeMsg", payload)
            # The short layout cannot hold the lock, so the client now believes that the world is
            # not locked.
            sent = (up, False)
        if sent != state:
            payload = replies.world_update(dialect, world_id, up=up, locked=locked)
            client.send("OP_WorldStatusChangeMsg", payload)

    async def play(self, client: Client, payload: bytes) -> None:
        """Handle a client's request to enter a world."""
        asked = client.dialect.layout("LS_PlayRequest").decode_short(payload)
        check = _BanCheck()
        try:
            # The world is asked before the ban is known: with a database far away each question
            # takes long, and the ban only matters before the client reads the world's answer.
            await both(self._check(client, check), self._request(client, asked, check))
        except StoreError:
            if not check.is_over and client.state is ClientState.LOGGED_IN:
                self._refuse(client, _place(asked), PlayCode.PROBLEM, "server problem")
            elif check.pending is not None and client.pending_play is check.pending:
                self._give_up(client, PlayCode.PROBLEM, "server problem")
            raise

    async def _request(self, client: Client, asked: dict[str, Any], check: _BanCheck) -> None:
        """Request the entry of the character that a client asks for."""
        rows = await self._service.characters.characters_of(client.account_id)
        check.is_over = True
        # It has left, or sent a second request, while the store was read.
        if client.state is not ClientState.LOGGED_IN:
            return
        if check.is_barred:
            self._refuse(client, _place(asked), PlayCode.BANNED, BARRED)
            return
        row = self._find(client, rows, asked)
        if row is None:
            self._refuse(client, _place(asked), PlayCode.PROBLEM, "no such character")
            return
        check.pending = PendingPlay(
            row.world_id, row.char_id, row.name, is_allowed=check.is_barred is False
        )
        self._request_play(client, check.pending, self._service.clock.now())

    async def _check(self, client: Client, check: _BanCheck) -> None:
        """Find out whether a client is barred, and let it have the world's answer, or refuse it.

        The login checked it, too; but a ban may be newer than the session.
        """
        check.is_barred = await self._service.is_barred(client.account_id, client.address)
        pending = check.pending
        # Refused by the world, timed out, or left; or not requested yet.
        if pending is None or client.pending_play is not pending:
            return
        if check.is_barred:
            self._give_up(client, PlayCode.BANNED, BARRED)
            return
        pending.is_allowed = True
        if pending.granted is not None:
            self._let_in(client, pending.granted)

    def request_play(self, client: Client, row: Character, now: Monotonic) -> None:
        """Request a character's entry from its world."""
        self._request_play(client, PendingPlay(row.world_id, row.char_id, row.name), now)

    def _request_play(self, client: Client, pending: PendingPlay, now: Monotonic) -> None:
        client.pending_play = pending
        client.set_state(ClientState.PLAYING)
        client.set_deadline(ClientDeadline.PLAY, Monotonic(now + self._service.config.play_timeout))
        # The answer may come before this call returns.
        asked = self._service.worlds.request_play(
            pending.world_id, client.account_id, pending.char_id, client.address, now
        )
        if not asked and client.pending_play is not None:
            _finish(client)
            code = PlayCode.PROBLEM
            place = (pending.world_id, pending.char_id)
            self._refuse(client, place, code, "world not connected")

    def play_answered(self, client: Client, answer: PlayResponse) -> bool:
        """Pass a world's answer on; return False when this client does not wait for it."""
        pending = client.pending_play
        # The answer must name the character that is waited for: the client may have asked for
        # another since.
        if pending is None or (pending.world_id, pending.char_id) != (
            answer.world_id,
            answer.char_id,
        ):
            return False
        if answer.response == PlayCode.SUCCESS:
            pending.granted = answer
            if pending.is_allowed:
                self._let_in(client, answer)
            return True
        _finish(client)  # first: the reply below must be the only one to this request
        self._refuse(
            client, (answer.world_id, answer.char_id), answer.response, "the world says no"
        )
        # The world does not have the character, so the list must not offer it any longer.
        if answer.response == PlayCode.CHARACTER_NOT_LOADED:
            self._service.start(guarded(client, REQUEST, self._forget(client, pending)))
        return True

    def _let_in(self, client: Client, answer: PlayResponse) -> None:
        """Pass on that a world lets a client in."""
        _finish(client)  # first: the reply must be the only one to this request
        self._grant(client, answer)
        self._service.start(guarded(client, REQUEST, self._remember(answer)))

    def play_timed_out(self, client: Client) -> None:
        """Refuse a play request that its world has not answered."""
        self._give_up(client, PlayCode.TIMEOUT, "the world does not answer")

    def world_gone(self, client: Client, world_id: int) -> None:
        """Refuse the play request to a world that is gone."""
        if client.pending_play is not None and client.pending_play.world_id == world_id:
            self._give_up(client, PlayCode.PROBLEM, "the world is gone")

    def _find(
        self, client: Client, rows: Sequence[Character], asked: dict[str, Any]
    ) -> Character | None:
        worlds = self._service.worlds
        char_id = asked["char_id"]
        if client.dialect.rules.play_by_name:
            # These clients do not send the world, so number and name have to identify the
            # character.
            name = asked["name"]
            found = [row for row in rows if row.char_id == char_id and row.name == name]
            found = [row for row in found if worlds.connected(row.world_id) is not None]
        else:
            place = (asked["server_id"], char_id)
            found = [row for row in rows if (row.world_id, row.char_id) == place]
        # A name that two worlds have does not say which character is meant.
        return found[0] if len(found) == 1 else None

    def _grant(self, client: Client, answer: PlayResponse) -> None:
        place = (answer.world_id, answer.char_id)
        try:
            payload = replies.play_success(client.dialect, answer)
        except StructValueError as error:
            client.fault(f"world {answer.world_id} gave an address that cannot be sent: {error}")
            self._refuse(client, place, PlayCode.PROBLEM, "bad world address")
            return
        client.send("OP_PlayCharacterReplyMsg", payload)
        self._service.counters["play granted"] += 1
        event = PlayGranted(
            client.address, client.account_name, *place, answer.address, answer.port
        )
        self._service.log(event)

    def _refuse(self, client: Client, place: tuple[int, int], code: int, reason: str) -> None:
        payload = replies.play_failure(client.dialect, client.account_id, code)
        client.send("OP_PlayCharacterReplyMsg", payload)
        self._service.counters["play refused"] += 1
        name = client.account_name
        self._service.log(PlayRefused(client.address, name, *place, code, reason))

    def _give_up(self, client: Client, code: int, reason: str) -> None:
        pending = client.pending_play
        if pending is not None:
            _finish(client)
            self._refuse(client, (pending.world_id, pending.char_id), code, reason)

    async def _remember(self, answer: PlayResponse) -> None:
        """Store when a character was played; EQ2Emulator's worlds do not report it."""
        place = (answer.account_id, answer.world_id, answer.char_id)
        await self._service.characters.update_character(
            *place, {"last_played": self._service.clock.moment()}
        )

    async def _forget(self, client: Client, pending: PendingPlay) -> None:
        """Mark a character deleted that its world does not have."""
        owner = client.owner
        place = (pending.world_id, pending.char_id)
        if await self._service.characters.delete_character(owner.id, *place, pending.name):
            reason = "its world does not have it"
            event = CharacterDeleted(client.address, owner.name, pending.name, *place, reason)
            self._service.log(event)
