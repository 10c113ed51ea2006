"""The payloads that the login service sends, except the character list.

Layouts come from the struct tables; values are those of docs/protocol/login.md and
docs/protocol/characters.md. The functions depend only on the dialect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from emu.dialects import Dialect
from emu.dialects.dialect import wire_name
from emu.errors import StructValueError
from emu.limits.addresses import is_host
from emu.login.ports import LoginRefusalReason
from emu.login.settings import (
    DELETE_REPLY_MAX_CHARACTERS,
    FIRST_REPLY_ACCOUNT,
    SECOND_REPLY_ACCOUNT,
    LoginServiceConfig,
)
from emu.model import PlayResponse
from emu.reply_codes import CreateCode, LoginCode, PlayCode
from emu.worlds import WorldEntry

NAME_FIELDS = frozenset(("username", "password"))
"""The fields of a login reply that hold the account's name."""

_DENIALS: Mapping[str, LoginCode] = {
    LoginRefusalReason.BAD_PASSWORD: LoginCode.BAD_NAME_OR_PASSWORD,
    LoginRefusalReason.NO_SUCH_ACCOUNT: LoginCode.BAD_NAME_OR_PASSWORD,
    LoginRefusalReason.PASSWORD_NOT_ALLOWED: LoginCode.BAD_NAME_OR_PASSWORD,
    LoginRefusalReason.NAME_NOT_ALLOWED: LoginCode.BAD_NAME_OR_PASSWORD,
    LoginRefusalReason.BANNED: LoginCode.NO_PLAY_TIME,
    LoginRefusalReason.DISABLED: LoginCode.LACKS_FEATURES,
    LoginRefusalReason.ADDRESS_BANNED: LoginCode.LACKS_FEATURES,
}
"""The code of each refusal (docs/protocol/login.md#reply-codes)."""

# The list has its count in one byte.
MOST_WORLDS = 255

LOAD_NORMAL, LOAD_DEVELOPMENT, LOAD_LOCKED = 0, 1, 2


def denial_code(reason: str) -> int:
    """Return the code of the denial for a reason.

    No code stands for a server that is busy or in trouble. A client shows an unknown code as an
    unknown reason; unlike "bad password", this does not lead players to change their password.
    """
    return _DENIALS.get(reason, LoginCode.UNKNOWN_REASON)


def denial(dialect: Dialect, code: int) -> bytes:
    """Return the 34 bytes that deny a login; only the code differs between versions."""
    values = {"reply_code": code, "unknown03": [-1, -1]}
    return dialect.layout("LS_LoginDenied").encode(values, strict=True)


def login_reply(
    dialect: Dialect, config: LoginServiceConfig, account: str, *, response: int
) -> bytes:
    """Return a login reply: the acceptance (0), or the flags after a world list (10).

    Older layouts do not contain the account, so one encoded reply serves all clients of a version.
    """
    if NAME_FIELDS.isdisjoint(dialect.template("LS_LoginReplyMsg")):
        # The configuration is in the key, so that a changed setting is not answered from the cache.
        key = (config, response)
        made = dialect.made.get(key)
        if made is None:
            made = dialect.made[key] = _login_reply(dialect, config, "", response)
        return made
    return _login_reply(dialect, config, wire_name(account), response)


def _login_reply(dialect: Dialect, config: LoginServiceConfig, name: str, response: int) -> bytes:
    # Never the real account id: an old client might use a cached character list; see
    # `emu.login.settings`.
    number = FIRST_REPLY_ACCOUNT if response == LoginCode.ACCEPTED else SECOND_REPLY_ACCOUNT
    values = {
        "login_response": response,
        "do_not_force_soga": 1,
        "account_id": number,
        "unknown5": config.expansion_flag,
        "unknown6": [0xFF, 0xFF, 0xFF],
        "unknown7": config.enabled_races,
        "unknown7a": 0xEE,
        "unknown8": [0, config.cities_flag],
        "unknown10": 0xFF,
        "sub_level": config.subscription_level,
        "race_flag": 0x001FFFFF,
        "class_flag": 0x07FFFFFE,
        "password": name,  # The account name, as EQ2Emulator sends it.
        "username": name,
    }
    return dialect.encode_known("LS_LoginReplyMsg", values)


