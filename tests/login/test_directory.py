from __future__ import annotations

import struct

import pytest

from emu.limits.rates import Allowance
from emu.link.connection import MessageReceived, WorldIntroduced
from emu.link.messages import (
    BasicCharUpdate,
    CharacterCreateReply,
    CharacterCreateRequest,
    LSInfo,
    LSStatus,
    UsertoWorldReq,
    UsertoWorldResp,
)
from emu.link.settings import hash_link_password
from emu.login.events import LoginEvent, StoreFailed, WorldLeft, WorldRefused, WorldRegistered
from emu.login.ports import ConnectedWorlds
from emu.login.settings import DirectoryConfig
from emu.model import CreateResponse, PlayResponse
from emu.worlds import RegisteredWorld, WorldEntry
from tests.support.login.directory_fakes import Link, Loop, Observer, Stores, world_directory
from tests.support.times import APART, ManualClock

HASH = hash_link_password("secret")
NOW = 1000.0


def world(world_id: int = 7, account: str = "testlabs", **changes) -> RegisteredWorld:
    values = {"name": f"World {world_id}", "password": HASH, **changes}
    return RegisteredWorld(id=world_id, account=account, **values)


def info(account: str = "testlabs", password: str = HASH, **changes) -> LSInfo:
    return LSInfo(changes.pop("name", "My Name"), "host", account, password, **changes)


class Bench:
    def __init__(
        self, *worlds: RegisteredWorld, config: DirectoryConfig | None = None, **more
    ) -> None:
        self.loop = Loop()
        self.stores = Stores(*(worlds or (world(),)))
        self.observer = Observer()
        self.reports: list[LoginEvent] = []
        self.clock = ManualClock(NOW)
        self.directory = world_directory(
            self.stores,
            self.observer,
            spawn=self.loop.spawn,
            clock=self.clock,
            config=config,
            report=self.reports.append,
            **more,
        )

    @property
    def now(self) -> float:
        return self.clock.seconds

    def introduce(self, introduction: LSInfo | None = None, link: Link | None = None) -> Link:
        link = link or Link()
        self.directory.link_event(link, WorldIntroduced(introduction or info()), self.now)
        return link

    def up(self, account: str = "testlabs") -> Link:
        link = self.introduce(info(account))
        assert link.accepted
        self.say(link, LSStatus(1))
        self.observer.take()
        self.stores.calls.clear()
        return link

    def say(self, link: Link, message) -> None:
        self.directory.link_event(link, MessageReceived(message), self.now)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_it_is_what_the_login_service_expects() -> None:
    worlds: ConnectedWorlds = Bench().directory
    assert worlds.listed() == []


def test_a_world_registers_and_is_listed_under_its_stored_name(bench: Bench) -> None:
    link = bench.introduce()
    entry = WorldEntry(id=7, name="World 7", up=True, locked=False, players=0)
    assert link.accepted == 1
    assert link.sent == []
    assert bench.observer.take() == [entry]
    assert bench.directory.listed() == [entry]
    assert bench.directory.connected(7) == entry
    assert bench.stores.calls == [("connected", 7, "192.0.2.7", "0.9.9-Nebula", NOW + APART)]
    assert isinstance(bench.reports[-1], WorldRegistered)


@pytest.mark.parametrize("sent", [HASH, HASH.upper()])
@pytest.mark.parametrize("stored", [HASH, HASH.upper()])
def test_the_case_of_the_hash_does_not_count(stored: str, sent: str) -> None:
    assert Bench(world(password=stored)).introduce(info(password=sent)).accepted


@pytest.mark.parametrize("stored", ["", HASH[:29], "secret", hash_link_password("other"), "$x"])
@pytest.mark.parametrize("sent", ["", HASH[:29], HASH, "secret"])
def test_no_other_password_gets_in(stored: str, sent: str) -> None:
    bench = Bench(world(password=stored))
    link = bench.introduce(info(password=sent))
    assert link.refused == ("Bad password", "bad password")
    assert not link.accepted
    assert bench.directory.listed() == []
    assert bench.directory.counters["bad password"] == 1
    assert isinstance(bench.reports[-1], WorldRefused)


