"""A file for the players that could not be saved, in case that the server stops or is killed.

A state that was not saved for a second goes there, until it is. At the next start, a process with a
database file stores what is left before any player can enter. One with a database server, and one
whose database fails at the start, save it when the store answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from emu.errors import EmuError, FileFormatError, StoreError, unusable
from emu.model import SavedState
from emu.net.logs import logger
from emu.net.scheduler import DelayedCall, Scheduler
from emu.net.store_worker import StoreWorker
from emu.store import Store
from emu.store.identity import identity, made_identity
from emu.store.spool import (
    SpoolFile,
    load_spool,
    read_spool,
    set_aside_path,
    spool_identity,
    spool_path,
    write_spool,
)
from emu.times import Monotonic
from emu.world.saving.saver import kinds_of, with_state
from emu.world.world import World

_log = logger("world")

CHECK = 1.0
"""Seconds between two checks for states that are not saved."""
MOST_NAMES = 20
"""Names in one line of the log."""
RETRY_AT_STOP = 0.05
"""Seconds between two attempts to save the rest, while the server stops."""


class Savable(Protocol):
    """What saves something beside the states of players."""

    def __len__(self) -> int:
        """Return how much is not saved."""

    def save(self) -> None:
        """Begin to save it."""


class Spool:
    """The file of one world: call `load` at the start, then `watch`, and `keep` at the stop."""

    def __init__(self, database: Path, world: World, reactor: Any, scheduler: Scheduler) -> None:
        self._path = spool_path(database)
        self._file = SpoolFile(self._path)
        self._world = world
        self._scheduler = scheduler
        self._worker = StoreWorker(reactor, nullcontext, name="emu-spool")
        self._waiting: list[SavedState] = []
        """States of the file that are neither stored nor given to the saver."""
        self._kept: dict[int, SavedState] = {}
        """What the file has, by character."""
        self._again: DelayedCall | None = None
        self._checks: DelayedCall | None = None
        self._is_writing = False
        self._has_failed = False
        self._is_restoring = False
        self._is_lost = False

    def lose(self) -> None:
        """Note that the database file was deleted or replaced; may be called in any thread.

        The next start must not apply states of the lost file to the file that took its place, so
        `keep` writes them to a name that no start reads.
        """
        self._is_lost = True

    def load(self, store: Store | None) -> None:
        """Store the states of the file; without a store, or if that fails, store them later.

        A file that cannot be read, or that belongs to another database, is set aside. Never raises.
        """
        try:
            self._load(store)
        finally:
            if store is not None:
                self._name_database(store)

    def _name_database(self, store: Store) -> None:
        """Give the files that are written from now on the identity of the database."""
        try:
            self._file.identity = made_identity(store)
        except EmuError as error:
            _log.error("{path}: not bound to its database: {reason}", path=str(self._path),
                       reason=str(error))  # fmt: skip

    def _belongs_to(self, store: Store) -> bool:
        """Return whether the file is of this database; set it aside if it is of another one."""
        try:
            own = self._file.identity = identity(store)
            # An older program stored no identity; then the database has none yet.
            if spool_identity(self._path) == own:
                return True
        except (EmuError, OSError):
            return True  # the store decides about each state
        self._set_aside(
            f"{self._path}: it belongs to another database, for instance to the one before a"
            " restore",
            "other",
        )
        return False

    def _load(self, store: Store | None) -> None:
        try:
            states = read_spool(self._path)
        except FileNotFoundError:
            return
        except FileFormatError as error:
            self._set_aside(str(error))
            return
        except OSError as error:
            self._set_aside(unusable(error))
            return
        if store is not None and not self._belongs_to(store):
            return
        # Before the store is tried: if it fails, `restore` and `keep` still have the states.
        self._waiting = states
        self._kept = {state.char_id: state for state in states}
        if store is None:
            self._renew()
            return
        try:
            stored = load_spool(store, states)
            self._waiting, self._kept = [], {}
            # Only after the states are stored. A crash before this line stores them twice; their
            # save numbers make that harmless.
            self._path.unlink()
        except (EmuError, OSError) as error:
            _log.error("{path}: not stored yet: {reason}", path=str(self._path), reason=str(error))
            self._renew()
            return
        _log.warn(
            "{path}: the states that the last stop could not store are stored now: {names}",
            path=str(self._path), names=_names(stored) or "none, newer ones were stored already",
            count=len(stored),
        )  # fmt: skip

    def _renew(self) -> None:
        """Write the file again: it may have the form of an older program."""
        # Otherwise the old file stays, and `keep` replaces it.
        with suppress(OSError):
            write_spool(self._path, self._waiting, self._file.identity)

    def watch(self) -> None:
        """Begin to write states that are not saved within a second into the file."""
        self._checks = self._scheduler.every(CHECK, self._check)

    def restore(self) -> None:
        """Give the saver the states of the file that `load` could not store."""
        if self._waiting and not self._is_restoring:
            self._is_restoring = True
            self._world.start(self._restore())

    async def store_the_rest(self, others: Iterable[Savable], deadline: Monotonic) -> None:
        """Retry all saves until everything is stored, or until a time."""
        saver, others = self._world.saves.saver, list(others)
        for other in others:
            other.save()
        while (len(saver) or any(map(len, others))) and self._scheduler.now() < deadline:
            saver.try_again()
            for other in others:
                other.save()
            await self._scheduler.pause(RETRY_AT_STOP)

    async def keep(self, deadline: Monotonic) -> None:
        """Write the unsaved states to the file, or remove it if there are none.

        Logs whose state is lost if the file cannot be written in time.
        """
        for timer in (self._again, self._checks):
            if timer is not None:
                timer.cancel()
        states = [*self._world.saves.saver.not_saved(), *self._waiting]
        if not states:
            # A file whose states are stored by now must not be applied again. After the writes
            # that are under way, which would make the file again.
            await self._scheduler.within(deadline, self._worker.run(self._file.remove))
            return
        reason = "there was no time left"
        path = self._path.with_name(f"{self._path.name}.lost") if self._is_lost else self._path
        writing = self._worker.run(partial(self._replace, path, states))
        try:
            if await self._scheduler.within(deadline, writing):
                _log.warn(
                    "{path} has the state of players that no start applies, because the database"
                    " file was replaced: {names}"
                    if self._is_lost
                    else "the next start stores from {path} what could not be stored: {names}",
                    path=str(path), names=_names(states), count=len(states),
                )  # fmt: skip
                return
        except OSError as error:
            reason = unusable(error)
        _log.error(
            "the last state of {names} could not be stored and is lost: {reason}",
            names=_names(states), count=len(states), reason=reason,
        )  # fmt: skip

    def _replace(self, path: Path, states: Sequence[SavedState]) -> None:
        """Write the file of a stop. In the worker's thread."""
        if path == self._path:
            self._file.close()
        else:
            self._file.remove()
        write_spool(path, states, self._file.identity)

    def _check(self) -> None:
        """Write what was not saved for a while, and remove what is saved by now."""
        saver = self._world.saves.saver
        states = {state.char_id: state for state in saver.overdue()}
        waiting = {state.char_id for state in self._waiting}
        gone = [one for one in self._kept if one not in saver and one not in waiting]
        changed = [one for one in states.values() if self._kept.get(one.char_id) != one]
        # The next check comes in a second; a slow disk must not get a queue of writes.
        if self._is_writing or self._is_lost or not (changed or gone):
            return
        self._is_writing = True
        self._world.start(self._write(changed, gone))

    async def _write(self, changed: Sequence[SavedState], gone: Sequence[int]) -> None:
        try:
            await self._worker.run(partial(self._file.keep_states, changed, gone))
        except OSError as error:
            if not self._has_failed:
                _log.error(
                    "{path}: unsaved players cannot be kept here: {reason}",
                    path=str(self._path), reason=unusable(error),
                )  # fmt: skip
            self._has_failed = True
        else:
            self._has_failed = False
            self._kept.update((one.char_id, one) for one in changed)
            for one in gone:
                del self._kept[one]
        finally:
            self._is_writing = False

    async def _restore(self) -> None:
        states, self._waiting = self._waiting, []
        failed = []
        for state in states:
            try:
                await self._hand_over(state)
            except Exception as error:  # noqa: BLE001  # the others are to be stored
                if not isinstance(error, StoreError):
                    _log.failure("a state of the last stop cannot be stored; it is tried again")
                failed.append(state)
        self._waiting += failed
        self._is_restoring = False
        if failed:
            pause = self._world.rules.save_retry
            self._again = self._scheduler.later(pause, self.restore)

    async def _hand_over(self, state: SavedState) -> None:
        """Save one state, unless its character has a newer one. Raises `StoreError`."""
        world = self._world
        row = await world.saves.characters.find(state.char_id)
        if (
            row is not None
            # The id alone is not enough: the database may have been replaced, and the id given
            # anew.
            and (row.account_id, row.created) == (state.account_id, state.created)
            and row.term == state.term
            and row.revision < state.revision
            # A player in the world has newer values, which its own save stores.
            and world.players.get(row.id) is None
            and row.id not in world.saves.saver
            and world.saves.saver.is_current(row)
        ):
            world.saves.saver.save_state(with_state(row, state), kinds_of(state))

    def _set_aside(self, reason: str, why: str = "damaged") -> None:
        aside = set_aside_path(self._path, why)
        try:
            self._path.replace(aside)
            what = f"it was set aside as {aside.name}"
        except OSError as error:
            what = f"it cannot be set aside ({error.strerror})"
        _log.error("{reason}; {what}", reason=reason, what=what)


def _names(states: Sequence[SavedState]) -> str:
    names = sorted(state.name for state in states)
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more
