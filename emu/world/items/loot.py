"""`Loots`: what creatures have with them, and what is left when they die.

The loot of a creature follows from the chance of its zone and its own number, so it is rolled when
it is first needed: as if it had been when the creature appeared.

Source: docs/guides/content.md#loot, docs/protocol/world/trade.md#loot.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from emu.content.standing import Standing
from emu.content.trade import GlobalLoot
from emu.errors import EmuError
from emu.items.kinds import ItemKind
from emu.items.remains import CHEST_TIER, LootMethod, Lot, Remains
from emu.rules.loot import Chance, LootTable, roll, roll_bound
from emu.rules.stance import GREY, arrow_color
from emu.times import Monotonic
from emu.world.actors.looks import wear
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn, SpawnKind, Verb
from emu.world.events import Died, MayDrop, Order, Used
from emu.world.items.items import Items
from emu.world.zones.zone import Zone

BODY_RIGHT, CHEST_RIGHT = 600.0, 1200.0
"""Seconds for which only those who have killed the creature may loot body and chest."""
STAYS, STAYS_FOR_LEVEL = 240.0, 15.0
"""Seconds for which a body with things stays, and those that each level adds."""
EMPTY_STAYS: Final = 10.0
REFILLED: Final = 600.0
"""Seconds after which a chest of a zone file has something again."""
GOES: Final = 1.0
"""Seconds until what was emptied goes."""
SEEDS: Final = 1 << 30
MOST_TIER: Final = 0xFF
ON_BODY: Final = 1
"""The kind of loot that needs no chest."""
FOR_EVER: Final = float("inf")
LOOT: Final = Verb("loot", 10.0, "loot")
DISARM: Final = Verb("Disarm", 5.0, "Disarm")
CORPSE: Final = "corpse"
METHOD, AUTO_SPLIT = 0, 2
"""Places of a leader's options in those of its groups."""


@dataclass(frozen=True, slots=True)
class Chest:
    """A chest by the best tier of what lies in it."""

    tier: int
    name: str
    model: int
    opening: int
    """The state that shows how it opens."""


CHESTS: Final = (
    Chest(9, "Exquisite Chest", 4015, 11898),
    Chest(7, "Ornate Chest", 5865, 11900),
    Chest(4, "Treasure Chest", 5864, 11901),
    Chest(CHEST_TIER, "Small Chest", 4034, 11899),
)


class LootTables(Protocol):
    """Loot tables of the content; `emu.content.trade.TradeTables` has them."""

    def loot(
        self, spawn: int, *, zone_id: int, model: int, level: int, tier: int,
        allows: Callable[[GlobalLoot], bool] | None = None,
    ) -> tuple[LootTable, ...]:  # fmt: skip
        """Return the loot tables of a spawn; `allows` decides about those that are not its own."""

    def tables(self, numbers: Iterable[int]) -> tuple[LootTable, ...]:
        """Return loot tables by their numbers."""

    def wears_loot(self, spawn: int) -> bool:
        """Return whether a spawn may wear what it drops."""


@dataclass(slots=True)
class Carried:
    """What a living creature has with it: item and count of each thing, and coins."""

    coins: int = 0
    things: list[tuple[int, int]] = field(default_factory=list)


