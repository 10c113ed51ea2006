"""What a kill changes of the standings with factions."""

from types import SimpleNamespace
from typing import Any

import pytest

from emu.content.alliances import Alliance
from emu.world.combat.standings import WORST
from tests.support.world.fights import Fight
from tests.support.world.worlds import WorldHarness

GUARDS, TRADERS, PIRATES = 21, 22, 31


def row(number: int, name: str, usual: int = 0, loss: int = 100, gain: int = 75) -> dict[str, Any]:
    return {"id": number, "name": name, "default": usual, "loss": loss, "gain": gain}


def scene() -> Fight:
    fight = Fight(level=2)
    content: Any = SimpleNamespace(
        factions={
            GUARDS: row(GUARDS, "The Guards", 10_000),
            TRADERS: row(TRADERS, "The Traders", loss=0),
            PIRATES: row(PIRATES, "The Pirates", -20_000),
        },
        alliances={GUARDS: Alliance((TRADERS,), (PIRATES,))},
    )
    fight.harness.parts.combat.standings._population = lambda _zone: content
    return fight


def kill(fight: Fight, faction: int) -> None:
    guard = fight.creature("a guard", faction=faction)
    harm = fight.harness.parts.minds.harm
    harm.take_health(fight.player.zone, guard, fight.player.spawn, 10_000)


def test_a_kill_changes_friends_and_enemies_before_the_experience() -> None:
    fight = scene()
    kill(fight, GUARDS)
    standing = fight.player.past.standing
    assert (standing(GUARDS, 1), standing(TRADERS, 1), standing(PIRATES, 1)) == (9900, 1, -19_925)
    assert fight.texts()[-3:] == [
        "Your faction standing with The Guards got worse.",
        "Your faction standing with The Pirates got better.",
        "You gain 28 experience!",
    ]
    lines = fight.client.decoded("WS_DisplayText")
    # Recorded as 40 at 1208 (real-entry-1208-start-fighter-priest), which 546 counts as 38.
    assert {one["color"] for one in lines if "faction" in one["text"]} == {38}
    shown = fight.client.decoded("WS_FactionUpdate")[-1]["response_array"]
    assert [(one["faction_id"], one["value"]) for one in shown] == [(PIRATES, -19_925)]


def test_the_worst_stays() -> None:
    fight = scene()
    fight.player.past.change_standing(GUARDS, -100_000)
    kill(fight, GUARDS)
    assert WORST.format(name="The Guards") in fight.texts()
    assert fight.player.past.standing(GUARDS) == -50_000


def test_fixed_factions_never_change() -> None:
    fight = scene()
    kill(fight, 5)
    assert fight.texts()[-1] == "You gain 28 experience!"
    assert not fight.player.past.standings


def test_a_faction_attacks_newcomers_that_it_hates() -> None:
    fight = scene()
    fight.player.spawn.sheet.health.fill(10_000)
    content: Any = fight.harness.parts.combat.standings._population(fight.player.zone)
    content.factions[PIRATES]["default"] = -40_000
    pirate = fight.creature("a pirate", level=2, faction=PIRATES)
    trader = fight.creature("a trader", level=2, faction=TRADERS)
    fight.run(3.0)
    creatures = fight.harness.parts.combat.creatures
    assert creatures.is_fighting(pirate)
    assert not creatures.is_fighting(trader)


# Recorded in real-entry-* and real-fight-546-QueensColony-fighter.
@pytest.mark.parametrize(
    ("value", "step", "percent"),
    [(20_000, 2, 0), (5_000, 0, 75), (0, 0, 50), (-50_000, -4, 100)],
)
def test_who_enters_is_shown_what_factions_think(value: int, step: int, percent: int) -> None:
    harness = WorldHarness()
    harness.world.knowledge.factions = {
        GUARDS: {"name": "The Guards", "kind": "City", "description": "They guard."}
    }
    try:
        past = f'{{"factions":{{"{GUARDS}":{value},"99":5}}}}'
        client = harness.stand(5, past=past)
    finally:
        harness.world.knowledge.factions = {}
    (sent,) = client.decoded("WS_FactionUpdate")
    assert sent["response_array"] == [{
        "faction_id": GUARDS, "name": "The Guards", "category": "City",
        "description": "They guard.", "unknown": "", "con": step, "percentage": percent,
        "value": value,
    }]  # fmt: skip
