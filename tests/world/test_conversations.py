"""Dialog windows: their numbers, and answers to dialogs that nobody has open."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from emu.structs import shipped_catalog
from emu.world.conversations import Conversations, DialogPage
from emu.world.events import DialogAnswered, Events, LeftZone
from emu.world.messages import WorldMessages
from emu.world.reports import Faults

CATALOG = shipped_catalog()


def player(number: int = 5) -> Any:
    dialect = SimpleNamespace(layout=lambda name: CATALOG.layout(name, 546))
    sent: list[Any] = []
    client = SimpleNamespace(
        dialect=dialect, sent=sent, send=lambda name, fields: sent.append((name, fields))
    )
    return SimpleNamespace(id=number, name="Aldana", client=client)


def table() -> tuple[Conversations, Events]:
    events = Events(Faults(lambda _event: None))
    return Conversations(events=events), events


def test_numbers_begin_at_1_in_each_zone_and_are_a_players_own() -> None:
    conversations, events = table()
    one, two = player(5), player(6)
    assert [conversations.next_number(one) for _ in range(3)] == [1, 2, 3]
    assert conversations.next_number(two) == 1
    events.publish(LeftZone(one))
    assert conversations.next_number(one) == 1
    conversations._last[one.id] = 0x7FFFFFFF
    assert conversations.next_number(one) == 1


def test_an_answer_to_a_dialog_of_nobody_closes_the_window() -> None:
    conversations, events = table()
    answers: list[DialogAnswered] = []
    events.subscribe(DialogAnswered, answers.append)
    messages, one = WorldMessages(), player()
    conversations.register(messages)
    fields = {"conversation_id": 9, "response": 0}
    body = CATALOG.layout("WS_DialogSelect", 546).encode(fields)
    messages["OP_DialogSelectMsg"].handler(one, body, 0.0)
    assert one.client.sent == [("WS_ServerDialogClose", {"conversation_id": 9})]
    body = CATALOG.layout("WS_DialogClose", 546).encode({"conversation_id": 9})
    messages["OP_DialogCloseMsg"].handler(one, body, 0.0)
    assert answers == []


def test_the_numbers_go_on_when_dialogs_end() -> None:
    conversations, _ = table()
    one, owner, spawn = player(), object(), SimpleNamespace(name="Guard")
    one.index_of = lambda _spawn: 3
    assert conversations.open(one, spawn, DialogPage(text="Hail"), [("Hello", 1)], owner=owner)
    assert (len(conversations), conversations.has(one, owner)) == (1, True)
    conversations.end_dialogs(one)
    assert (len(conversations), conversations.has(one, owner)) == (0, False)
    assert conversations.next_number(one) == 2