@pytest.mark.parametrize(
    ("changed", "text", "reason"),
    [
        ({"account": "nobody"}, "Bad password", "world not registered"),
        ({"protocol_version": "0.4.9"}, "Incorrect version", "protocol version not supported"),
        ({"server_version": "1.0"}, "Incorrect version", "server version not allowed"),
        ({"server_type": 2}, "Possible Hacking Attempt", "server type not supported"),
        ({"name": "abc"}, "Bad password", "world name not allowed"),
    ],
)
def test_worlds_that_may_not_register(changed: dict, text: str, reason: str) -> None:
    bench = Bench(config=DirectoryConfig(server_versions=("0.9.9-Nebula",)))
    link = bench.introduce(info(**changed))
    assert link.refused == (text, reason)
    assert bench.directory.counters == {reason: 1}


def test_disabled_worlds_and_banned_addresses_are_refused() -> None:
    bench = Bench(world(enabled=False))
    assert bench.introduce().refused == ("Bad password", "world disabled")
    bench = Bench()
    bench.stores.banned.add("192.0.2.")
    assert bench.introduce().refused == ("Bad password", "address banned")
    assert bench.introduce(link=Link("198.51.100.1")).accepted


def test_only_29_characters_of_the_account_count() -> None:
    bench = Bench(world(account="a" * 29))
    assert bench.introduce(info(account="a" * 30)).accepted


def test_an_unregistered_world_is_added_when_a_setting_allows_it() -> None:
    bench = Bench(config=DirectoryConfig(unregistered_worlds=True))
    assert bench.introduce(info("newcomer", HASH.upper())).accepted
    assert bench.stores.worlds["newcomer"].password == HASH
    assert bench.directory.listed()[0].name == "My Name"
    again = bench.introduce(info("newcomer", hash_link_password("wrong")))
    assert again.refused == ("Bad password", "bad password")
    assert bench.introduce(info("third")).refused == ("Bad password", "world name taken")
    for password in ("", "plain"):
        assert bench.introduce(info("fourth", password)).refused == ("Bad password", "bad password")


def test_new_worlds_of_one_address_are_few() -> None:
    config = DirectoryConfig(unregistered_worlds=True, new_worlds=Allowance(2, 60.0))
    bench = Bench(config=config)
    links = [bench.introduce(info(f"new{n}", name=f"Welt Ä{n}")) for n in range(3)]
    assert [link.reason for link in links] == [None, None, "too many new worlds from this address"]
    assert bench.introduce(info("new3", name="Other"), Link("198.51.100.1")).accepted
    bench.clock.seconds += 60
    assert bench.introduce(info("new4", name="  Мир 2 ")).accepted
    assert bench.directory.listed()[-1].name == "Мир 2"


def test_a_ghost_is_kicked_and_the_world_stays_listed(bench: Bench) -> None:
    ghost = bench.up()
    link = bench.introduce(link=Link("198.51.100.1"))
    assert ghost.refused == ("Ghost Kick!", "replaced by a new link")
    assert link.accepted
    bench.directory.link_closed(ghost, "replaced by a new link", NOW)
    assert [entry.id for entry in bench.directory.listed()] == [7]
    gone, changed = bench.observer.take()  # what the ghost was asked is answered for, once
    assert (gone, changed.id, changed.up) == (("gone", 7), 7, True)
    bench.say(ghost, LSStatus(-2))
    assert bench.directory.connected(7) is not None
    assert not bench.directory.connected(7).locked
    bench.directory.link_closed(link, "connection lost", NOW)
    assert bench.observer.take() == [("gone", 7)]


