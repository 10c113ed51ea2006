"""The way to the world's door: through the login server, to a key for a character."""

from __future__ import annotations

from dataclasses import dataclass

from emu.client import flow
from emu.client.core import Credentials, LoginClient
from emu.client.events import PlayAnswer
from emu.client.steps import Script
from emu.errors import CommandError
from emu.versions import CLIENT_2006, LAST_OLD_CLIENT


@dataclass(frozen=True, slots=True)
class Entrance:
    """Who comes in, and how: what `enter_world` needs besides the login server's address."""

    credentials: Credentials
    character: str | None = None
    """Its name; None is the first of the account."""
    create: bool = False
    """Whether the character is made when the account has none of this name."""
    world: str | None = None
    """Name or id of the world it is made on; None is the first that is up."""
    version: int = CLIENT_2006
    interface: str = ""
    """The address the sockets are bound to."""
    looks: bool = True
    """Whether ghosts are read; see `WorldClient`."""


def granted(core: LoginClient, entrance: Entrance) -> Script[PlayAnswer]:
    """Log in and get a key for a character, made when that is wanted; raises `CommandError`."""
    yield from flow.whole_list()
    have = [one for one in core.characters or () if not one.deleted]
    name = entrance.character
    if name is None and not have:
        raise CommandError("the account has no character: name one to be made")
    if name is None:
        return flow.need_played(have[0].name, (yield from flow.play(have[0])))
    if entrance.create and name.casefold() not in (one.name.casefold() for one in have):
        world_id = flow.choose_world(core, entrance.world).id
        flow.need_created(name, (yield from flow.create(world_id, name)))
        if entrance.version <= LAST_OLD_CLIENT:
            return flow.need_played(name, (yield from flow.auto_play()))
    return flow.need_played(name, (yield from flow.play(flow.find_character(core, name))))
