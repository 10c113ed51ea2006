"""The bus of several processes over a broker in memory: the contracts, gaps, delays, nonsense."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.defer import Deferred

from emu.errors import CommandError, DuplicateName, LocalProtocolError, Unanswered
from emu.processes import exchange as exchange_module
from emu.processes.exchange import NODES, Exchange
from emu.processes.ports import CAME, LOST, Note
from tests.processes.contracts.bus import BusContract, Buses
from tests.processes.contracts.cluster_bus import ClusterBusContract, Nodes, Words, noted
from tests.support.cluster.brokers import InMemory, MemoryCluster


@pytest.fixture
def cluster() -> MemoryCluster:
    return MemoryCluster()


class TestExchange(BusContract):
    @pytest.fixture
    def buses(self, cluster: MemoryCluster) -> Buses:
        return cluster.add


class TestSeveral(ClusterBusContract):
    @pytest.fixture
    def nodes(self, cluster: MemoryCluster) -> Nodes:
        return InMemory(cluster)


Two = tuple[Exchange, Exchange]


@pytest.fixture
def two(cluster: MemoryCluster) -> Two:
    return cluster.add("west"), cluster.add("east")


async def waits(_note: Note) -> Note:
    waiting: Deferred[Note] = Deferred()
    return await waiting


async def test_a_gap_is_repaired_with_the_next_note(cluster: MemoryCluster, two: Two) -> None:
    west, east = Words(two[0]), Words(two[1])
    west.add("rain")
    cluster.transports["east"].lose = lambda subject: subject == "note.words.changed"
    west.add("wind")
    cluster.transports["east"].lose = lambda _subject: False
    assert east.of["west"] == ["rain"]
    west.add("hail")
    cluster.run(1.0)
    assert east.of["west"] == ["rain", "wind", "hail"]
    assert two[1].counters["gaps"] == 1


async def test_a_broken_connection_is_reported_on_both_sides(
    cluster: MemoryCluster, two: Two
) -> None:
    lost: list[tuple[str, object]] = []
    seen = [noted(bus) for bus in two]
    for bus in two:
        bus.subscribe(LOST, lambda note, who=bus.process: lost.append((who, note["process"])))  # type: ignore[misc]
    cluster.run(20.0)
    assert lost == []
    cluster.cut("east")
    cluster.run(1.0)
    cluster.restore("east")
    cluster.run(20.0)
    assert sorted(lost) == [("east", "west"), ("west", "east")]
    assert seen == [[], []]


async def test_a_topic_that_begins_later_shows_no_gap(cluster: MemoryCluster, two: Two) -> None:
    heard: list[Note] = []
    two[0].publish("weather", {"n": 1})
    subscription = two[1].subscribe("weather", heard.append)
    two[0].publish("weather", {"n": 2})
    subscription.cancel()
    two[0].publish("weather", {"n": 3})
    two[1].subscribe("weather", heard.append)
    two[0].publish("weather", {"n": 4})
    assert [note["n"] for note in heard] == [2, 4]
    assert two[1].counters["gaps"] == 0


async def test_only_topics_with_subscribers_are_received(cluster: MemoryCluster, two: Two) -> None:
    heard: list[Note] = []
    first, second = (two[1].subscribe("channel.a1", heard.append) for _ in range(2))
    assert "note.channel.a1" in cluster.transports["east"].subjects
    first.cancel()
    assert "note.channel.a1" in cluster.transports["east"].subjects
    second.cancel()
    assert "note.channel.a1" not in cluster.transports["east"].subjects
    received = two[1].counters["received"]
    two[0].publish("channel.a1", {})
    assert two[1].counters["received"] == received


async def test_topics_that_players_name_fill_no_memory(
    monkeypatch: pytest.MonkeyPatch, cluster: MemoryCluster, two: Two
) -> None:
    monkeypatch.setattr(exchange_module, "MOST_NUMBERED", 10)
    heard: list[Note] = []
    two[1].subscribe("channel.c0", heard.append)
    for _ in range(2):
        for number in range(30):
            two[0].publish(f"channel.c{number}", {})
    assert len(two[0]._last_numbers) == 10
    assert len(heard) == 2
    assert two[1].counters["gaps"] == 0


async def test_an_answer_that_does_not_come_in_time(cluster: MemoryCluster, two: Two) -> None:
    west, east = two
    answer: Deferred[Note] = Deferred()

    async def slow(_note: Note) -> Note:
        return await answer

    east.answer("slow", slow)
    question = Deferred.fromCoroutine(west.request("slow", {}))
    cluster.run(3.9)
    assert not question.called
    cluster.run(0.2)
    with pytest.raises(Unanswered, match="no answer about slow in 4 seconds"):
        await question
    answer.callback({"n": 1})
    assert west.counters["late answers"] == 1


async def test_a_question_that_comes_too_late_is_not_carried_out(
    cluster: MemoryCluster, two: Two
) -> None:
    west, east = two
    done: list[Note] = []

    async def does(note: Note) -> Note:
        done.append(note)
        return {}

    east.answer("tell", does)
    cluster.run(4.0)
    cluster.hold()
    question = Deferred.fromCoroutine(west.request("tell", {"n": 1}))
    cluster.run(4.5)
    with pytest.raises(Unanswered):
        await question
    cluster.release()
    assert done == []
    assert east.counters["late questions"] == 1
    await west.request("tell", {"n": 2})
    assert done == [{"n": 2}]


async def test_a_broker_that_stands_still_ends_no_process_that_it_reports_afterwards(
    cluster: MemoryCluster, two: Two
) -> None:
    seen = noted(two[1])
    cluster.hold()
    cluster.run(4.0)
    cluster.release()
    cluster.run(10.0)
    assert seen == []
    assert two[1].lag == 0.0


async def test_a_fault_of_an_answerer_is_reported_at_its_process_only(
    cluster: MemoryCluster, two: Two
) -> None:
    async def breaks(_note: Note) -> Note:
        return {"n": 1 // 0}

    two[1].answer("break", breaks)
    with pytest.raises(CommandError, match="it failed there"):
        await two[0].request("break", {})
    assert [type(error) for error in cluster.errors] == [ZeroDivisionError]


async def test_an_answer_that_is_too_large_fails(cluster: MemoryCluster, two: Two) -> None:
    async def much(_note: Note) -> Note:
        return {"text": "x" * 600_000}

    two[1].answer("much", much)
    with pytest.raises(CommandError, match="is too large"):
        await two[0].request("much", {})
    with pytest.raises(LocalProtocolError, match="is too large"):
        two[0].publish("much", {"text": "x" * 600_000})


async def test_who_no_longer_answers_is_not_asked_twice(cluster: MemoryCluster, two: Two) -> None:
    west, east = two
    north = cluster.add("north")

    async def mine(_note: Note) -> Note:
        return {"who": "east"}

    east.answer("who", mine)
    ended = north.answer("who", mine)
    cluster.transports["west"].lose = lambda subject: subject == NODES
    ended.cancel()
    cluster.transports["west"].lose = lambda _subject: False
    assert await west.request("who", {}) == {"who": "east"}
    assert "who" not in west._peers["north"].topics


async def test_an_announcement_that_was_lost_is_repaired(cluster: MemoryCluster, two: Two) -> None:
    async def mine(_note: Note) -> Note:
        return {"who": "east"}

    cluster.transports["west"].lose = lambda _subject: True
    two[1].answer("who", mine)
    cluster.transports["west"].lose = lambda _subject: False
    with pytest.raises(Unanswered):
        await two[0].request("who", {})
    cluster.run(2.0)
    assert await two[0].request("who", {}) == {"who": "east"}


async def test_processes_that_missed_each_others_greeting(cluster: MemoryCluster) -> None:
    west = cluster.add("west")
    cluster.transports["west"].lose = lambda _subject: True
    east = cluster.add("east")
    cluster.transports["west"].lose = lambda _subject: False
    assert (west.others, east.others) == ({}, {})
    cluster.run(2.0)
    assert west.others.keys() == {"east"}
    assert east.others.keys() == {"west"}


async def test_a_process_that_was_restarted_has_gone_and_come(
    cluster: MemoryCluster, two: Two
) -> None:
    seen = noted(two[0])
    old, older = cluster.buses["east"], cluster.transports["east"]
    fresh = cluster.add("east")
    assert seen == [("gone", "east"), ("came", "east")]
    heard: list[Note] = []
    two[0].subscribe("weather", heard.append)
    old.publish("weather", {"by": "the one that stood still"})
    cluster.clock.seconds += 2.0
    old.handle_timer(cluster.clock.now())
    fresh.publish("weather", {"by": "the new one"})
    assert heard == [{"by": "the new one"}]
    assert two[0].counters["of unknown processes"] == 1
    assert [type(error) for error in cluster.errors] == [DuplicateName] * 2, "both are informed"
    assert older.is_connected


async def test_notes_of_the_bus_itself_cannot_be_forged(cluster: MemoryCluster, two: Two) -> None:
    seen = noted(two[1])
    two[0].publish(CAME, {"process": "forged"})
    assert seen == []


MESSAGES = st.lists(
    st.one_of(
        st.sampled_from(
            ["note", "ask", "answer", "failed", "unanswered", "silent there", "answers", "silent",
             "hello", "beat", "bye", "who", "east", "west", "north", 1, 2, 1.5, {}, [], ["a.b"]]
        ),
        st.integers(), st.none(), st.floats(), st.text(max_size=5), st.lists(st.text(max_size=3)),
        st.dictionaries(st.text(max_size=5), st.one_of(st.integers(), st.lists(st.integers()))),
    ),
    min_size=1, max_size=8,
)  # fmt: skip


@given(st.lists(MESSAGES, max_size=20), st.booleans())
def test_no_message_raises(messages: list[list[Any]], is_known: bool) -> None:
    cluster = MemoryCluster()
    west = cluster.add("west")
    if is_known:
        cluster.add("east")
    for message in messages:
        if is_known and isinstance(message[0], str):
            message[1:1] = ["east", 2]
        west.received("note.x", json.dumps(message).encode())
    cluster.run(30.0)
    assert len(west.others) <= len(messages) + 1


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{}", b"[]", b"[1]", b"\xff", b"[" * 100_000, b'["note"]', b'["note","Ea st",1]',
        b'["note","east.x",1]', b'["note","east",2]', b'["note","east",2,1,0,[]]',
        b'["note","east",2,1,0,{"a":[]}]', b'["note","east",2,1,0,{"a":{"base64":"!"}}]',
        b'["note","east",2,1,0,{"a":"\\ud83d"}]', b'["answers","east",2,"A B"]',
        b'["beat","east",2,NaN,{},0,null]', b'["beat","east",2,1,{},0,5]',
        b'["hello","north",1,1,{},0,["a b"]]', b'["dance","east",2]',
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_counted_and_reported(data: bytes) -> None:
    cluster = MemoryCluster()
    west, _ = cluster.add("west"), cluster.add("east")
    west.received("note.x", data)
    assert len(cluster.errors) == 1
    assert west.others.keys() <= {"east", "north"}


def test_topics_and_processes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange_module, "MOST_OTHERS", 3)
    monkeypatch.setattr(exchange_module, "MOST_TOPICS", 5)
    cluster = MemoryCluster()
    west = cluster.add("west")
    cluster.add("east")
    for number in range(10):
        west.received(NODES, b'["answers","east",2,"topic%d"]' % number)
        west.received(NODES, b'["hello","p%d",1,1,{},0,[]]' % number)
    assert len(west._peers["east"].topics) == 5
    assert len(west.others) == 3
    west.received(NODES, b'["hello","east",9,1,{},0,["a","b","c","d","e","f"]]')
    assert "east" not in west.others or not west._peers["east"].topics


async def test_questions_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = MemoryCluster()
    west, east = cluster.add("west"), cluster.add("east")
    east.answer("slow", waits)
    monkeypatch.setattr(exchange_module, "MOST_WAITING", 3)
    questions = [Deferred.fromCoroutine(west.request("slow", {})) for _ in range(4)]
    with pytest.raises(Unanswered, match="too many questions"):
        await questions[3]
    monkeypatch.setattr(exchange_module, "MOST_WAITING", 2)
    for question in questions[:3]:
        question.addErrback(lambda failure: failure.trap(Unanswered))
    cluster.kill("east")
    cluster.run(10.0)
    assert all(question.called for question in questions)
