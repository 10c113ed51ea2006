import math
import string
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import DuplicateName, StoreError
from emu.model import Account
from emu.store import Store
from emu.times import FOR_EVER, Moment
from tests.support.database.stores import character
from tests.support.examples import tries


def test_an_account_is_found_without_regard_to_case(empty_store: Store) -> None:
    added = empty_store.login.accounts.add("Zoë", "hash", 12.5)
    assert added == Account(id=1, name="Zoë", password="hash", created=12.5)
    assert empty_store.login.accounts.find("ZOË") == added
    assert empty_store.login.accounts.find("zoe") is None


def test_a_name_can_be_taken_once(empty_store: Store) -> None:
    empty_store.login.accounts.add("Alice", "hash", 1.0)
    with pytest.raises(DuplicateName, match="already an account 'ALICE'"):
        empty_store.login.accounts.add("ALICE", "hash", 1.0)


def test_an_upgrade_of_a_hash_does_not_undo_a_new_password(store: Store) -> None:
    assert not store.login.accounts.set_password(1, "upgraded", expected="older")
    assert store.login.accounts.set_password(1, "upgraded", expected="hash")
    assert store.login.accounts.set_password(1, "chosen")
    assert not store.login.accounts.set_password(99, "chosen")
    found = store.login.accounts.find("alice")
    assert found is not None
    assert found.password == "chosen"


def test_bans_end_or_do_not(store: Store) -> None:
    store.login.accounts.ban(1, 500.0, "rude")
    assert (
        store.login.accounts.every()[0].banned_until,
        store.login.accounts.every()[0].ban_reason,
    ) == (500.0, "rude")
    store.login.accounts.ban(1, math.inf, "very rude")
    assert store.login.accounts.every()[0].banned_until == math.inf
    stored = store.database.connection.execute("SELECT banned_until FROM accounts").fetchone()[0]
    assert stored == FOR_EVER
    store.login.accounts.ban(1, None, "")
    assert store.login.accounts.every()[0].banned_until is None


def test_a_login_is_remembered(store: Store) -> None:
    store.login.accounts.record_login(1, "192.0.2.7", 546, 99.5)
    account = store.login.accounts.find("Alice")
    assert account is not None
    assert (account.last_address, account.last_client_version, account.last_login) == (
        "192.0.2.7", 546, 99.5,
    )  # fmt: skip


def test_a_removed_account_takes_its_characters_and_its_id_is_not_used_again(store: Store) -> None:
    store.login.characters.add(character())
    store.login.accounts.remove(1)
    assert store.login.accounts.find("Alice") is None
    assert store.login.characters.of_account(1) == []
    assert store.login.accounts.add("Bob", "hash", 1.0).id == 2


def test_a_whole_account_can_be_put_in_with_its_id(store: Store) -> None:
    account = Account(40, "Carol", "hash", enabled=False, created=3.0, last_address="::1")
    assert store.login.accounts.insert(account) == account
    assert store.login.accounts.get(40) == account
    assert store.login.accounts.get(41) is None
    with pytest.raises(DuplicateName):
        store.login.accounts.insert(account)


def test_the_overview_reads_as_a_person_wants(store: Store) -> None:
    store.login.accounts.set_enabled(1, enabled=False)
    row = dict(store.database.connection.execute("SELECT * FROM account_overview").fetchone())
    assert row["state"] == "disabled"
    assert str(row["created_utc"]) == "1970-01-01 00:00:01"


def test_a_store_that_is_closed_says_so_in_one_line(store: Store) -> None:
    store.close()
    with pytest.raises(StoreError, match=r"emu\S*: (is closed|Cannot operate on a closed)"):
        store.login.accounts.find("Alice")


NAMES = st.text(
    st.one_of(
        st.sampled_from(string.ascii_letters + " '%_"),
        st.characters(codec="utf-8", exclude_characters="\0"),
    ),
    min_size=1,
    max_size=20,
)


@pytest.mark.slow
@tries(25)
@given(st.lists(NAMES, max_size=12))
def test_any_names_are_kept_apart_and_found_again(names: list[str]) -> None:
    with TemporaryDirectory() as folder, Store.create(Path(folder) / "emu.sqlite") as store:
        kept: dict[int, str] = {}
        for name in names:
            try:
                kept[store.login.accounts.add(name, "hash", 0.0).id] = name
            except DuplicateName:
                assert any(name.casefold() == other.casefold() for other in kept.values()) or (
                    store.login.accounts.find(name) is not None
                )
        assert {account.id: account.name for account in store.login.accounts.every()} == kept
        for account_id, name in kept.items():
            exact = store.login.accounts.find(name)
            assert exact is not None
            assert exact.id == account_id


def test_accounts_that_may_log_in_are_distinguished_from_the_others(empty_store: Store) -> None:
    accounts = empty_store.login.accounts
    ids = [accounts.add(name, "hash", 1.0).id for name in ("a", "b", "c", "d")]
    accounts.ban(ids[1], 100.0, "")
    accounts.ban(ids[2], math.inf, "")
    accounts.set_enabled(ids[3], enabled=False)
    everybody = [*ids, 4711]
    assert accounts.open_among(everybody, 99.9) == [ids[0]]
    assert accounts.open_among(everybody, 100.0) == [ids[0], ids[1]]
    assert accounts.open_among([], 1.0) == []


def test_several_logins_are_recorded_at_once(store: Store) -> None:
    store.login.accounts.add("Bob", "hash", 1.0)
    logins = [
        (1, "192.0.2.1", 546, Moment(5.0)),
        (2, "192.0.2.2", 561, Moment(6.0)),
        (1, "::1", 60114, Moment(7.0)),
    ]
    assert store.login.accounts.record_logins([*logins, (99, "::1", 1, Moment(1.0))]) == [None] * 4
    found = [
        (one.name, one.last_address, one.last_client_version, one.last_login)
        for one in store.login.accounts.every()
    ]
    assert found == [("Alice", "::1", 60114, 7.0), ("Bob", "192.0.2.2", 561, 6.0)]


def test_ids_of_any_size_are_chosen(store: Store) -> None:
    for ids in ([1], [1, 546], [1, 70_000], [1 << 40, 1], []):
        found = store.login.accounts.open_among(ids, Moment(5.0))
        assert found == [one for one in ids if one == 1]
