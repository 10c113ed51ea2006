from __future__ import annotations

import random
from typing import Any

import pytest

from emu.link.connection import GHOST_KICK, MessageReceived, WorldIntroduced
from emu.link.messages import (
    BasicCharUpdate,
    CharacterCreateReply,
    CharacterCreateRequest,
    LinkMessage,
    LSInfo,
    LSStatus,
    UsertoWorldReq,
    UsertoWorldResp,
)
from emu.link.settings import hash_link_password
from emu.login.directory import MAX_CREATE_SIZE
from emu.login.ports import ConnectedWorlds
from emu.login.shared_worlds import MOST_ASKED, Askers, SharedWorlds
from emu.model import CreateResponse, PlayResponse
from emu.processes.ports import GONE, Bus, BusMember
from emu.reply_codes import CreateCode, PlayCode
from emu.times import Monotonic
from emu.worlds import RegisteredWorld
from tests.support.cluster.brokers import MemoryCluster
from tests.support.login.create_requests import request_546
from tests.support.login.directory_fakes import Link, Loop, Observer, Stores, world_directory
from tests.support.running.lossy_bus import Network
from tests.support.times import ManualClock

HASH = hash_link_password("secret")
WORLD, ACCOUNT, CHARACTER = 7, 101, 5


class Node:
    """A login server with its directory, and what its clients would be shown."""

    def __init__(self, bus: Bus, name: str) -> None:
        rows = (
            RegisteredWorld(id=number, account=account, name=f"World {number}", password=HASH)
            for number, account in ((WORLD, "testlabs"), (8, "other"))
        )
        loop = self.loop = Loop()
        self.stores = Stores(*rows)
        self.observer = Observer()
        self.clock = ManualClock(1000.0)
        self.directory = world_directory(
            self.stores, self.observer, spawn=loop.spawn, clock=self.clock
        )
        self.worlds = SharedWorlds(
            BusMember(name, 1, bus), self.directory,
            spawn=loop.spawn, clock=self.clock,
        )  # fmt: skip
        self.worlds.observe(self.observer)

    @property
    def now(self) -> Monotonic:
        return self.clock.now()

    def link(self, account: str = "testlabs") -> Link:
        """Link a world to this login server."""
        link = Link()
        info = LSInfo("My Name", "host", account, HASH)
        self.directory.link_event(link, WorldIntroduced(info), self.now)
        assert link.accepted
        self.say(link, LSStatus(1, 3, 2, 50))
        return link

    def say(self, link: Link, message: LinkMessage) -> None:
        self.directory.link_event(link, MessageReceived(message), self.now)

    def end(self, link: Link, reason: str = "gone") -> None:
        link.close(reason, self.now)
        self.directory.link_closed(link, reason, self.now)

    def play(self) -> bool:
        return self.worlds.request_play(WORLD, ACCOUNT, CHARACTER, "192.0.2.9", self.now)

    def create(self) -> bool:
        return self.worlds.request_create(WORLD, ACCOUNT, 546, request_546(), self.now)

    @property
    def ids(self) -> list[int]:
        return [entry.id for entry in self.worlds.listed()]


class Cluster:
    """Login servers over a network."""

    def __init__(self, *names: str, seed: int = 1) -> None:
        self.network = Network(random.Random(seed))
        self.nodes = {name: Node(self.network.bus(name), name) for name in names}

    def __getitem__(self, name: str) -> Node:
        return self.nodes[name]

    def settle(self) -> None:
        """Let five quiet seconds pass."""
        self.network.loses = 0.0
        for node in self.nodes.values():
            node.worlds.tick()
        self.network.deliver()


@pytest.fixture
def cluster() -> Cluster:
    return Cluster("east", "west")


@pytest.fixture
def link(cluster: Cluster) -> Link:
    """A world that is linked to the login server east."""
    made = cluster["east"].link()
    cluster.network.deliver()
    for node in cluster.nodes.values():
        node.observer.take()
    return made


def granted(**changes: Any) -> UsertoWorldResp:
    """Return a world's answer to a play request."""
    values: dict[str, Any] = {
        "account_id": ACCOUNT, "char_id": CHARACTER, "world_id": WORLD, "access_key": 4711,
        "response": 1, "address": "192.0.2.7", "port": 9001,
    }  # fmt: skip
    return UsertoWorldResp(**values | changes)


GRANTED = PlayResponse(WORLD, ACCOUNT, CHARACTER, 4711, 1, "192.0.2.7", 9001)


