"""The table of messages: what is not in it, what comes out of order, what is damaged."""

from __future__ import annotations

import random

import pytest

from emu.world.reports import NotHandled
from tests.support.coroutines import finish
from tests.support.world.worlds import WorldHarness


def test_what_nobody_handles_is_counted(harness: WorldHarness) -> None:
    one = harness.stand(5)
    for opcode in (43, 55, 67, 310, 9999):
        harness.service.message(one.player, opcode, b"\1\2", harness.now)
    assert harness.world.faults.drops["unknown message"] == 5
    assert harness.world.faults.drops["message out of order"] == 0


def test_a_message_nobody_handles_is_reported_once_for_each_client_and_opcode(
    harness: WorldHarness,
) -> None:
    for _ in range(2):
        one = harness.stand(5, name="Aldana")
        for opcode in (9999, 9999, 37):
            harness.service.message(one.player, opcode, bytes(20), harness.now)
    reported = [event for event in harness.events if isinstance(event, NotHandled)]
    assert [(event.opcode, event.message) for event in reported] == [
        (9999, ""), (37, "OP_GameWorldTimeMsg"),
    ]  # fmt: skip
    first = reported[0]
    assert (first.name, first.version, first.length) == ("Aldana", 546, 20)
    assert first.begin == "00 " * 16 + "..."
    assert "unknown message 9999 (no name) of Aldana from 127.0.0.1, client 546: 20 bytes" in (
        first.line
    )


def test_what_comes_too_early_has_no_effect(harness: WorldHarness) -> None:
    one = harness.enter(5)
    for name in ("OP_SitMsg", "OP_RequestCampMsg", "OP_UpdateTargetMsg"):
        one.say(name, bytes(2))
    assert harness.world.faults.drops["message out of order"] == 3
    assert not one.is_closed


@pytest.mark.slow
def test_any_bytes_of_any_message_leave_the_others_unharmed() -> None:
    chance = random.Random(20)
    harness = WorldHarness()
    victim = harness.stand(4)
    known = [
        name for name in harness.service.messages if victim.dialect.table.get(name) is not None
    ]
    for number in range(5, 60):
        attacker = harness.stand(number)
        for _ in range(20):
            body = chance.randbytes(chance.choice((0, 1, 2, 3, 9, 30, 200)))
            attacker.say(chance.choice(known), body)
        harness.run(0.3)
    assert not victim.is_closed
    victim.walk(3.0, 0.0, 240.0)
    assert victim.player.position.x == 3.0


def test_small_requests_are_answered(harness: WorldHarness) -> None:
    one = harness.stand(5)
    one.log.clear()
    one.say("OP_SendLatestRequestMsg")
    one.say("OP_DefaultGroupOptionsRequestMsg")
    assert one.log == [
        ("OP_ClearDataMsg", b"\1"), ("OP_DefaultGroupOptionsMsg", bytes.fromhex("010001010000"))
    ]  # fmt: skip


def test_stopping_the_world_saves_and_closes_everybody(harness: WorldHarness) -> None:
    clients = [harness.stand(number) for number in range(5, 9)]
    harness.service.close(harness.now)
    assert all(client.is_closed for client in clients)
    assert all(harness.store.rows[number].place for number in range(5, 9))
    assert len(harness.world.players) == 0


def test_a_session_with_space_again_is_shown_at_once_what_it_missed(harness: WorldHarness) -> None:
    one, two = harness.stand(5), harness.stand(6)
    assert one.player is not None
    one.space = 0
    two.say("OP_SitMsg")
    harness.run(1.0)
    assert one.fields_of("Name6").get("visual_state") != 538
    one.space = 1000
    harness.service.drained(one.player, two, harness.now)
    assert one.fields_of("Name6").get("visual_state") != 538, "the session of somebody else"
    harness.service.drained(one.player, one, harness.now)
    assert one.fields_of("Name6").get("visual_state") == 538


def test_another_process_asks_for_a_character(harness: WorldHarness) -> None:
    """docs/contributing/architecture.md#topics: `world.give_up.PROCESS`."""
    client = harness.stand(5)
    harness.stand(6)
    topic = f"world.give_up.{harness.world.processes.name}"
    finish(harness.world.processes.bus.request(topic, {"char_id": 5}))
    assert client.is_closed
    assert [one.id for one in harness.world.players] == [6]
    finish(harness.world.processes.bus.request(topic, {"char_id": 77}))
    finish(harness.world.processes.bus.request(topic, {"char_id": None}))
    assert [one.id for one in harness.world.players] == [6]
