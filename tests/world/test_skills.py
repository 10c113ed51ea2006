"""Skills of players: growing by use and at levels, and the book of the clients."""

import struct
from random import Random

import pytest

from emu.model import KnownSkill
from emu.structs.packed import unpack, xor
from emu.world.actors.player import Player
from emu.world.events import TradeLevelGained
from emu.world.skills import CRAFT_TYPES, send_skill_book
from tests.support.world.worlds import Client, WorldHarness

PARRY, DUAL_WIELD, HEAVY_ARMOR = 540022425, 1852383242, 241174330
SWIMMING = 2037831821
ROW = 21


def scene(version: int = 546, *skills: KnownSkill) -> tuple[WorldHarness, Client, Player]:
    harness = WorldHarness(roll=Random(3).randrange)
    client = harness.stand(5, version, name="Aldana", level=2, skills=skills)
    assert client.player is not None
    return harness, client, client.player


def books(client: Client) -> list[dict[int, tuple[int, int]]]:
    """Return value and most of each skill, in each book that a client was sent."""
    found, rows = [], b""
    for name, payload in client.log:
        if name == "OP_UpdateSkillBookMsg":
            count = int.from_bytes(payload[:2], "little")
            version = client.dialect.version
            # Up to 561 the last byte of the last row is the one that is not packed.
            fresh, _ = unpack(payload[2:], count * ROW + (version > 561), version)
            size = len(fresh)
            rows = xor(fresh, rows.ljust(size, b"\0")[:size]) + rows[size:]
            ends = [struct.unpack_from("<IIHHH", rows + b"\0", 1 + at * ROW) for at in range(count)]
            found.append({number: (value, most) for number, _, value, _, most in ends})
    return found


@pytest.mark.parametrize(("version", "color"), [(546, 37), (561, 37), (1096, 39), (60114, 39)])
def test_a_raise_is_shown_as_recorded(version: int, color: int) -> None:
    """Recorded: fight-VERSION-melee-a."""
    harness, client, player = scene(version, KnownSkill(PARRY, 5, 10), KnownSkill(7, 1, 1))
    skills = harness.parts.skills
    while not skills.use(player, "parry"):
        pass
    line = client.decoded("WS_DisplayText")[-1]
    assert (line["text"], line["color"]) == ("You get better at Parry (6/10).", color)
    shown = client.decoded("WS_OnScreenMsg")[-1]
    assert shown["text"] == "\\#6EFFcEYou get better at \n\\#C8FFC8Parry\\#6EFFcE! (6/10)"
    assert (shown["unknown"], shown["message_type"], shown["size"]) == (6, "skill_up", 2.75)
    assert [one[PARRY] for one in books(client)] == [(5, 10), (6, 10)]
    assert skills.value(player, PARRY) == 6


@pytest.mark.parametrize("version", [546, 1208, 60114])
@pytest.mark.parametrize(("activity", "is_better"), [(128, False), (6144, True), (6272, True)])
def test_who_swims_gets_better_at_it(version: int, activity: int, is_better: bool) -> None:
    """A use at one of four steps; each raises a value of 5 with a chance of 18 %."""
    harness, client, player = scene(version, KnownSkill(SWIMMING, 5, 400))
    x, y, z, *_ = player.position
    for at in range(200):
        client.walk(x + 0.01 * (at % 2), y, z, activity=activity)
    value = harness.parts.skills.value(player, SWIMMING)
    assert 5 < value < 30 if is_better else value == 5


def test_a_skill_that_a_player_does_not_have_does_not_grow() -> None:
    harness, _, player = scene(546, KnownSkill(7, 1, 1))
    skills = harness.parts.skills
    assert not any(skills.use(player, "Parry") for _ in range(200))
    assert not skills.use(player, "no such skill")
    assert skills.value(player, "Parry") == 0


def test_a_level_raises_what_skills_can_reach() -> None:
    """Recorded: fight-1208-melee-a, level 3."""
    harness, client, player = scene(
        1208, KnownSkill(PARRY, 10, 10), KnownSkill(DUAL_WIELD, 10, 10),
        KnownSkill(HEAVY_ARMOR, 10, 10),
    )  # fmt: skip
    harness.parts.levels.set_level(player, 3, harness.now)
    assert books(client)[-1] == {
        PARRY: (10, 15), DUAL_WIELD: (15, 15), HEAVY_ARMOR: (10, 10),
    }  # fmt: skip
    assert "You get better at Dual Wield (15/15)." in [
        one["text"] for one in client.decoded("WS_DisplayText")
    ]
    harness.run(3.0)
    assert KnownSkill(PARRY, 10, 15) in harness.store.rows[5].skills


def test_a_tradeskill_level_raises_what_skills_of_crafting_can_reach() -> None:
    """Source: eq2-items.md (crafting): five points for each level, and never less than before."""
    harness, _, player = scene(546)
    rows = harness.world.knowledge.skills
    craft = next(number for number, row in rows.items() if row.type in CRAFT_TYPES)
    skills = harness.parts.skills
    skills.change_skills(player, [KnownSkill(craft, 5, 10), KnownSkill(PARRY, 10, 10)])
    for level, most in ((6, 30), (3, 30)):
        harness.world.events.publish(TradeLevelGained(player, 2, level))
        assert skills.of(player)[craft] == KnownSkill(craft, 5, most)
    assert skills.of(player)[PARRY] == KnownSkill(PARRY, 10, 10)


def test_an_unchanged_book_is_not_sent() -> None:
    harness, client, player = scene(546, KnownSkill(PARRY, 5, 10))
    harness.parts.skills.change_skills(player, [KnownSkill(PARRY, 5, 10)])
    assert len(books(client)) == 1


@pytest.mark.parametrize("version", [546, 1208])
def test_a_row_that_comes_back_is_the_difference_to_what_it_was(version: int) -> None:
    """Recorded: real-entry-1208-start-fighter-priest."""
    both = (KnownSkill(PARRY, 5, 10), KnownSkill(SWIMMING, 7, 10))
    harness, client, player = scene(version, *both)
    for skills in (both[:1], both):
        send_skill_book(player, harness.world.knowledge, skills)
    assert books(client)[-1] == {PARRY: (5, 10), SWIMMING: (7, 10)}


def test_only_a_skill_that_is_better_is_shown() -> None:
    harness, client, player = scene(546, KnownSkill(PARRY, 5, 10), KnownSkill(HEAVY_ARMOR, 1, 9))
    harness.parts.skills.change_skills(player, [KnownSkill(PARRY, 6, 10)])
    assert [one["text"] for one in client.decoded("WS_DisplayText")] == [
        "You get better at Parry (6/10)."
    ]
