"""`Harvesting`: nodes that players gather, mine, trap, chop and fish.

A harvest is a verb that takes time. Each player harvests a node some times; then the node goes, and
comes back as its zone says.

Source: docs/protocol/world/crafting.md#harvest, docs/guides/crafting.md#harvest; recorded in
../shared/data/recordings/fight-546-harvest-a and real-harvest-*.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from emu.errors import EmuError
from emu.items.refusals import Refusal
from emu.ledger import Owner, OwnerKind
from emu.rules.harvest import RARE, Found, HarvestNode, harvest, table_of
from emu.times import Monotonic
from emu.world.actors.client import send_text
from emu.world.actors.dealings import NodeSkill
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn, Verb
from emu.world.crafting.giving import (
    ActChances,
    Crafts,
    SkillUse,
    in_turn,
    thing_link,
    whole_count,
)
from emu.world.events import Doer, MayUse, Order, Used, VerbBegun, VerbBroken
from emu.world.item_events import Harvested, NodeWorked
from emu.world.items.items import Items
from emu.world.items.texts import own_color
from emu.world.population.nodes import SECONDS, harvests
from emu.world.zones.zone import Zone

HARVEST_COLOR, SUCCESS_COLOR, SPELL_COLOR = 89, 39, 49
"""The colors of what is found, of a success, and of what an ability does."""
SPELL, VISUAL = 8134, 568
"""The ability and its visual effect (recorded of gathering)."""
GOES: Final = 1.0
"""Seconds until a node goes that somebody has used up."""
WHITE: Final = 0xFF
POPUP_KIND, POPUP_SECONDS = 10, 2.25
NO_SKILL: Final = "You lack the skills to harvest this node!"
FAILED: Final = "You failed to {verb} anything from {name}."
GOT: Final = "You {verb} {count} {link} from the {name}."
SUCCESS: Final = "Your {ability} was successful on {name}!"
_POPUP: Final = "\\#64FFFFYou have {done}:\n\\#C8FFFF{count} {thing}"
_RARE_POPUP: Final = "\\#FF6E6EYou have {done} something rare:\n\\#C8FFFF{count} {thing}"


class _Words(NamedTuple):
    """What the texts about a skill say."""

    ability: str
    verb: str
    """What the player does with the things: "You acquire 1 ..."."""
    done: str
    tried: str
    """What has failed."""
    begun: str


_GATHERED: Final = _Words(
    "Gathering", "gather", "gathered", "gather", "You begin to gather {name}."
)
_WORDS: Final = {
    NodeSkill.GATHERING: _GATHERED,
    NodeSkill.COLLECTING: _GATHERED,
    NodeSkill.MINING: _Words("Mining", "mine", "mined", "mine", "You start to mine {name}."),
    NodeSkill.TRAPPING: _Words(
        "Trapping", "acquire", "acquired", "trap", "You cast Trapping on {name}."
    ),
    NodeSkill.FORESTING: _Words(
        "Foresting", "forest", "forested", "forest", "You cast Foresting on {name}."
    ),
    NodeSkill.FISHING: _Words("Fishing", "fish", "fished", "fish", "You cast Fishing on {name}."),
}
"""Recorded of gathering, mining and trapping; the others follow their pattern."""


class Harvesting:
    """The nodes of one world."""

    def __init__(
        self,
        items: Items,
        crafts: Crafts,
        skills: SkillUse,
        chances: ActChances,
        despawn: Callable[[Zone, Spawn], None],
    ) -> None:
        """`despawn` removes a spawn from its zone; it returns as the zone says."""
        self._items = items
        self._world = items.world
        self._crafts = crafts
        self._skills = skills
        self._chances = chances
        self._despawn = despawn
        self._used: dict[int, dict[int, int]] = {}
        """How often characters have harvested a node, by its spawn."""
        self._going = items.world.timetable.deadlines("nodes that go", self._remove)
        events = items.world.events
        events.subscribe(MayUse, self._asked, Order.OWNER)
        events.subscribe(VerbBegun, self._begun, Order.OWNER)
        events.subscribe(VerbBroken, self._broken, Order.OWNER)
        events.subscribe(Used, self._finished, Order.OWNER)

    # -- asking ------------------------------------------------------------

    def may_harvest(self, player: Player, spawn: Spawn) -> bool:
        """Return whether a player has the skill for a node; say so if not."""
        words, node = _WORDS.get(spawn.look.dealing.node_skill), self._node(spawn)
        if words is None or node is None:
            return False
        if self._skills.value(player, words.ability) >= node.needed:
            return True
        send_text(player.client, NO_SKILL, own_color(player.client, HARVEST_COLOR))
        return False

    def is_used_up(self, player: Player, spawn: Spawn) -> bool:
        """Return whether a player has harvested a node as often as it can."""
        return self._uses(player, spawn) >= spawn.look.dealing.node_uses

    def _uses(self, player: Player, spawn: Spawn) -> int:
        return self._used.get(spawn.id, {}).get(player.id, 0)

    def _node(self, spawn: Spawn) -> HarvestNode | None:
        if not spawn.look.dealing.node:
            return None
        try:
            return self._crafts.node(spawn.look.dealing.node)
        except EmuError:
            self._world.count("node that could not be read")
            return None

    # -- the verb ------------------------------------------------------------

    def _asked(self, event: MayUse) -> None:
        if not _is_node(event.target, event.verb):
            return
        if self.is_used_up(event.player, event.target):
            event.refusals.append("a node that is used up")
        elif not self.may_harvest(event.player, event.target):
            event.refusals.append("a node")

    def _begun(self, event: VerbBegun) -> None:
        """Show an ability that is cast on the node, as EQ2Emulator does (recorded)."""
        if not _is_node(event.target, event.verb):
            return
        player, spawn = event.player, event.target
        fields = {"cast_time": SECONDS, "spell_name": _words(spawn).ability}
        player.client.send("WS_StartCastSpell", fields)
        for viewer, own, node in self._viewers(player, spawn):
            viewer.client.send(
                "WS_HearSpellCast",
                {
                    "spawn_id": own, "num_targets": 1, "target_array": [{"target": node}],
                    "spell_id": SPELL, "visual": VISUAL, "seconds": SECONDS, "level": 1,
                },
            )  # fmt: skip

    def _broken(self, event: VerbBroken) -> None:
        if not _is_node(event.target, event.verb):
            return
        player, spawn = event.player, event.target
        self._show_end(player, spawn)
        for viewer, own, node in self._viewers(player, spawn):
            targets = [{"target_id": node}]
            viewer.client.send(
                "WS_Interrupt",
                {"spawn_id": own, "num_targets": 1, "target_array": targets, "spell_id": SPELL},
            )

    def _show_end(self, player: Player, spawn: Spawn) -> None:
        player.client.send("WS_FinishCastSpell", {"spell_name": _words(spawn).ability})

    def _viewers(self, player: Player, spawn: Spawn) -> list[tuple[Player, int, int]]:
        """Return who sees both, with its indexes of them."""
        found = []
        for one in self._world.players:
            if one.zone is player.zone and one.is_online:
                own, node = one.index_of(player.spawn), one.index_of(spawn)
                if own is not None and node is not None:
                    found.append((one, own, node))
        return found

    def _finished(self, event: Used) -> None:
        if not _is_node(event.target, event.verb):
            return
        event.done_by.add(Doer.COMMAND)
        player, node = event.player, event.target
        self._show_end(player, node)
        self._world.events.publish(NodeWorked(player, node, _words(node).ability))
        self.harvest(player, node)

    # -- the harvest ------------------------------------------------------------

    def harvest(self, player: Player, spawn: Spawn) -> None:
        """Let a player harvest a node once, in its turn; a node that is used up goes."""
        in_turn(self._items, player, lambda: self._harvest(player, spawn))

    def _harvest(self, player: Player, spawn: Spawn) -> None:
        node, dealing = self._node(spawn), spawn.look.dealing
        is_there = player.zone.spawn(spawn.id) is spawn
        if node is None or not is_there or self.is_used_up(player, spawn):
            return
        if not self.may_harvest(player, spawn):
            return
        uses = self._used.setdefault(spawn.id, {})
        uses[player.id] = uses.get(player.id, 0) + 1
        if uses[player.id] >= dealing.node_uses:
            due = Monotonic(self._world.clock.now() + GOES)
            self._going.set(player.zone, spawn, due)
            # Recorded: what is used up offers nothing any more.
            spawn.verbs = ()
        found = self._roll(player, spawn, node)
        words, color = _words(spawn), own_color(player.client, HARVEST_COLOR)
        given = [one for one in found if self._give(player, spawn, one)]
        if not found:
            send_text(player.client, FAILED.format(verb=words.tried, name=spawn.name), color)
        if given:
            lines = (
                (SUCCESS.format(ability=words.ability, name=spawn.name), SUCCESS_COLOR),
                (words.begun.format(name=spawn.name), SPELL_COLOR),
            )
            for text, number in lines:
                send_text(player.client, text, own_color(player.client, number))
        self._skills.use(player, words.ability)

    def _roll(self, player: Player, spawn: Spawn, node: HarvestNode) -> list[Found]:
        chance = self._chances.next(player.zone, spawn)
        skill = self._skills.value(player, _words(spawn).ability)
        found: list[Found] = []
        for _ in range(spawn.look.dealing.node_tries):
            table = table_of(node, skill, player.character.level, chance)
            if table is not None:
                found += harvest(table, node.items, player.position.grid, chance)
        return found

    def _give(self, player: Player, spawn: Spawn, found: Found) -> bool:
        kind = self._items.kinds.get(found.item_id)
        if kind is None:
            self._world.count("thing of a node that nothing describes")
            return False
        giver = Owner(OwnerKind.NODE, spawn.look.dealing.number)
        made = self._items.make(player, kind, whole_count(kind, found.amount), giver)
        if isinstance(made, Refusal):
            self._items.refuse(player, made)
            return False
        words = _words(spawn)
        text = GOT.format(
            verb=words.verb, count=found.amount, link=thing_link(kind, made[0]), name=spawn.name
        )
        send_text(player.client, text, own_color(player.client, HARVEST_COLOR))
        self._items.changed(player)
        is_rare = found.rarity == RARE
        player.client.send(
            "WS_OnScreenMsg",
            {
                "unknown": POPUP_KIND,
                "text": (_RARE_POPUP if is_rare else _POPUP).format(
                    done=words.done, count=found.amount, thing=kind.name
                ),
                "message_type": "ui_harvested_rare" if is_rare else "ui_harvested_normal",
                "size": POPUP_SECONDS, "red": WHITE, "green": WHITE, "blue": WHITE,
            },
        )  # fmt: skip
        self._world.events.publish(Harvested(player, spawn, kind, found.amount))
        return True

    # -- nodes that go ------------------------------------------------------------

    def _remove(self, zone: Zone, spawn: Spawn, now: Monotonic) -> None:
        self._used.pop(spawn.id, None)
        if zone.spawn(spawn.id) is not spawn:
            return
        self._despawn(zone, spawn)
        if zone.spawn(spawn.id) is spawn:  # no zone file has placed it
            zone.remove(spawn, now)

    def vanished(self, spawn: Spawn) -> None:
        """Forget a spawn that was removed from its zone."""
        self._used.pop(spawn.id, None)


def _is_node(spawn: Spawn, verb: Verb) -> bool:
    return spawn.look.dealing.node > 0 and harvests(verb)


def _words(spawn: Spawn) -> _Words:
    return _WORDS.get(spawn.look.dealing.node_skill, _GATHERED)
