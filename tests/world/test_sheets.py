"""The character sheet, byte for byte where it is known."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from emu.dialects import world_rules
from emu.structs.packed import unpack
from emu.world.actors.client import SHEET, SheetSender, debt_fields, experience_fields, sheet_fields
from emu.world.actors.options import PlayerOptions
from emu.world.actors.sheet import FieldKind, Sheet, ShownEffect, SpellMarks
from emu.world.sheets import CharacterSheets
from tests.support.world.ghost_views import dialect
from tests.support.world.world_fakes import world_character
from tests.support.world.worlds import WorldHarness


def fields(**changes: object) -> dict[str, object]:
    character = world_character(name="Aldana", race=9, gender=1, class_=1, level=1)
    return (
        sheet_fields(character, Sheet(43, 47), world_rules(546))
        | PlayerOptions().sheet_fields()
        | changes
    )


@pytest.mark.parametrize(("version", "size"), [(546, 4897), (561, 4908)])
def test_a_sheet_has_its_size_and_no_byte_by_accident(version: int, size: int) -> None:
    speaker = dialect(version)
    payload = SheetSender(speaker).update(fields())
    assert payload is not None
    data, end = unpack(payload, size, version)
    assert end == len(payload)
    decoded = speaker.layout("WS_CharacterSheet").decode(data)
    assert decoded["character_name"].rstrip("\0") == "Aldana"
    assert (decoded["class1"], decoded["class3"]) == (0, 1)
    assert {row["spell_id"] for row in decoded["spell_effects"]} == {0xFFFFFFFF}
    assert not any(any(str(value).strip("\0") not in ("0", "", "0.0") for value in row.values())
                   for row in decoded["maintained_effects"])  # fmt: skip
    flags = decoded["flags"] if version == 561 else decoded["flags_show_guild_invites"]
    assert flags == (301465665 if version == 561 else 1)


@pytest.mark.parametrize("version", [546, 561])
def test_a_sheet_has_trade_last_name_coins_status_and_experience(version: int) -> None:
    speaker = dialect(version)
    character = world_character(
        tradeskill_class=4, tradeskill_level=6, last_name="Sturmfäustlingsohnchen",
        coins=7_654_321, status_points=77, experience=1234, experience_needed=10_000,
    )  # fmt: skip
    payload = SheetSender(speaker).update(sheet_fields(character, Sheet(43, 47), world_rules(546)))
    assert payload is not None
    data, _ = unpack(payload, speaker.layout(SHEET).empty_size(), version)
    # 101 last name, coins and status points: docs/protocol/world/entering.md#character-sheet.
    coins = 296 if version == 546 else 328
    assert struct.unpack_from("<4I", data, coins) == (21, 43, 65, 7)
    assert data[101:121] == "Sturmfäustlingsohn".encode() + b"\0"
    decoded = speaker.layout(SHEET).decode(data)
    trade = decoded["tradeskill_class1"], decoded["tradeskill_class3"], decoded["tradeskill_level"]
    assert trade == (0, 4, 6)
    # 12.34 %, as recorded in fight-546-melee-a and fight-561-melee-a.
    assert (decoded["exp_yellow"], decoded["exp_blue"], decoded["exp_debt"]) == (12, 23, 123)
    assert decoded["status_points"] == 77


@pytest.mark.parametrize(
    ("version", "points", "needed", "bars"),
    [
        (546, 0, 0, (0, 0)), (546, 5, 0, (0, 0)), (546, 0, 9, (0, 0)), (546, 9, 9, (88, 88)),
        # Recorded in fight-546-melee-a and fight-561-melee-a at levels 2 and 3.
        (546, 760, 800, (95, 50)), (561, 789, 800, (98, 86)), (546, 10, 800, (1, 12)),
        (546, 29, 800, (3, 36)),
        # The rule of eq2-combat.md 2.2 for later versions.
        (562, 1, 3, (330, 333)), (562, 9, 9, (880, 888)), (843, 29, 800, (30, 625)),
    ],
)  # fmt: skip
def test_experience_has_two_bars(
    version: int, points: int, needed: int, bars: tuple[int, int]
) -> None:
    found = experience_fields(points, needed, world_rules(version))
    assert tuple(({"exp_yellow": 0, "exp_blue": 0} | found).values()) == bars


@pytest.mark.parametrize(
    ("points", "debt", "shown"),
    # Recorded in fight-546-melee-a (986 without a debt) and fight-546-death-a (5 for 0.5 %).
    [(789, 0, 986), (10, 0, 12), (0, 500, 5), (0, 0, 0)],
)
def test_the_bar_of_debt_begins_at_the_points(points: int, debt: int, shown: int) -> None:
    character = world_character(
        experience=points, experience_needed=800, experience_debt=debt, vitality=12_340
    )
    fields = debt_fields(character)
    assert (fields["exp_debt"], fields["adventure_exp_vitality"]) == (shown, 123)


def test_only_what_changed_is_sent_and_nothing_when_nothing_did() -> None:
    sender = SheetSender(dialect(546))
    first = sender.update(fields())
    assert first is not None
    assert sender.update(fields()) is None
    second = sender.update(fields(current_hp=40))
    assert second is not None
    # 125 zeros, one changed byte of current_hp, zeros to the end
    # (docs/protocol/world/entering.md#character-sheet).
    data, _ = unpack(second, 4897, 546)
    assert [at for at, byte in enumerate(data) if byte] == [125]
    assert data[125] == 43 ^ 40


@pytest.mark.parametrize(("version", "size"), [(546, 4897), (561, 4908)])
def test_each_byte_on_the_wire_is_that_of_a_field_that_was_set(
    harness: WorldHarness, version: int, size: int
) -> None:
    """EQ2Emulator's sheets carry its memory (docs/protocol/world/entering.md#character-sheet)."""
    client = harness.stand(5, version)
    assert client.player is not None
    (payload,) = [body for name, body in client.log if name == "OP_UpdateCharacterSheetMsg"]
    sheet, _ = unpack(payload, size, version)
    values = CharacterSheets(harness.world).fields(client.player)
    made = [dialect(version).encode_known(SHEET, {name: value}) for name, value in values.items()]
    meant = {at for one in made for at, byte in enumerate(one) if byte}
    assert {at for at, byte in enumerate(sheet) if byte} == meant
    assert not any(dialect(version).encode_known(SHEET, {}))