def test_a_link_that_closes_while_the_store_is_asked_does_not_register(bench: Bench) -> None:
    bench.stores.held = True
    link = bench.introduce()
    link.close("connection lost", NOW)
    bench.directory.link_closed(link, "connection lost", NOW)
    bench.stores.held = False
    bench.loop.run()
    assert not link.accepted
    assert bench.directory.listed() == []


def test_a_broken_store_closes_the_link_without_a_word_so_that_the_world_tries_again(
    bench: Bench,
) -> None:
    bench.stores.broken = True
    link = bench.introduce()
    assert (link.reason, link.refused) == ("store failed", None)
    assert bench.directory.counters["store failed"] == 1


def test_development_worlds_are_marked(bench: Bench) -> None:
    bench.introduce(info(server_type=4))
    assert bench.directory.listed()[0].development


@pytest.mark.parametrize(
    ("status", "up", "locked"),
    [(1, True, False), (-2, True, True), (-3, True, False), (0, False, False), (-4, False, False)],
)
def test_what_a_status_means_in_the_list(bench: Bench, status: int, up: bool, locked: bool) -> None:
    link = bench.up()
    bench.say(link, LSStatus(status, 12, 3, 80))
    entry = WorldEntry(7, "World 7", up, locked, 12, max_level=80)
    assert bench.observer.take() == [entry]
    assert bench.directory.connected(7) == entry
    bench.say(link, LSStatus(status, 12, 3, 80))
    assert bench.observer.take() == []


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (LSStatus(1, 5001, 0), "too many players"),
        (LSStatus(1, 0, 501), "too many zones"),
    ],
)
def test_worlds_above_the_limits_are_kicked(bench: Bench, status: LSStatus, reason: str) -> None:
    link = bench.up()
    bench.say(link, LSStatus(1, 5000, 500))
    assert not link.closed
    bench.say(link, status)
    assert link.refused is not None
    assert link.refused[1] == reason


@pytest.mark.parametrize("status", [LSStatus(1, -1, 3), LSStatus(1, 4, -(2**31))])
def test_a_negative_count_is_read_as_zero(bench: Bench, status: LSStatus) -> None:
    """EQ2Emulator closes a link for counts above its limits only: docs/protocol/link.md#status."""
    link = bench.introduce()
    bench.say(link, status)
    players, zones = max(status.players, 0), max(status.zones, 0)
    entry = bench.directory.connected(7)
    assert not link.closed
    assert entry is not None
    assert entry.players == players
    assert bench.directory.counters["negative count in LSStatus"] == 1
    recorded = [call for call in bench.stores.calls if call[0] == "status"]
    assert recorded[-1][2:5] == (1, players, zones)


def test_the_status_is_recorded_when_it_changes_and_once_a_minute(bench: Bench) -> None:
    link = bench.introduce()
    for second in range(0, 121, 15):
        bench.clock.seconds = NOW + second
        bench.say(link, LSStatus(1, second))
    bench.say(link, LSStatus(-2, 5, 6))
    bench.directory.link_closed(link, "silent", bench.now)
    recorded = [call for call in bench.stores.calls if call[0] == "status"]
    assert recorded == [
        ("status", 7, 1, 0, 0, NOW + APART),
        ("status", 7, 1, 60, 0, NOW + APART + 60),
        ("status", 7, 1, 120, 0, NOW + APART + 120),
        ("status", 7, -2, 5, 6, NOW + APART + 120),
        ("status", 7, -4, 0, 0, NOW + APART + 120),
    ]
    assert isinstance(bench.reports[-1], WorldLeft)


def test_a_play_request_and_its_answer(bench: Bench) -> None:
    link = bench.up()
    assert bench.directory.request_play(7, 101, 5, "203.0.113.9", NOW)
    assert link.sent == [UsertoWorldReq(101, 5, 7, 0, 0, "203.0.113.9")]
    answer = UsertoWorldResp(101, 5, 7, 0xABCD, 1, "198.51.100.1", 9100)
    bench.say(link, answer)
    bench.say(link, answer)
    heard = [PlayResponse(7, 101, 5, 0xABCD, 1, "198.51.100.1", 9100)]
    assert bench.observer.take() == heard
    assert bench.directory.counters == {"play answer nobody asked for": 1}


