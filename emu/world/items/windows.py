"""Windows of things: what a client shows about one thing, or about a kind that a link names.

A window is a struct of the client's version (`data/structs/ItemStructs.xml`); here its fields are
filled. Source: docs/protocol/world/items.md#windows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from emu.dialects import Dialect, world_rules
from emu.dialects.dialect import wire_texts
from emu.items.held import FULL, Place, Thing, Where
from emu.items.inventory import Inventory
from emu.items.kinds import (
    Adornment,
    Armor,
    Bag,
    Bauble,
    Book,
    Container,
    Crate,
    Flag,
    Food,
    Furniture,
    ItemKind,
    Ranged,
    RecipeBook,
    Scroll,
    Sort,
    Stat,
    StatSort,
    Thrown,
    Weapon,
)
from emu.world.actors.client import PlayerClient
from emu.world.actors.item_lists import client_slot
from emu.world.actors.player import Player

STRUCT: Final = "WS_ExamineInfo"
NO_SKILL: Final = 0xFFFFFFFF
LARGEST: Final = 0xFFFF
"""The greatest number of many fields; greater ones of rows are cut."""
_U32: Final = 0xFFFFFFFF
LINKED: Final = 0xFFFFFFFF
"""The number of a thing in the window of a link, above 561."""
WHITE: Final = 3
TWICE: Final = 0x80
ONCE: Final = frozenset((Sort.BAG, Sort.BAUBLE, Sort.FOOD, Sort.CONTAINER))
"""Sorts whose windows come once above 561."""
BAG_SCORE: Final = 2
ANY_CLASS: Final = 0xFF
NO_ADORNMENT: Final = 0xFF
_OLD_POOLS: Final = {0: "health", 1: "mana", 2: "concentration"}
OLD_POOL_VALUE: Final = 9
ARCHETYPES: Final = (1, 11, 21, 31)
OF_ARCHETYPE: Final = 10


class ItemWindow:
    """The fields of one window, for a client version."""

    def __init__(self, version: int, kind: ItemKind, thing: Thing, inventory: Inventory) -> None:
        self.version = version
        self.kind = kind
        self.thing = thing
        self.inventory = inventory
        self.rules = world_rules(version)
        self.is_old = self.rules.older_windows
        self.is_link = False
        """Whether a link has asked for it; it shows a kind then, and no thing."""
        self.description = kind.description
        self.lesson: Mapping[str, Any] = {}
        """Of a scroll or a recipe book what `TeachingShown` has of it; empty if nobody knows it."""

    def fields(self, *, shows_name: int = 0, is_link: bool = False) -> dict[str, Any]:
        """Return the whole window; that of a link shows no thing, but its kind."""
        sort = self._sort()
        self.is_link = is_link
        item = {
            "info": self.info(), "item_type": sort, **self._part(),
            "footer": self.footer(),
        }  # fmt: skip
        if self.is_old:
            return {"show_name": shows_name, "simplename": "", "packettype": 0, "item": item}
        return {
            "show_name": shows_name,
            "packettype": self.rules.item_window_type,
            "packetsubtype": 0 if self.kind.sort in ONCE else TWICE,
            "item": item,
        }

    def _sort(self) -> int:
        """Return the sort as the version numbers it."""
        sort = self.kind.sort
        if self.is_old and (sort is Sort.BAUBLE or sort > Sort.FURNITURE):
            return Sort.NORMAL
        if sort is Sort.BOOK and not self.rules.sort_of_books:
            return Sort.ADORNMENT
        return sort

    # -- the description --------------------------------------------------------------------------

    def info(self) -> dict[str, Any]:
        """Return the description that all windows have."""
        kind, thing = self.kind, self.thing
        flags = int(kind.flags)
        if thing.is_attuned:
            flags = flags & ~Flag.ATTUNEABLE | Flag.ATTUNED
        slots = [client_slot(slot, self.version) for slot in kind.slots]
        shown = [{"slot": slot} for slot in slots if slot is not None]
        classes = self._classes()
        own = thing.id if not self.is_link else kind.id if self.is_old else LINKED
        return {
            "creator_flag": int(bool(thing.creator)),
            "creator": thing.creator,
            "unique_id": own,
            **({} if own == LINKED else {"broker_item_id": kind.id}),
            "item_id": kind.id,
            "item_crc": _signed(kind.crc),
            "icon": kind.icon,
            "tier": kind.tier,
            "flags": flags,
            "flags2": int(kind.more_flags),
            "stat_count": len(kind.stats),
            "stat_array": [self._stat(stat) for stat in kind.stats],
            "condition": thing.condition,
            "weight": min(kind.weight, LARGEST if self.is_old else _U32),
            "skill_req1": kind.skills[0] or NO_SKILL,
            "skill_req2": kind.skills[1] or NO_SKILL,
            "skill_min": _cut(kind.min_skill),
            "class_count": len(classes),
            "class_array": classes,
            "slot_count": len(shown),
            "slot_array": shown,
            # Recorded: a scroll whose spell the server does not have is white as other things.
            "footer_type": 0 if self.lesson.get("spell") else WHITE,
        }

    def _stat(self, stat: Stat) -> dict[str, Any]:
        value: float = stat.value if stat.sort == StatSort.OTHER else int(stat.value)
        if self.is_old and stat.sort == StatSort.POOL:
            # As recorded: the value stands where the number is.
            return {
                "stat_type": stat.sort, "stat_subtype": _short(value), "value": OLD_POOL_VALUE,
                "stat_name": _OLD_POOLS.get(stat.subsort, ""),
            }  # fmt: skip
        return {
            "stat_type": stat.sort & 0xFF,
            "stat_subtype": _short(stat.subsort),
            "value": _short(value) if self.is_old else value,
            "stat_name": stat.text,
            "stat_level": stat.level,
        }

    def _classes(self) -> list[dict[str, int]]:
        kind = self.kind
        found = [
            {
                "adventure_class": number - self.is_old,
                "tradeskill_class": ANY_CLASS,
                "level": kind.level * 10,
            }
            for number in _merged(kind.classes)
        ]
        found += [
            {
                "adventure_class": ANY_CLASS, "tradeskill_class": number,
                "level": kind.tradeskill_level * 10,
            }
            for number in _bits(kind.tradeskill_classes)
        ]  # fmt: skip
        return found

    # -- the part by sort -------------------------------------------------------------------------

    def _part(self) -> dict[str, Any]:
        maker = _PARTS.get(type(self.kind.part))
        return maker(self, self.kind.part) if maker is not None else {}

    def bag(self, part: Bag) -> dict[str, Any]:
        """Return the part of a bag: its places, and the names of what lies in it."""
        inside = self.inventory.inside(self.thing)
        return {
            "bag": {
                "num_slots": part.places,
                "num_empty": max(0, part.places - len(inside)),
                "weight_reduction": part.weight_reduction,
                "custom_name": "",
                "num_names": len(inside),
                "name_array": [{"item_name": self.inventory.kind(one).name} for one in inside],
                "item_score": 0 if self.is_link else BAG_SCORE,
            }
        }

    # -- the end ----------------------------------------------------------------------------------

    def footer(self) -> dict[str, Any]:
        """Return the end of a window: effects, needs, charges, name and description."""
        kind = self.kind
        slots = [slot or NO_ADORNMENT for slot in kind.adornment_slots]
        slots += [NO_ADORNMENT] * (self.rules.adornment_slots - len(slots))
        classes = _class_bits(kind, self.version)
        return {
            **self._effects(),
            "required_classes": classes,
            "required_classes2": classes,
            "recommended_level": kind.recommended_level,
            "required_level": kind.level or kind.tradeskill_level * 10,
            "stack_size": min(kind.stack, self.rules.most_stack),
            "adorn_slots": slots,
            **({"collectable": 1, "collection_needed": 1} if kind.is_collectable else {}),
            **self._charges(),
            "crafting_flag": int(kind.is_harvest),
            "name": kind.name,
            "description": self.description,
        }  # fmt: skip

    def _effects(self) -> dict[str, Any]:
        if self.is_old and self.kind.sort in (Sort.SCROLL, Sort.RECIPE_BOOK):
            return {}
        effects = [
            {
                "subbulletflag": one.bullet & 0xFF,
                "effect": one.text,
                "percentage": one.percentage & 0xFF,
            }
            for one in self.kind.effects
        ]  # fmt: skip
        return {"num_effects": len(effects), "effect_array": effects}

    def _charges(self) -> dict[str, int]:
        if not (self.kind.most_charges and self.kind.shows_charges):
            return {"charges": 0}
        total, left = self.kind.most_charges, self.thing.count
        return {"charges": 1, "total_charges": total, "charges_left": left}


def _weapon(_window: ItemWindow, part: Weapon) -> dict[str, Any]:
    return {
        "weapon": {
            "wield_type": part.wield & 0xFF, **_damage(part), "delay": _cut(part.delay),
            "damage_type": part.damage_type & 0xFF, "rating": part.rating,
        },
        "item_score": part.score,
    }  # fmt: skip


def _ranged(_window: ItemWindow, part: Ranged) -> dict[str, Any]:
    return {
        "range": {
            **_damage(part), "delay": _cut(part.delay), "range_low": part.reach.low,
            "range_high": part.reach.high, "rating": part.rating,
        },
        "item_score": part.score,
    }  # fmt: skip


def _damage(part: Weapon | Ranged) -> dict[str, int]:
    return {
        "damage_low1": _cut(part.damage.low), "damage_high1": _cut(part.damage.high),
        "damage_low2": _cut(part.mastery.low), "damage_high2": _cut(part.mastery.high),
        "damage_low3": _cut(part.base.low), "damage_high3": _cut(part.base.high),
    }  # fmt: skip


def _armor(window: ItemWindow, part: Armor) -> dict[str, Any]:
    absorb = {"absorb": _cut(part.absorb)} if window.kind.sort is Sort.ARMOR else {}
    return {
        "mitigation_low": _cut(part.mitigation.low), "mitigation_high": _cut(part.mitigation.high),
        **absorb, "item_score": part.score,
    }  # fmt: skip


def _food(_window: ItemWindow, part: Food) -> dict[str, Any]:
    return {
        "food": {"food_type": int(part.is_food), "level": part.level, "duration": part.duration}
    }


def _bauble(_window: ItemWindow, part: Bauble) -> dict[str, Any]:
    return {
        "bauble": {
            "cast": part.cast, "recovery": part.recovery, "duration": part.duration,
            "recast": float(int(part.recast)),  # whole seconds, as recorded
            "display_slot_optional": int(part.shows_slot),
            "display_cast_time": int(part.shows_cast), "display_bauble_type": int(part.shows_kind),
            "effect_radius": part.radius, "max_aoe_targets": part.most_targets,
            "display_until_cancelled": int(part.until_cancelled), "item_score": part.score,
        }
    }  # fmt: skip


def _thrown(_window: ItemWindow, part: Thrown) -> dict[str, Any]:
    return {
        "thrown": {
            "range": part.range_bonus, "damage_modifier": part.damage_bonus,
            "hit_bonus": part.hit_bonus, "damage_type": part.damage_type,
        }
    }  # fmt: skip


def _furniture(_window: ItemWindow, part: Furniture) -> dict[str, Any]:
    return {
        "status_rent_reduction": part.status_reduction,
        "coin_rent_reduction": part.coin_reduction,
        "house_only": int(part.only_at_home),
    }


def _container(_window: ItemWindow, part: Container) -> dict[str, Any]:
    return {
        "house_container": {
            "allowed_types": part.allowed & 0xFFFFFFFF, "num_slots": part.places,
            "broker_commission": part.broker_commission, "fence_commission": part.fence_commission,
        }
    }  # fmt: skip


def _adornment(_window: ItemWindow, part: Adornment) -> dict[str, Any]:
    return {
        "adornment": {
            "description": part.description, "duration": part.duration, "slot_type": part.slot,
            "item_types": part.items, "description2": part.second_description,
        }
    }  # fmt: skip


def _book(_window: ItemWindow, part: Book) -> dict[str, Any]:
    return {"text_book": {"language": part.language, "author": part.author, "title": part.title}}


def _crate(_window: ItemWindow, part: Crate) -> dict[str, Any]:
    pieces = [
        {
            "item_id": one.item_id, "item_crc": _signed(one.crc), "item_icon": one.icon,
            "item_unknown1": one.number, "item_name": one.name, "item_unknown2": one.color,
        }
        for one in part.contents
    ]  # fmt: skip
    return {"set": {"num_pieces": len(pieces), "piece_array": pieces}}


def _recipe_book(window: ItemWindow, part: RecipeBook) -> dict[str, Any]:
    recipes = [
        {"recipe_id": one.id, "recipe_icon": one.icon, "recipe_name": one.name}
        for one in part.recipes
    ]
    return {
        "book": {
            "num_recipes": len(recipes), "recipe_array": recipes, "uses": part.most_uses,
            **window.lesson,
        }
    }  # fmt: skip


def _scroll(window: ItemWindow, _part: Scroll) -> dict[str, Any]:
    return {**window.lesson}


_PARTS: Final[Mapping[type, Callable[[ItemWindow, Any], dict[str, Any]]]] = {
    Weapon: _weapon, Ranged: _ranged, Armor: _armor, Bag: ItemWindow.bag, Food: _food,
    Bauble: _bauble, Thrown: _thrown, Furniture: _furniture, Container: _container,
    Adornment: _adornment, Book: _book, Crate: _crate, RecipeBook: _recipe_book, Scroll: _scroll,
}  # fmt: skip


def _short(number: float) -> int:
    """Return a number cut to what a signed field of 16 bits holds."""
    return max(-0x8000, min(0x7FFF, int(number)))


def _cut(number: int) -> int:
    return max(0, min(LARGEST, number))


def _signed(number: int) -> int:
    return (number & 0xFFFFFFFF) - ((number & 0x80000000) << 1)


def _bits(mask: int) -> list[int]:
    return [number for number in range(64) if mask >> number & 1]


def _merged(mask: int) -> list[int]:
    """Return the classes of a mask; a full archetype is its first class alone."""
    found = _bits(mask)
    for first in ARCHETYPES:
        whole = range(first, first + OF_ARCHETYPE)
        if all(number in found for number in whole):
            found = [number for number in found if number == first or number not in whole]
    return found


def _class_bits(kind: ItemKind, version: int) -> int:
    if not kind.classes:
        return world_rules(version).all_classes
    return kind.classes & 0xFFFFFFFFFFFFFFFF


# -- sending ------------------------------------------------------------------------------------


def send_window(
    player: Player,
    thing: Thing,
    *,
    shows_name: int = 0,
    description: str | None = None,
    lesson: Mapping[str, Any] | None = None,
) -> None:
    """Show a player the window of one of its things, with its own description or another one.

    `lesson` is what a scroll or a recipe book teaches, as `TeachingShown` has it.
    """
    inventory = player.holdings.inventory
    window = ItemWindow(player.client.version, inventory.kind(thing), thing, inventory)
    window.lesson = lesson or {}
    window.description = window.description if description is None else description
    player.client.send(STRUCT, window.fields(shows_name=shows_name))


def send_kind(
    client: PlayerClient,
    kind: ItemKind,
    *,
    is_popup: int = 0,
    lesson: Mapping[str, Any] | None = None,
) -> None:
    """Show a client the window of a kind, which a link names; `lesson` as in `send_window`."""
    thing = Thing(0, kind.id, Place(Where.HELD, 0, 0), kind.beginning_count(), FULL)
    window = ItemWindow(client.version, kind, thing, Inventory((), {kind.id: kind}))
    window.lesson = lesson or {}
    client.send(STRUCT, window.fields(shows_name=is_popup, is_link=True))


LOOT: Final = "WS_UpdateLoot"
LOOT_HEAD, LOOT_TAIL = 9, 13
"""Bytes of a window of loot with one thing before and behind the thing, up to 561."""


def plain_item(dialect: Dialect, inventory: Inventory, thing: Thing) -> bytes:
    """Return a thing as windows of others have it up to 561: without the part of its sort."""
    kind = inventory.kind(thing)
    info = ItemWindow(dialect.version, kind, thing, inventory).info()
    info["broker_item_id"] = 0xFFFFFFFFFFFFFFFF
    row = {
        "loot_id": 0, "count": 0, "info": info, "item_type": 0, "name": kind.name,
        "description": kind.description,
    }  # fmt: skip
    values = {"loot_count": 1, "loot_array": [row]}
    return dialect.encode_known(LOOT, wire_texts(values))[LOOT_HEAD:-LOOT_TAIL]
