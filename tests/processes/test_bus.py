"""The bus of several processes: the contracts over simulated connections, and nonsense on them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater

from emu.errors import CommandError, DuplicateName, Unanswered
from emu.processes import bus as bus_module
from emu.processes.bus import ClusterBus
from emu.processes.connection import ProcessJoined
from emu.processes.ports import CAME, GONE, Note
from emu.processes.shared import SharedPresence
from tests.processes.contracts.bus import BusContract, Buses
from tests.processes.contracts.presence import PresenceContract, Presences, known, nothing
from tests.support.running.clusters import Simulated, shell
from tests.support.running.processes import present

Three = tuple[ClusterBus, ClusterBus, ClusterBus]


@pytest.fixture
def three(cluster: Simulated) -> Three:
    return cluster.add(), cluster.add(), cluster.add()


class TestClusterBus(BusContract):
    @pytest.fixture
    def buses(self, cluster: Simulated) -> Buses:
        self.cluster = cluster
        return cluster.add

    async def settle(self) -> None:
        await self.cluster.settle()


class TestPresenceOverIt(PresenceContract):
    @pytest.fixture
    def presences(self, cluster: Simulated) -> Presences:
        self.cluster = cluster

        def make() -> SharedPresence:
            bus = cluster.add()
            return SharedPresence(bus, bus.process)

        return make

    async def settle(self) -> None:
        await self.cluster.settle()


async def test_members_reach_each_other_by_way_of_the_hub(cluster: Simulated, three: Three) -> None:
    hub, east, west = three
    await cluster.settle()
    assert set(west.others) == {"hub", "east"}
    assert west.others["hub"] == {"host": "192.0.2.1", "port": 9001}
    heard: list[Note] = []
    west.subscribe("weather", heard.append)

    async def double(note: Note) -> Note:
        return {"n": 2 * int(note["n"] or 0)}

    east.answer("double", double)
    await cluster.settle()
    east.publish("weather", {"rain": True})
    assert await west.request("double", {"n": 4}) == {"n": 8}
    assert heard == [{"rain": True}]
    with pytest.raises(DuplicateName):
        west.answer("double", double)
    assert hub.others.keys() == {"east", "west"}


async def test_a_lost_connection_is_published_and_questions_fail_at_once(
    cluster: Simulated, three: Three
) -> None:
    hub, east, west = three
    gone: list[tuple[str, object]] = []
    for bus in (hub, east, west):
        bus.subscribe(GONE, lambda note, who=bus.process: gone.append((who, note["process"])))  # type: ignore[misc]

    async def never(_note: Note) -> Note:
        waiting: Deferred[Note] = Deferred()
        return await waiting

    east.answer("secret", never)
    await cluster.settle()
    question = Deferred.fromCoroutine(west.request("secret", {}))
    await cluster.settle()
    cluster.sides["east"][0].cut_off("a test")
    await cluster.settle()
    with pytest.raises(Unanswered, match="the connection to east is lost"):
        await question
    assert sorted(gone) == [("east", "hub"), ("east", "west"), ("hub", "east"), ("west", "east")]
    with pytest.raises(Unanswered, match="no process answers secret"):
        await west.request("secret", {})
    assert east.others == {}


async def test_who_comes_back_is_known_again_with_all_its_players(
    cluster: Simulated, three: Three
) -> None:
    hub, east, _ = three
    here, there = SharedPresence(hub, "hub"), SharedPresence(east, "east")
    there.entered(present(101, 5, 12), nothing)
    await cluster.settle()
    cluster.sides["east"][1].cut_off("a test")
    await cluster.settle()
    assert here.find(5) is None, "players of a process that is gone are not found"
    assert there.find(5) is not None, "and goes on there"
    there.entered(present(102, 6, 12), nothing)
    here.entered(present(103, 7, 325), nothing)
    cluster.join("east")
    await cluster.settle()
    assert known(here, 5) == (101, 5, 12, False)
    assert sorted(one.char_id for one in here) == sorted(one.char_id for one in there) == [5, 6, 7]


async def test_a_character_that_two_processes_let_in_stays_where_it_came_last(
    cluster: Simulated, three: Three
) -> None:
    hub, east, _ = three
    moments = {"hub": 20.0, "east": 10.0}
    away: list[str] = []
    presences = {
        bus.process: SharedPresence(bus, bus.process, lambda who=bus.process: moments[who])  # type: ignore[misc]
        for bus in (hub, east)
    }
    await cluster.settle()
    cluster.sides["east"][1].cut_off("a test")
    for who, presence in presences.items():
        presence.entered(present(101, 5, 12), lambda who=who: away.append(who))  # type: ignore[misc]
    cluster.join("east")
    await cluster.settle()
    assert away == ["east"]
    for presence in presences.values():
        found = presence.find(5)
        assert found is not None
        assert found.process == "hub"


async def test_an_answer_that_does_not_come_in_time(
    monkeypatch: pytest.MonkeyPatch, cluster: Simulated, three: Three
) -> None:
    monkeypatch.setattr(bus_module, "PATIENCE", 0.02)
    hub, east, _ = three
    late: list[Any] = []

    async def slow(_note: Note) -> Note:
        await deferLater(reactor, 0.06)
        late.append(True)
        return {}

    east.answer("slow", slow)
    await cluster.settle()
    with pytest.raises(Unanswered, match="no answer about slow"):
        await hub.request("slow", {})
    for _ in range(20):
        await cluster.settle()
    assert late, "and what comes after it is nothing"


async def test_a_fault_of_an_answerer_is_reported_at_its_process_only(
    cluster: Simulated, three: Three
) -> None:
    hub, east, _ = three

    async def breaks(_note: Note) -> Note:
        return {"n": 1 // 0}

    east.answer("break", breaks)
    await cluster.settle()
    with pytest.raises(CommandError, match="it failed there"):
        await hub.request("break", {})
    assert [type(error) for error in cluster.errors] == [ZeroDivisionError]


async def test_of_two_answerers_at_once_one_is_refused(cluster: Simulated, three: Three) -> None:
    hub, east, west = three

    async def mine(_note: Note) -> Note:
        return {}

    await cluster.settle()
    east.answer("who", mine)
    west.answer("who", mine)
    await cluster.settle()
    assert [type(error) for error in cluster.errors] == [DuplicateName]
    assert await hub.request("who", {}) == {}


class Link:
    """A connection that only remembers."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.reasons: list[str] = []

    def send(self, frame: Any) -> None:
        self.sent.append(frame)

    def cut_off(self, reason: str) -> None:
        self.reasons.append(reason)