def test_a_world_is_listed_at_all_login_servers(cluster: Cluster, link: Link) -> None:
    west: ConnectedWorlds = cluster["west"].worlds
    [entry] = west.listed()
    assert (entry.id, entry.name, entry.up, entry.players) == (WORLD, "World 7", True, 3)
    assert west.connected(WORLD) == entry == cluster["east"].worlds.connected(WORLD)
    cluster["east"].say(link, LSStatus(1, 4, 2, 50))
    cluster.network.deliver()
    [changed] = cluster["west"].observer.take()
    assert changed.players == 4
    cluster["west"].link("other")
    assert cluster["west"].ids == [WORLD, 8]
    cluster["east"].end(link)
    cluster.network.deliver()
    assert ("gone", WORLD) in cluster["west"].observer.take()
    assert west.connected(WORLD) is None


def test_a_character_is_played_through_another_login_server(cluster: Cluster, link: Link) -> None:
    assert cluster["west"].play()
    [request] = link.sent
    assert isinstance(request, UsertoWorldReq)
    assert (request.account_id, request.char_id, request.world_id) == (ACCOUNT, CHARACTER, WORLD)
    assert request.client_address == "192.0.2.9"
    cluster["east"].say(link, granted())
    assert cluster["west"].observer.take() == [GRANTED]
    assert cluster["east"].observer.take() == []


def test_who_has_asked_first_gets_the_first_answer(cluster: Cluster, link: Link) -> None:
    assert cluster["east"].play()
    assert cluster["west"].play()
    cluster["east"].say(link, granted())
    assert cluster["east"].observer.take() == [GRANTED]
    cluster["east"].say(link, granted())
    assert cluster["west"].observer.take() == [GRANTED]
    cluster["east"].say(link, granted())
    assert cluster["east"].directory.counters["play answer nobody asked for"] == 1


def test_a_character_is_created_through_another_login_server(cluster: Cluster, link: Link) -> None:
    assert cluster["west"].create()
    [request] = link.sent
    assert isinstance(request, CharacterCreateRequest)
    assert ACCOUNT.to_bytes(4, "little") in request.request
    # One question with the world's answer is lost, and of another the reply.
    lost = iter((True, False, True, False, False))
    cluster.network.is_lost = lambda *_: next(lost)  # type: ignore[method-assign, assignment]
    cluster["east"].say(link, CharacterCreateReply(ACCOUNT, 9, 1))
    expected = CreateResponse(WORLD, ACCOUNT, 9, 1)
    assert cluster["west"].observer.take() == [expected]


def test_an_unreadable_request_is_answered_to_the_only_one_who_waits(
    cluster: Cluster, link: Link
) -> None:
    assert cluster["west"].create()
    cluster["east"].say(link, CharacterCreateReply(0, 0, 0))
    [answer] = cluster["west"].observer.take()
    assert answer.account_id == 0


def test_a_deletion_reaches_the_world(cluster: Cluster, link: Link) -> None:
    cluster["west"].worlds.notify_delete(WORLD, ACCOUNT, CHARACTER, cluster["west"].now)
    cluster["east"].worlds.notify_delete(WORLD, ACCOUNT, CHARACTER, cluster["east"].now)
    cluster["west"].worlds.notify_delete(99, ACCOUNT, CHARACTER, cluster["west"].now)
    assert [type(one) for one in link.sent] == [BasicCharUpdate] * 2


def test_requests_to_a_lost_login_server_are_refused(cluster: Cluster, link: Link) -> None:
    assert not cluster["west"].worlds.request_play(99, ACCOUNT, CHARACTER, "", cluster["west"].now)
    assert not cluster["west"].worlds.request_create(99, ACCOUNT, 546, b"", cluster["west"].now)
    cluster.network.cut.add("east")
    west = cluster["west"]
    assert west.play()
    refusal = PlayResponse(WORLD, ACCOUNT, CHARACTER, 0, PlayCode.PROBLEM, "", 0)
    assert west.observer.take() == [refusal]
    assert west.create(), "the world may have got it; its answer may still come"
    assert west.observer.take() == []
    cluster.network.buses["west"].local.publish(GONE, {"process": "east"})
    assert west.observer.take() == [("gone", WORLD)]
    assert west.ids == []
    assert link.sent == []
    cluster.network.cut.clear()
    cluster.settle()
    assert west.ids == [WORLD]


def test_what_the_world_cannot_be_asked_is_refused_at_once(cluster: Cluster, link: Link) -> None:
    west = cluster["west"]
    assert west.worlds.request_create(WORLD, ACCOUNT, 546, bytes(MAX_CREATE_SIZE + 1), west.now)
    assert west.observer.take() == [CreateResponse(WORLD, ACCOUNT, 0, CreateCode.NO_SERVERS)]
    assert link.sent == []


