"""Functions for quests. Characters have none yet: they have taken and completed none."""

from __future__ import annotations

from typing import Final

from emu.content.quests import QuestNeeds
from emu.scripts.signatures import FunctionTable
from emu.world.actors.past import BEST_STANDING
from emu.world.scripts.bodies import Body
from emu.world.scripts.functions.knowledge import get_standing
from emu.world.scripts.functions.who import get_class, get_level, get_race
from emu.world.scripts.host import Scripts

QUESTS: Final = FunctionTable()


@QUESTS("CanReceiveQuest", "P player, u quest")
def can_receive(scripts: Scripts, body: Body | None, quest: int) -> bool | None:
    """Return whether a player may take a quest: what the quest asks for, the player has."""
    if body is None or body.player is None:
        return None
    needs = scripts.figures.quests.get(quest)
    return needs is not None and _has_all(scripts, body, needs)


def _has_all(scripts: Scripts, body: Body, needs: QuestNeeds) -> bool:
    assert body.player is not None  # noqa: S101  # the caller has looked
    level = get_level(scripts, body) or 0
    return (
        # Nobody has completed a quest.
        not needs.quests
        and needs.least_level <= level <= (needs.most_level or level)
        and needs.tradeskill_level <= body.player.character.tradeskill_level
        and (not needs.classes or get_class(scripts, body) in needs.classes)
        and (not needs.races or get_race(scripts, body) in needs.races)
        and all(
            least <= (get_standing(scripts, body, faction) or 0) <= (most or BEST_STANDING)
            for faction, least, most in needs.standings
        )
    )
