from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from emu.appearance import Models
from emu.errors import StructValueError
from emu.link.batches import LoginEquipmentRequest, ZoneItem, ZoneUpdatesRequest
from emu.link.messages import (
    BasicCharUpdate,
    CharacterCreateReply,
    CharacterCreateRequest,
    CharTimeStamp,
    LinkMessage,
    LSInfo,
    LSStatus,
    RaceUpdate,
    UsertoWorldReq,
    UsertoWorldResp,
)
from emu.link.settings import hash_link_password
from emu.model import WorldCharacter
from emu.reply_codes import PlayCode
from emu.structs import shipped_catalog
from emu.world.entry.admission import WorldAdmissionRules
from emu.world.registration.creation import CharacterCreation, NameRules
from emu.world.registration.registry import RegistryConfig, WorldRegistry
from emu.world.reports import WorldEvent
from emu.world.rules import AdmissionRules, CreationRules
from emu.world.zones.definitions import Start
from tests.support.coroutines import finish
from tests.support.login.create_requests import request_546
from tests.support.login.directory_fakes import Loop
from tests.support.running.processes import handoff_keys, presence, present
from tests.support.times import ManualClock
from tests.support.world.world_fakes import CharactersInMemory, world_character
from tests.support.world.worlds import ZoneTable

NOW = 1000.0
CLOCK = ManualClock(NOW)


class Bench:
    def __init__(
        self, *rows: WorldCharacter, keys: int = 1000, name: str = "Norrath", **admission: int
    ) -> None:
        self.store = CharactersInMemory(*rows)
        self.presence = presence()
        self.handoffs = handoff_keys(lambda: 0xBEEF, most=keys)
        config = RegistryConfig(
            name=name, account="me", password="secret", address="play.example.org",
            port=9001, internal_address="192.168.0.5", max_level=80,
        )  # fmt: skip
        self.admission = WorldAdmissionRules(
            AdmissionRules(**admission), self.presence, self.handoffs
        )
        creation = CharacterCreation(
            CreationRules(),
            NameRules(),
            self.store,
            shipped_catalog(),
            lambda wanted: Start(12),
            CLOCK,
        )
        self.zone_servers = ZoneTable()
        self.registry = WorldRegistry(
            config,
            characters=self.store,
            creation=creation,
            admission=self.admission,
            zone_servers=self.zone_servers,
            zones=lambda: [ZoneItem(12, "antonica", "Antonica")],
            models=Models(),
            clock=CLOCK,
        )

    def ask(self, message: LinkMessage) -> Sequence[LinkMessage]:
        answers: list[Sequence[LinkMessage]] = []

        async def run() -> None:
            answers.append(await self.registry.answer(message))

        Loop().spawn(run())
        return answers[0]

    def play(self, char_id: int = 5, address: str = "8.8.8.8") -> UsertoWorldResp:
        answer, *_ = self.ask(UsertoWorldReq(101, char_id, 7, 33, 0, address))
        assert isinstance(answer, UsertoWorldResp)
        return answer


def test_the_world_introduces_itself_with_the_hash_of_its_password() -> None:
    bench = Bench()
    digest = hash_link_password("secret")
    assert bench.registry.registration() == LSInfo("Norrath", "play.example.org", "me", digest)
    assert "secret" not in repr(bench.registry.config)


class KeysBesideCharacters:
    """Keys in the store of the characters; `others` of them belong to other accounts."""

    def __init__(self, bench: Bench, others: int) -> None:
        self.bench = bench
        self.others = others

    async def with_characters(self, account_id: int) -> tuple[Sequence[WorldCharacter], int]:
        return await self.bench.store.of_account(account_id), self.others

    async def redeem_claiming(self, account_id: int, key: int, holder: str) -> Any:
        raise AssertionError("no client shows its key to the registry")


def test_keys_beside_the_characters_are_counted_with_one_question() -> None:
    for others, code in ((0, PlayCode.SUCCESS), (1, PlayCode.WORLD_FULL)):
        bench = Bench(world_character(5), max_players=1)
        bench.registry.claiming_keys = KeysBesideCharacters(bench, others)
        assert bench.play().response == code


