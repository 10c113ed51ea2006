"""Unusable stored values of characters: finds them, and repairs them on request."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from emu.cli.doctor.database import DATABASE
from emu.cli.doctor.findings import Finding, fail, ok, warn
from emu.cli.options import present
from emu.database import Where
from emu.database.engines import exists
from emu.errors import EmuError
from emu.store import Store
from emu.store.server_lock import ServerLock
from emu.texts import counted

VALUES: Final = DATABASE
MOST_SHOWN: Final = 20
"""Maximum number of values that are shown one by one."""
REPAIR: Final = "stop the server, then: emu doctor --repair"


def check_values(where: Where, zones: Collection[int] | None) -> Iterator[Finding]:
    """Check for unusable values; `zones` are the world's zones, None if they are not known.

    The database's own check reports an unreadable database.
    """
    if not exists(where):
        return
    try:
        with Store.open_for_reading(where) as store:
            found = problems_of(store, zones)
    except EmuError:
        return
    if not found:
        yield ok(VALUES, "all stored values of characters are usable")
    for line in found[:MOST_SHOWN]:
        yield warn(VALUES, line, REPAIR)
    if len(found) > MOST_SHOWN:
        yield warn(VALUES, f"{counted(len(found) - MOST_SHOWN, 'more value')} of the kind", REPAIR)


def repair_values(where: Where, zones: Collection[int] | None) -> Iterator[Finding]:
    """Replace unusable values by those that the server uses; all of them or none.

    The database is copied first; one on a server is not. The server must be stopped.
    """
    if not isinstance(where, Path):
        yield from _repair_on_server(where, zones)
        return
    path = where
    if not path.exists():
        yield ok(VALUES, f"{path} is not there yet; there is nothing to repair")
        return
    try:
        # The lock keeps a server from starting between the copy and the repair.
        with ServerLock(path), Store.open(path) as store:
            found = problems_of(store, zones)
            if not found:
                yield ok(VALUES, "there is nothing to repair")
                return
            moment = datetime.fromtimestamp(present(), UTC)
            copy = path.with_name(f"{path.name}.{moment:%Y%m%d-%H%M%S}.before-repair.bak")
            store.sqlite.back_up(copy)
            _repair(store, zones)
    except EmuError as error:
        yield fail(VALUES, f"nothing was repaired: {error}", REPAIR)
        return
    yield ok(VALUES, f"the old database is kept in {copy}")
    yield from (ok(VALUES, f"repaired: {line}") for line in found)


def _repair_on_server(where: Where, zones: Collection[int] | None) -> Iterator[Finding]:
    try:
        with Store.open(where) as store:
            found = problems_of(store, zones)
            _repair(store, zones)
    except EmuError as error:
        yield fail(VALUES, f"nothing was repaired: {error}", REPAIR)
        return
    if not found:
        yield ok(VALUES, "there is nothing to repair")
    yield from (ok(VALUES, f"repaired: {line}") for line in found)


def _repair(store: Store, zones: Collection[int] | None) -> None:
    with store.transaction():
        for one in store.world.characters.unusable(zones):
            store.world.characters.repair(one.character)
        for listed in store.login.characters.unusable():
            store.login.characters.repair(listed.character)


def problems_of(store: Store, zones: Collection[int] | None) -> list[str]:
    """Return a line for each unusable value. Raises `StoreError`."""
    found = []
    with store.reading():
        for one in store.world.characters.unusable(zones):
            whose = f"character {one.character.name} ({one.character.id})"
            found += [f"{whose}: {problem}" for problem in one.problems]
        for listed in store.login.characters.unusable():
            whose = f"listed character {listed.character.name} ({listed.character.id})"
            found += [f"{whose}: {problem}" for problem in listed.problems]
    return found
