"""Standings of players with factions: changes, what is said of them, and kills.

Source: docs/guides/fights.md#factions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from emu.content.alliances import Alliance
from emu.content.population import Population
from emu.model import SavedKind
from emu.rules.stance import FACTION_STEP, FIXED_FACTIONS, SHOWN, attitude
from emu.world.actors.player import Player
from emu.world.social.chat import Chat
from emu.world.world import World
from emu.world.zones.zone import Zone

BETTER: Final = "Your faction standing with {name} got better."
WORSE: Final = "Your faction standing with {name} got worse."
BEST: Final = "Your faction standing with {name} could not possibly get any better."
WORST: Final = "Your faction standing with {name} could not possibly get any worse."
NO_ALLIANCE: Final = Alliance()


def change_standing(
    world: World, chat: Chat, player: Player, row: Mapping[str, Any] | None, amount: int,
    *, faction: int, is_shown: bool = True,
) -> bool:  # fmt: skip
    """Raise or lower what a faction thinks of a player, and say so; return whether it changed.

    `row` is the faction's of the content file; without one nothing is said.
    """
    usual = int(row["default"]) if row is not None else 0
    if not player.past.change_standing(faction, amount, usual):
        return False
    world.saves.changed(player, SavedKind.PAST, world.clock.now())
    if player.viewer is not None:
        player.zone.look_again(player.viewer)
    name = str(row["name"]) if row is not None else ""
    if name and is_shown:
        chat.line(player, (BETTER if amount > 0 else WORSE).format(name=name), "faction")
        value = player.past.standing(faction, usual)
        _send(player, [_shown(row or {}, faction, value)])
    return True


def send_standings(player: Player, factions: Mapping[int, Mapping[str, Any]]) -> None:
    """Send a player who enters what factions think of it; those without a row have no name.

    Recorded in real-entry-*: the standings of a new character, as those of an old one.
    """
    known = player.past.standings
    _send(player, [_shown(factions[one], one, known[one]) for one in known if one in factions])


def _shown(row: Mapping[str, Any], faction: int, value: int) -> dict[str, Any]:
    """Return the fields of a faction: its step, and how far the next one is, in percent.

    Recorded: 20,000 is step 2 and 0 %, 5,000 step 0 and 75 %, -50,000 step -4 and 100 %.
    """
    step = max(-SHOWN, min(SHOWN, int(value / FACTION_STEP)))
    within = abs(value) - abs(step) * FACTION_STEP if step else (value + FACTION_STEP) // 2
    return {
        "faction_id": faction, "name": str(row.get("name", "")), "con": step,
        "category": str(row.get("kind", "")), "description": str(row.get("description", "")),
        "percentage": min(100, within * 100 // FACTION_STEP), "value": value,
    }  # fmt: skip


def _send(player: Player, rows: list[dict[str, Any]]) -> None:
    fields = {"num_factions": len(rows), "response_array": rows}
    player.client.send("WS_FactionUpdate", fields)


class Standings:
    """Lets kills change what factions think of players."""

    def __init__(
        self, world: World, chat: Chat, population: Callable[[Zone], Population | None]
    ) -> None:
        """`population` returns what stands in a zone, with the factions of the content file."""
        self._world = world
        self._chat = chat
        self._population = population

    def attitude(self, player: Player, faction: int) -> int:
        """Return what a faction thinks of a player: -5 to 5; who is new has its usual standing."""
        if faction <= FIXED_FACTIONS:
            return attitude(faction, {})
        content = self._population(player.zone)
        row = content.factions.get(faction) if content is not None else None
        usual = int(row["default"]) if row is not None else 0
        return attitude(faction, {faction: player.past.standing(faction, usual)})

    def has_feuds(self, zone: Zone) -> bool:
        """Return whether any factions of a zone's content fight each other."""
        content = self._population(zone)
        return content is not None and bool(content.alliances)

    def enemies(self, zone: Zone, faction: int) -> tuple[int, ...]:
        """Return the factions that a faction fights."""
        content = self._population(zone)
        return content.alliances.get(faction, NO_ALLIANCE).enemies if content is not None else ()

    def killed(self, zone: Zone, faction: int, players: Iterable[Player]) -> None:
        """Change what factions think of the players who have killed a creature of one of them."""
        content = self._population(zone)
        if content is None or faction <= FIXED_FACTIONS:
            return
        alliance = content.alliances.get(faction, NO_ALLIANCE)
        for player in players:
            for one in (faction, *alliance.friends):
                self._change(player, content, one, "loss")
            for one in alliance.enemies:
                self._change(player, content, one, "gain")

    def _change(self, player: Player, content: Population, faction: int, column: str) -> None:
        row = content.factions.get(faction)
        amount = int(row[column]) if row is not None else 0
        if row is None or amount <= 0 or faction <= FIXED_FACTIONS:
            return
        signed = amount if column == "gain" else -amount
        if not change_standing(self._world, self._chat, player, row, signed, faction=faction):
            text = BEST if signed > 0 else WORST
            self._chat.line(player, text.format(name=row["name"]), "faction")
