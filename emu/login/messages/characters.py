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
from emu.login.messages.play import request_play, send_characters
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


async def create(service: LoginService, client: Client, payload: bytes) -> None:
    """Pass a create request on to its world, or refuse it."""
    try:
        request = read_create_request(payload, client.dialect)
    except MalformedMessage:
        # The client waits for a reply to every create request, also to one that cannot be read.
        _send_create_reply(client, CreateCode.UNKNOWN_ERROR, "")
        raise
    try:
        request = request.with_models(await service.models.numbers(request.models.values()))
        code = await _reason_against(service, client, request)
    except StoreError:
        _refuse_create(service, client, request, CreateCode.UNKNOWN_ERROR, "server problem")
        raise
    # The client may have left, or sent another request, while the stores were read.
    if client.state is not ClientState.LOGGED_IN:
        return
    if code is None:
        code = _hand_on(service, client, request, payload)
    if code is not None:
        _refuse_create(service, client, request, code, _REASONS[code])


async def _reason_against(
    service: LoginService, client: Client, request: CreateRequest
) -> CreateCode | None:
    # Bytes on the wire, because the client's field counts bytes.
    if not 0 < len(request.raw_name) <= service.config.character_name_size:
        return CreateCode.BAD_NAME_LENGTH
    if service.worlds.connected(request.world_id) is None:
        return CreateCode.NO_SERVERS
    if service.creates.awaited_by(client) is not None:
        return CreateCode.PENDING
    rows = await service.characters.characters_of(client.account_id)
    # The greater of the two, so that a client which was sent a higher limit is not refused below
    # it.
    if len(rows) >= max(service.config.character_limit, service.config.max_characters):
        return CreateCode.MAX_CHARACTERS
    return None


def _hand_on(
    service: LoginService, client: Client, request: CreateRequest, payload: bytes
) -> CreateCode | None:
    now = service.clock.now()
    # After the other checks, so that a request which is refused for another reason costs nothing.
    if not service.creations.take(client.account_id, now):
        return CreateCode.OVERLOADED
    pending = PendingCreate(
        account_id=client.account_id,
        account_name=client.account_name,
        address=client.address,
        request=request,
        expires=now + service.config.create_memory,
        client=client,
    )
    if not service.creates.add(pending, now):
        return CreateCode.PENDING
    client.set_deadline(ClientDeadline.CREATE, Monotonic(now + service.config.create_timeout))
    # The answer may come before this call returns.
    asked = service.worlds.request_create(
        request.world_id, client.account_id, client.version, payload, now
    )
    # Not if it was answered already: the answer may have come within the call above.
    if not asked and pending.is_awaited:
        service.creates.withdraw(pending)
        _finish(service, client, pending)
        return CreateCode.NO_SERVERS
    return None


async def answered(service: LoginService, pending: PendingCreate, answer: CreateResponse) -> None:
    """Save the character that a world has created, and answer the client if it is there."""
    client = pending.client
    waits = pending.is_awaited
    if client is not None and waits:
        _finish(service, client, pending)
    # Account 0 means that the world could not read the request, whatever its code says.
    code = answer.response if answer.account_id else CreateCode.UNKNOWN_ERROR
    row, reason = None, "the world says no"
    # The row is stored even if nobody waits: the character exists in its world.
    if code == CreateCode.SUCCESS:
        row = await _save(service, pending, answer)
        code, reason = CreateCode.UNKNOWN_ERROR, "server problem"
    # The client may have left while the row was stored.
    if client is None or not client.is_logged_in:
        return
    if row is None:
        _refuse_create(service, client, pending.request, code, reason)
        return
    # Through the mailbox: the client's next message may be in progress, and answers must keep their
    # order.
    client.put(partial(_show, service, client, row, play=waits))


def timed_out(service: LoginService, client: Client) -> None:
    """End a client's wait as EQ2Emulator does: with a play reply."""
    pending = service.creates.awaited_by(client)
    if pending is not None:
        _finish(service, client, pending)
        payload = replies.play_failure(client.dialect, client.account_id, PlayCode.TIMEOUT)
        client.send("OP_PlayCharacterReplyMsg", payload)
        service.counters["create refused"] += 1
        event = _refused_event(pending, PlayCode.TIMEOUT, "the world does not answer")
        service.log(event)


def world_gone(service: LoginService, pending: PendingCreate) -> None:
    """Refuse a create request that its world can no longer answer."""
    client = pending.client
    if client is not None and pending.is_awaited:
        _finish(service, client, pending)
        code = CreateCode.NO_SERVERS
        _refuse_create(service, client, pending.request, code, "the world is gone")


