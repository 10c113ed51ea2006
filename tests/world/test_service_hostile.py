"""Clients that mean harm: what they send is counted, answered or ends them; nobody else sees it."""

from __future__ import annotations

import math
import struct

import pytest

from emu.dialects.dialect import read_name
from emu.world.actors.hotbars import MOST_KEYS
from emu.world.rules import ChatRules, WorldRules
from tests.support.world.worlds import Client, WorldHarness

JUMP = 100_000.0
LARGEST_ANSWER = 6_000
"""Bytes; the table of commands that `help` shows is the most."""


def three() -> tuple[WorldHarness, Client, Client, Client]:
    """A hostile client, one of its version and one of the other, who see each other."""
    harness = WorldHarness()
    hostile = harness.stand(5, name="Hostile")
    others = harness.stand(6, name="Aldana"), harness.stand(7, 561, name="Borvik")
    hostile.walk(1.0, 1.0, 250.0)
    harness.run(1.0)
    return harness, hostile, *others


def unharmed(harness: WorldHarness, *others: Client) -> None:
    """The others still see each other move, and hear each other."""
    one, other = others
    one.hears()
    other.hears()
    one.walk(2.0, 1.0, 251.0)
    one.types("/say all is well")
    harness.run(1.0)
    assert one.player is not None
    assert other.fields_of("Aldana")["pos_x"] == one.player.position.x
    assert [text for _, _, text in other.hears()] == ["all is well"]
    assert not one.is_closed
    assert not other.is_closed


def where(watcher: Client) -> tuple[float, ...]:
    fields = watcher.fields_of("Hostile")
    return fields["pos_x"], fields["pos_y"], fields["pos_z"]


@pytest.mark.parametrize("axis", ["x", "y", "z", "direction1", "speed", "side_speed", "pitch"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e30, -1e30])
def test_positions_that_are_none(axis: str, value: float) -> None:
    harness, hostile, *others = three()
    before = [where(watcher) for watcher in others]
    x, y, z = 1.5, 1.0, 250.5
    place = {"x": x, "y": y, "z": z}
    if axis in place:
        place[axis] = value
        hostile.walk(**place)
    else:
        hostile.walk(x, y, z, **{axis: value})
    harness.run(1.0)
    finite = (where(watcher) for watcher in others)
    assert all(math.isfinite(part) and abs(part) < JUMP for parts in finite for part in parts)
    if axis in place:
        assert [where(watcher) for watcher in others] == before
        assert sum(harness.world.faults.drops.values()) == 1
    assert not hostile.is_closed
    unharmed(harness, *others)


def test_jumps_are_taken_back_and_never_shown() -> None:
    harness, hostile, *others = three()
    before = [where(watcher) for watcher in others]
    for step in range(1, 50):
        hostile.walk(1.0 + JUMP * step, 1.0, 250.0)
        hostile.walk(1.0, 1.0, 250.0 - 500.0 * step)
        harness.run(0.2)
        assert [where(watcher) for watcher in others] == before
    assert harness.world.faults.drops["position outside the world"] == 49
    assert harness.world.faults.drops["moved too fast"] == 49
    corrections = hostile.decoded("WS_MoveClient")
    assert 1 < len(corrections) < 10, "it is sent its place, but not for every try"
    assert (corrections[-1]["x"], corrections[-1]["z"]) == (1.0, 250.0)
    unharmed(harness, *others)


def test_long_chat_reaches_others_cut() -> None:
    harness, hostile, *others = three()
    hostile.types("/say " + "x" * 65_000)
    hostile.types("/shout \0\1\2\x1b[31mred")
    longest = ChatRules().longest
    for watcher in others:
        assert [len(text) for _, _, text in watcher.hears()] == [longest, len("[31mred")]
    unharmed(harness, *others)


@pytest.mark.slow
def test_long_text_in_every_command_is_survived() -> None:
    harness, hostile, *others = three()
    table = hostile.decoded("WS_SetRemoteCmdsMsg")[-1]["commands_array"]
    for index in range(len(table)):
        for text in (b"", b"x" * 65_000, b"\xff" * 300, b'"' * 99, b" " * 999):
            before = len(hostile.log)
            hostile.say("OP_RemoteCmdMsg", struct.pack("<HH", index, len(text)) + text)
            harness.run(0.05)
            answered = sum(len(payload) for _, payload in hostile.log[before:])
            assert answered < LARGEST_ANSWER, table[index]["name"]
    for watcher in others:
        assert all(len(read_name(text)) <= ChatRules().longest for _, _, text in watcher.hears())
    unharmed(harness, *others)


