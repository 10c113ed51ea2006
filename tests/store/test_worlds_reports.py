from dataclasses import replace

import pytest

from emu.model import ClientLog
from emu.store import Store, worlds

LOG = ClientLog("Alert Log", "text", 1, "Alice", "192.0.2.7", 546, 9.0)


def test_a_log_comes_back_as_it_was(store: Store) -> None:
    store.login.reports.add_client_log(LOG)
    assert store.login.reports.client_logs() == [LOG]


def test_a_log_of_no_account_is_kept_without_one(store: Store) -> None:
    store.login.reports.add_client_log(replace(LOG, account_id=77))
    assert store.login.reports.client_logs() == [replace(LOG, account_id=0)]


def test_logs_outlive_their_account(store: Store) -> None:
    store.login.reports.add_client_log(LOG)
    store.login.accounts.remove(1)
    assert store.login.reports.client_logs() == [replace(LOG, account_id=0)]


def test_the_oldest_logs_of_an_account_go(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worlds, "LOGS_OF_ACCOUNT", 3)
    store.login.accounts.add("Bob", "hash", 1.0)
    store.login.reports.add_client_log(replace(LOG, account_id=2, text="bob's"))
    for number in range(6):
        store.login.reports.add_client_log(replace(LOG, text=str(number)))
    assert [log.text for log in store.login.reports.client_logs()] == ["bob's", "3", "4", "5"]


def test_several_logs_are_stored_at_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worlds, "LOGS_OF_ACCOUNT", 2)
    store.login.accounts.add("Bob", "hash", 1.0)
    logs = [replace(LOG, text=str(number), account_id=1 + (number == 2)) for number in range(5)]
    assert store.login.reports.add_client_logs([(log,) for log in logs]) == [None] * 5
    assert [log.text for log in store.login.reports.client_logs()] == ["2", "3", "4"]


def test_the_oldest_logs_of_all_go(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worlds, "MOST_LOGS", 2)
    for number in range(5):
        store.login.reports.add_client_log(replace(LOG, text=str(number), account_id=number))
    assert [log.text for log in store.login.reports.client_logs()] == ["3", "4"]


def test_logs_that_come_together_have_the_same_limits(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worlds, "LOGS_OF_ACCOUNT", 2)
    bob = store.login.accounts.add("Bob", "hash", 1.0)
    logs = [(replace(LOG, text=f"{account} {n}", account_id=account),)
            for n in range(3) for account in (1, bob.id, 99)]  # fmt: skip
    assert store.login.reports.add_client_logs(logs) == [None] * 9
    found = [(log.account_id, log.text) for log in store.login.reports.client_logs()]
    assert found == [
        (0, "99 0"), (1, "1 1"), (bob.id, f"{bob.id} 1"), (0, "99 1"), (1, "1 2"),
        (bob.id, f"{bob.id} 2"), (0, "99 2"),
    ]  # fmt: skip


def test_a_bug_report_is_kept_with_all_it_says(store: Store) -> None:
    fields = {name: f"the {name}" for name in worlds.TEXT_FIELDS}
    store.login.reports.add_bug_report(
        1, 44, {**fields, "spawn_id": 5, "zone_id": 6, "account_id": 44}, 3.0
    )
    store.login.reports.add_bug_report(99, 44, {}, 4.0)
    full, empty = store.login.reports.bug_reports()
    assert full == {
        "id": 1, "world_id": 1, "account_id": 44, **fields, "spawn_id": 5, "zone_id": 6,
        "received": 3.0,
    }  # fmt: skip
    assert (empty["world_id"], empty["summary"], empty["spawn_id"]) == (None, "", 0)


def test_the_oldest_reports_of_a_world_go(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worlds, "REPORTS_OF_WORLD", 2)
    for number in range(4):
        store.login.reports.add_bug_report(1, 1, {"summary": str(number)}, 1.0)
    assert [row["summary"] for row in store.login.reports.bug_reports()] == ["2", "3"]
