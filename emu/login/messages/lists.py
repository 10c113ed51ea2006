"""OP_AllWSDescRequestMsg: the world list and what follows it, and later the changes of worlds.

A client is told of a world's change only when what it was told last is no longer so.
"""

from __future__ import annotations

from collections.abc import Sequence

from emu.errors import EmuError
from emu.login.characters.profiles import Entry, character_list
from emu.login.client import Client
from emu.login.directory.states import GONE, WorldState, state_of
from emu.login.messages import replies
from emu.login.service import LoginService
from emu.model import Character, LoginCode
from emu.times import Monotonic


async def list_worlds(
    service: LoginService, client: Client, _payload: bytes, _now: Monotonic
) -> None:
    """Answer a request for the world list, with everything that goes along with it.

    The characters are looked up first, so that all of it leaves in one datagram; when that fails
    there is a world list all the same.
    """
    try:
        characters = await _characters(service, client)
    except EmuError:
        _send_worlds(service, client)
        raise
    _send_worlds(service, client)
    if characters is not None:
        client.send("OP_AllCharactersDescReplyMsg", characters)


def _send_worlds(service: LoginService, client: Client) -> None:
    if not client.is_logged_in:
        return
    worlds = service.worlds.listed()
    client.shown_worlds = {world.id: state_of(world) for world in worlds}
    client.status_due.clear()
    client.send("OP_WorldListMsg", service.world_list(client.dialect, worlds))
    flags = replies.login_reply(
        client.dialect, service.config, client.account_name, response=LoginCode.FLAGS
    )
    client.send("OP_LoginReplyMsg", flags)


async def send_characters(service: LoginService, client: Client) -> None:
    """Send the character list as the store has it now."""
    characters = await _characters(service, client)
    if characters is not None:
        client.send("OP_AllCharactersDescReplyMsg", characters)


async def _characters(service: LoginService, client: Client) -> bytes | None:
    """Return the character list as the store has it now, None when the client has gone."""
    account_id = client.owner.id
    rows = await service.characters.characters_of(account_id)
    entries = [entry for row in rows if (entry := await _entry(service, client, row))]
    if not client.is_logged_in:
        return None
    if client.dialect.rules.keep_deleted_entries:
        # each in its old place: such a client may know entries by their number
        entries += [Entry(row, "", "", "", deleted=True) for row in client.deleted]
        entries.sort(key=lambda entry: entry.character.id)
    return character_list(
        client.dialect,
        service.config,
        account_id,
        entries,
        veterans=_veterans(service, rows),
    )


async def _entry(service: LoginService, client: Client, row: Character) -> Entry | None:
    world = service.worlds.connected(row.world_id)
    if world is None:
        return None
    zone, description = await service.zones.texts(
        row, by_name=client.dialect.rules.zone_by_name, now=service.clock.now()
    )
    return Entry(row, world.name, zone, description)


def _veterans(service: LoginService, rows: Sequence[Character]) -> int:
    count = 0
    for row in rows:
        world = service.worlds.connected(row.world_id)
        if world is not None and 0 < world.max_level <= row.level:
            count += 1
    return count


def note_world_state(
    service: LoginService, client: Client, world_id: int, state: WorldState, now: Monotonic
) -> None:
    """Make a client hear of a world soon, if it was told something else."""
    if client.shown_worlds is None or client.shown_worlds.get(world_id, GONE) == state:
        return
    if not client.status_due:
        client.set_deadline("status", Monotonic(now + service.config.status_delay))
    client.status_due.add(world_id)


def push_world_states(service: LoginService, client: Client) -> None:
    """Tell a client of every world that has changed since it was told."""
    shown = client.shown_worlds
    due, client.status_due = sorted(client.status_due), set()
    if shown is None:
        return
    for world_id in due:
        state = service.world_states[world_id]
        told = shown.get(world_id, GONE)
        if told != state:
            _tell(service, client, world_id, told, state)
            shown[world_id] = state


def _tell(
    service: LoginService, client: Client, world_id: int, told: WorldState, state: WorldState
) -> None:
    up, locked = state
    dialect = client.dialect
    long_only = service.config.choices.long_status_only
    if up != told[0] and not long_only:
        payload = replies.world_came_or_went(dialect, world_id, up=up)
        client.send("OP_WorldStatusChangeMsg", payload)
        told = (up, False)
    if told != state:
        payload = replies.world_update(dialect, world_id, up=up, locked=locked)
        client.send("OP_WorldStatusChangeMsg", payload)
