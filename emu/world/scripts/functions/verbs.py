"""Functions for the verbs of spawns: which there are, and who may use them.

Source: docs/guides/lua.md#verbs.
"""

from __future__ import annotations

from typing import Final

from emu.scripts.signatures import FunctionTable
from emu.world.actors.spawn import SPAWN_COMMANDS, Verb
from emu.world.events import VerbChosen
from emu.world.scripts.bodies import Body, Home, shown
from emu.world.scripts.host import Scripts

VERBS: Final = FunctionTable()
USUAL_DISTANCE: Final = 10.0
MOST_VERBS: Final = 64
"""Verbs of one spawn."""
LONGEST_VERB: Final = 255
HUNDREDTHS: Final = 100
LONGEST_CAST: Final = 60_000
"""Hundredths of a second that using a verb of a script takes at most."""
MOST_USERS: Final = 1000
"""Players of whom one verb knows whether they may use it."""


def _is_named(verb: Verb, text: str) -> bool:
    return text.casefold() in (verb.command.casefold(), verb.name.casefold())


def _add(body: Body, verb: Verb) -> None:
    verbs = [one for one in body.spawn.verbs if one.command.casefold() != verb.command.casefold()]
    if len(verbs) < MOST_VERBS:
        body.spawn.set_verbs([*verbs, verb])


def _made(
    name: str,
    distance: float,
    command: str = "",
    error: str = "",
    cast_time: int = 0,
    visual: int = 0,
) -> Verb:
    name, command, error = shown(name), shown(command) or shown(name), shown(error)
    return Verb(
        name[:LONGEST_VERB], max(0.0, distance) or USUAL_DISTANCE,
        command[:LONGEST_VERB], error[:LONGEST_VERB],
        min(max(0, cast_time), LONGEST_CAST) / HUNDREDTHS, visual,
        is_command=command.casefold() in SPAWN_COMMANDS,
    )  # fmt: skip


@VERBS(
    "AddPrimaryEntityCommand",
    "P player?, S spawn, t name, f distance?, t command?, t error?, n cast_time?, u visual?,"
    " 1 deny?",
)
def add_verb(
    _scripts: Scripts, player: Body | None, body: Body | None, name: str, distance: float,
    command: str, error: str, cast_time: int, visual: int, deny: bool,
) -> None:  # fmt: skip
    """Give a spawn a verb, with `deny` only for one player; without a name it loses all verbs."""
    if body is None or body.player is not None:
        return
    if not name and not command:
        body.spawn.set_verbs(())
        return
    verb = _made(name, distance, command, error, cast_time, visual)
    if deny:
        verb = verb._replace(only=frozenset({player.spawn.id} if player is not None else ()))
    _add(body, verb)


@VERBS("RemovePrimaryEntityCommand", "S spawn, t command")
def remove_verb(_scripts: Scripts, body: Body | None, command: str) -> None:
    """Take a verb from a spawn."""
    if body is not None and body.player is None:
        left = [one for one in body.spawn.verbs if not _is_named(one, shown(command))]
        if len(left) < len(body.spawn.verbs):
            body.spawn.set_verbs(left)


@VERBS(
    "AddPrimaryEntityCommandAllSpawns",
    "P player, u id, t name, f distance?, t command?, t error?, n cast_time?, u visual?",
)
def add_verb_to_all(
    _scripts: Scripts, player: Body | None, number: int, name: str, distance: float, command: str,
    error: str, cast_time: int, visual: int,
) -> None:  # fmt: skip
    """Give a verb to all spawns with a number of the content file in a player's zone."""
    home: Home | None = player.home if player is not None else None
    if home is not None and (name or command):
        for body in list(home.of_spawn(number)):
            _add(body, _made(name, distance, command, error, cast_time, visual))


@VERBS("SetAccessToEntityCommand", "P player, S spawn, t command, 1 on")
def set_access(
    _scripts: Scripts, player: Body | None, body: Body | None, command: str, on: bool
) -> bool | None:
    """Let a player use a verb of a spawn, or not; return whether the spawn has the verb."""
    if player is None or body is None:
        return None
    return _set_access(body, player.spawn.id, command, on=on)


@VERBS("SetAccessToEntityCommandByCharID", "S spawn, u character, t command, 1 on?")
def set_access_of(
    scripts: Scripts, body: Body | None, character: int, command: str, on: bool
) -> bool | None:
    """Let a player in the zone use a verb of a spawn, or not, by its character's number."""
    if body is None:
        return None
    player = scripts.world.players.get(character)
    if player is None or player.zone is not body.home.zone:
        return False
    return _set_access(body, player.spawn.id, command, on=on)


@VERBS("SendUpdateDefaultCommand", "S spawn, f distance, t command, P player?")
def set_default(
    _scripts: Scripts, body: Body | None, distance: float, command: str, player: Body | None
) -> None:
    """Make a verb the first one of a spawn; with a player, only give it the verb."""
    if body is None or body.player is not None or not command:
        return
    found = next((one for one in body.spawn.verbs if _is_named(one, shown(command))), None)
    verb = found or _made(command, distance)
    if player is not None:
        number = player.spawn.id
        if found is None:
            _add(body, verb._replace(only=frozenset((number,))))
        else:
            _set_access(body, number, command, on=True)
        return
    verb = verb._replace(distance=max(0.0, distance) or verb.distance)
    others = [one for one in body.spawn.verbs if one is not found]
    body.spawn.set_verbs([verb, *others][:MOST_VERBS])


@VERBS("CastEntityCommand", "P player, S spawn, u id, t command")
def use_verb(
    scripts: Scripts, player: Body | None, body: Body | None, _number: int, command: str
) -> None:
    """Let a player use a verb of a spawn, also one that the spawn does not have."""
    if player is None or player.player is None or body is None or not command:
        return
    found = next((one for one in body.spawn.verbs if _is_named(one, shown(command))), None)
    verb = found or _made(command, 0.0)
    event = VerbChosen(player.player, body.spawn, verb, scripts.now)
    scripts.world.events.publish(event)


def _set_access(body: Body, number: int, command: str, *, on: bool) -> bool:
    is_found = False
    verbs = []
    for verb in body.spawn.verbs:
        if _is_named(verb, shown(command)):
            is_found = True
            verbs.append(_with_access(verb, number, on=on))
        else:
            verbs.append(verb)
    if is_found:
        body.spawn.set_verbs(verbs)
    return is_found


def _with_access(verb: Verb, number: int, *, on: bool) -> Verb:
    if on:
        only = verb.only
        if only is not None and len(only) < MOST_USERS:
            only = only | {number}
        return verb._replace(refused=verb.refused - {number}, only=only)
    if len(verb.refused) >= MOST_USERS:
        return verb
    return verb._replace(refused=verb.refused | {number})