@pytest.mark.parametrize("version", [546, 561, 1096, 1208, 60114])
def test_each_player_resists_by_its_race(version: int) -> None:
    """Recorded of humans at levels 1 to 12 (items-*-carry, fight-*, real-entry-*): 3 of each."""
    client = WorldHarness().stand(5, version, race=9, level=7)
    player = client.player
    assert player is not None

    def shown() -> dict[str, Any]:
        fields = client.harness.parts.sheets.fields(player)
        return client.dialect.layout(SHEET).decode(client.dialect.encode_known(SHEET, fields))

    sheet = shown()
    names = ("trauma", "arcane", "noxious", "elemental")
    player.spawn.sheet.spells.detriments = (1, 2, 0, 4)
    if version <= 561:
        assert sheet["resists"] == sheet["resists_base"] == [0, 0, 0, 3, 3, 3, 3, 3, 3, 3]
        assert [shown()[name] for name in names] == [1, 2, 0, 4]
        return
    for name in names[1:]:
        assert (sheet[name], sheet[f"{name}_base"]) == (3, 3)
    assert [shown()[f"{name}_count"] for name in names] == [1, 2, 0, 4]
    assert shown()["arcane"] == 3


@pytest.mark.parametrize(
    ("bonuses", "fights", "snare", "speed"),
    [
        # Recorded in real-spells-546-mage from 80.86 s on: 6.0.
        ({609: 6.0}, False, 1.0, 6.0),
        ({609: 6.0, 616: 40.0}, False, 1.0, 6.0),
        ({609: 6.0, 616: 40.0}, True, 1.0, 40.0),
        ({609: 6.0, 611: 25.0}, False, 1.0, 25.0),
        ({609: 40.0, 610: 15.0}, False, 1.0, 25.0),
        ({609: 40.0}, False, 0.5, -30.0),
    ],
)
def test_the_speed_of_a_player_is_sent_with_its_sheet(
    bonuses: dict[int, float], fights: bool, snare: float, speed: float
) -> None:
    """WS_SetControlGhost carries it (docs/protocol/world/entering.md)."""
    harness = WorldHarness()
    client = harness.stand(1, 1208)
    player = client.player
    assert player is not None
    spawn = player.spawn
    spawn.set_word("combat", on=fights)
    spawn.sheet.worn = {**bonuses, 612: 3.0}
    spawn.sheet.spells = SpellMarks()
    spawn.sheet.spells.snare = snare
    client.log.clear()
    harness.parts.sheets.send(player)
    [sent] = client.decoded("WS_SetControlGhost")
    assert (sent["speed"], sent["air_speed"]) == (pytest.approx(speed), 3.0)
    harness.parts.sheets.send(player)
    assert len(client.decoded("WS_SetControlGhost")) == 1


def test_bonuses_raise_the_concentration_that_a_player_has() -> None:
    """EQ2Emulator's list of statistics has 502 for concentration, and 503 for savagery."""
    harness = WorldHarness()
    player = harness.stand(5).player
    assert player is not None
    assert harness.parts.sheets.fields(player)["conc_max"] == 5
    marks = player.spawn.sheet.spells = SpellMarks()
    marks.bonuses = {502: 2.0, 503: 4.0}
    assert harness.parts.sheets.fields(player)["conc_max"] == 7


@pytest.mark.parametrize("version", [546, 562, 839, 844, 1208, 64753])
def test_effects_are_counted_beside_high_resistances(version: int) -> None:
    """Up to 843 EQ2Emulator's structs have `arcane` for the count of effects, in one byte."""
    client = WorldHarness().stand(5, version)
    assert client.player is not None
    sheet = client.player.spawn.sheet
    sheet.set("magic", FieldKind.UNSIGNED, 431)
    marks = sheet.spells = SpellMarks()
    marks.detriments = (0, 2, 0, 0)
    harm = ShownEffect(7, 1, 1, 10.0, 0, can_be_cancelled=False, is_harmful=True)
    marks.effects = (harm,)
    speaker = client.player.client.dialect
    values = client.harness.parts.sheets.fields(client.player)
    shown = speaker.layout(SHEET).decode(speaker.encode_known(SHEET, values))
    is_old = version < 844
    assert shown["arcane"] == (2 if is_old else 431)
    assert shown["arcane" if is_old else "arcane_count"] == 2
    listed = shown["spell_effects" if is_old else "detrimental_spell_effects"]
    assert listed[0]["spell_id"] == 7
