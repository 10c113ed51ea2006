"""Dialog windows: one number for each, and one reader of what clients answer."""

from __future__ import annotations

from collections.abc import Collection
from types import SimpleNamespace
from typing import Any

import pytest

from emu.errors import CommandError
from emu.structs import shipped_catalog
from emu.world.conversations import Conversations
from emu.world.messages import WorldMessages

CATALOG = shipped_catalog()


class Host:
    """A host with some open dialogs, which notes what it gets."""

    def __init__(self, numbers: Collection[int]) -> None:
        self.numbers = numbers
        self.calls: list[tuple[Any, ...]] = []

    def has_conversation(self, _player: Any, number: int) -> bool:
        return number in self.numbers

    def answered(self, _player: Any, number: int, answer: int) -> None:
        self.calls.append(("answered", number, answer))

    def closed_by(self, _player: Any, number: int) -> None:
        self.calls.append(("closed", number))


def player(number: int = 5) -> Any:
    dialect = SimpleNamespace(layout=lambda name: CATALOG.layout(name, 546))
    return SimpleNamespace(id=number, client=SimpleNamespace(dialect=dialect))


def send(conversations: Conversations, name: str, struct: str, fields: dict[str, int]) -> None:
    messages = WorldMessages()
    conversations.register(messages)
    messages[name].handler(player(), CATALOG.layout(struct, 546).encode(fields), 0.0)


def test_numbers_begin_at_1_in_each_zone_and_are_a_players_own() -> None:
    conversations, one, two = Conversations(), player(5), player(6)
    assert [conversations.next_number(one) for _ in range(3)] == [1, 2, 3]
    assert conversations.next_number(two) == 1
    conversations.forget(one)
    assert conversations.next_number(one) == 1
    conversations._last[one.id] = 0x7FFFFFFF
    assert conversations.next_number(one) == 1


@pytest.mark.parametrize(("number", "first", "last"), [(1, True, False), (2, False, True)])
def test_an_answer_reaches_the_host_that_has_the_dialog(
    number: int, first: bool, last: bool
) -> None:
    conversations, hosts = Conversations(), (Host({1}), Host({2}))
    for host in hosts:
        conversations.add(host)
    send(
        conversations, "OP_DialogSelectMsg", "WS_DialogSelect",
        {"conversation_id": number, "response": 3},
    )  # fmt: skip
    assert [bool(host.calls) for host in hosts] == [first, last]
    assert ("answered", number, 3) in (*hosts[0].calls, *hosts[1].calls)


def test_a_dialog_of_nobody_goes_to_the_host_added_last() -> None:
    conversations = Conversations()
    fields = {"conversation_id": 9, "response": 0}
    with pytest.raises(CommandError, match="over"):
        send(conversations, "OP_DialogSelectMsg", "WS_DialogSelect", fields)
    hosts = Host({1}), Host({2})
    for host in hosts:
        conversations.add(host)
    send(conversations, "OP_DialogSelectMsg", "WS_DialogSelect", fields)
    assert [host.calls for host in hosts] == [[], [("answered", 9, 0)]]


def test_every_host_learns_of_a_closed_dialog() -> None:
    conversations, hosts = Conversations(), (Host({1}), Host({2}))
    for host in hosts:
        conversations.add(host)
    send(conversations, "OP_DialogCloseMsg", "WS_DialogClose", {"conversation_id": 2})
    assert [host.calls for host in hosts] == [[("closed", 2)]] * 2
