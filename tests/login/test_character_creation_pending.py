"""The book of create requests that no world has answered."""

from __future__ import annotations

from typing import Any

from emu.login.character_creation import CreateRequest, PendingCreate, PendingCreates
from emu.model import CreateResponse


def pending(account_id: int, world_id: int = 1, expires: float = 100.0) -> PendingCreate:
    request = CreateRequest(world_id, f"Name{account_id}", 1, 1, 1, 1, 546)
    client: Any = object()
    return PendingCreate(account_id, "someone", "192.0.2.1", request, expires, client)


def test_an_answer_takes_out_the_oldest_request_of_its_account() -> None:
    book = PendingCreates()
    first, second = pending(7), pending(8)
    assert book.add_request(first, 0)
    assert book.add_request(second, 0)
    assert book.answered(CreateResponse(1, 8, 1, 1)) is second
    assert book.answered(CreateResponse(1, 8, 1, 1)) is None
    assert book.answered(CreateResponse(2, 7, 1, 1)) is None
    assert book.answered(CreateResponse(1, 7, 1, 1)) is first
    assert len(book) == 0


def test_a_waiting_request_keeps_a_second_one_out() -> None:
    book = PendingCreates()
    first = pending(7)
    book.add_request(first, 0)
    assert not book.add_request(pending(7), 0)
    book.wait_no_longer(first)
    assert book.add_request(pending(7), 0)


def test_the_book_knows_what_a_client_waits_for_until_it_waits_no_longer() -> None:
    book = PendingCreates()
    first, second = pending(7), pending(8)
    for one in (first, second):
        book.add_request(one, 0)
        assert book.awaited_by(one.client) is one
    book.wait_no_longer(first)
    assert book.awaited_by(first.client) is None
    gone = second.client
    book.client_gone(gone)
    book.client_gone(gone)
    assert book.awaited_by(gone) is None
    assert (second.client, second.is_awaited) == (None, False)
    assert len(book) == 2


def test_a_request_withdrawn_is_gone() -> None:
    book = PendingCreates()
    first = pending(7)
    book.withdraw(first)
    book.add_request(first, 0)
    book.withdraw(first)
    assert len(book) == 0
    assert book.answered(CreateResponse(1, 7, 1, 1)) is None


def test_a_world_that_is_gone_takes_its_requests_along() -> None:
    book = PendingCreates()
    here, there = pending(7), pending(7, world_id=2)
    book.add_request(here, 0)
    book.add_request(there, 0)
    assert book.world_gone(1) == [here]
    assert len(book) == 1


def test_old_requests_go_when_a_new_one_comes() -> None:
    book = PendingCreates()
    for account in range(100):
        book.add_request(pending(account, expires=account), account - 50.0)
    assert len(book) == 50


def test_no_account_belongs_to_the_only_one_waiting() -> None:
    book = PendingCreates()
    first, second = pending(7), pending(8)
    book.add_request(first, 0)
    book.add_request(second, 0)
    assert book.answered(CreateResponse(1, 0, 0, 0)) is None
    book.client_gone(second.client)
    assert book.answered(CreateResponse(1, 0, 0, 0)) is first