def test_a_name_travels_as_utf_8() -> None:
    payload = Bench(name="Мир").registry.registration().encode()
    assert payload[:201] == "Мир".encode().ljust(201, b"\0")


def test_its_status_is_up_locked_or_full() -> None:
    bench = Bench(max_players=1)
    assert bench.registry.status() == LSStatus(1, 0, 0, 80)
    bench.presence.entered(present(101, 5, 12), lambda: None)
    assert bench.registry.status() == LSStatus(-3, 1, 1, 80)
    bench.admission.locked = True
    assert bench.registry.status() == LSStatus(-2, 1, 1, 80)


def test_a_granted_request_has_a_key_that_lets_the_character_in_once() -> None:
    bench = Bench(world_character(5, name="Aldana"))
    expected = UsertoWorldResp(101, 5, 7, 0xBEEF, 1, "play.example.org", 9001, 0, 33)
    assert bench.play() == expected
    handoff = finish(bench.handoffs.redeem(101, 0xBEEF))
    assert handoff is not None
    assert (handoff.char_id, handoff.name) == (5, "Aldana")


def test_a_refused_request_has_no_key_and_leaves_none_behind() -> None:
    bench = Bench(world_character(5, admin_status=-1))
    answer = bench.play()
    assert (answer.response, answer.access_key) == (18, 0)
    assert bench.play(6).response == 5
    bench.store.broken = True
    assert (bench.play().response, bench.play().access_key) == (10, 0)
    assert len(bench.handoffs) == 0


def test_a_locked_world_and_an_account_in_use() -> None:
    bench = Bench(world_character(5))
    bench.admission.locked = True
    assert bench.play().response == 0
    bench.admission.locked = False
    bench.presence.entered(present(101, 6, 12), lambda: None)
    assert bench.play().response == 7
    bench.presence.lost_link(6)
    assert bench.play().response == 1


def test_who_was_promised_a_place_fills_the_world() -> None:
    bench = Bench(world_character(5), world_character(6, account_id=102), max_players=1)
    assert bench.play().response == 1
    (second,) = bench.ask(UsertoWorldReq(102, 6, 7, 33, 0, "8.8.8.8"))
    assert isinstance(second, UsertoWorldResp)
    assert (second.response, second.access_key) == (253, 0)
    assert bench.play().response == 1


def test_too_many_outstanding_keys_are_a_full_world() -> None:
    bench = Bench(world_character(5), keys=0)
    assert (bench.play().response, bench.play().access_key) == (253, 0)


@pytest.mark.parametrize(
    ("client", "reported"), [("8.8.8.8", "play.example.org"), ("192.168.0.77", "192.168.0.5")]
)
def test_the_address_fits_the_client(client: str, reported: str) -> None:
    assert Bench(world_character(5)).play(address=client).address == reported


def test_a_character_is_made_and_played() -> None:
    bench = Bench()
    request = CharacterCreateRequest(546, request_546())
    body = RaceUpdate(101, 1, 134, 9)
    assert bench.ask(request) == [CharacterCreateReply(101, 1, 1), body]
    assert bench.ask(UsertoWorldReq(101, 1, 7))[1:] == [body], "repairs a list that lacks it"
    assert bench.play(1).response == 1
    bench.admission.locked = True
    assert bench.ask(request) == [CharacterCreateReply(101, 0, 2)]


def test_nothing_is_sent_of_an_unknown_body() -> None:
    for looks in ({}, {"race_file": "ec/pc/orc/orc_male"}):
        bench = Bench(world_character(5, appearance=looks))
        assert len(bench.ask(UsertoWorldReq(101, 5, 7))) == 1


