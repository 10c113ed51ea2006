"""The verbs of nodes and of devices: harvesting takes time, and a node without tables has none.

Source: docs/guides/crafting.md#harvest, docs/guides/crafting.md#crafting.
"""

from __future__ import annotations

from typing import Final

from emu.world.actors.dealings import Dealing, NodeSkill
from emu.world.actors.spawn import Verb

SECONDS: Final = 5.0
"""How long a harvest takes (recorded)."""
DISTANCE: Final = 5.0
_VERBS: Final = {
    NodeSkill.GATHERING: Verb("gather", DISTANCE, "gather"),
    NodeSkill.COLLECTING: Verb("collect", 3.0, "gather"),
    NodeSkill.MINING: Verb("mine", DISTANCE, "mine"),
    NodeSkill.TRAPPING: Verb("trap", DISTANCE, "trap"),
    NodeSkill.FORESTING: Verb("chop", DISTANCE, "chop"),
    NodeSkill.FISHING: Verb("fish", DISTANCE, "fish"),
}
"""The verb by skill of a node that has none of its own."""
CREATE: Final = Verb("create", 10.0, "create", is_command=True)
"""The verb of a device that has none of its own (recorded)."""
WORDS: Final = frozenset(("gather", "collect", "mine", "trap", "chop", "fish", "harvest"))
"""The commands of verbs that harvest."""


def verbs_of_node(dealing: Dealing, verbs: tuple[Verb, ...]) -> tuple[Verb, ...]:
    """Return the verbs of a spawn: those that harvest take their time.

    The community's content has many nodes without tables; these lose such verbs.
    """
    if dealing.node_skill is NodeSkill.NONE:
        return verbs
    if not dealing.node:
        return tuple(one for one in verbs if not harvests(one))
    if not any(map(harvests, verbs)):
        verbs = (_VERBS[dealing.node_skill], *verbs)
    return tuple(
        one._replace(cast_time=SECONDS, visual=0, is_command=False) if harvests(one) else one
        for one in verbs
    )


def verbs_of_device(dealing: Dealing, verbs: tuple[Verb, ...]) -> tuple[Verb, ...]:
    """Return the verbs of a spawn: a device of crafting has one that opens the recipe book."""
    if not dealing.device or any(one.command == CREATE.command for one in verbs):
        return verbs
    return (CREATE, *verbs)


def harvests(verb: Verb) -> bool:
    """Return whether a verb is one of harvesting."""
    return verb.command.casefold() in WORDS