def test_a_world_that_links_to_another_login_server_leaves_the_earlier_one(
    cluster: Cluster, link: Link
) -> None:
    east, west = cluster["east"], cluster["west"]
    # The clock of the second login server is behind.
    west.clock.seconds = 10.0
    again = west.link()
    cluster.network.deliver()
    assert link.refused == (GHOST_KICK, "linked to another login server")
    assert not again.closed
    east.directory.link_closed(link, "replaced", east.now)
    cluster.network.deliver()
    assert east.ids == west.ids == [WORLD]
    assert east.play()
    assert [type(one) for one in again.sent] == [UsertoWorldReq]
    shown = east.observer.take()
    assert shown[0] == ("gone", WORLD), "the earlier link cannot answer any more"
    assert shown[-1].id == WORLD


def test_a_late_login_server_learns_of_all_worlds(cluster: Cluster, link: Link) -> None:
    late = Node(cluster.network.bus("late"), "late")
    cluster.network.deliver()
    assert late.ids == [WORLD]
    assert not link.closed


@pytest.mark.parametrize("seed", range(12))
def test_whatever_is_lost_all_list_the_same_worlds_after_a_quiet_time(seed: int) -> None:
    cluster, chance = Cluster("east", "south", "west", seed=seed), random.Random(seed)
    cluster.network.loses = 0.5
    links: list[tuple[Node, Link]] = []
    for _ in range(40):
        node = cluster[chance.choice(("east", "south", "west"))]
        match chance.choice(("link", "end", "deliver", "status")):
            case "link":
                links.append((node, node.link(chance.choice(("testlabs", "other")))))
            case "end" if links:
                owner, link = links.pop(chance.randrange(len(links)))
                owner.end(link)
            case "status" if links:
                owner, link = chance.choice(links)
                owner.say(link, LSStatus(1, chance.randrange(9), 2, 50))
            case _:
                cluster.network.deliver()
    cluster.settle()
    for owner, link in links:
        if link.closed:
            owner.directory.link_closed(link, "replaced", owner.now)
    cluster.network.deliver()
    linked = {owner.directory._by_link[link].world.id for owner, link in links if not link.closed}
    lists = [node.worlds.listed() for node in cluster.nodes.values()]
    assert lists[0] == lists[1] == lists[2]
    assert {entry.id for entry in lists[0]} == linked


def test_over_the_bus_of_several_processes() -> None:
    """A world is played through another process, and is down when its own is killed."""
    cluster = MemoryCluster()
    east, west = (Node(cluster.add(name), name) for name in ("east", "west"))
    link = east.link()
    cluster.run(1.0)
    assert west.ids == [WORLD]
    assert west.play()
    cluster.run(1.0)
    east.say(link, granted())
    cluster.run(1.0)
    assert west.observer.take()[-1] == GRANTED
    cluster.kill("east")
    cluster.run(10.0)
    assert west.ids == []
    west.link()
    assert west.ids == [WORLD]
    assert cluster.errors == []


def test_askers_are_bounded_and_forgotten() -> None:
    askers = Askers(10.0)
    assert all(
        askers.add_asker((WORLD, number), "west", Monotonic(0.0)) for number in range(MOST_ASKED)
    )
    assert not askers.add_asker((WORLD, -1), "west", Monotonic(1.0))
    assert askers.add_asker((WORLD, 3), "south", Monotonic(1.0))
    assert [askers.take_asker((WORLD, 3), "here") for _ in range(3)] == ["west", "south", "here"]
    assert askers.add_asker((8, 1), "west", Monotonic(11.0)), "earlier ones have expired"
    assert askers.only_key(WORLD) is None
    assert askers.only_key(8) == (8, 1)
    askers.forget(8)
    assert askers.only_key(8) is None


def test_requests_expire_by_themselves_when_an_older_key_is_asked_for_again() -> None:
    askers = Askers(10.0)
    assert askers.add_asker((WORLD, 1), "west", Monotonic(0.0))
    assert askers.add_asker((WORLD, 2), "west", Monotonic(1.0))
    assert askers.add_asker((WORLD, 1), "south", Monotonic(9.0))
    assert askers.add_asker((8, 1), "west", Monotonic(12.0))
    assert askers.only_key(WORLD) == (WORLD, 1), "nothing waits for the other one any more"
    assert askers.take_asker((WORLD, 2), "here") == "here"
