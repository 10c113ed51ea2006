"""Spirit shards: what stays where a player has died, and gives back most of the debt.

A shard looks like its owner as it was then, and is stored with the character. The content file can
name a script for shards, which then decides who recovers one and what that gives.
Source: docs/protocol/world/fights.md#death.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

from emu.shards import MOST_SHARDS, Shard, next_number
from emu.world.actors.player import Player
from emu.world.actors.spawn import Pose, Spawn, SpawnKind, SpawnTemplate, Verb
from emu.world.events import Doer, Entered, LeftZone, Order, Used
from emu.world.minds.harm import CORPSE
from emu.world.social.chat import Chat
from emu.world.world import World
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position

RECOVER: Final = "Recover Spirit Shard"
RECOVER_DISTANCE: Final = 10.0
LYING: Final = 6193
"""The visual state of a shard (recorded)."""
RECOVERED: Final = "You recover your spirit shard."
"""The line of the owner; the C++ server leaves it to a script."""
OTHERS: Final = "This spirit shard is not yours."


class ShardScripts(Protocol):
    """The scripts of a world, as shards know them."""

    def shard_stands(self, zone: Zone, spawn: Spawn, gone: Callable[[Spawn], object]) -> bool:
        """Bind a shard to the script for shards; return False without one.

        `gone` is called with the shard when the script removes it.
        """

    def vanished(self, zone: Zone, spawn: Spawn) -> None:
        """End the handle of a spawn that has left its zone."""


class StandingShard(NamedTuple):
    """A shard that stands in a zone: its owner is there."""

    owner: Player
    shard: Shard
    zone: Zone


class Shards:
    """The spirit shards that stand in the zones of one world."""

    def __init__(
        self, world: World, chat: Chat, changed: Callable[[Player], object],
        scripts: Callable[[], ShardScripts | None],
    ) -> None:  # fmt: skip
        """`changed` is called after the debt of a player has changed.

        `scripts` returns None in a world without scripts.
        """
        self._world = world
        self._chat = chat
        self._changed = changed
        self._scripts = scripts
        self._standing: dict[Spawn, StandingShard] = {}
        subscribe = world.events.subscribe
        subscribe(Entered, self._entered)
        subscribe(LeftZone, self._left)
        subscribe(Used, self._used, Order.OWNER)

    def standing(self, spawn: Spawn) -> StandingShard | None:
        """Return the shard that a spawn is; None if it is none."""
        return self._standing.get(spawn)

    def leave(self, player: Player, debt: int) -> None:
        """Leave a shard where a player lies, which has cost it so much debt."""
        if not self._world.rules.in_zone(player.zone.zone_id).spirit_shards:
            return
        place = player.position
        x, y, z, heading = (round(part, 3) for part in place[:4])
        before = player.character.shards
        shard = Shard(
            next_number(before), player.zone.zone_id, x, y, z, heading, place.grid, debt,
            self._world.clock.moment(),
        )  # fmt: skip
        self._store(player, (*before, shard)[-MOST_SHARDS:])
        for spawn, known in list(self._standing.items()):
            if known.owner is player and known.shard not in player.character.shards:
                self._take_away(spawn)
        self._place(player, shard)

    def forget(self, number: int) -> bool:
        """Forget a stored shard by its number in the world; its spawn stays.

        Return whether a shard with the number stands in a zone of this process.
        """
        for owner, shard, _ in self._standing.values():
            if shard.number_in_world(owner.id) == number and shard in owner.character.shards:
                self._store(owner, _without(owner, shard))
                return True
        return False

    def _store(self, player: Player, shards: tuple[Shard, ...]) -> None:
        self._world.saves.set_facts(player, self._world.clock.now(), shards=shards)

    def _place(self, player: Player, shard: Shard) -> None:
        spawn = player.spawn
        look = SpawnTemplate(
            SpawnKind.NPC, f"{player.name}'s spirit shard", level=spawn.level, size=spawn.size,
            appearance=dict(spawn.appearance), words=frozenset((CORPSE,)),
            pose=Pose(visual_state=LYING),
        )  # fmt: skip
        zone = player.zone
        place = Position(shard.x, shard.y, shard.z, shard.heading, shard.grid)
        made = Spawn.of(look, self._world.zones.next_spawn_id(), place)
        made.vitals = made.vitals._replace(hp_percent=0)
        self._standing[made] = StandingShard(player, shard, zone)
        zone.add_spawn(made, self._world.clock.now())
        scripts = self._scripts()
        if scripts is None or not scripts.shard_stands(zone, made, self._take_away):
            made.set_verbs((Verb(RECOVER, RECOVER_DISTANCE, "", is_command=False),))

    def _entered(self, event: Entered) -> None:
        """Let the shards of a player stand in the zone that it enters."""
        player = event.player
        there = {known.shard for known in self._standing.values()
                 if known.owner is player and known.zone is player.zone}  # fmt: skip
        for shard in player.character.shards:
            if shard.zone_id == player.zone.zone_id and shard not in there:
                self._place(player, shard)

    def _left(self, event: LeftZone) -> None:
        """Let the shards of a player go: nobody else can do anything with them."""
        for spawn, known in list(self._standing.items()):
            if known.owner.id == event.player.id and known.zone is event.player.zone:
                self._take_away(spawn)

    def _take_away(self, spawn: Spawn) -> None:
        known = self._standing.pop(spawn, None)
        if known is None:
            return
        scripts = self._scripts()
        if scripts is not None:
            scripts.vanished(known.zone, spawn)
        if known.zone.spawn(spawn.id) is spawn:
            known.zone.remove(spawn, self._world.clock.now())

    def _used(self, event: Used) -> None:
        found = self._standing.get(event.target)
        if found is None or event.verb.name != RECOVER or event.verb.command:
            return
        event.done_by.add(Doer.WAY)
        owner, shard, _ = found
        player = event.player
        if owner is not player:
            self._chat.line(player, OTHERS, "error")
            return
        if player.spawn.hp_percent <= 0 or shard not in player.character.shards:
            return
        self._take_away(event.target)
        rules = self._world.rules.in_zone(player.zone.zone_id)
        back = round(shard.debt * rules.shard_recovery / 100)
        self._world.saves.set_facts(
            player, self._world.clock.now(), shards=_without(player, shard),
            experience_debt=max(0, player.character.experience_debt - back),
        )  # fmt: skip
        self._chat.line(player, RECOVERED, "narrative")
        self._changed(player)


def _without(player: Player, shard: Shard) -> tuple[Shard, ...]:
    return tuple(one for one in player.character.shards if one != shard)
