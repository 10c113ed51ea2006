"""Ports of harvest, collections and crafting, and acts of players that wait for their turn."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Protocol

from emu.content.crafts import Collection
from emu.content.knowledge import Recipe
from emu.errors import EmuError
from emu.items.held import Thing
from emu.items.kinds import ItemKind
from emu.rules.crafting import CraftEvent
from emu.rules.harvest import HarvestNode
from emu.rules.loot import Chance
from emu.rules.transmuting import TransmuteTier
from emu.world.actors.client import send_text
from emu.world.actors.holdings import MUST_WAIT
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn
from emu.world.items.items import Items
from emu.world.world import World
from emu.world.zones.zone import Zone

SEEDS: Final = 1 << 30
NOT_NOW: Final = "This cannot be done now; try again."
RED: Final = 3


class Crafts(Protocol):
    """Nodes, collections and recipes; `emu.content.crafts.CraftTables` has them."""

    def node(self, number: int) -> HarvestNode | None:
        """Return what a node gives; None without tables."""

    def collections(self, ids: Iterable[int]) -> Mapping[int, Collection]:
        """Return collections by number."""

    def collections_with(self, item_id: int) -> Sequence[Collection]:
        """Return the collections of which a thing is a piece."""

    def recipes(self, ids: Iterable[int]) -> Mapping[int, Recipe]:
        """Return recipes by number."""

    def recipes_of_book(self, item_id: int) -> Sequence[int]:
        """Return the numbers of the recipes that a book teaches."""

    def events(self, technique: int) -> Sequence[CraftEvent]:
        """Return the events that can come with a technique."""

    def transmuting(self) -> Sequence[TransmuteTier]:
        """Return the materials that things give that are transmuted."""


class SkillUse(Protocol):
    """The skills of players; `emu.world.skills.Skills` has them."""

    def value(self, player: Player, skill: int | str) -> int:
        """Return the value of a skill, by its number or name."""

    def use(self, player: Player, skill: int | str, /) -> bool:
        """Let a player use a skill, which may raise it."""

    def practise(self, player: Player, skill: int, /) -> bool:
        """Let a player use a skill of crafting, which it learns by that."""


class ActChances:
    """Chance for the acts at spawns: of each zone another one, which follows from its seed."""

    def __init__(self, roll: Callable[[int], int], seeded: Callable[[str], Chance]) -> None:
        """`roll` returns a random number below its argument, and `seeded` numbers of a seed."""
        self._roll = roll
        self._seeded = seeded
        self._seeds: dict[Zone, int] = {}
        self._acts: dict[Zone, int] = {}

    def next(self, zone: Zone, spawn: Spawn) -> Chance:
        """Return the chance of the next act at a spawn."""
        seed = self._seeds.get(zone)
        if seed is None:
            seed = self._seeds[zone] = self._roll(SEEDS)
        number = self._acts[zone] = self._acts.get(zone, 0) + 1
        return self._seeded(f"{seed} {spawn.id} act {number}")

    def ended(self, zone: Zone) -> None:
        """Forget a zone that ends."""
        self._seeds.pop(zone, None)
        self._acts.pop(zone, None)


def in_turn(items: Items, player: Player, act: Callable[[], object]) -> None:
    """Carry out an act of a player now, or after the exchange that it is in."""
    items.in_turn(
        player, lambda: attempt(items.world, player, act),
        lambda: send_text(player.client, MUST_WAIT, RED),
    )  # fmt: skip


def attempt(world: World, player: Player, act: Callable[[], object]) -> None:
    """Carry out an act; say so if the store or the content file cannot be read."""
    try:
        act()
    except EmuError as error:
        world.count(f"act not carried out: {type(error).__name__}")
        send_text(player.client, NOT_NOW, RED)


def begin(world: World, player: Player, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Begin an act that the store carries out."""
    world.start(_guarded(world, player, work))


async def _guarded(
    world: World, player: Player, work: Callable[[], Coroutine[Any, Any, None]]
) -> None:
    try:
        await work()
    except EmuError as error:
        attempt(world, player, partial(_raise, error))


def _raise(error: EmuError) -> None:
    raise error


def whole_count(kind: ItemKind, count: int) -> int:
    """Return how many so many new things of a kind count: charges are counted."""
    return count if kind.is_stackable else count * max(1, kind.most_charges)


def thing_link(kind: ItemKind, thing: Thing) -> str:
    """Return the link that names one thing (recorded of all versions)."""
    return f"\\aITEM {kind.id} {thing.id}:{kind.name}\\/a"