def test_who_is_in_a_zone_of_another_process_is_sent_straight_there() -> None:
    bench = Bench(world_character(5, zone_id=33))
    bench.zone_servers.lost = {33}
    assert (bench.play().address, bench.play().port) == ("play.example.org", 9001), "it is away"
    bench.zone_servers.may_run = False
    refused = bench.play()
    assert (refused.response, refused.access_key) == (PlayCode.ZONE_DOWN, 0), "no node runs it"
    bench.zone_servers.table[33] = ("192.0.2.7", 9007)
    bench.zone_servers.lost.clear()
    answer = bench.play()
    assert (answer.response, answer.address, answer.port) == (1, "192.0.2.7", 9007)
    assert answer.access_key


def test_a_deleted_character_is_gone_with_its_keys_and_its_session() -> None:
    away: list[int] = []
    bench = Bench(world_character(5))
    bench.play()
    bench.presence.entered(present(101, 5, 12), lambda: away.append(5))
    assert bench.ask(BasicCharUpdate(102, 5, 128, 1)) == []
    assert bench.ask(BasicCharUpdate(101, 5, 128, 0)) == []
    assert not bench.store.rows[5].deleted
    assert bench.ask(BasicCharUpdate(101, 5, 128, 1)) == []
    assert bench.store.rows[5].deleted
    assert away == [5]
    assert len(bench.handoffs) == 0
    assert bench.play().response == 5


def test_batches_are_answered_while_there_is_something_to_send() -> None:
    bench = Bench()
    assert len(bench.ask(ZoneUpdatesRequest())) == 1
    assert bench.ask(ZoneUpdatesRequest()) == []
    bench.registry.link_began()
    assert len(bench.ask(ZoneUpdatesRequest())) == 1
    assert bench.ask(LoginEquipmentRequest()) == []


def test_a_time_stamp_deletes_nothing() -> None:
    bench = Bench(world_character(5))
    assert bench.ask(CharTimeStamp(5, 101, 0)) == []
    assert not bench.store.rows[5].deleted


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "\u4e16\u754c" * 34},
        {"account": "a" * 31},
        {"address": "x" * 80},
        {"internal_address": "x" * 80},
        {"port": -1},
    ],
)
def test_what_does_not_fit_the_link_is_said_at_once(wrong: dict) -> None:
    values = {"name": "Norrath", "account": "me", "password": "secret", "address": "host",
              "port": 9001, **wrong}  # fmt: skip
    bench = Bench()
    with pytest.raises(StructValueError, match=r"LSInfo|UsertoWorldResp"):
        WorldRegistry(
            RegistryConfig(**values),
            characters=bench.store,
            creation=bench.registry.creation,
            admission=bench.admission,
            zone_servers=bench.zone_servers,
            zones=list,
            models=Models(),
            clock=CLOCK,
        )


def test_an_account_that_comes_in_too_often_is_refused_and_reported() -> None:
    reported: list[WorldEvent] = []
    bench = Bench(world_character(5), entries_at_once=3)
    bench.registry.report = reported.append
    assert [bench.play().response for _ in range(5)] == [1, 1, 1, 8, 8]
    refused = bench.play()
    assert (refused.access_key, refused.address) == (0, "play.example.org")
    assert str(reported[0]) == ("account 101 from 8.8.8.8 may not enter: too often for one account")
    assert len(bench.handoffs) == 1


def test_requests_that_are_refused_anyway_do_not_count() -> None:
    bench = Bench(world_character(5), entries_at_once=3)
    assert [bench.play(6).response for _ in range(9)] == [5] * 9
    assert bench.play().response == 1


def test_an_address_whose_accounts_come_again_and_again_is_refused() -> None:
    bench = Bench(world_character(5), entries_at_once=50, address_entries_at_once=2)
    assert [bench.play().response for _ in range(4)] == [1, 1, 1, 8]
    assert bench.play(address="8.8.4.4").response == 1


def test_other_limits_count_as_soon_as_they_are_configured() -> None:
    bench = Bench(world_character(5), entries_at_once=1)
    assert [bench.play().response for _ in range(2)] == [1, 8]
    bench.admission.rules = AdmissionRules(entries_at_once=2)
    assert [bench.play().response for _ in range(3)] == [1, 1, 8]