def test_answers_that_fit_no_request_are_dropped() -> None:
    bench = Bench(world(), world(8, "other"))
    link, other = bench.up(), bench.up("other")
    assert bench.directory.request_play(7, 101, 5, "203.0.113.9", NOW)
    bench.say(link, UsertoWorldResp(101, 5, 8, 1, 1, "", 1))
    bench.say(link, UsertoWorldResp(101, 6, 7, 1, 1, "", 1))
    bench.say(other, UsertoWorldResp(101, 5, 8, 1, 1, "", 1))
    bench.say(link, CharacterCreateReply(101, 5, 1))
    bench.clock.seconds += 121
    bench.say(link, UsertoWorldResp(101, 5, 7, 1, 1, "", 1))
    assert bench.observer.take() == []
    assert bench.directory.counters.total() == 5


def test_requests_to_a_world_that_is_not_there(bench: Bench) -> None:
    assert not bench.directory.request_play(7, 1, 1, "", NOW)
    assert not bench.directory.request_create(7, 1, 546, bytes(300), NOW)
    bench.directory.notify_delete(7, 1, 1, NOW)
    assert bench.directory.connected(7) is None


def test_an_ipv6_address_that_does_not_fit_is_left_out(bench: Bench) -> None:
    link = bench.up()
    assert bench.directory.request_play(7, 1, 1, "2001:db8:1111:2222:3333::1", NOW)
    assert bench.directory.request_play(7, 1, 2, "2001:db8::1", NOW)
    assert [request.client_address for request in link.sent] == ["", "2001:db8::1"]  # type: ignore[attr-defined]


def test_unanswered_requests_are_bounded() -> None:
    bench = Bench(config=DirectoryConfig(unanswered=2))
    bench.up()
    assert [bench.directory.request_play(7, n, 1, "", NOW) for n in (1, 2, 3)] == [
        True,
        True,
        False,
    ]
    assert bench.directory.request_play(7, 3, 1, "", NOW + 120)


def test_a_create_request_carries_the_real_account(bench: Bench) -> None:
    link = bench.up()
    payload = b"\1" + bytes(4) + struct.pack("<I", 99) + bytes(300)
    assert bench.directory.request_create(7, 101, 546, payload, NOW)
    patched = b"\1" + bytes(4) + struct.pack("<I", 101) + bytes(300)
    assert link.sent == [CharacterCreateRequest(546, patched)]
    bench.say(link, CharacterCreateReply(101, 33, 1))
    assert bench.observer.take() == [CreateResponse(7, 101, 33, 1)]


@pytest.mark.parametrize(
    ("version", "place"), [(200, 0), (400, 4), (546, 5), (1096, 5), (64753, 5)]
)
def test_the_account_is_where_the_version_has_it(bench: Bench, version: int, place: int) -> None:
    link = bench.up()
    assert bench.directory.request_create(7, 101, version, bytes(700), NOW)
    (request,) = link.sent
    assert request.request == bytes(place) + struct.pack("<I", 101) + bytes(696 - place)  # type: ignore[attr-defined]


def test_a_create_request_too_short_to_read_and_its_answer_to_nobody(bench: Bench) -> None:
    link = bench.up()
    assert bench.directory.request_create(7, 101, 546, b"abc", NOW)
    assert link.sent == [CharacterCreateRequest(546, b"abc")]
    bench.say(link, CharacterCreateReply(0, 0, 0))
    assert bench.observer.take() == [CreateResponse(7, 0, 0, 0)]
    assert not bench.directory.request_create(7, 101, 546, bytes(65537), NOW)


def test_a_deleted_character_is_sent_to_its_world(bench: Bench) -> None:
    link = bench.up()
    bench.directory.notify_delete(7, 101, 5, NOW)
    assert link.sent == [BasicCharUpdate(101, 5, 128, 1)]


