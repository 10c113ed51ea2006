"""Messages a version does not have are left out."""

from __future__ import annotations

from emu.rules.weights import most_weight
from emu.world.actors.client import PlayerClient, worn_fields
from emu.world.actors.sheet import FieldKind, Sheet
from tests.support.world.ghost_views import dialect
from tests.support.world.worlds import WorldHarness


def test_a_message_of_another_age_is_not_sent() -> None:
    client = WorldHarness().client()
    behind = PlayerClient(dialect(546), client, "127.0.0.1")
    assert not behind.send("WS_NoSuchStruct")
    assert not behind.send_bytes("OP_NoSuchMsg")
    behind.command("OP_NoSuchCmd", b"")
    behind.drop("odd")
    assert client.log == []
    assert sum(behind.drops.values()) == 4
    assert behind.send("WS_SetPOVGhostCmd", {"spawn_id": 1})
    assert client.log == [("OP_EqSetPOVGhostCmd", bytes.fromhex("01000000"))]


def test_lines_wait_for_a_link_without_space_up_to_a_limit_and_the_rest_is_counted() -> None:
    client = WorldHarness().client()
    behind = PlayerClient(dialect(546), client, "127.0.0.1")
    line = {"color": 5, "text": "x" * 100, "unknown02": 0}
    client.space = 0
    behind.send_line("WS_DisplayText", line, 10_000)
    size = len(client.log[0][1])
    for _ in range(3):
        behind.send_line("WS_DisplayText", line, 3 * size)
    assert (len(client.log), behind.lines_left_out) == (3, 1)
    client.space = 1
    behind.send_line("WS_DisplayText", line, 3 * size)
    texts = [row["text"] for row in client.decoded("WS_DisplayText")]
    lost = "Your connection was interrupted. Lines of chat that were lost: 1."
    assert texts == ["x" * 100] * 3 + [lost, "x" * 100]
    client.space = 0
    for _ in range(4):
        behind.send_line("WS_DisplayText", line, 3 * size)
    behind.has_capacity()
    behind.has_capacity()
    reported = [row["text"] for row in client.decoded("WS_DisplayText") if "lost" in row["text"]]
    assert reported == [lost, lost.replace("1", "2")]
    behind.send_line("WS_NoSuchStruct", line, 3 * size)
    assert sum(behind.drops.values()) == 1


def test_a_sheet_shows_what_is_worn() -> None:
    """Delays of weapons are tenths of seconds in the fields of scripts, and seconds in a sheet."""
    sheet = Sheet(10, 10)
    hands = ("primary", "secondary", "ranged")
    for at, hand in enumerate(hands):
        for offset, name in enumerate(("damage_low", "damage_high", "delay")):
            assert sheet.set(f"{hand}_weapon_{name}", FieldKind.UNSIGNED, 10 * at + offset + 21)
    for at, name in enumerate(("heat", "cold", "magic", "mental", "divine", "disease", "poison")):
        sheet.set(name, FieldKind.UNSIGNED, 100 + at)
        sheet.set(f"{name}_base", FieldKind.UNSIGNED, 50 + at)
    fields = worn_fields(sheet)
    assert [fields[f"melee_pri_{name}"] for name in ("dmg_min", "dmg_max", "delay")] == [
        21,
        22,
        2.3,
    ]
    assert [fields[f"melee_sec_{name}"] for name in ("dmg_min", "dmg_max", "delay")] == [
        31,
        32,
        3.3,
    ]
    assert (fields["ranged_dmg_min"], fields["ranged_dmg_max"]) == (41, 42)
    assert fields["resists"] == [0, 0, 0, 100, 101, 102, 103, 104, 105, 106]
    assert fields["resists_base"] == [0, 0, 0, 50, 51, 52, 53, 54, 55, 56]
    assert (fields["elemental"], fields["noxious"], fields["arcane"]) == (100, 106, 102)
    assert fields["arcane_base"] == 52
    assert fields["max_weight"] == most_weight(sheet.attribute("str"))
    sheet.set("max_weight", FieldKind.UNSIGNED, 77)
    assert worn_fields(sheet)["max_weight"] == 77
