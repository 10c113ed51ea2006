"""OP_CreateCharacterRequestMsg and OP_DeleteCharacterRequestMsg.

Both are also sent to the world.

A character that a world has created is saved even if the client has left or its request has timed
out. The server saves first, then sends the reply and the new list and, for old clients, starts the
play request that they expect from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from emu.dialects.dialect import read_name
from emu.errors import MalformedMessage, StoreError
from emu.login.character_creation import CreateRequest, PendingCreate, read_create_request
from emu.login.client import Client, ClientDeadline, ClientState, guarded
from emu.login.events import CharacterCreated, CharacterDeleted, CreateRefused, DeleteRefused
from emu.login.messages import replies
from emu.login.messages.play import PlayMessages
from emu.login.messages.table import IDLE, LoginMessageTable
from emu.login.service import LoginService
from emu.model import Character, CreateResponse
from emu.reply_codes import CreateCode, DeleteCode, PlayCode
from emu.times import Monotonic

_REASONS = {
    CreateCode.NO_SERVERS: "world not connected",
    CreateCode.PENDING: "an earlier request is not answered yet",
    CreateCode.MAX_CHARACTERS: "too many characters",
    CreateCode.BAD_NAME_LENGTH: "name too long",
    CreateCode.OVERLOADED: "too many requests lately",
}


def _refused_event(pending: PendingCreate, code: int, reason: str) -> CreateRefused:
    place = (pending.request.name, pending.request.world_id)
    return CreateRefused(pending.address, pending.account_name, *place, code, reason)


def _send_create_reply(client: Client, code: int, name: str) -> None:
    payload = replies.create_reply(client.dialect, client.account_id, code & 0xFF, name)
    client.send("OP_CreateCharacterReplyMsg", payload)


MOST_DELETED = 100
"""Deleted entries kept for the list of one session."""


def _send_delete_reply(client: Client, asked: dict[str, Any], code: int) -> None:
    payload = replies.delete_reply(client.dialect, client.account_id, code, asked)
    client.send("OP_DeleteCharacterReplyMsg", payload)


class CharacterMessages:
    """Handles the creation and deletion of characters."""

    def __init__(self, service: LoginService, play: PlayMessages) -> None:
        self._service = service
        self._play = play

    def register(self, messages: LoginMessageTable) -> None:
        """Add the messages to the table."""
        messages.add_handler("OP_CreateCharacterRequestMsg", self.create, IDLE)
        messages.add_handler("OP_DeleteCharacterRequestMsg", self.delete, IDLE)

    async def create(self, client: Client, payload: bytes) -> None:
        """Pass a create request on to its world, or refuse it."""
        try:
            request = read_create_request(payload, client.dialect)
        except MalformedMessage:
            # The client waits for a reply to every create request, also to one that cannot be read.
            _send_create_reply(client, CreateCode.UNKNOWN_ERROR, "")
            raise
        try:
            request = request.with_models(
                await self._service.models.numbers(request.models.values())
            )
            code = await self._reason_against(client, request)
        except StoreError:
            self._refuse_create(client, request, CreateCode.UNKNOWN_ERROR, "server problem")
            raise
        # The client may have left, or sent another request, while the stores were read.
        if client.state is not ClientState.LOGGED_IN:
            return
        if code is None:
            code = self._hand_on(client, request, payload)
        if code is not None:
            self._refuse_create(client, request, code, _REASONS[code])

    async def _reason_against(self, client: Client, request: CreateRequest) -> CreateCode | None:
        # Bytes on the wire, because the client's field counts bytes.
        if not 0 < len(request.raw_name) <= self._service.config.character_name_size:
            return CreateCode.BAD_NAME_LENGTH
        if self._service.worlds.connected(request.world_id) is None:
            return CreateCode.NO_SERVERS
        if self._service.creates.awaited_by(client) is not None:
            return CreateCode.PENDING
        rows = await self._service.characters.characters_of(client.account_id)
        # The greater of the two, so that a client which was sent a higher limit is not refused
        # below it.
        if len(rows) >= max(
            self._service.config.character_limit, self._service.config.max_characters
        ):
            return CreateCode.MAX_CHARACTERS
        return None

    def _hand_on(self, client: Client, request: CreateRequest, payload: bytes) -> CreateCode | None:
        now = self._service.clock.now()
        # After the other checks, so that a request which is refused for another reason costs
        # nothing.
        if not self._service.creations.take(client.account_id, now):
            return CreateCode.OVERLOADED
        pending = PendingCreate(
            account_id=client.account_id,
            account_name=client.account_name,
            address=client.address,
            request=request,
            expires=now + self._service.config.create_memory,
            client=client,
        )
        if not self._service.creates.add_request(pending, now):
            self._service.creations.give_back(client.account_id, now)
            return CreateCode.PENDING
        client.set_deadline(
            ClientDeadline.CREATE, Monotonic(now + self._service.config.create_timeout)
        )
        # The answer may come before this call returns.
        asked = self._service.worlds.request_create(
            request.world_id, client.account_id, client.version, payload, now
        )
        # Not if it was answered already: the answer may have come within the call above.
        if not asked and pending.is_awaited:
            self._service.creates.withdraw(pending)
            self._service.creations.give_back(client.account_id, now)
            self._finish(client, pending)
            return CreateCode.NO_SERVERS
        return None

    async def answered(self, pending: PendingCreate, answer: CreateResponse) -> None:
        """Save the character that a world has created, and answer the client if it is there."""
        client = pending.client
        waits = pending.is_awaited
        if client is not None and waits:
            self._finish(client, pending)
        # Account 0 means that the world could not read the request, whatever its code says.
        code = answer.response if answer.account_id else CreateCode.UNKNOWN_ERROR
        row, reason = None, "the world says no"
        # The row is stored even if nobody waits: the character exists in its world.
        if code == CreateCode.SUCCESS:
            row = await self._save(pending, answer)
            code, reason = CreateCode.UNKNOWN_ERROR, "server problem"
        # The client may have left while the row was stored.
        if client is None or not client.is_logged_in:
            return
        if row is None:
            self._refuse_create(client, pending.request, code, reason)
            return
        # Through the mailbox: the client's next message may be in progress, and answers must keep
        # their order.
        client.queue_task(partial(self._show, client, row, play=waits))

    def timed_out(self, client: Client) -> None:
        """End a client's wait as EQ2Emulator does: with a play reply."""
        pending = self._service.creates.awaited_by(client)
        if pending is not None:
            self._finish(client, pending)
            payload = replies.play_failure(client.dialect, client.account_id, PlayCode.TIMEOUT)
            client.send("OP_PlayCharacterReplyMsg", payload)
            self._service.counters["create refused"] += 1
            event = _refused_event(pending, PlayCode.TIMEOUT, "the world does not answer")
            self._service.log(event)

    def world_gone(self, pending: PendingCreate) -> None:
        """Refuse a create request that its world can no longer answer."""
        client = pending.client
        if client is not None and pending.is_awaited:
            self._finish(client, pending)
            code = CreateCode.NO_SERVERS
            self._refuse_create(client, pending.request, code, "the world is gone")

    async def _save(self, pending: PendingCreate, answer: CreateResponse) -> Character | None:
        made = pending.request.character(
            pending.account_id, answer.char_id, self._service.clock.moment()
        )
        try:
            row = await self._service.characters.add_character(made)
        except StoreError as error:
            self._service.journal.fault(pending.address, pending.account_name, str(error))
            return None
        self._service.counters["characters created"] += 1
        place = (row.world_id, row.char_id)
        version = pending.request.version
        name = pending.account_name
        self._service.log(CharacterCreated(pending.address, name, row.name, *place, version))
        return row

    async def _show(self, client: Client, row: Character, *, play: bool) -> None:
        """Send a client its new character; `play` is whether it still waited for the answer."""
        _send_create_reply(client, CreateCode.SUCCESS, row.name)
        await guarded(client, "OP_CreateCharacterRequestMsg", self._play.send_characters(client))
        follows = play and client.dialect.rules.play_after_create
        # The client may have sent a play request of its own in between.
        if follows and client.state is ClientState.LOGGED_IN:
            self._play.request_play(client, row, self._service.clock.now())

    def _refuse_create(
        self, client: Client, request: CreateRequest, code: int, reason: str
    ) -> None:
        self._service.counters["create refused"] += 1
        name = client.account_name
        place = (request.name, request.world_id)
        self._service.log(CreateRefused(client.address, name, *place, code, reason))
        _send_create_reply(client, code, "")

    def _finish(self, client: Client, pending: PendingCreate) -> None:
        self._service.creates.wait_no_longer(pending)
        client.clear_deadline(ClientDeadline.CREATE)

    async def delete(self, client: Client, payload: bytes) -> None:
        """Answer a delete request, then send the character list in every case."""
        asked = client.dialect.layout("LS_DeleteCharacterRequest").decode_short(payload)
        try:
            rows = await self._service.characters.characters_of(client.account_id)
            row = self._find(rows, asked)
            is_deleted = row is not None and await self._delete(client, row)
        except StoreError:
            self._refuse_delete(client, asked)
            raise
        if is_deleted:
            _send_delete_reply(client, asked, DeleteCode.SUCCESS)
        else:
            self._refuse_delete(client, asked)
        # The list shows the player which characters are left, also after a refusal.
        if client.is_logged_in:
            await self._play.send_characters(client)

    def _find(self, rows: Sequence[Character], asked: dict[str, Any]) -> Character | None:
        """Return the row; None when its world is not connected and cannot be notified."""
        # All three, so that a client with an old list cannot delete another character that has the
        # number now.
        wanted = (asked["server_id"], asked["char_id"], read_name(asked["name"]))
        for row in rows:
            if (row.world_id, row.char_id, row.name) == wanted:
                return row if self._service.worlds.connected(row.world_id) else None
        return None

    async def _delete(self, client: Client, row: Character) -> bool:
        place = (row.world_id, row.char_id)
        if not await self._service.characters.delete_character(client.account_id, *place, row.name):
            return False
        # Bounded, because one session may create and delete characters without end.
        if client.dialect.rules.keep_deleted_entries and len(client.deleted) < MOST_DELETED:
            client.deleted.append(row)
        self._service.worlds.notify_delete(
            row.world_id, client.account_id, row.char_id, self._service.clock.now()
        )
        self._service.counters["characters deleted"] += 1
        name = client.account_name
        self._service.log(
            CharacterDeleted(client.address, name, row.name, *place, "deleted by its owner")
        )
        return True

    def _refuse_delete(self, client: Client, asked: dict[str, Any]) -> None:
        name = client.account_name
        place = (asked["server_id"], asked["char_id"])
        self._service.log(DeleteRefused(client.address, name, read_name(asked["name"]), *place))
        _send_delete_reply(client, asked, DeleteCode.REFUSED)
