"""OP_DeleteCharacterRequestMsg: a character marked deleted here and on its world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from emu.dialects.text import read_name
from emu.errors import StoreError
from emu.login.client import Client
from emu.login.events import CharacterDeleted, DeleteRefused
from emu.login.messages import replies
from emu.login.messages.lists import send_characters
from emu.login.service import LoginService
from emu.model import Character, DeleteCode
from emu.times import Monotonic

MOST_DELETED = 100
"""Deleted entries kept for one session's list."""


async def delete(service: LoginService, client: Client, payload: bytes, now: Monotonic) -> None:
    """Answer a delete request; the character list follows in every case."""
    asked = client.dialect.layout("LS_DeleteCharacterRequest").decode_short(payload)
    try:
        rows = await service.characters.characters_of(client.account_id)
        row = _find(service, rows, asked)
        is_deleted = row is not None and await _delete(service, client, row, now)
    except StoreError:
        _refuse(service, client, asked)
        raise
    if is_deleted:
        _reply(client, asked, DeleteCode.SUCCESS)
    else:
        _refuse(service, client, asked)
    if client.is_logged_in:
        await send_characters(service, client)


def _find(
    service: LoginService, rows: Sequence[Character], asked: dict[str, Any]
) -> Character | None:
    """Return the row; none when its world is away and could not be told of the deletion."""
    wanted = (asked["server_id"], asked["char_id"], read_name(asked["name"]))
    for row in rows:
        if (row.world_id, row.char_id, row.name) == wanted:
            return row if service.worlds.connected(row.world_id) else None
    return None


async def _delete(service: LoginService, client: Client, row: Character, now: Monotonic) -> bool:
    place = (row.world_id, row.char_id)
    if not await service.characters.delete_character(client.account_id, *place, row.name):
        return False
    if client.dialect.rules.keep_deleted_entries and len(client.deleted) < MOST_DELETED:
        client.deleted.append(row)
    service.worlds.notify_delete(row.world_id, client.account_id, row.char_id, now)
    service.counters["characters deleted"] += 1
    name = client.account_name
    service.log(CharacterDeleted(client.address, name, row.name, *place, "deleted by its owner"))
    return True


def _refuse(service: LoginService, client: Client, asked: dict[str, Any]) -> None:
    name = client.account_name
    place = (asked["server_id"], asked["char_id"])
    service.log(DeleteRefused(client.address, name, read_name(asked["name"]), *place))
    _reply(client, asked, DeleteCode.REFUSED)


def _reply(client: Client, asked: dict[str, Any], code: int) -> None:
    payload = replies.delete_reply(client.dialect, client.account_id, code, asked)
    client.send("OP_DeleteCharacterReplyMsg", payload)
