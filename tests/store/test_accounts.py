import math
import string
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emu.errors import DuplicateName, StoreError
from emu.model import Account
from emu.store import Store, accounts
from emu.store.accounts import FOR_EVER
from tests.support.stores import character


def test_an_account_is_found_without_regard_to_case(empty_store: Store) -> None:
    added = empty_store.add_account("Zoë", "hash", 12.5)
    assert added == Account(id=1, name="Zoë", password="hash", created=12.5)
    assert empty_store.find_account("ZOË") == added
    assert empty_store.find_account("zoe") is None


def test_a_name_can_be_taken_once(empty_store: Store) -> None:
    empty_store.add_account("Alice", "hash", 1.0)
    with pytest.raises(DuplicateName, match="already an account 'ALICE'"):
        empty_store.add_account("ALICE", "hash", 1.0)


def test_an_upgrade_of_a_hash_does_not_undo_a_new_password(store: Store) -> None:
    assert not store.set_password(1, "upgraded", expected="older")
    assert store.set_password(1, "upgraded", expected="hash")
    assert store.set_password(1, "chosen")
    assert not store.set_password(99, "chosen")
    found = store.find_account("alice")
    assert found is not None
    assert found.password == "chosen"


def test_bans_end_or_do_not(store: Store) -> None:
    store.ban_account(1, 500.0, "rude")
    assert (store.accounts()[0].banned_until, store.accounts()[0].ban_reason) == (500.0, "rude")
    store.ban_account(1, math.inf, "very rude")
    assert store.accounts()[0].banned_until == math.inf
    stored = store.connection.execute("SELECT banned_until FROM accounts").fetchone()[0]
    assert stored == FOR_EVER
    store.ban_account(1, None, "")
    assert store.accounts()[0].banned_until is None


def test_a_login_is_remembered(store: Store) -> None:
    store.record_login(1, "192.0.2.7", 546, 99.5)
    account = store.find_account("Alice")
    assert account is not None
    assert (account.last_address, account.last_client_version, account.last_login) == (
        "192.0.2.7", 546, 99.5,
    )  # fmt: skip


def test_a_removed_account_takes_its_characters_and_its_id_is_not_used_again(store: Store) -> None:
    store.add_character(character())
    store.remove_account(1)
    assert store.find_account("Alice") is None
    assert store.characters_of(1) == []
    assert store.add_account("Bob", "hash", 1.0).id == 2


def test_a_whole_account_can_be_put_in_with_its_id(store: Store) -> None:
    account = Account(40, "Carol", "hash", enabled=False, created=3.0, last_address="::1")
    with store.transaction() as connection:
        assert accounts.put(connection, account) == account
        assert accounts.get(connection, 40) == account
        assert accounts.get(connection, 41) is None
    with pytest.raises(DuplicateName), store.transaction() as connection:
        accounts.put(connection, account)


def test_the_overview_reads_as_a_person_wants(store: Store) -> None:
    store.set_account_enabled(1, enabled=False)
    row = dict(store.connection.execute("SELECT * FROM account_overview").fetchone())
    assert row["state"] == "disabled"
    assert row["created_utc"] == "1970-01-01 00:00:01"


def test_a_store_that_is_closed_says_so_in_one_line(store: Store) -> None:
    store.close()
    with pytest.raises(StoreError, match=r"emu\.sqlite: Cannot operate on a closed database"):
        store.find_account("Alice")


NAMES = st.text(
    st.one_of(st.sampled_from(string.ascii_letters + " '%_"), st.characters(codec="utf-8")),
    min_size=1,
    max_size=20,
)


@settings(max_examples=25)
@given(st.lists(NAMES, max_size=12))
def test_any_names_are_kept_apart_and_found_again(names: list[str]) -> None:
    with TemporaryDirectory() as folder, Store.create(Path(folder) / "emu.sqlite") as store:
        kept: dict[int, str] = {}
        for name in names:
            try:
                kept[store.add_account(name, "hash", 0.0).id] = name
            except DuplicateName:
                assert any(name.casefold() == other.casefold() for other in kept.values()) or (
                    store.find_account(name) is not None
                )
        assert {account.id: account.name for account in store.accounts()} == kept
        for account_id, name in kept.items():
            exact = store.find_account(name)
            assert exact is not None
            assert exact.id == account_id
