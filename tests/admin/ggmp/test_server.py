"""The worked examples byte for byte, who gets a token, and what anonymous senders cannot do."""

from __future__ import annotations

from secrets import randbelow

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.ggmp.acting import GgmpAction, Grant, read_clients
from emu.admin.ggmp.client import GgmpClient
from emu.admin.ggmp.messages import (
    GgmpAct,
    GgmpMessage,
    GgmpMessageType,
    Value,
    ValueType,
    pull_message,
    push_message,
    uint32,
    utf8,
)
from emu.admin.ggmp.server import GgmpRules, GgmpServer
from emu.times import Monotonic
from tests.support.admin.ggmp import ADDRESS, GRANT, GUARD, TOKEN, FakeActors, Talk
from tests.support.admin.worked_examples import examples
from tests.support.examples import tries

NOW = Monotonic(100.0)
EXAMPLES = {example["id"]: example for example in examples("ggmp")}
OTHER = ("192.0.2.51", 4000)
ACTION = push_message(GgmpMessage(GgmpMessageType.ACTION, 1, 0, act=GgmpAct(GUARD, 1)))
ANYBODY = Grant("anybody", "", frozenset((GgmpAction.QUERY, GgmpAction.WATCH)))
LOGIN = GgmpMessage(GgmpMessageType.ARB_DATA, 0, 0, values=(utf8(TOKEN),))


def at(seconds: float) -> Monotonic:
    return Monotonic(NOW + seconds)


def server(**rules: object) -> GgmpServer:
    return GgmpServer(FakeActors(), GgmpRules((GRANT,), **rules), randbelow)  # type: ignore[arg-type]


def opened(**rules: object) -> GgmpServer:
    """Anybody may query; the numbers that they are sent are 1, 2 and so on."""
    following = iter(range(1000))
    made = GgmpRules((GRANT,), ANYBODY, **rules)  # type: ignore[arg-type]
    return GgmpServer(FakeActors(), made, lambda _end: next(following))


def kinds(answers: list[bytes]) -> list[GgmpMessageType]:
    return [pull_message(data).kind for data in answers]


@pytest.mark.parametrize("name", EXAMPLES)
def test_worked_examples(name: str) -> None:
    """What the server answers besides, about the actors, is left out: these know no actions."""
    worked = EXAMPLES[name]
    made = opened()
    if name != "ggmp-assign":
        hello = GgmpMessage(GgmpMessageType.RAW_DATA, 0, 0xFFFFFFFF, wants_ack=False)
        assert kinds(made.answer(push_message(hello), ADDRESS, NOW)) == [
            GgmpMessageType.CLIENT_ASSIGN
        ]
    answers: list[bytes] = []
    for question in worked["questions"]:
        answers += made.answer(bytes.fromhex(question), ADDRESS, NOW)
    protocol = [data.hex() for data in answers if data[0] >= GgmpMessageType.CLIENT_ASSIGN]
    assert protocol == worked["answers"]


def test_a_token_brings_a_number_and_nothing_else_does() -> None:
    made = server()
    assert made.answer(ACTION, ADDRESS, NOW) == []
    assert (
        made.answer(
            push_message(GgmpMessage(GgmpMessageType.ACTION, 0, 0, act=GgmpAct(7, 1))), ADDRESS, NOW
        )
        == []
    )
    wrong = GgmpMessage(GgmpMessageType.ARB_DATA, 0, 0, values=(utf8("x" * 16),))
    assert made.answer(push_message(wrong), ADDRESS, NOW) == []
    answers = made.answer(push_message(LOGIN), ADDRESS, NOW)
    assert [data.hex() for data in answers] == ["fe00000100000000", "ff00000000000000"]
    assert kinds(made.answer(ACTION[:4] + b"\0\0\0\1" + ACTION[8:], ADDRESS, NOW)) == [
        GgmpMessageType.ACK,
        GgmpMessageType.ARB_DATA,
    ]
    assert made.answer(ACTION, OTHER, NOW) == []
    assert made.counters["wrong address"] == 2


def test_the_answer_to_a_token_is_no_larger_than_the_token() -> None:
    sent = push_message(LOGIN)
    assert sum(map(len, server().answer(sent, ADDRESS, NOW))) <= len(sent)


def test_guessing_ends() -> None:
    made = server()
    wrong = push_message(GgmpMessage(GgmpMessageType.ARB_DATA, 0, 0, values=(utf8("x" * 16),)))
    for _ in range(6):
        made.answer(wrong, ADDRESS, NOW)
    assert made.answer(push_message(LOGIN), ADDRESS, NOW) == []
    assert made.answer(push_message(LOGIN), OTHER, NOW)
    assert made.answer(push_message(LOGIN), ADDRESS, at(13))