async def _save(
    service: LoginService, pending: PendingCreate, answer: CreateResponse
) -> Character | None:
    made = pending.request.character(pending.account_id, answer.char_id, service.clock.moment())
    try:
        row = await service.characters.add_character(made)
    except StoreError as error:
        service.journal.fault(pending.address, pending.account_name, str(error))
        return None
    service.counters["characters created"] += 1
    place = (row.world_id, row.char_id)
    version = pending.request.version
    name = pending.account_name
    service.log(CharacterCreated(pending.address, name, row.name, *place, version))
    return row


async def _show(service: LoginService, client: Client, row: Character, *, play: bool) -> None:
    """Send a client its new character; `play` is whether it still waited for the answer."""
    _send_create_reply(client, CreateCode.SUCCESS, row.name)
    await guarded(client, "OP_CreateCharacterRequestMsg", send_characters(service, client))
    follows = play and client.dialect.rules.play_after_create
    # The client may have sent a play request of its own in between.
    if follows and client.state is ClientState.LOGGED_IN:
        request_play(service, client, row, service.clock.now())


def _refuse_create(
    service: LoginService, client: Client, request: CreateRequest, code: int, reason: str
) -> None:
    service.counters["create refused"] += 1
    name = client.account_name
    place = (request.name, request.world_id)
    service.log(CreateRefused(client.address, name, *place, code, reason))
    _send_create_reply(client, code, "")


def _refused_event(pending: PendingCreate, code: int, reason: str) -> CreateRefused:
    place = (pending.request.name, pending.request.world_id)
    return CreateRefused(pending.address, pending.account_name, *place, code, reason)


def _send_create_reply(client: Client, code: int, name: str) -> None:
    payload = replies.create_reply(client.dialect, client.account_id, code & 0xFF, name)
    client.send("OP_CreateCharacterReplyMsg", payload)


def _finish(service: LoginService, client: Client, pending: PendingCreate) -> None:
    service.creates.wait_no_longer(pending)
    client.clear_deadline(ClientDeadline.CREATE)


MOST_DELETED = 100
"""Deleted entries kept for the list of one session."""


async def delete(service: LoginService, client: Client, payload: bytes) -> None:
    """Answer a delete request, then send the character list in every case."""
    asked = client.dialect.layout("LS_DeleteCharacterRequest").decode_short(payload)
    try:
        rows = await service.characters.characters_of(client.account_id)
        row = _find(service, rows, asked)
        is_deleted = row is not None and await _delete(service, client, row)
    except StoreError:
        _refuse_delete(service, client, asked)
        raise
    if is_deleted:
        _send_delete_reply(client, asked, DeleteCode.SUCCESS)
    else:
        _refuse_delete(service, client, asked)
    # The list shows the player which characters are left, also after a refusal.
    if client.is_logged_in:
        await send_characters(service, client)


def _find(
    service: LoginService, rows: Sequence[Character], asked: dict[str, Any]
) -> Character | None:
    """Return the row; None when its world is not connected and cannot be notified."""
    # All three, so that a client with an old list cannot delete another character that has the
    # number now.
    wanted = (asked["server_id"], asked["char_id"], read_name(asked["name"]))
    for row in rows:
        if (row.world_id, row.char_id, row.name) == wanted:
            return row if service.worlds.connected(row.world_id) else None
    return None


async def _delete(service: LoginService, client: Client, row: Character) -> bool:
    place = (row.world_id, row.char_id)
    if not await service.characters.delete_character(client.account_id, *place, row.name):
        return False
    # Bounded, because one session may create and delete characters without end.
    if client.dialect.rules.keep_deleted_entries and len(client.deleted) < MOST_DELETED:
        client.deleted.append(row)
    service.worlds.notify_delete(row.world_id, client.account_id, row.char_id, service.clock.now())
    service.counters["characters deleted"] += 1
    name = client.account_name
    service.log(CharacterDeleted(client.address, name, row.name, *place, "deleted by its owner"))
    return True


def _refuse_delete(service: LoginService, client: Client, asked: dict[str, Any]) -> None:
    name = client.account_name
    place = (asked["server_id"], asked["char_id"])
    service.log(DeleteRefused(client.address, name, read_name(asked["name"]), *place))
    _send_delete_reply(client, asked, DeleteCode.REFUSED)


def _send_delete_reply(client: Client, asked: dict[str, Any], code: int) -> None:
    payload = replies.delete_reply(client.dialect, client.account_id, code, asked)
    client.send("OP_DeleteCharacterReplyMsg", payload)
