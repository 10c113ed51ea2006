"""Settings that operators change while the server runs: the lock and the message of the day.

A command stores the new value and publishes `CHANGED`; every process then reads all values, and
once a minute as well, because a note may be lost. A stored value counts as long as the
configuration has the value that it had at the command: who edits the configuration later decides
anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from emu.errors import StoreError
from emu.mailbox import Spawn
from emu.processes.ports import Bus, Note

CHANGED: Final = "changed.settings"
"""The topic of a change; its ``process`` has applied it."""
SOURCE: Final = "operator"
"""Distinguishes these settings in their table."""
REREAD: Final = 60.0
"""Seconds between two reads."""
LOCKED: Final = "locked"
MOTD: Final = "motd"
"""Names of settings: whether the world is locked (`YES` or `NO`), and the message of the day."""
YES: Final = "yes"
NO: Final = "no"


class SettingStore(Protocol):
    """The stored settings, as name -> value for each source."""

    async def of_source(self, source: str) -> Mapping[str, str]:
        """Return the settings of a source. Raises `StoreError`."""

    async def put(self, source: str, name: str, value: str) -> bool:
        """Store a value; return whether it was new or another one. Raises `StoreError`."""


@dataclass(slots=True)
class _Followed:
    configured: str
    value: str
    apply: Callable[[str], None]


class SharedSettings:
    """The settings of this process, kept equal in all processes by the store and the bus.

    Without a store they live as long as the process. Call `refresh` every `REREAD` seconds.
    """

    def __init__(
        self,
        process: str = "",
        bus: Bus | None = None,
        store: SettingStore | None = None,
        spawn: Spawn | None = None,
    ) -> None:
        self._process = process
        self._bus = bus
        self._store = store
        self._spawn = spawn
        self._followed: dict[str, _Followed] = {}
        self._changes = 0
        if bus is not None:
            bus.subscribe(CHANGED, self._heard)

    def follow(self, name: str, configured: str, apply: Callable[[str], None]) -> None:
        """Call `apply` with each new value of a setting, which begins as `configured`."""
        self._followed[name] = _Followed(configured, configured, apply)

    def configure(self, name: str, configured: str) -> None:
        """Take over a value that was changed in the configuration, and no earlier stored one."""
        followed = self._followed[name]
        if followed.configured != configured:
            followed.configured = configured
            self._apply(followed, configured)

    async def change(self, name: str, value: str) -> None:
        """Store a value and apply it in every process. Raises `StoreError`."""
        followed = self._followed[name]
        if self._store is not None:
            stored = json.dumps([value, followed.configured], ensure_ascii=False)
            await self._store.put(SOURCE, name, stored)
        # A read that began before has an older value.
        self._changes += 1
        self._apply(followed, value)
        if self._bus is not None:
            self._bus.publish(CHANGED, {"process": self._process, "name": name})

    def load(self, stored: Mapping[str, str]) -> None:
        """Apply stored values, by name; what cannot be read is as in the configuration."""
        for name, followed in self._followed.items():
            self._apply(followed, _value(stored.get(name, ""), followed.configured))

    async def refresh(self) -> None:
        """Read the store and apply what has changed; without the store nothing changes."""
        if self._store is None:
            return
        changes = self._changes
        try:
            stored = await self._store.of_source(SOURCE)
        except StoreError:
            return  # Read again after a minute.
        if changes == self._changes:
            self.load(stored)

    def _heard(self, note: Note) -> None:
        if note["process"] != self._process and self._spawn is not None:
            self._spawn(self.refresh())

    def _apply(self, followed: _Followed, value: str) -> None:
        if followed.value != value:
            followed.value = value
            followed.apply(value)


def _value(stored: str, configured: str) -> str:
    """Return a stored value, or the configured one if the configuration has changed since."""
    try:
        value, then = json.loads(stored)
    except (TypeError, ValueError):
        return configured
    return str(value) if then == configured else configured