def test_a_token_is_compared_only_while_its_address_has_a_try_left() -> None:
    made = server()
    wrong = push_message(GgmpMessage(GgmpMessageType.ARB_DATA, 0, 0, values=(utf8("x" * 16),)))
    for _ in range(5):
        assert not made.validates(wrong, ADDRESS, NOW)
        assert made.answer(wrong, ADDRESS, NOW) == []
    right = push_message(LOGIN)
    assert not made.validates(right, ADDRESS, NOW), "a right one proves nothing now"
    assert made.answer(right, ADDRESS, NOW) == []
    assert made.validates(right, OTHER, NOW)
    assert made.answer(right, OTHER, NOW)
    assert made.logins == {"refused": 6, "accepted": 1}


def test_the_number_stays_and_is_reported_again_but_not_for_ever() -> None:
    made = server()
    shown = [kinds(made.answer(push_message(LOGIN), ADDRESS, NOW)) for _ in range(6)]
    assert (
        shown
        == [[GgmpMessageType.CLIENT_ASSIGN, GgmpMessageType.ACK]] * 4 + [[GgmpMessageType.ACK]] * 2
    )
    assert len(made) == 1


def test_a_client_that_begins_anew_is_heard_again() -> None:
    talk = Talk()
    talk.join()
    talk.client.query(GUARD, talk.now)
    assert len(talk.settle()) == 1
    talk.settle(1.0)
    talk.client = GgmpClient()
    talk.join()
    talk.client.query(GUARD, talk.now)
    assert len(talk.settle()) == 1
    assert (talk.client.id, len(talk.server)) == (1, 1)


def test_a_silent_client_is_forgotten() -> None:
    made = server()
    made.answer(push_message(LOGIN), ADDRESS, NOW)
    due = made.get_timer()
    assert due is not None
    made.handle_timer(at(59))
    assert len(made) == 1
    made.handle_timer(at(62))
    assert len(made) == 0
    assert made.get_timer() is None
    assert (
        kinds(made.answer(push_message(LOGIN), ADDRESS, at(62)))[0] is GgmpMessageType.CLIENT_ASSIGN
    )


def test_only_so_many_clients() -> None:
    made = server(most_clients=2)
    for number in range(5):
        made.answer(push_message(LOGIN), (f"192.0.2.{number}", 1), NOW)
    assert len(made) == 2
    assert made.counters["full"] == 3


def test_what_is_watched_is_reported_by_the_timer() -> None:
    made = server()
    made.answer(push_message(LOGIN), ADDRESS, NOW)
    watch = GgmpMessage(GgmpMessageType.ACTION, 1, 1, act=GgmpAct(GUARD, 2, 1, 100))
    made.answer(push_message(watch), ADDRESS, NOW)
    made.handle_timer(at(0.05))
    assert {data for data, _ in made.data_to_send()} != set()
    assert made.data_to_send() == []


def test_texts_that_are_no_token() -> None:
    made = server()
    for value in (uint32(1), Value(0x90, TOKEN.encode()), Value(ValueType.UTF8, "")):
        assert (
            made.answer(
                push_message(GgmpMessage(GgmpMessageType.ARB_DATA, 0, 0, values=(value,))),
                OTHER,
                NOW,
            )
            == []
        )


def is_alive(made: GgmpServer) -> bool:
    message = GgmpMessage(GgmpMessageType.ARB_DATA, 0, 0, values=(utf8(TOKEN),))
    return bool(made.answer(push_message(message), ("198.51.100.1", 1), NOW))


@tries(70)
@given(
    st.lists(st.tuples(st.sampled_from(list(GgmpMessageType)), st.binary(max_size=40)), max_size=20)
)
def test_random_messages_of_a_client(sent: list[tuple[GgmpMessageType, bytes]]) -> None:
    made = server()
    made.answer(push_message(LOGIN), ADDRESS, NOW)
    for number, (kind, rest) in enumerate(sent):
        head = bytes((kind, 0, 0, 1, 0, 0, 0, number + 1))
        made.answer(head + rest, ADDRESS, NOW)
        made.answer(head + bytes(15) + b"\2" + bytes(8) + rest, ADDRESS, NOW)
    for seconds in range(5):
        made.handle_timer(at(seconds))
    assert is_alive(made)