def test_updates_keep_their_order_while_the_store_is_slow_and_answers_do_not_wait(
    bench: Bench,
) -> None:
    link = bench.up()
    assert bench.directory.request_play(7, 101, 5, "", NOW)
    bench.stores.held = True
    for level in range(2, 10):
        bench.say(link, BasicCharUpdate(101, 5, 1, level))
    bench.say(link, UsertoWorldResp(101, 5, 7, 1, 1, "", 1))
    assert bench.observer.take() == [PlayResponse(7, 101, 5, 1, 1, "", 1)]
    bench.directory.link_closed(link, "connection lost", NOW)
    bench.stores.held = False
    bench.loop.run()
    levels = [call[4]["level"] for call in bench.stores.calls if call[0] == "character"]
    assert levels == list(range(2, 10))
    assert bench.stores.calls[-1][:3] == ("status", 7, -4)


def test_a_world_that_reports_faster_than_is_stored_is_kicked() -> None:
    bench = Bench(config=DirectoryConfig(waiting_updates=5))
    link = bench.up()
    bench.stores.held = True
    for level in range(6):
        bench.say(link, BasicCharUpdate(101, 5, 1, level))
    assert not link.closed
    bench.say(link, BasicCharUpdate(101, 5, 1, 9))
    assert link.reason == "too many updates waiting"
    bench.stores.held = False
    bench.loop.run()


def test_an_update_that_the_store_refuses_is_reported_and_the_next_ones_go_on(bench: Bench) -> None:
    link = bench.up()
    bench.stores.broken = True
    bench.say(link, BasicCharUpdate(101, 5, 1, 2))
    bench.stores.broken = False
    bench.say(link, BasicCharUpdate(101, 5, 1, 3))
    assert bench.reports[-1] == StoreFailed("192.0.2.7", 7, "the disk is full")
    assert bench.stores.calls == [("character", 101, 7, 5, {"level": 3})]


def test_what_means_nothing_to_a_login_server_is_counted(bench: Bench) -> None:
    link = bench.up()
    bench.say(link, BasicCharUpdate(101, 5, 128, 1))
    assert bench.stores.calls == []
    assert bench.directory.counters == {"message ignored": 1}


def test_worlds_disabled_removed_or_banned_later_are_dropped_and_the_others_stay() -> None:
    names = ("one", "two", "three", "four")
    bench = Bench(*(world(number, name) for number, name in enumerate(names)))
    links = {name: bench.introduce(info(name), Link(f"192.0.2.{name}")) for name in names}
    bench.stores.worlds["one"] = world(0, "one", enabled=False)
    del bench.stores.worlds["two"]
    bench.stores.banned.add("192.0.2.three")
    bench.loop.spawn(bench.directory.revalidate())
    reasons = {name: link.reason for name, link in links.items()}
    assert reasons == {
        "one": "world disabled",
        "two": "world removed",
        "three": "address banned",
        "four": None,
    }


def test_a_broken_store_drops_no_world(bench: Bench) -> None:
    link = bench.up()
    bench.stores.broken = True
    bench.loop.spawn(bench.directory.revalidate())
    assert not link.closed
    assert bench.reports[-1] == StoreFailed("192.0.2.7", 7, "the disk is full")


def test_an_operator_can_kick_a_world(bench: Bench) -> None:
    link = bench.up()
    assert bench.directory.kick(7, "Go away.", NOW)
    assert link.refused == ("Go away.", "kicked by an operator")
    assert not bench.directory.kick(8, "Go away.", NOW)


def test_several_hundred_worlds_are_listed_by_id() -> None:
    bench = Bench(*(world(number, f"account{number}") for number in range(400, 0, -1)))
    for number in range(400, 0, -1):
        bench.up(f"account{number}")
    assert [entry.id for entry in bench.directory.listed()] == list(range(1, 401))
