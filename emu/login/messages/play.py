"""OP_PlayCharacterRequestMsg: asking a world to let a character in, and its answer.

One request at a time: while a world is asked, the client is in the state PLAYING, and it leaves
that state with the answer, after the time-out, or when the world is gone - each of which sends
exactly one play reply. Nothing is kept of a request beyond that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from emu.errors import StoreError, StructValueError
from emu.login.client import Client, ClientState, PendingPlay, guarded
from emu.login.events import CharacterDeleted, PlayGranted, PlayRefused
from emu.login.messages import replies
from emu.login.service import LoginService
from emu.model import Character, PlayCode, PlayResponse
from emu.times import Monotonic

REQUEST = "OP_PlayCharacterRequestMsg"


async def play(service: LoginService, client: Client, payload: bytes, _now: Monotonic) -> None:
    """Answer a client that wants to enter a world."""
    asked = client.dialect.layout("LS_PlayRequest").decode_short(payload)
    place = (asked.get("server_id", 0), asked["char_id"])
    try:
        rows = await service.characters.characters_of(client.account_id)
    except StoreError:
        _refuse(service, client, place, PlayCode.PROBLEM, "server problem")
        raise
    if client.state is not ClientState.LOGGED_IN:
        return
    row = _find(service, client, rows, asked)
    if row is None:
        _refuse(service, client, place, PlayCode.PROBLEM, "no such character")
    else:
        request_play(service, client, row, service.clock.now())


def request_play(service: LoginService, client: Client, row: Character, now: Monotonic) -> None:
    """Ask a character's world to let it in."""
    client.pending_play = PendingPlay(row.world_id, row.char_id, row.name)
    client.set_state(ClientState.PLAYING)
    client.set_deadline("play", Monotonic(now + service.config.play_timeout))
    # the answer may come before this call returns
    asked = service.worlds.request_play(
        row.world_id, client.account_id, row.char_id, client.address, now
    )
    if not asked and client.pending_play is not None:
        _finish(client)
        code = PlayCode.PROBLEM
        _refuse(service, client, (row.world_id, row.char_id), code, "world not connected")


def play_answered(service: LoginService, client: Client, answer: PlayResponse) -> bool:
    """Pass a world's answer on; False when this client waits for no such answer."""
    pending = client.pending_play
    if pending is None or (pending.world_id, pending.char_id) != (answer.world_id, answer.char_id):
        return False
    _finish(client)
    if answer.response == PlayCode.SUCCESS:
        _grant(service, client, answer)
        service.start(guarded(client, REQUEST, _remember(service, answer)))
        return True
    _refuse(
        service, client, (answer.world_id, answer.char_id), answer.response, "the world says no"
    )
    if answer.response == PlayCode.CHARACTER_NOT_LOADED:
        service.start(guarded(client, REQUEST, _forget(service, client, pending)))
    return True


def play_timed_out(service: LoginService, client: Client) -> None:
    """Tell a client that its world has not answered."""
    _give_up(service, client, PlayCode.TIMEOUT, "the world does not answer")


def world_gone(service: LoginService, client: Client, world_id: int) -> None:
    """Tell a client that the world it waits for is gone."""
    if client.pending_play is not None and client.pending_play.world_id == world_id:
        _give_up(service, client, PlayCode.PROBLEM, "the world is gone")


def _find(
    service: LoginService, client: Client, rows: Sequence[Character], asked: dict[str, Any]
) -> Character | None:
    worlds = service.worlds
    char_id = asked["char_id"]
    if client.dialect.rules.play_by_name:
        name = asked["name"]
        found = [row for row in rows if row.char_id == char_id and row.name == name]
        found = [row for row in found if worlds.connected(row.world_id) is not None]
    else:
        place = (asked["server_id"], char_id)
        found = [row for row in rows if (row.world_id, row.char_id) == place]
    return found[0] if len(found) == 1 else None


def _grant(service: LoginService, client: Client, answer: PlayResponse) -> None:
    place = (answer.world_id, answer.char_id)
    try:
        payload = replies.play_success(client.dialect, answer)
    except StructValueError as error:
        client.fault(f"world {answer.world_id} gave an address that cannot be sent: {error}")
        _refuse(service, client, place, PlayCode.PROBLEM, "bad world address")
        return
    client.send("OP_PlayCharacterReplyMsg", payload)
    service.counters["play granted"] += 1
    event = PlayGranted(client.address, client.account_name, *place, answer.address, answer.port)
    service.log(event)


def _refuse(
    service: LoginService, client: Client, place: tuple[int, int], code: int, reason: str
) -> None:
    payload = replies.play_failure(client.dialect, client.account_id, code)
    client.send("OP_PlayCharacterReplyMsg", payload)
    service.counters["play refused"] += 1
    name = client.account_name
    service.log(PlayRefused(client.address, name, *place, code, reason))


def _give_up(service: LoginService, client: Client, code: int, reason: str) -> None:
    pending = client.pending_play
    if pending is not None:
        _finish(client)
        _refuse(service, client, (pending.world_id, pending.char_id), code, reason)


def _finish(client: Client) -> None:
    client.pending_play = None
    client.clear_deadline("play")
    client.set_state(ClientState.LOGGED_IN)


async def _remember(service: LoginService, answer: PlayResponse) -> None:
    """Note when a character was played; worlds of EQ2Emulator do not tell."""
    place = (answer.account_id, answer.world_id, answer.char_id)
    await service.characters.update_character(*place, {"last_played": service.clock.moment()})


async def _forget(service: LoginService, client: Client, pending: PendingPlay) -> None:
    """Mark a character deleted that its own world does not have."""
    owner = client.owner
    place = (pending.world_id, pending.char_id)
    if await service.characters.delete_character(owner.id, *place, pending.name):
        reason = "its world does not have it"
        event = CharacterDeleted(client.address, owner.name, pending.name, *place, reason)
        service.log(event)