def world_list(dialect: Dialect, worlds: Sequence[WorldEntry]) -> bytes:
    """Return a world list with the worlds in the order given, by ascending id."""
    rules = dialect.rules
    known = dialect.element("LS_WorldList", "num_worlds", "world_list")
    entries = []
    for position, world in enumerate(worlds[:MOST_WORLDS], 1):
        name = wire_name(world.name)
        entry = {
            "id": world.id,
            "name": name,
            "name2": name,
            "tag": int(world.up),
            "locked": int(world.locked),
            "unknown": position if rules.world_position else 0,
            # The field has 16 bits, and the count comes from a world that may report anything.
            "num_players": min(max(world.players, 0), 0xFFFF),
            "load": _load(world),
            "number_online_flag": 1,
            "allowed_races": rules.allowed_races,
        }
        if "online" in known:  # The oldest layout, with two constants that the others lack.
            entry |= {"online": int(world.up), "unknown2": 1, "unknown3": 1}
        entries.append({field: value for field, value in entry.items() if field in known})
    values = {"num_worlds": len(entries), "world_list": entries}
    return dialect.layout("LS_WorldList").encode(values, strict=True)


def world_came_or_went(dialect: Dialect, world_id: int, *, up: bool) -> bytes:
    """Return the 7-byte status of a world that has come or gone."""
    values = {"server_id": world_id, "up": int(up)}
    return dialect.layout("LS_WorldStatusChanged").encode(values, strict=True)


def world_update(dialect: Dialect, world_id: int, *, up: bool, locked: bool) -> bytes:
    """Return the 8-byte status of a world."""
    values = {"server_id": world_id, "up": int(up), "locked": int(locked)}
    return dialect.layout("LS_WorldUpdate").encode(values, strict=True)


def create_reply(dialect: Dialect, account_id: int, code: int, name: str) -> bytes:
    """Return the answer to a create request; only a success has the name."""
    success = code == CreateCode.SUCCESS
    values = {
        "account_id": account_id,
        "unknown": 0xFFFFFFFF if success else 0,
        "response": code,
        "name": wire_name(name) if success else "",
    }
    return dialect.encode_known("LS_CreateCharacterReply", values)


def delete_reply(dialect: Dialect, account_id: int, code: int, asked: Mapping[str, Any]) -> bytes:
    """Return the answer to a delete request, with the fields of the request."""
    values = {
        "response": code,
        "server_id": asked["server_id"],
        "char_id": asked["char_id"],
        "account_id": account_id,
        "name": asked["name"],
        "max_characters": DELETE_REPLY_MAX_CHARACTERS,
    }
    return dialect.encode_known("LS_DeleteCharacterResponse", values)


def play_failure(dialect: Dialect, account_id: int, code: int) -> bytes:
    """Return a play reply that refuses."""
    values = {"response": code & 0xFF, "account_id": account_id}
    return dialect.encode_known("LS_PlayResponse", values)


def play_success(dialect: Dialect, answer: PlayResponse) -> bytes:
    """Return the play reply that sends the client to a world; the port is little-endian.

    Raises `StructValueError` when the world's address or port is missing or does not fit.
    """
    # A world that answers without an address would send the client nowhere.
    if not answer.address or not answer.port:
        raise StructValueError("address or port is missing")
    if not is_host(answer.address):
        raise StructValueError(f"{answer.address!r} is neither an address nor a host name")
    values = {
        "response": PlayCode.SUCCESS,
        "server": wire_name(answer.address),
        "port": answer.port,
        "account_id": answer.account_id,
        "access_code": answer.access_key,
    }
    return dialect.encode_known("LS_PlayResponse", values)


def _load(world: WorldEntry) -> int:
    # One field has both load and lock, and the lock is more important to players.
    if world.locked or not world.up:
        return LOAD_LOCKED
    return LOAD_DEVELOPMENT if world.development else LOAD_NORMAL
