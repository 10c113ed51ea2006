"""Windows of a creation: its components, its products, and how a round has ended.

Source: docs/protocol/world/crafting.md#creations, recorded in
../shared/data/recordings/items-*-deal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from emu.content.knowledge import Product, Recipe
from emu.dialects import world_rules
from emu.items.kinds import ItemKind
from emu.rules.crafting import MOST, PHASE_PROGRESS, CraftEvent, Round, reached, tier_of
from emu.world.actors.player import Player
from emu.world.crafting.components import FUEL, PRIMARY, OfferedComponent
from emu.world.crafting.recipe_windows import KnownRecipe, bench_of
from emu.world.items.reward_windows import KindOf, enclosed

CREATE, SHOW, UPDATE = "WS_CreateFromRecipe", "WS_ShowItemCreation", "WS_UpdateCreateItem"
LEAD, MIDDLE = 18, 11
"""Numbers of the window of components (recorded)."""
MASS: Final = (1, *range(5, 101, 5))
"""How many may be made at once (recorded); this server makes one."""
BARS: Final = [0x3E4CCCCD, 0x3F4CCCCD]
"""Two fractions, 0.2 and 0.8, where the bars change their color (recorded)."""
ARTS: Final = [9070, 9082, 9018, 9041, 9088, 9003]
"""Numbers of the six arts (recorded)."""
NO_ITEM: Final = 0xFF


# -- the window of components ---------------------------------------------------------------------


def show_components(
    player: Player, known: KnownRecipe, product: ItemKind, offered: Mapping[int, OfferedComponent]
) -> None:
    """Open the window in which a client chooses the components of a recipe."""
    fields = create_fields(player.client.version, known, product, offered)
    player.client.send(CREATE, fields)


def create_fields(
    version: int, known: KnownRecipe, product: ItemKind, offered: Mapping[int, OfferedComponent]
) -> dict[str, Any]:
    """Return the window in which the components of a recipe are chosen."""
    made, places = known.recipe.phases[-1], range(len(known.recipe.secondary))
    return {
        "crafting_station": bench_of(known.recipe).name,
        "recipe_id": known.id if world_rules(version).mass_production else 0,
        "recipe_name": known.name, "tier": tier_of(known.level) & 0xFF,
        "unknown3": LEAD, "product_name": product.name, "icon": product.icon,
        "product_qty": min(made.quantity, 0xFF), "unknown6": MIDDLE,
        "num_mass_production_choices": len(MASS), "mass_array": [{"mass_qty": n} for n in MASS],
        **_primary_fields(version, offered.get(PRIMARY)),
        "num_build_components": len(places),
        "build_array": [_build(place, offered[place]) for place in places],
        **_fuel_fields(offered.get(FUEL)),
    }  # fmt: skip


def _rows(offered: OfferedComponent, prefix: str = "") -> list[dict[str, Any]]:
    """Return what fits; versions differ in the names of the fields."""
    rows = []
    for thing, kind in offered.choices:
        values = {"component": kind.name, "item_id": thing.id, "icon": kind.icon}
        row: dict[str, Any] = {**values, **{f"{prefix}{name}": one for name, one in values.items()}}
        for name in ("total_quantity", f"{prefix}total_quantity"):
            row[name] = min(thing.count, 0xFF)
        rows.append(row)
    return rows


def _selected(offered: OfferedComponent) -> list[dict[str, int]]:
    return [{"item_id": number, "qty": min(count, 0xFF)} for number, count in offered.chosen]


def _primary_fields(version: int, offered: OfferedComponent | None) -> dict[str, Any]:
    if offered is None:
        return {}
    needed = min(offered.component.quantity, 0xFF)
    first = offered.chosen[0][0] if offered.chosen else 0
    example = offered.component.items[0] if offered.component.items else 0
    rows = _rows(offered, "primary_")
    chosen = _selected(offered)
    return {
        "primary_title": offered.component.title, "primary_id": first or example,
        "primary_qty_needed": needed, "primary_qty": needed, "num_primary_choices": len(rows),
        "primary_array": rows, "primary_default_selected_id": first,
        "primary_item_selected": int(bool(chosen)) if not world_rules(version).older_windows else 0,
        "primary_selected_item_qty": needed if chosen else 0,
        "num_primary_items_selected": len(chosen), "primary_items_selected_array": chosen,
    }  # fmt: skip


def _build(slot: int, offered: OfferedComponent) -> dict[str, Any]:
    needed, rows, chosen = min(offered.component.quantity, 0xFF), _rows(offered), _selected(offered)
    old_rows = _rows(offered, "build_")
    first = offered.chosen[0] if offered.chosen else (0, 0)
    return {
        "slot": slot, "title": offered.component.title, "qty_needed": needed,
        "num_choices": len(rows), "choices": rows, "num_selected": len(chosen),
        "selected": chosen, "item_selected": int(bool(chosen)), "selected_item_id": first[0],
        "selected_item_qty": min(first[1], 0xFF),
        "build_slot": slot, "build_title": offered.component.title, "build_qty": needed,
        "num_build_choices": len(rows), "build_components_array": old_rows,
        "build_item_selected": int(bool(chosen)), "build_selected_item_id": first[0],
        "build_selected_item_qty": min(first[1], 0xFF),
    }  # fmt: skip


def _fuel_fields(offered: OfferedComponent | None) -> dict[str, Any]:
    if offered is None:
        return {}
    needed, rows = min(offered.component.quantity, 0xFF), _rows(offered, "fuel_")
    chosen = _selected(offered)
    first = offered.chosen[0] if offered.chosen else (0, 0)
    return {
        "fuel_title": offered.component.title, "fuel_qty_needed": needed, "fuel_qty": needed,
        "num_fuel_choices": len(rows), "fuel_component_array": rows,
        "fuel_item_selected": int(bool(chosen)), "fuel_selected_item_id": first[0],
        "fuel_selected_item_qty": min(first[1], 0xFF),
        "num_fuel_items_selected": len(chosen), "fuel_items_selected_array": chosen,
    }  # fmt: skip


# -- the window of a creation ---------------------------------------------------------------------


def show_creation(player: Player, recipe: Recipe, kind_of: KindOf) -> None:
    """Open the window of a creation that begins."""
    fields = creation_fields(player.client.version, recipe, kind_of)
    player.client.send(SHOW, fields)


def creation_fields(version: int, recipe: Recipe, kind_of: KindOf) -> dict[str, Any]:
    """Return the window that shows a creation: the products of all phases with their byproducts."""
    *early, last = recipe.phases
    return {
        "max_possible_durability": MOST, "max_possible_progress": MOST, "unknown2": BARS,
        "num_process": len(early),
        "process_array": [
            {"progress_needed": progress, **_phase(version, one, kind_of)}
            for progress, one in zip(PHASE_PROGRESS, early, strict=False)
        ],
        "product_progress_needed": MOST,
        **_phase(version, last, kind_of, "product_item", "product_byproduct"), "skill_id": ARTS,
    }  # fmt: skip


def _phase(
    version: int,
    product: Product,
    kind_of: KindOf,
    item: str = "item",
    byproduct: str = "item_byproduct",
) -> dict[str, Any]:
    """Return what a phase makes; `item` and `byproduct` begin the names of its fields."""
    kind, other = kind_of(product.item_id), kind_of(product.byproduct)
    return {
        f"{item}_name": kind.name if kind is not None else "",
        f"{item}_icon": kind.icon if kind is not None else 0,
        **({item: enclosed(version, kind, 1)} if kind is not None else {}),
        f"{byproduct}_name": other.name if other is not None else "",
        f"{byproduct}_icon": other.icon if other is not None else 0,
        "packettype": world_rules(version).no_product, "packetsubtype": NO_ITEM,
    }  # fmt: skip


def send_round(player: Player, played: Round, event: CraftEvent | None, device: int) -> None:
    """Show a client how a round has ended; `device` is its index of the device."""
    player.client.send(UPDATE, round_fields(played, event, device))


def round_fields(played: Round, event: CraftEvent | None, device: int) -> dict[str, Any]:
    """Return how a round has ended, and what happened in it."""
    return {
        "effect": played.effect, "total_durability": played.durability,
        "total_progress": played.progress, "progress_level": reached(played.progress),
        "reaction_icon": event.icon & 0xFFFF if event is not None else 0,
        "reaction_name": event.name if event is not None else "",
        "durability_change": played.change.durability, "progress_change": played.change.progress,
        "spawn_id": device,
    }  # fmt: skip
