"""Which message is handled by whom, and in which states it may come: one table.

A name that is not in the table has no handler and is counted as unknown; a message in a state
where it may not come is counted as out of order. Neither ends the connection, except that nothing
at all is handled before a login has succeeded but the login request itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from emu.login.client import LOGGED_IN_STATES, Client, ClientState, guarded
from emu.login.messages import client_logs, create, delete, lists, login, play
from emu.login.service import LoginService
from emu.times import Monotonic

Handler = Callable[[LoginService, Client, bytes, Monotonic], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One message: its handler, and the states in which it may come."""

    handler: Handler
    states: frozenset[ClientState]


_IDLE = frozenset({ClientState.LOGGED_IN})


async def ignored(
    _service: LoginService, _client: Client, _payload: bytes, _now: Monotonic
) -> None:
    """Take a message that real clients send and that needs no answer."""


MESSAGES: dict[str, Rule] = {
    "OP_LoginRequestMsg": Rule(login.login, frozenset({ClientState.CONNECTED})),
    "OP_AllWSDescRequestMsg": Rule(lists.list_worlds, LOGGED_IN_STATES),
    "OP_AllCharactersDescRequestMsg": Rule(ignored, LOGGED_IN_STATES),
    "OP_CreateCharacterRequestMsg": Rule(create.create, _IDLE),
    "OP_DeleteCharacterRequestMsg": Rule(delete.delete, _IDLE),
    "OP_PlayCharacterRequestMsg": Rule(play.play, _IDLE),
    "OP_KeymapLoadMsg": Rule(ignored, LOGGED_IN_STATES),
} | {
    name: Rule(partial(client_logs.keep, kind=kind), LOGGED_IN_STATES)
    for name, kind in client_logs.KINDS.items()
}


async def dispatch(
    service: LoginService, client: Client, opcode: int, payload: bytes, now: Monotonic
) -> None:
    """Hand one message to its handler."""
    is_known = client.is_logged_in
    if is_known:
        service.stays_awake(client, now)
    name = client.dialect.table.name(opcode) or str(opcode)
    rule = MESSAGES.get(name)
    if rule is not None and client.state in rule.states:
        await guarded(client, name, rule.handler(service, client, payload, now))
    elif not is_known:
        client.drop(name, "message before login")
    elif rule is None:
        client.unknown(opcode, payload)
    else:
        client.drop(name, "message out of order")