FRAMES = st.lists(
    st.one_of(
        st.sampled_from(
            ["note", "ask", "answer", "failed", "unanswered", "answers", "silent", "taken", "came",
             "gone", "ready", CAME, GONE, "x"]
        ),
        st.integers(), st.none(), st.floats(), st.text(max_size=5),
        st.dictionaries(st.text(max_size=5), st.one_of(st.integers(), st.lists(st.integers()))),
    ),
    min_size=1, max_size=4,
)  # fmt: skip


@given(st.lists(FRAMES, max_size=20))
def test_no_frame_raises_or_grows(frames: list[list[Any]]) -> None:
    errors: list[Exception] = []
    bus = ClusterBus("hub", shell(errors.append))
    link = Link()
    bus.joined(link, ProcessJoined("east", {"host": "h", "port": 1}))
    bus.received(Link(), ["note", "x", {}])
    for frame in frames:
        bus.received(link, frame)
    bus.ended(link)
    bus.ended(link)
    assert bus.others == {} or all("came" in frame for frame in frames if frame[0] == "came")
    assert not bus._peers


@pytest.mark.parametrize(
    "frame",
    [
        ["note", CAME, {"process": "forged"}],
        ["note", "x", {"a": []}],
        ["note", "x", {"a": {"base64": "!"}}],
        ["note", "x"],
        ["ask", "1", "x", {}],
        ["answers", "x" * 300],
        ["came", "", {}],
        ["came", "x" * 40, {}],
        ["dance"],
    ],
)
def test_what_makes_no_sense_ends_the_connection(frame: list[Any]) -> None:
    bus = ClusterBus("hub", shell([].append))
    link = Link()
    bus.joined(link, ProcessJoined("east", {}))
    bus.received(link, frame)
    assert len(link.reasons) == 1


def test_topics_of_one_process_are_bounded() -> None:
    bus = ClusterBus("hub", shell([].append))
    link = Link()
    bus.joined(link, ProcessJoined("east", {}))
    for number in range(bus_module.MOST_TOPICS + 1):
        bus.received(link, ["answers", f"topic {number}"])
    assert link.reasons == ["too many topics, or too long ones"]


def test_the_processes_that_one_reports_are_bounded() -> None:
    bus = ClusterBus("hub", shell([].append))
    link = Link()
    bus.joined(link, ProcessJoined("east", {}))
    for number in range(bus_module.MOST_OTHERS + 1):
        bus.received(link, ["came", f"process {number}", {}])
    assert link.reasons == ["more processes than a world has"]
    assert len(bus.others) == bus_module.MOST_OTHERS
