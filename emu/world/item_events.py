"""Events of things: what players get, lose, wear, use, buy and sell.

They are published and subscribed to as those of `emu.world.events`.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

from emu.items.held import Thing
from emu.items.kinds import ItemKind, Scroll
from emu.world.events import GameEvent, PlayerEvent

if TYPE_CHECKING:
    from emu.world.actors.spawn import Spawn
    from emu.world.zones.zone import Zone


@dataclass(frozen=True, slots=True)
class WindowsGone(PlayerEvent):
    """What a player had open is closed: it leaves its zone, or its client is gone or replaced."""


@dataclass(frozen=True, slots=True)
class ThingEvent(PlayerEvent):
    """Something has happened to a thing of a player."""

    thing: Thing
    kind: ItemKind


@dataclass(frozen=True, slots=True)
class ItemObtained(ThingEvent):
    """A player has got a thing, or more of a stack."""


@dataclass(frozen=True, slots=True)
class ItemRemoved(ThingEvent):
    """A player has a thing no more."""


@dataclass(frozen=True, slots=True)
class ItemDestroyed(ThingEvent):
    """A player has destroyed a thing."""


@dataclass(frozen=True, slots=True)
class ItemExamined(ThingEvent):
    """A player has opened the window of a thing."""


@dataclass(frozen=True, slots=True)
class ItemEquipped(ThingEvent):
    """A player wears a thing."""


@dataclass(frozen=True, slots=True)
class ItemUnequipped(ThingEvent):
    """A player wears a thing no more."""


@dataclass(frozen=True, slots=True)
class FurnitureStands(ThingEvent):
    """A thing stands in a house: a player has placed it, or is the first one in the house."""

    zone: Zone
    spawn: Spawn


@dataclass(frozen=True, slots=True)
class FurnitureGone(GameEvent):
    """A thing stands in a house no more."""

    _: KW_ONLY
    zone: Zone
    spawn: Spawn


@dataclass(frozen=True, slots=True)
class ItemUsed(ThingEvent):
    """A player uses a thing; a listener that answers the use adds its answer."""

    target: Spawn | None
    answers: list[float] = field(default_factory=list)
    """A number below 0 keeps the charge."""


@dataclass(frozen=True, slots=True)
class NodeWorked(PlayerEvent):
    """A player has used an ability such as Mining on a node, whatever comes of it."""

    node: Spawn
    ability: str


@dataclass(frozen=True, slots=True)
class Harvested(PlayerEvent):
    """A player has got things of a node."""

    node: Spawn
    kind: ItemKind
    count: int


@dataclass(frozen=True, slots=True)
class CraftingChanged(PlayerEvent):
    """A player begins or stops to make something."""

    is_begun: bool


@dataclass(frozen=True, slots=True)
class Crafted(PlayerEvent):
    """A player has made things by a recipe."""

    recipe: int
    """The number of the recipe."""
    kind: ItemKind
    count: int


@dataclass(frozen=True, slots=True)
class RecipeExamined(PlayerEvent):
    """A player wants to see the window of a recipe."""

    recipe: int
    """The number of the recipe."""


@dataclass(frozen=True, slots=True)
class SpellExamined(PlayerEvent):
    """A player wants to see the window of a spell, or of what a spell does to it."""

    spell_id: int
    tier: int
    """0 for the tier that its book has."""
    is_effect: bool = False
    is_asked: bool = True
    """Whether the player has asked; otherwise the server shows what has changed."""


@dataclass(frozen=True, slots=True)
class TeachingShown(PlayerEvent):
    """A player is shown a scroll or a recipe book: who knows what it teaches adds fields.

    Of a scroll these are those of its spell (`spell`); of both, whether the player has learned
    all of it (`scribed`), and of a scroll, whether it has a higher tier
    (`scribed_better_version`).
    """

    kind: ItemKind
    answers: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ScrollCarried(PlayerEvent):
    """A scroll is about to be listed: who knows its spell says whether it teaches something."""

    scroll: Scroll
    answers: list[bool] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ItemConsumed(ThingEvent):
    """A player eats or drinks a thing that it has in its slot."""


@dataclass(frozen=True, slots=True)
class ItemScribed(ThingEvent):
    """A player wants to learn what a scroll or a recipe book teaches.

    The listener that knows this sort of things answers: true if the player has learned something,
    which uses the thing up, and false if it does all of it itself or has sent the player a reason.
    """

    answers: list[bool] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ItemDescribed(ThingEvent):
    """The window of a player's thing is about to be shown."""

    texts: list[str] = field(default_factory=list)
    """A listener that knows another description adds it."""


@dataclass(frozen=True, slots=True)
class ItemOffered(PlayerEvent):
    """A merchant shows a kind of things to a player."""

    kind: ItemKind
    is_bought_back: bool = False
    """Whether the player has sold it."""
    flags: list[int] = field(default_factory=list)
    """A listener that knows how it is to be shown adds the flags of the list."""


@dataclass(frozen=True, slots=True)
class CollectionDone(PlayerEvent):
    """A player has handed in a collection."""

    collection: int
    """The number of the collection."""


@dataclass(frozen=True, slots=True)
class ItemMoved(ThingEvent):
    """A player has moved a thing to another place of its own."""


@dataclass(frozen=True, slots=True)
class Looted(PlayerEvent):
    """A player has taken things out of a body or a chest."""

    source: Spawn
    kind: ItemKind
    count: int


@dataclass(frozen=True, slots=True)
class Traded(PlayerEvent):
    """A player has got things from a merchant or another player, or has given them."""

    partner: Spawn
    kind: ItemKind
    count: int
    """Below 0 for what the player has given."""


@dataclass(frozen=True, slots=True)
class BagsChanged(PlayerEvent):
    """What lies in the bags of a player has changed, in whatever way."""


@dataclass(frozen=True, slots=True)
class WornChanged(PlayerEvent):
    """A player wears other things."""
