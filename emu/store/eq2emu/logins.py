"""Who may log in and register: rows of account, worlds, bans, settings and models.

Owns the columns of those five tables (docs/protocol/login.md#account,
docs/protocol/characters.md#list, docs/protocol/link.md#registration,
docs/protocol/characters.md#models) and what becomes of each row. Ids are kept, because worlds know
accounts by id.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from emu.limits.bans import normalize_prefix
from emu.looks.models import LARGEST_MODEL, model_key
from emu.model import Account, RegisteredWorld
from emu.sqldump.columns import Columns, first, moment, number, text, visible
from emu.sqldump.report import ImportReport
from emu.store.bans import BannedAddress
from emu.store.eq2emu.ids import Ids
from emu.times import Moment

MAX_WORLD_NAME = 200
"""Bytes of a world's name; LSInfo has room for so many."""
MAX_PATH = 250
"""Bytes of a model's path in EQ2Emulator's own table."""

T = TypeVar("T", Account, RegisteredWorld)

_HASH = re.compile(r"[0-9a-f]{128}")


@dataclass(frozen=True, slots=True)
class Rules:
    """How an import goes about accounts."""

    clean_name: Callable[[str], str]
    """Returns an account name as it is to be stored, or raises `ValueError`."""
    moment: Moment
    renumber: bool = False
    """Whether rows whose id belongs to somebody else here get a new one."""


@dataclass(frozen=True, slots=True)
class Logins:
    """Takes rows; each method says whether a row was new, or raises `ValueError` why it is out."""

    ids: Ids
    report: ImportReport
    rules: Rules
    conflicts: list[str] = field(default_factory=list)
    """Ids in the way, for an operator to read."""

    @property
    def takes(self) -> Mapping[str, Callable[[Columns], bool]]:
        """Table -> what takes a row of it."""
        return {
            "account": self._account,
            "login_worldservers": self._world,
            "login_bannedips": self._banned_address,
            "login_config": self._setting,
            "appearances": self._model,
        }

    def _account(self, columns: Columns) -> bool:
        name = self.rules.clean_name(text(columns, "name"))
        here = self.ids.store.accounts.find(name)
        wanted = number(columns, "id")
        if here is not None:
            if wanted and here.id != wanted:
                self.report.note(
                    "account",
                    f"account {name!r} has the id {here.id} here and {wanted} in the dump",
                )
            self.ids.accounts[wanted] = here.id
            return False
        account = Account(
            id=wanted,
            name=name,
            password=self._hash("account", text(columns, "passwd"), name),
            enabled=number(columns, "account_enabled", 1) != 0,
            created=moment(columns, "created_date"),
            last_address=text(columns, "ip_address"),
            last_client_version=number(columns, "last_client_version"),
        )
        owner = self.ids.store.accounts.get(wanted)
        stored = self.ids.store.accounts.put(self._with_free_id("account", account, owner))
        self.ids.accounts[wanted] = stored.id
        return True

    def _world(self, columns: Columns) -> bool:
        name = visible(columns, "name", MAX_WORLD_NAME)
        login = text(columns, "account").strip()
        wanted = number(columns, "id")
        if not login:
            raise ValueError(f"the world {name!r} has no account to register with")
        here = self.ids.store.worlds.find_by_account(login)
        if here is not None:
            self.ids.worlds[wanted] = here.id
            return False
        if self.ids.store.worlds.find(name) is not None:
            raise ValueError(f"another world is called {name!r} already")
        world = RegisteredWorld(
            id=wanted,
            name=name,
            account=login,
            password=self._hash("world", text(columns, "password"), name),
            description=text(columns, "description"),
            enabled=number(columns, "disabled") == 0,
            last_address=text(columns, "ip_address"),
            login_version=text(columns, "login_version"),
        )
        owner = self.ids.store.worlds.get(world.id)
        created = moment(columns, "created_date")
        free = self._with_free_id("world", world, owner)
        self.ids.worlds[wanted] = self.ids.store.worlds.add(free, created).id
        return True

    def _banned_address(self, columns: Columns) -> bool:
        prefix = normalize_prefix(text(columns, "ip"))
        if self.ids.store.bans.is_stored(prefix):
            return False
        reason = text(columns, "reason") or text(columns, "notes")
        return self.ids.store.bans.add(BannedAddress(prefix, reason, self.rules.moment))

    def _setting(self, columns: Columns) -> bool:
        name = first(columns, "config_name", "name", "variable")
        value = first(columns, "config_value", "value")
        if not name:
            raise ValueError("it names no setting")
        before = self.report.settings.setdefault(name, value)
        if before != value:
            self.report.note(
                "login_config",
                f"{name} is there twice, as {before!r} and {value!r}; the first counts",
            )
            return False
        return self.ids.store.settings.put("login_config", name, value)

    def _model(self, columns: Columns) -> bool:
        path = model_key(visible(columns, "name", MAX_PATH))
        model = number(columns, "appearance_id", least=1, most=LARGEST_MODEL)
        return self.ids.store.models.add(path, model)

    def _with_free_id(self, kind: str, row: T, owner: T | None) -> T:
        """Return the row with an id that nobody else has; a conflict is kept for the end."""
        if owner is None:
            return row
        if not self.rules.renumber:
            self.conflicts.append(f"{kind} {row.id} is {owner.name!r} here, {row.name!r} there")
        elif kind == "account":
            self.report.note(
                "account", f"account {row.name!r} gets a new id, {row.id} is {owner.name!r} here"
            )
        return replace(row, id=0)

    def _hash(self, kind: str, stored: str, name: str) -> str:
        """Return a password's hash; empty, which matches nothing, when it is none."""
        stored = stored.strip().lower()
        if _HASH.fullmatch(stored):
            return stored
        remedy = f"emu {kind} password {name!r}"
        self.report.note(kind, f"no password that can be used; set one with: {remedy}")
        return ""
