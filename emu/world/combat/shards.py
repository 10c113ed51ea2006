"""Spirit shards: what stays where a player has died, and gives back most of the debt.

A shard looks like its owner as it was then, and is stored with the character. Source:
docs/protocol/world/fights.md#death.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from emu.model import SavedKind
from emu.world.actors.past import Shard
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


class Shards:
    """The spirit shards that stand in the zones of one world."""

    def __init__(self, world: World, chat: Chat, changed: Callable[[Player], object]) -> None:
        """`changed` is called after the debt of a player has changed."""
        self._world = world
        self._chat = chat
        self._changed = changed
        self._standing: dict[Spawn, tuple[int, Shard, Zone]] = {}
        """Owner, shard and zone of each that stands."""
        subscribe = world.events.subscribe
        subscribe(Entered, self._entered)
        subscribe(LeftZone, self._left)
        subscribe(Used, self._used, Order.OWNER)

    def leave(self, player: Player, debt: int) -> None:
        """Leave a shard where a player lies, which has cost it so much debt."""
        if not self._world.rules.in_zone(player.zone.zone_id).spirit_shards:
            return
        place = player.position
        x, y, z, heading = (round(part, 3) for part in place[:4])
        shard = Shard(player.zone.zone_id, x, y, z, heading, place.grid, debt)
        before = player.past.shards
        player.past.leave_shard(shard)
        self._world.saves.changed(player, SavedKind.PAST, self._world.clock.now())
        for gone in set(before) - set(player.past.shards):
            self._remove(player.id, gone)
        self._place(player, shard)

    def _place(self, player: Player, shard: Shard) -> None:
        spawn = player.spawn
        look = SpawnTemplate(
            SpawnKind.NPC, f"{player.name}'s spirit shard", level=spawn.level, size=spawn.size,
            appearance=dict(spawn.appearance), words=frozenset((CORPSE,)),
            verbs=(Verb(RECOVER, RECOVER_DISTANCE, "", is_command=False),),
            pose=Pose(visual_state=LYING),
        )  # fmt: skip
        zone = player.zone
        place = Position(shard.x, shard.y, shard.z, shard.heading, shard.grid)
        made = Spawn.of(look, self._world.zones.next_spawn_id(), place)
        made.vitals = made.vitals._replace(hp_percent=0)
        self._standing[made] = player.id, shard, zone
        zone.add_spawn(made, self._world.clock.now())

    def _entered(self, event: Entered) -> None:
        """Let the shards of a player stand in the zone that it enters."""
        player = event.player
        there = {shard for owner, shard, zone in self._standing.values()
                 if owner == player.id and zone is player.zone}  # fmt: skip
        for shard in player.past.shards:
            if shard.zone_id == player.zone.zone_id and shard not in there:
                self._place(player, shard)

    def _left(self, event: LeftZone) -> None:
        """Let the shards of a player go: nobody else can do anything with them."""
        for spawn, (owner, _, zone) in list(self._standing.items()):
            if owner == event.player.id and zone is event.player.zone:
                self._take_away(spawn)

    def _remove(self, owner: int, shard: Shard) -> None:
        for spawn, (of, known, _) in list(self._standing.items()):
            if of == owner and known == shard:
                self._take_away(spawn)

    def _take_away(self, spawn: Spawn) -> None:
        _, _, zone = self._standing.pop(spawn)
        if zone.spawn(spawn.id) is spawn:
            zone.remove(spawn, self._world.clock.now())

    def _used(self, event: Used) -> None:
        found = self._standing.get(event.target)
        if found is None or event.verb.name != RECOVER:
            return
        event.done_by.add(Doer.WAY)
        owner, shard, _ = found
        player = event.player
        if owner != player.id:
            self._chat.line(player, OTHERS, "error")
            return
        if player.spawn.hp_percent <= 0 or not player.past.take_shard(shard):
            return
        self._take_away(event.target)
        now, rules = self._world.clock.now(), self._world.rules.in_zone(player.zone.zone_id)
        back = round(shard.debt * rules.shard_recovery / 100)
        self._world.saves.set_facts(
            player, now, experience_debt=max(0, player.character.experience_debt - back)
        )
        self._world.saves.changed(player, SavedKind.PAST, now)
        self._chat.line(player, RECOVERED, "narrative")
        self._changed(player)
