"""A copy of a store has the same content on any engine, and an interrupted one continues."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from emu.errors import CommandError, StoreError
from emu.model import Color, Equipment
from emu.store import Store, copying
from emu.store.copying import copy_store
from tests.support.database.engines import postgresql_store
from tests.support.database.stores import character, world_character

NOTHING = ("nodes", "leases")


@contextmanager
def opened(engine: str, folder: Path, name: str) -> Iterator[Store]:
    if engine == "sqlite":
        with Store.create(folder / f"{name}.sqlite") as store:
            yield store
    else:
        with postgresql_store() as store:
            yield store


def fill(store: Store, accounts: int = 25) -> None:
    """Put something into most tables, with ids that are gaps, deletions and unusual values."""
    from emu.worlds import RegisteredWorld  # noqa: PLC0415

    world = store.login.worlds.add(RegisteredWorld(0, "Norrath", "norrath", "f" * 128))
    for number in range(accounts):
        account = store.login.accounts.add(f"Zoë {number}", "hash", 1.5)
        store.login.accounts.set_enabled(account.id, enabled=number % 2 == 0)
        made = store.world.characters.create(
            world_character(name=f"C{number}", account_id=account.id, created=2.0)
        )
        store.login.characters.add(
            character(
                account_id=account.id, world_id=world.id, char_id=made.id, name=made.name,
                colors={"skin_color": Color(1, -2, 3, signed=True)},
                equipment=(Equipment(1, 2, (3, 4, 5), (6, 7, 8)),),
            )
        )  # fmt: skip
    store.world.characters.delete(1, 1)
    store.world.belongings.save(2, {"relations": [(0, "Friend"), (2, 'Fo"e')]})
    store.login.settings.put("login_config", "name", "value")
    store.login.accounts.ban(3, 1e12, "rude")
    with store.transaction() as connection:
        connection.execute("UPDATE world_characters SET deleted_at = 123.5 WHERE deleted")
        connection.execute("DELETE FROM characters WHERE account_id = ?", (accounts,))
        connection.execute("DELETE FROM accounts WHERE id = ?", (accounts,))


def everything(store: Store) -> object:
    return (
        store.login.accounts.every(),
        store.login.worlds.reports(),
        [store.login.characters.of_account(number) for number in range(1, 30)],
        [store.world.characters.of_account(number) for number in range(1, 30)],
        store.roster.every(),
        store.login.settings.of_source("login_config"),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second"),
    [("sqlite", "sqlite"), ("sqlite", "postgresql"), ("postgresql", "sqlite")],
)
def test_a_copy_is_equal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, second: str
) -> None:
    monkeypatch.setattr(copying, "PORTION", 4)
    with opened(first, tmp_path, "one") as one, opened(second, tmp_path, "two") as two:
        fill(one)
        reported: list[tuple[str, int]] = []
        copied = copy_store(
            one.database, two.database, resume=False, progress=lambda *seen: reported.append(seen)
        )
        assert everything(two) == everything(one)
        assert {table.name: table.rows for table in copied}["accounts"] == 24
        assert ("accounts", 24) in reported
        assert two.login.accounts.add("new", "hash", 1.0).id == 26, "no id is used again"
        with pytest.raises(CommandError, match=r"has rows already \(in accounts, .*--resume"):
            copy_store(one.database, two.database, resume=False)


@pytest.mark.slow
def test_an_interrupted_copy_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "PORTION", 4)

    def interrupt(table: str, rows: int) -> None:
        if (table, rows) == ("characters", 8):
            raise KeyboardInterrupt

    with opened("sqlite", tmp_path, "one") as one, opened("postgresql", tmp_path, "") as two:
        fill(one)
        with pytest.raises(KeyboardInterrupt):
            copy_store(one.database, two.database, resume=False, progress=interrupt)
        copied = copy_store(one.database, two.database, resume=True)
        counts = {table.name: (table.rows, table.copied) for table in copied}
        assert counts["characters"] == (24, 16)
        assert counts["accounts"] == (24, 0)
        assert everything(two) == everything(one)


def test_a_difference_is_an_error(tmp_path: Path) -> None:
    with opened("sqlite", tmp_path, "one") as one, opened("postgresql", tmp_path, "") as two:
        fill(one)
        copy_store(one.database, two.database, resume=False)
        two.login.accounts.set_password(2, "another")
        with pytest.raises(StoreError, match="its table accounts is not that of"):
            copy_store(one.database, two.database, resume=True)


def test_databases_of_two_versions_are_not_mixed(tmp_path: Path) -> None:
    with opened("sqlite", tmp_path, "one") as one, opened("sqlite", tmp_path, "two") as two:
        with two.transaction() as connection:
            connection.execute("ALTER TABLE accounts ADD COLUMN more TEXT")
        with pytest.raises(StoreError, match=r"its table accounts is not that of.*upgrade both"):
            copy_store(one.database, two.database, resume=False)