@given(st.lists(st.binary(max_size=60), max_size=30))
def test_random_datagrams(sent: list[bytes]) -> None:
    made = server()
    for data in sent:
        assert made.answer(data, ADDRESS, NOW) == []
    assert is_alive(made)


@pytest.mark.slow
def test_a_flood_of_invented_addresses_leaves_nothing_behind() -> None:
    made = server()
    wrong = push_message(GgmpMessage(GgmpMessageType.ARB_DATA, 0, 0, values=(utf8("x" * 16),)))
    for number in range(20_000):
        address = (f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}", 1)
        assert made.answer(wrong, address, NOW) == []
    assert len(made) == 0
    assert len(made._admission._guesses) <= 10_000
    assert is_alive(made)


def test_a_token_or_a_number_at_its_address_proves_it() -> None:
    made = server()
    assert made.validates(push_message(LOGIN), ADDRESS, NOW)
    assert not made.validates(ACTION, ADDRESS, NOW)
    made.answer(push_message(LOGIN), ADDRESS, NOW)
    assert made.validates(ACTION, ADDRESS, NOW)
    wrong = GgmpMessage(GgmpMessageType.ARB_DATA, 0, 0, values=(utf8("x" * 16),))
    for data in (b"", push_message(wrong), push_message(GgmpMessage(GgmpMessageType.ACK, 0, 0))):
        assert not made.validates(data, ADDRESS, NOW)
    assert not made.validates(ACTION, OTHER, NOW)


def query(client: int, number: int, actor: int = GUARD) -> bytes:
    return push_message(
        GgmpMessage(GgmpMessageType.ACTION, client, number, act=GgmpAct(actor, GgmpAction.QUERY))
    )


def test_anybody_is_sent_no_more_than_was_sent_until_the_number_is_shown() -> None:
    made = opened()
    for number in range(20):
        answers = made.answer(query(0, number), ADDRESS, NOW)
        assert sum(map(len, answers)) <= len(query(0, number))
        assert GgmpMessageType.ARB_DATA not in kinds(answers)
    made.handle_timer(at(1))
    assert made.data_to_send() == []
    shown = kinds(made.answer(query(1, 30), ADDRESS, at(1)))
    assert shown == [GgmpMessageType.ARB_DATA] * 8 + [GgmpMessageType.ACK, GgmpMessageType.ARB_DATA]


def test_anybody_does_what_is_allowed_and_nothing_else() -> None:
    made = opened()
    made.answer(query(0, 0), ADDRESS, NOW)
    move = GgmpMessage(GgmpMessageType.ACTION, 1, 1, act=GgmpAct(GUARD, GgmpAction.MOVE, 1, 1))
    _, _, refused = made.answer(push_message(move), ADDRESS, NOW)
    assert pull_message(refused).values[2].value == "refused"


def test_numbers_for_anybody_cannot_be_foreseen() -> None:
    made = GgmpServer(FakeActors(), GgmpRules(anonymous=ANYBODY), randbelow)
    given_out = set()
    for number in range(50):
        assign, _ = made.answer(query(0, 0), (f"192.0.2.{number}", 1), NOW)
        given_out.add(pull_message(assign).client)
    assert len(given_out) == 50
    assert max(given_out) > 10_000


def test_who_has_no_token_makes_space_for_who_has_one() -> None:
    made = opened(most_clients=4)
    for number in range(1, 5):
        address = (f"192.0.2.{number}", 1)
        made.answer(query(0, 0), address, NOW)
        made.answer(query(number, 1), address, at(number))
    assert made.answer(query(0, 0), ADDRESS, at(5)) == [], "all have shown their numbers"
    assert kinds(made.answer(push_message(LOGIN), ADDRESS, at(5))) == [
        GgmpMessageType.CLIENT_ASSIGN, GgmpMessageType.ACK,
    ]  # fmt: skip
    assert len(made) == 4
    assert made.answer(query(1, 2), ("192.0.2.1", 1), at(5)) == [], "silent for longest"
    for port in range(2, 6):
        made.answer(push_message(LOGIN), ("192.0.2.60", port), at(6))
    assert made.answer(push_message(LOGIN), ("192.0.2.61", 1), at(6)) == []


def test_who_never_showed_its_number_makes_space() -> None:
    made = opened(most_clients=4)
    made.answer(query(0, 0), ADDRESS, NOW)
    made.answer(query(1, 1), ADDRESS, NOW)
    for number in range(300):
        made.answer(query(0, 0), (f"10.0.{number >> 8}.{number & 255}", 1), NOW)
    assert len(made) == 4
    assert GgmpMessageType.ARB_DATA in kinds(made.answer(query(1, 2), ADDRESS, NOW))


