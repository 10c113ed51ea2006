"""`PlacedThings`: things that players place in houses, move there, and pick up again.

A placed thing belongs to the house. Its spawn stands in the house's copy of the zone, for all who
are there. Placing and picking up are one transaction of the ledger each.

Source: docs/guides/houses.md#things.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable
from dataclasses import dataclass, replace
from typing import Any, Final

from emu.errors import CommandError, LimitExceeded, StoreError
from emu.houses import MOST_PLACED, AccessLevel
from emu.items.held import Place, Thing, Where
from emu.items.inventory import may_share
from emu.items.kinds import Furniture, ItemKind, MoreFlag, Sort
from emu.items.refusals import Refusal
from emu.ledger import Outcome, Owner, OwnerKind, Placed, Reason, ThingChanges
from emu.times import Monotonic
from emu.world.actors.client import ERROR_COLOR, send_text
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.spawn import Spawn, SpawnKind, SpawnTemplate, Verb
from emu.world.events import Entered
from emu.world.housing.housing import NOT_NOW, NOT_YOURS, Housing, house_of
from emu.world.item_events import FurnitureGone, FurnitureStands, WindowsGone
from emu.world.items.exchanges import Act, things
from emu.world.items.items import Items
from emu.world.items.texts import RED
from emu.world.world import World
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position

MODE: Final = "WS_MoveObjectMode"
CANCEL: Final = "WS_CancelMoveObjectMode"
MOVE, PICK_UP = "move_item", "pickup"
REACH: Final = 10.0
"""How far a player may be from a thing that it moves or picks up by a verb."""
LONGEST_WAY: Final = 500.0
"""How far a client may put a thing from where it was."""
_U16: Final = 0xFFFF
SHOWN: Final = 0.2
PATIENCE: Final = 25
"""Looks, `SHOWN` seconds apart, at whether a client knows the spawn that its player is to place."""
HALF_TURN: Final = 180.0
"""EQ2Emulator turns what a client places by so many degrees."""
NO_MODEL: Final = "{name} cannot be placed: nothing says what it looks like."
SECOND: Final = "Item {name} is house lore and you cannot place another."
FULL: Final = "There are too many things in this house."
NO_SPACE: Final = "You do not have any slots available for this item."
OWNERS_OWN: Final = "{name} belongs to one player: only the owner of this house does that with it."


@dataclass(slots=True, eq=False)
class Piece:
    """A thing that stands in a house, or that a player is about to place there."""

    thing: Thing
    kind: ItemKind
    spawn: Spawn


class PlacedThings:
    """The things in the houses of one world."""

    def __init__(self, world: World, housing: Housing, items: Items) -> None:
        self._world = world
        self._housing = housing
        self._items = items
        self._store = housing.store
        self._pieces: dict[Zone, dict[int, Piece]] = {}
        """By zone and spawn, of the houses that run."""
        self._held: dict[int, tuple[Piece, int]] = {}
        """What a player is about to place, and how often it was looked whether it is shown."""
        self._loading: set[Zone] = set()
        """The houses whose things are being read."""
        self._coming: dict[Zone, list[ItemKind]] = {}
        """What the store is asked to put into houses."""
        self._shows = world.timetable.deadlines("things to be placed", self._show)
        world.events.subscribe(Entered, self._entered)
        world.events.subscribe(WindowsGone, lambda event: self.cancel(event.player))

    # -- houses that run ------------------------------------------------------------------------

    def _entered(self, event: Entered) -> None:
        zone = event.player.zone
        if house_of(zone):
            self._world.start(self._load(zone, event.player))

    async def _load(self, zone: Zone, player: Player) -> None:
        """Read the things of a house, unless that was done or is under way."""
        if zone in self._pieces or zone in self._loading:
            return
        self._loading.add(zone)
        try:
            found = await self._store.things(house_of(zone))
            kinds = await self._items.load_kinds(thing.item_id for thing, _ in found)
        except StoreError:
            self._world.count("things of a house not read")  # read again for who comes next
            return
        finally:
            has_ended = zone not in self._loading
            self._loading.discard(zone)
        if has_ended:
            return
        self._pieces[zone] = {}
        for thing, placed in found:
            kind = kinds.get(thing.item_id)
            if kind is not None and thing.id not in self._numbers(zone):
                self._stand(zone, thing, kind, Position(*placed[2:]), player)

    def ended(self, zone: Zone) -> None:
        """Forget a zone that ends."""
        self._loading.discard(zone)
        self._pieces.pop(zone, None)
        self._coming.pop(zone, None)

    def _numbers(self, zone: Zone) -> set[int]:
        return {one.thing.id for one in self._pieces.get(zone, {}).values()}

    def _stand(
        self, zone: Zone, thing: Thing, kind: ItemKind, place: Position, player: Player
    ) -> None:  # fmt: skip
        """Put the spawn of a thing into a house, unless its zone is full."""
        piece = self._make(thing, kind, place)
        try:
            zone.add_spawn(piece.spawn, self._world.clock.now())
        except LimitExceeded:
            self._world.count("thing of a house without a spawn: the zone is full")
            return
        self._pieces.setdefault(zone, {})[piece.spawn.id] = piece
        self._world.events.publish(FurnitureStands(player, thing, kind, zone, piece.spawn))

    def _make(self, thing: Thing, kind: ItemKind, place: Position) -> Piece:
        model = kind.look.model if kind.look is not None else 0
        template = SpawnTemplate(
            SpawnKind.OBJECT, kind.name, appearance={"model_type": min(model, _U16)},
            verbs=(Verb("Move", REACH, MOVE), Verb("Pick up", REACH, PICK_UP)), show_name=True,
        )  # fmt: skip
        spawn = Spawn.of(template, self._world.zones.next_spawn_id(), place)
        return Piece(thing, kind, spawn)

    # -- placing --------------------------------------------------------------------------------

    async def place(self, player: Player, number: int) -> None:
        """Let a player place one of its things. Raises `CommandError` and `StoreError`."""
        self.cancel(player)
        inventory = player.holdings.inventory
        thing = inventory.get(number)
        if thing is None or thing.place.where is not Where.BAGS or number in inventory.locked:
            return
        kind = inventory.kind(thing)
        bound = None if inventory.may_share(thing) else kind
        if kind.sort is not Sort.FURNITURE or not await self._may_change(player, bound):
            return
        if player.zone not in self._pieces:
            await self._load(player.zone, player)
        refusal = self._refusal(player.zone, kind)
        if refusal is not None:
            send_text(player.client, refusal, RED)
            return
        # While the store was asked, the player may have left, used the thing or begun with another.
        self.cancel(player)
        present = inventory.get(number)
        if (
            present is None or present.place.where is not Where.BAGS
            or number in inventory.locked or player.state not in IN_ZONE
        ):  # fmt: skip
            return
        piece = self._make(thing, kind, player.position)
        player.zone.add_spawn(piece.spawn, self._world.clock.now())
        self._held[player.id] = piece, 0
        self._shows.set(player, "", Monotonic(self._world.clock.now() + SHOWN))

    def _refusal(self, zone: Zone, kind: ItemKind) -> str | None:
        """Return why a thing of a kind cannot stand in a house as well."""
        pieces = self._pieces.get(zone)
        if kind.look is None or not kind.look.model:
            return NO_MODEL.format(name=kind.name)
        if pieces is None:
            return NOT_NOW
        standing = [*(one.kind for one in pieces.values()), *self._coming.get(zone, ())]
        if len(standing) >= MOST_PLACED:
            return FULL
        is_second = any(one.id == kind.id for one in standing)
        is_lore = MoreFlag.HOME_LORE in kind.more_flags
        return SECOND.format(name=kind.name) if is_lore and is_second else None

    async def _may_change(self, player: Player, bound: ItemKind | None = None) -> bool:
        """Return whether a player may change the house in which it is; else it reads that.

        `bound` is the kind of the thing that comes or goes, if that may not change its character.
        """
        house_id = house_of(player.zone)
        found = await self._housing.find(player, house_id) if house_id else None
        is_allowed = found is not None and found[1] >= AccessLevel.TRUSTEE
        if not is_allowed:
            send_text(player.client, NOT_YOURS, RED)
        elif bound is not None and found is not None and found[0].owner_id != player.id:
            send_text(player.client, OWNERS_OWN.format(name=bound.name), RED)
            return False
        return is_allowed and house_of(player.zone) == house_id

    def _show(self, player: Player, _name: str, now: Monotonic) -> None:
        """Let a client place what it has been shown by now."""
        held = self._held.get(player.id)
        if held is None:
            return
        piece, looks = held
        if player.index_of(piece.spawn) is not None:
            self._send_mode(player, piece)
        elif looks < PATIENCE:
            self._held[player.id] = piece, looks + 1
            self._shows.set(player, "", Monotonic(now + SHOWN))
        else:
            self.cancel(player)

    def _send_mode(self, player: Player, piece: Piece) -> None:
        kind = piece.kind
        where = kind.part.where if isinstance(kind.part, Furniture) else 0
        model = kind.look.model if kind.look is not None else 0
        player.client.send(
            MODE,
            {
                "spawn_id": player.index_of(piece.spawn), "placement_mode": where,
                "model_type": min(model, _U16), "max_distance": LONGEST_WAY,
                "unknown2": [1.0, 0.5, 3.0, 0.0, 0.0],
            },
        )  # fmt: skip

    def cancel(self, player: Player) -> None:
        """End what a player is about to place."""
        held = self._held.pop(player.id, None)
        self._shows.clear(player, "")
        if held is not None:
            player.zone.remove(held[0].spawn, self._world.clock.now())

    async def put(self, player: Player, fields: dict[str, Any]) -> None:
        """Put a thing where a client says. Raises `CommandError` and `StoreError`."""
        at = Position(
            fields["x"], fields["y"], fields["z"], (fields["heading"] + HALF_TURN) % 360.0
        )
        held = self._held.get(player.id)
        if not math.isfinite(fields["heading"]) or not _is_near(at, player.position):
            self.cancel(player)
        elif held is not None:
            # Taken at once: a second message of the client puts nothing else.
            del self._held[player.id]
            self._shows.clear(player, "")
            await self._put_new(player, held[0], at)
        else:
            await self._put_again(player, fields["spawn_id"], at)

    async def _put_new(self, player: Player, piece: Piece, at: Position) -> None:
        zone, kind = player.zone, piece.kind
        coming = self._coming.setdefault(zone, [])
        lot: list[Thing] = []
        refused: list[str] = []

        def act() -> Act | None:
            # Others may have placed something since the player began.
            refusal = self._refusal(zone, kind)
            if refusal is not None:
                refused.append(refusal)
                return None
            made = self._take(player, piece.thing.id, house_of(zone), at)
            if made is None:
                return None
            lot.append(made[0])
            coming.append(kind)
            return made[1]

        outcome = None
        bound = None if player.holdings.inventory.may_share(piece.thing) else kind
        try:
            if await self._may_change(player, bound):
                outcome = await self._items.exchange(Reason.PLACED, [player], act)
        finally:
            if lot:
                coming.remove(kind)
            if zone.holds(piece.spawn):
                zone.remove(piece.spawn, self._world.clock.now())
        for text in refused:
            send_text(player.client, text, RED)
        if outcome is Outcome.DONE and lot:
            self._items.changed(player)
            if zone in self._pieces:
                self._stand(zone, lot[0], kind, at, player)

    def _take(
        self, player: Player, number: int, house_id: int, at: Position
    ) -> tuple[Thing, Act] | None:
        """Take a thing, or one of a stack, out of the bags for a house; None if it is not there."""
        inventory = player.holdings.inventory
        mine, house = Owner.character(player.id), Owner(OwnerKind.HOUSE, house_id)
        thing = inventory.get(number)
        if thing is None or thing.place.where is not Where.BAGS or number in inventory.locked:
            return None
        # The charges of a thing are its count.
        count = 1 if inventory.kind(thing).is_stackable else thing.count
        is_whole = count == thing.count
        inventory.use_up(thing, count)
        one = replace(
            thing, id=number if is_whole else self._items.new_number(), count=count,
            place=Place(Where.HELD, 0, 0),
        )  # fmt: skip
        act = Act(
            [things(mine, house, one.item_id, count)], [ThingChanges(house, (one,))],
            placed=[Placed(one.id, house_id, *at[:4])],
        )  # fmt: skip
        return one, act

    async def _put_again(self, player: Player, index: int, at: Position) -> None:
        piece = self._named(player, index)
        if piece is None or not await self._may_change(player):
            return
        await self._store.stand(Placed(piece.thing.id, house_of(player.zone), *at[:4]))
        piece.spawn.move(at)

    def _named(self, player: Player, index: int) -> Piece | None:
        pieces = self._pieces.get(player.zone, {})
        return next((one for one in pieces.values() if player.index_of(one.spawn) == index), None)

    # -- moving and picking up ------------------------------------------------------------------

    def _chosen(self, player: Player, number: int | None) -> Piece | None:
        """Return the thing of a number, or the player's target that is near."""
        pieces = self._pieces.get(player.zone, {})
        if number is not None:
            return next((one for one in pieces.values() if one.thing.id == number), None)
        target = player.target
        piece = pieces.get(target.id) if target is not None else None
        is_near = piece is not None and _is_near(piece.spawn.position, player.position, REACH)
        return piece if is_near else None

    async def move(self, player: Player, number: int | None) -> None:
        """Let a player move a thing. Raises `StoreError`."""
        piece = self._chosen(player, number)
        if piece is not None and await self._may_change(player):
            self._send_mode(player, piece)

    def begin_move(self, player: Player, spawn: Spawn) -> None:
        """Let a player move the thing of a spawn, at any distance, if it may."""
        self._world.start(self._try(player, self._move_spawn(player, spawn)))

    async def _move_spawn(self, player: Player, spawn: Spawn) -> None:
        piece = self._pieces.get(player.zone, {}).get(spawn.id)
        if piece is not None and await self._may_change(player):
            self._send_mode(player, piece)

    async def pick_up(self, player: Player, number: int | None) -> None:
        """Let a player take a thing back. Raises `CommandError` and `StoreError`."""
        piece, zone = self._chosen(player, number), player.zone
        if piece is None:
            return
        thing, kind = piece.thing, piece.kind
        if not await self._may_change(player, None if may_share(thing, kind) else kind):
            return
        pieces = self._pieces[zone]
        mine, house = Owner.character(player.id), Owner(OwnerKind.HOUSE, house_of(zone))
        is_taken, refused = False, list[Refusal]()

        def act() -> Act | None:
            nonlocal is_taken
            inventory = player.holdings.inventory
            # Another player may have taken it while this one waited.
            if piece.spawn.id not in pieces:
                return None
            refusal = inventory.refuses(kind, thing.count)
            if refusal is not None:
                refused.append(refusal)
            if refusal is not None or not inventory.has_space([(kind, thing.count)]):
                return None
            # Nobody else takes it before the store answers.
            del pieces[piece.spawn.id]
            is_taken = True
            (made,) = inventory.add_things(kind, thing.count, lambda: thing.id, thing)
            gone = [ThingChanges(house, (), (thing.id,))] if made.id != thing.id else []
            return Act([things(house, mine, kind.id, thing.count)], gone)

        outcome = None
        try:
            outcome = await self._items.exchange(Reason.PICKED_UP, [player], act)
        finally:
            if is_taken and outcome is not Outcome.DONE:
                pieces[piece.spawn.id] = piece
        if outcome is Outcome.DONE:
            self._world.events.publish(FurnitureGone(zone=zone, spawn=piece.spawn))
            zone.remove(piece.spawn, self._world.clock.now())
            self._items.changed(player)
        else:
            self._left_standing(player, refused, is_there=piece.spawn.id in pieces)

    def _left_standing(self, player: Player, refused: list[Refusal], *, is_there: bool) -> None:
        """Say why a player has not picked up a thing."""
        if refused:
            self._items.refuse(player, refused[0])
        elif is_there:
            send_text(player.client, NO_SPACE, RED)

    def begin(self, player: Player, fields: dict[str, Any]) -> None:
        """Begin to put a thing where a client says; if it cannot be stored, the player reads it."""
        self._world.start(self._try(player, self.put(player, fields)))

    async def _try(self, player: Player, work: Awaitable[object]) -> None:
        try:
            await work
        except (StoreError, CommandError):
            send_text(player.client, NOT_NOW, ERROR_COLOR)


def _is_near(one: Position, other: Position, most: float = LONGEST_WAY) -> bool:
    """Return whether two places are near each other; a place that is no number is not."""
    return one.distance_to(other) <= most
