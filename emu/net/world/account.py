"""How the world of this process proves itself to login servers."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from emu.link.password import hash_link_password
from emu.model import BUILT_IN_ACCOUNT, RegisteredWorld
from emu.net.logs import logger
from emu.net.world.reconcile import reconcile
from emu.store import Store
from emu.times import Moment
from emu.world.places import Atlas

_log = logger("world")


@dataclass(frozen=True, slots=True)
class LinkAccount:
    """How the world proves itself to a login server."""

    account: str
    password: str


def built_in_account(store: Store, name: str, moment: Moment, atlas: Atlas) -> LinkAccount:
    """Give the built-in world its row and a fresh password; it never leaves this process.

    A world that was renamed in the configuration keeps its row, and so its characters. The login
    server's list of them is brought in line with the world, in case the process was killed between
    the two.
    """
    password = secrets.token_hex(16)
    hashed = hash_link_password(password)
    world = store.login.worlds.find_by_account(BUILT_IN_ACCOUNT)
    if world is None:
        world = store.login.worlds.add(RegisteredWorld(0, name, BUILT_IN_ACCOUNT, hashed), moment)
    else:
        store.login.worlds.set_password(world.id, hashed)
        if world.name != name:
            store.login.worlds.rename(world.id, name)
    changes = reconcile(store, world.id, atlas)
    if changes:
        _log.warn("the character list was brought in line with the world: {n} changes", n=changes)
    return LinkAccount(BUILT_IN_ACCOUNT, password)