def test_a_cut_command_and_one_beyond_the_table_are_counted() -> None:
    harness, hostile, *others = three()
    for body in (b"\1", b"\0\0\xff\xff", struct.pack("<HH", 0xFFFF, 0), b"\0\0\1\0"):
        hostile.say("OP_RemoteCmdMsg", body)
    assert sum(harness.world.faults.drops.values()) == 4
    assert not hostile.is_closed
    unharmed(harness, *others)


def test_a_client_that_floods_is_sent_away() -> None:
    harness, hostile, *others = three()
    assert hostile.player is not None
    rules = WorldRules(name="TestLabs")
    sent = 0
    while not hostile.is_closed:
        hostile.say("OP_UpdateTargetMsg", b"\xff\xff")
        sent += 1
        assert sent < 10_000
    assert rules.message_burst <= sent + 100 <= rules.message_burst + 200
    before = dict(harness.world.faults.drops)
    for _ in range(10_000):
        hostile.say("OP_UpdateTargetMsg", b"\xff\xff")
    assert len(harness.events) < 20, "no line for each"
    assert before["too many messages"] == 1
    assert harness.world.players.get(hostile.player.id) is None
    assert harness.store.rows[5].place is not None, "it is saved like everybody"
    harness.run(1.0)
    assert "Hostile" not in others[0].sees()
    unharmed(harness, *others)


def test_a_client_may_walk_and_speak_as_long_as_it_likes() -> None:
    harness, client, *others = three()
    for step in range(600):
        client.walk(1.0 + step % 2, 1.0, 250.0)
        harness.run(0.05)
    assert not client.is_closed
    unharmed(harness, *others)


def test_opcodes_that_nobody_knows() -> None:
    harness, hostile, *others = three()
    assert hostile.player is not None
    for opcode in range(0, 0x10000, 97):
        harness.service.message(hostile.player, opcode, b"\xff" * 40, harness.now)
        harness.run(0.01)
        if hostile.player.client is not hostile:
            break
    unharmed(harness, *others)


def test_indexes_of_others_are_only_looked_at() -> None:
    """A client names spawns by index; with those of others, and of nobody, it can do no harm."""
    harness, hostile, *others = three()
    seen = sorted(hostile.view.indexes)
    assert len(seen) == 3
    before = [player.player.position for player in others if player.player is not None]
    for index in [*seen, 0, 2, 250, 0x7FFF, 0xFFFE]:
        hostile.say("OP_UpdateTargetMsg", index.to_bytes(2, "little"))
        for body in (index.to_bytes(4, "little"), b"\xff" * 4, index.to_bytes(4, "little") * 9):
            hostile.say("OP_EntityVerbsVerbMsg", body)
            hostile.say("OP_EntityVerbsRequestMsg", body)
    harness.run(1.0)
    assert [one.player.position for one in others if one.player is not None] == before
    assert harness.world.faults.drops["target unknown"] > 0
    unharmed(harness, *others)


def test_hotbars_do_not_grow_and_are_not_stored_for_every_message() -> None:
    harness, hostile, *others = three()
    harness.run(3.0)
    harness.store.saves.clear()  # those of entering, with the keys that beginners have
    layout = hostile.dialect.layout("WS_QuickBarUpdateRequest")
    for number in range(900):
        fields = {"hotbar_number": number % 100, "hotkey_slot": number // 100, "type": 4,
                  "text": "x" * 255}  # fmt: skip
        hostile.say("OP_QuickbarUpdateMsg", layout.encode(fields))
    hostile.say("OP_QuickbarUpdateMsg", layout.encode({"hotbar_number": 0xFFFFFFFF, "type": 1}))
    assert hostile.player is not None
    assert len(hostile.player.client_data.hotbars.keys) == MOST_KEYS
    harness.run(3.0)
    stored = [one for one in harness.store.saves if "hotkeys" in one.facts]
    assert len(stored) == 1
    unharmed(harness, *others)


def test_steps_out_of_order_bring_nothing() -> None:
    harness, hostile, *others = three()
    late = harness.enter(8, name="Late")
    for name in ("OP_RemoteCmdMsg", "OP_SitMsg", "OP_RequestCampMsg", "OP_UpdateTargetMsg",
                 "OP_DialogSelectMsg", "OP_QuickbarUpdateMsg"):  # fmt: skip
        late.say(name, b"\0\0\0\0")
    for _ in range(50):
        hostile.say("OP_DoneLoadingZoneResourcesMsg")
        hostile.say("OP_DoneLoadingEntityResourcesMsg")
        hostile.signal()
    harness.run(1.0)
    assert harness.world.faults.drops["message out of order"] == 5
    assert hostile.names.count("OP_UpdateCharacterSheetMsg") == 1
    assert not late.is_closed
    late.say("OP_ReadyToZoneMsg")
    assert late.is_closed, "nobody sent it to another zone"
    unharmed(harness, *others)