STATIC = read_clients("bot query 7 192.0.2.50\nradar * 300 192.0.2.51")


def known() -> GgmpServer:
    return GgmpServer(FakeActors(), GgmpRules(clients=STATIC), randbelow)


def test_known_clients_ask_without_joining() -> None:
    made = known()
    assert kinds(made.answer(query(7, 0), ADDRESS, NOW)) == [
        GgmpMessageType.ACK,
        GgmpMessageType.ARB_DATA,
    ]
    assert made.answer(query(7, 1), OTHER, NOW) == []
    assert kinds(made.answer(query(300, 1), OTHER, NOW)) == [
        GgmpMessageType.ACK,
        GgmpMessageType.ARB_DATA,
    ]
    short = GgmpMessage(GgmpMessageType.ACTION_SHORT, 7, 0, act=GgmpAct(GUARD, GgmpAction.MOVE))
    assert kinds(made.answer(push_message(short), ADDRESS, NOW)) == [
        GgmpMessageType.ACK,
        GgmpMessageType.ARB_DATA,
    ]
    assert made.answer(push_message(LOGIN), ("192.0.2.52", 1), NOW) == []
    assert made.answer(query(8, 1), ADDRESS, NOW) == []
    assert made.validates(query(7, 5), ("192.0.2.50", 9), NOW)
    assert not made.validates(query(7, 5), ("192.0.2.52", 9), NOW)


def test_a_known_client_that_comes_from_another_port_begins_anew() -> None:
    made = known()
    made.answer(query(7, 0), ADDRESS, NOW)
    assert kinds(made.answer(query(7, 0), ADDRESS, NOW)) == [GgmpMessageType.ACK]
    again = ("192.0.2.50", 4001)
    assert kinds(made.answer(query(7, 0), again, NOW)) == [
        GgmpMessageType.ACK,
        GgmpMessageType.ARB_DATA,
    ]
    assert len(made) == 1


def test_two_known_clients_may_share_a_host_but_no_port() -> None:
    rules = GgmpRules(clients=read_clients("a query 7 192.0.2.50\nb query 8 192.0.2.50"))
    made = GgmpServer(FakeActors(), rules, randbelow)
    for client in (7, 8, 7):
        assert kinds(made.answer(query(client, 0), ADDRESS, NOW)) == [
            GgmpMessageType.ACK,
            GgmpMessageType.ARB_DATA,
        ]
        assert len(made) == 1
    assert kinds(made.answer(query(8, 0), ("192.0.2.50", 4001), NOW)) == [
        GgmpMessageType.ACK,
        GgmpMessageType.ARB_DATA,
    ]
    assert len(made) == 2


def test_other_rules_count_at_once() -> None:
    made = server()
    made.answer(push_message(LOGIN), ADDRESS, NOW)
    watch = GgmpMessage(GgmpMessageType.ACTION, 1, 1, act=GgmpAct(GUARD, GgmpAction.WATCH, 1, 100))
    made.answer(push_message(watch), ADDRESS, NOW)
    made.configure(GgmpRules((Grant("radar", TOKEN, frozenset((GgmpAction.QUERY,))),)))
    assert made._by_id[1].watched == {}
    assert kinds(made.answer(query(1, 2), ADDRESS, NOW)) == [
        GgmpMessageType.ACK,
        GgmpMessageType.ARB_DATA,
    ]
    move = GgmpMessage(GgmpMessageType.ACTION, 1, 3, act=GgmpAct(GUARD, GgmpAction.MOVE, 1, 1))
    _, refused = made.answer(push_message(move), ADDRESS, NOW)
    assert pull_message(refused).values[3].value == "your token does not allow move"
    made.configure(GgmpRules((Grant("radar", "another token 123", frozenset()),)))
    assert len(made) == 0
    assert made.answer(query(1, 4), ADDRESS, NOW) == []


def test_rules_that_change_keep_those_whom_they_still_name() -> None:
    made = known()
    made.answer(query(7, 0), ADDRESS, NOW)
    made.answer(query(300, 0), OTHER, NOW)
    made.configure(GgmpRules(clients=read_clients("bot say 7 192.0.2.50\nx * 300 192.0.2.9")))
    assert list(made._by_id) == [7]
    made = opened()
    made.answer(query(0, 0), ADDRESS, NOW)
    made.configure(GgmpRules(anonymous=ANYBODY))
    assert len(made) == 1
    made.configure(GgmpRules((GRANT,)))
    assert len(made) == 0