class Loots:
    """The loot of all creatures of one world, and what lies there."""

    def __init__(
        self,
        items: Items,
        tables: LootTables,
        roll_seed: Callable[[int], int],
        seeded: Callable[[str], Chance],
        despawn: Callable[[Zone, Spawn], None],
    ) -> None:
        """`roll_seed` returns a random number below its argument, and `seeded` numbers of a seed.

        `despawn` removes a creature from its zone.
        """
        self._items = items
        self._world = items.world
        self._tables = tables
        self._roll_seed = roll_seed
        self._seeded = seeded
        self._despawn = despawn
        self._seeds: dict[Zone, int] = {}
        self._carried: dict[int, Carried] = {}
        self.remains: dict[int, Remains] = {}
        """What lies there, by the number of the body or chest."""
        self.pending: dict[tuple[int, int], Remains] = {}
        """What scripts have for single characters, by the spawn's number and the character."""
        self._filled: dict[int, tuple[int, float]] = {}
        """How often chests of zone files were filled, and when they are again."""
        self._turns = self._lots = 0
        self._going = items.world.timetable.deadlines("bodies and chests that go", self._remove)
        events = items.world.events
        events.subscribe(Died, self._died)
        events.subscribe(Used, self._used, Order.OWNER)

    # -- the spawns of zones ----------------------------------------------------------------------

    def appeared(self, zone: Zone, spawn: Spawn, _standing: Standing) -> None:
        """Let a spawn that was put into its zone wear what it may drop.

        The loot of all others is rolled when it is needed.
        """
        number = spawn.look.dealing.number
        try:
            wears = bool(number) and self._tables.wears_loot(number)
        except EmuError:
            self._world.count("loot that could not be read")
            return
        if not wears:
            return
        # The same chance gives the same loot as later.
        for drop in roll(self._tables_of(zone, spawn), self._chance(zone, spawn)).drops:
            kind = self._items.kinds.get(drop.item_id) if drop.is_worn else None
            if kind is not None and kind.look is not None and kind.slots:
                look = kind.look
                wear(spawn, kind.slots[0], look.model, look.color, look.highlight)

    def vanished(self, _zone: Zone, spawn: Spawn) -> None:
        """Forget a spawn that was removed from its zone."""
        self._carried.pop(spawn.id, None)
        self.remains.pop(spawn.id, None)
        self._filled.pop(spawn.id, None)
        for key in [one for one in self.pending if one[0] == spawn.id]:
            del self.pending[key]

    def ended(self, zone: Zone) -> None:
        """Forget a zone that ends."""
        self._seeds.pop(zone, None)

    # -- what a creature has ----------------------------------------------------------------------

    def carried(self, zone: Zone, spawn: Spawn) -> Carried:
        """Return what a creature has with it, which may be changed."""
        found = self._carried.get(spawn.id)
        if found is None:
            won = roll(self._tables_of(zone, spawn), self._chance(zone, spawn))
            things = [(drop.item_id, drop.charges) for drop in won.drops]
            found = self._carried[spawn.id] = Carried(won.coins, things)
        return found

    def set_drop_kind(self, spawn: Spawn, kind: int) -> None:
        """Set whether all that a creature leaves lies on its body: 1."""
        dealing = spawn.look.dealing._replace(loot_drop_kind=min(kind, MOST_TIER))
        spawn.look = replace(spawn.look, dealing=dealing)

    def set_tier(self, spawn: Spawn, tier: int) -> None:
        """Set the loot tier of a creature, before its loot is rolled."""
        dealing = spawn.look.dealing._replace(loot_tier=min(tier, MOST_TIER))
        spawn.look = replace(spawn.look, dealing=dealing)

    def _chance(self, zone: Zone, spawn: Spawn) -> Chance:
        seed = self._seeds.get(zone)
        if seed is None:
            seed = self._seeds[zone] = self._roll_seed(SEEDS)
        times, _ = self._filled.get(spawn.id, (0, 0.0))
        return self._seeded(f"{seed} {spawn.id} {times}")

    def _tables_of(self, zone: Zone, spawn: Spawn) -> Sequence[LootTable]:
        dealing = spawn.look.dealing
        try:
            own = self._tables.tables(dealing.loot) if dealing.loot else ()
            if not dealing.number:
                return own
            return own + self._tables.loot(
                dealing.number, zone_id=zone.zone_id, model=dealing.model, level=spawn.level,
                tier=dealing.loot_tier, allows=self._allows(zone, spawn),
            )  # fmt: skip
        except EmuError:
            self._world.count("loot that could not be read")
            return ()

    def _allows(self, zone: Zone, spawn: Spawn) -> Callable[[GlobalLoot], bool] | None:
        """Return the question to the zone's script; None if nobody answers it."""
        events = self._world.events
        if not events.has_listener(MayDrop):
            return None

        def ask(table: GlobalLoot) -> bool:
            event = MayDrop(
                zone=zone, spawn=spawn, kind=table.kind, table=table.table_id, levels=table.levels
            )
            events.publish(event)
            return False not in event.answers

        return ask

    # -- what lies there --------------------------------------------------------------------------

    def of(self, spawn: Spawn, char_id: int) -> Remains | None:
        """Return what a character finds in a body or chest: first what is its own."""
        return self.pending.get((spawn.id, char_id)) or self.remains.get(spawn.id)

    def give(self, spawn: Spawn, player: Player, coins: int, kinds: Iterable[ItemKind]) -> None:
        """Let a player find coins and things at a spawn, which nobody else does."""
        key = spawn.id, player.id
        known = self.pending.get(key) or Remains(0, [], frozenset((player.id,)), FOR_EVER)
        known.coins += coins
        for kind in kinds:
            known.lots.append(Lot(kind, kind.beginning_count(), self._next_lot()))
        if not known.is_empty:
            self.pending[key] = known

    def _next_lot(self) -> int:
        self._lots += 1
        return self._lots

    def forget(self, spawn: Spawn, remains: Remains) -> bool:
        """Forget what was emptied; return whether it was what lay there for all."""
        for key in [key for key, one in self.pending.items() if one is remains]:
            del self.pending[key]
        if self.remains.get(spawn.id) is not remains:
            return False
        del self.remains[spawn.id]
        return True

    # -- death ------------------------------------------------------------------------------------

    def _died(self, event: Died) -> None:
        zone, spawn, killer = event.zone, event.victim, event.player
        if spawn.kind is not SpawnKind.NPC:
            return
        if killer is None or not event.is_rewarded:
            # Nobody has a right to it.
            self._carried.pop(spawn.id, None)
            return
        members = self._members(killer, event.fighters)
        coins, lots = self._dropped(zone, spawn, killer, members)
        best = max((one.kind.tier for one in lots if not one.kind.is_body_drop), default=0)
        has_chest = best >= CHEST_TIER and spawn.look.dealing.loot_drop_kind != ON_BODY
        in_chest = [one for one in lots if not one.kind.is_body_drop] if has_chest else []
        on_body = [one for one in lots if one not in in_chest]
        now = self._world.clock.now()
        body = Remains(coins, on_body, members, now + BODY_RIGHT)
        if not body.is_empty:
            self._share(body, killer)
            self.remains[spawn.id] = body
            event.stays.append(STAYS + STAYS_FOR_LEVEL * spawn.level)
        spawn.set_verbs((LOOT,), ())
        self._show_verb(zone, spawn)
        if in_chest:
            chest = Remains(0, in_chest, members, now + CHEST_RIGHT)
            self._share(chest, killer)
            self._put_chest(zone, spawn, chest, best)

    def _dropped(
        self, zone: Zone, spawn: Spawn, killer: Player, members: Collection[int]
    ) -> tuple[int, list[Lot]]:
        """Return what a creature leaves behind for a killer and those who have killed with it."""
        carried = self.carried(zone, spawn)
        self._carried.pop(spawn.id, None)
        things = list(carried.things)
        journals = [one.journal for one in map(self._world.players.get, members) if one is not None]
        bound = roll_bound(
            self._tables_of(zone, spawn),
            lambda quest: any(one.times(quest) for one in journals),
            self._chance(zone, spawn), {item for item, _ in things},
        )  # fmt: skip
        things += [(drop.item_id, drop.charges) for drop in bound]
        is_grey = arrow_color(spawn.level, killer.spawn.level) == GREY
        lots = list[Lot]()
        for item_id, count in things:
            kind = self._items.kinds.get(item_id)
            if kind is None:
                self._world.count("loot that nothing describes")
            elif not is_grey or kind.is_body_drop:
                lots.append(Lot(kind, _count(kind, count), len(lots)))
        return carried.coins, lots

    def _members(self, killer: Player, fighters: Collection[Spawn] = ()) -> frozenset[int]:
        """Return those who have killed together: those who fought, and the group in the zone."""
        group = self._world.groups.table.of(killer.id)
        found = map(self._world.players.get, group.members if group is not None else ())
        here = {one.id for one in found if one is not None and one.zone is killer.zone}
        here |= {
            one.id for one in self._world.players
            if one.zone is killer.zone and one.spawn in fighters
        }  # fmt: skip
        return frozenset(here | {killer.id})

    def _share(self, remains: Remains, killer: Player) -> None:
        """Let a group share things by the options of its leader."""
        group = self._world.groups.table.of(killer.id)
        if group is None or len(remains.entitled) < 2:
            return
        leader = self._world.players.get(group.leader)
        options = (leader or killer).client_data.group
        known = {one.value: one for one in LootMethod}
        remains.method = known.get(options[METHOD], LootMethod.FREE)
        remains.leader = group.leader
        if remains.method is LootMethod.LEADER and group.leader not in remains.entitled:
            remains.leader = killer.id
        if remains.method is LootMethod.ROUND_ROBIN:
            order = [one for one in group.members if one in remains.entitled]
            self._turns = remains.take_turns(order, self._turns)

    def splits_coins(self, player: Player) -> bool:
        """Return whether the leader of a player's group lets coins be shared."""
        group = self._world.groups.table.of(player.id)
        leader = self._world.players.get(group.leader) if group is not None else None
        return bool((leader or player).client_data.group[AUTO_SPLIT])

    # -- bodies and chests ------------------------------------------------------------------------

    def _put_chest(self, zone: Zone, body: Spawn, remains: Remains, tier: int) -> None:
        form = next(one for one in CHESTS if tier >= one.tier)
        at = body.position
        chest = Spawn(
            self._world.zones.next_spawn_id(), SpawnKind.OBJECT, form.name,
            at._replace(x=at.x + 1.0), appearance={"model_type": form.model},
            verbs=(LOOT, DISARM), show_name=True,
        )  # fmt: skip
        zone.add_spawn(chest, self._world.clock.now())
        self.remains[chest.id] = remains
        self._go_after(zone, chest, CHEST_RIGHT)

    def _used(self, event: Used) -> None:
        """Fill a chest of a zone file when somebody opens it."""
        spawn = event.target
        if event.verb.command != LOOT.command or spawn.kind is SpawnKind.NPC:
            return
        if spawn.id in self.remains or not spawn.look.dealing.loot:
            return
        now = self._world.clock.now()
        times, due = self._filled.get(spawn.id, (0, now))
        if now < due:
            return
        self._filled[spawn.id] = times + 1, now + REFILLED
        zone, player = event.player.zone, event.player
        members = self._members(player)
        coins, lots = self._dropped(zone, spawn, player, members)
        self.remains[spawn.id] = Remains(coins, lots, members, now + CHEST_RIGHT)

    def go(self, zone: Zone, spawn: Spawn) -> None:
        """Let an emptied body or chest go in a moment; a chest of a zone file stays."""
        if not spawn.look.dealing.loot or spawn.kind is SpawnKind.NPC:
            self._go_after(zone, spawn, GOES)

    def _go_after(self, zone: Zone, spawn: Spawn, seconds: float) -> None:
        self._going.set(zone, spawn, Monotonic(self._world.clock.now() + seconds))

    def _remove(self, zone: Zone, spawn: Spawn, now: Monotonic) -> None:
        if zone.spawn(spawn.id) is not spawn:
            return
        self._despawn(zone, spawn)
        if zone.spawn(spawn.id) is spawn:
            # A chest, or a creature that no zone file has placed.
            self.vanished(zone, spawn)
            zone.remove(spawn, now)

    def is_emptied(self, spawn: Spawn) -> bool:
        """Return whether a spawn is a body or a chest in which nothing is left."""
        is_body = spawn.kind is SpawnKind.NPC and CORPSE in spawn.words
        return is_body or spawn.id in self._filled or any(one.name == spawn.name for one in CHESTS)

    def state_of(self, spawn: Spawn) -> int:
        """Return the state that shows how a body or chest opens."""
        return next((one.opening for one in CHESTS if one.name == spawn.name), 0)

    # -- what is shown ----------------------------------------------------------------------------

    def watchers(self, zone: Zone, spawn: Spawn) -> Iterable[tuple[Player, int]]:
        """Yield the players that see a spawn, each with its index of it."""
        for player in self._world.players:
            if player.zone is zone and player.is_online:
                index = player.index_of(spawn)
                if index is not None:
                    yield player, index

    def _show_verb(self, zone: Zone, spawn: Spawn) -> None:
        for player, index in self.watchers(zone, spawn):
            fields = {
                "spawn_id": index, "command_name": LOOT.command, "distance": LOOT.distance,
            }  # fmt: skip
            player.client.send("WS_SetDefaultCommand", fields)


def _count(kind: ItemKind, charges: int) -> int:
    """Return how many a drop is: of what has charges, all of them."""
    if kind.is_stackable:
        return max(1, min(charges, kind.stack))
    return kind.beginning_count() if charges <= 1 else min(charges, max(1, kind.most_charges))
