"""The table of messages: what is not in it, what comes out of order, what is damaged."""

from __future__ import annotations

import random

from emu.world.events import NotHandled
from emu.world.service import MESSAGES
from tests.support.world.worlds import WorldHouse


def test_what_nobody_handles_is_counted(house: WorldHouse) -> None:
    one = house.stand(5)
    for opcode in (43, 55, 67, 300, 9999):
        house.service.message(one.player, opcode, b"\1\2", house.now)
    assert house.world.counters["unknown message"] == 5
    assert house.world.counters["message out of order"] == 0


def test_a_message_nobody_handles_is_told_once_for_each_client_and_opcode(
    house: WorldHouse,
) -> None:
    for _ in range(2):
        one = house.stand(5, name="Aldana")
        for opcode in (62, 62, 37):
            house.service.message(one.player, opcode, bytes(20), house.now)
    told = [event for event in house.events if isinstance(event, NotHandled)]
    assert [(event.opcode, event.message) for event in told] == [
        (62, ""), (37, "OP_GameWorldTimeMsg"),
    ]  # fmt: skip
    first = told[0]
    assert (first.name, first.version, first.length) == ("Aldana", 546, 20)
    assert first.begin == "00 " * 16 + "..."
    assert "unknown message 62 (no name) of Aldana from 127.0.0.1, client 546: 20 bytes" in (
        first.line
    )


def test_what_comes_too_early_has_no_effect(house: WorldHouse) -> None:
    one = house.enter(5)
    for name in ("OP_SitMsg", "OP_RequestCampMsg", "OP_UpdateTargetMsg"):
        one.say(name, bytes(2))
    assert house.world.counters["message out of order"] == 3
    assert not one.is_closed


def test_any_bytes_of_any_message_leave_the_others_unharmed() -> None:
    chance = random.Random(20)
    house = WorldHouse()
    victim = house.stand(4)
    known = [name for name in MESSAGES if victim.dialect.table.get(name) is not None]
    for number in range(5, 60):
        attacker = house.stand(number)
        for _ in range(20):
            body = chance.randbytes(chance.choice((0, 1, 2, 3, 9, 30, 200)))
            attacker.say(chance.choice(known), body)
        house.run(0.3)
    assert not victim.is_closed
    victim.walk(3.0, 0.0, 240.0)
    assert victim.player.position.x == 3.0


def test_small_requests_are_answered(house: WorldHouse) -> None:
    one = house.stand(5)
    one.log.clear()
    one.say("OP_SendLatestRequestMsg")
    one.say("OP_DefaultGroupOptionsRequestMsg")
    assert one.log == [
        ("OP_ClearDataMsg", b"\1"), ("OP_DefaultGroupOptionsMsg", bytes.fromhex("010001010000"))
    ]  # fmt: skip


def test_stopping_the_world_saves_and_closes_everybody(house: WorldHouse) -> None:
    clients = [house.stand(number) for number in range(5, 9)]
    house.service.close(house.now)
    assert all(client.is_closed for client in clients)
    assert all(house.store.rows[number].place for number in range(5, 9))
    assert len(house.world.players) == 0


def test_a_session_with_room_again_is_shown_at_once_what_it_missed(house: WorldHouse) -> None:
    one, two = house.stand(5), house.stand(6)
    assert one.player is not None
    one.space = 0
    two.say("OP_SitMsg")
    house.run(1.0)
    assert one.fields_of("Name6").get("visual_state") != 538
    one.space = 1000
    house.service.drained(one.player, two, house.now)
    assert one.fields_of("Name6").get("visual_state") != 538, "the session of somebody else"
    house.service.drained(one.player, one, house.now)
    assert one.fields_of("Name6").get("visual_state") == 538
