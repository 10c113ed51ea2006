"""What handlers share."""

from __future__ import annotations

from emu.dialects import MOST_DIALECTS
from emu.login.service import LoggedInClients
from tests.support.login.login_harness import NORRATH, Harness


def test_lists_kept_for_many_versions_are_bounded(harness: Harness) -> None:
    service = harness.service
    for version in range(57121, 57121 + MOST_DIALECTS + 10):
        assert service.world_list(service.dialects.for_version(version), [NORRATH])[0] == 1
        assert len(service._lists) <= MOST_DIALECTS


def test_a_world_list_is_made_once_for_each_state_of_the_worlds() -> None:
    service = Harness().service
    dialect = service.dialects.for_version(546)
    first = service.world_list(dialect, [NORRATH])
    assert service.world_list(dialect, [NORRATH]) is first
    assert service.world_list(dialect, []) == b"\0"
    assert service.world_list(dialect, [NORRATH]) == first


def test_an_account_s_client_is_found_until_it_goes() -> None:
    client, _ = Harness().login(546)
    book = LoggedInClients(2)
    book.add_client(client)
    assert book.find(7) is client
    assert list(book) == [client]
    book.remove(client)
    book.remove(client)
    assert book.find(7) is None
    assert len(book) == 0


def test_an_address_is_full_but_for_the_account_that_is_there_already(harness: Harness) -> None:
    book = LoggedInClients(2)
    for user in (b"tester", b"other"):
        book.add_client(harness.login(546, user)[0])
    assert book.is_full("192.0.2.1", 9)
    assert not book.is_full("192.0.2.1", 7)
    assert not book.is_full("192.0.2.2", 9)


def test_a_client_that_was_replaced_does_not_take_the_new_one_along(harness: Harness) -> None:
    (first, _), (second, _) = harness.login(546), harness.login(546)
    book = LoggedInClients(2)
    book.add_client(second)
    book.remove(first)
    assert book.find(7) is second


def test_clients_may_end_while_they_are_gone_through(harness: Harness) -> None:
    book = LoggedInClients(9)
    for user in (b"tester", b"other"):
        book.add_client(harness.login(546, user)[0])
    for client in book:
        book.remove(client)
    assert len(book) == 0
