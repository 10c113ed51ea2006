"""Spells, quests and recipes, as a content file has them.

Each has its row with our names of the columns, and the rows that belong to it.

Source: docs/guides/content.md#spells, docs/guides/content.md#quests and
docs/guides/content.md#recipes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from emu.content.file import ContentFile
from emu.content.rows import Row
from emu.content.tables import Stored

NO_QUANTITY: Final = 99_999
"""A recipe with this quantity of a component needs none."""
PHASES: Final = 5
PREREQUISITES: Final = frozenset((
    "quest", "faction", "race", "class", "advlevel", "tslevel", "maxadvlevel", "maxtslevel",
))  # fmt: skip
"""What a quest can ask for: `subject` of its prerequisites."""
REWARDS: Final = frozenset((
    "experience", "tsexperience", "coin", "maxcoin", "faction", "item", "selectable",
))  # fmt: skip
"""What a quest can give: `subject` of its rewards."""


class NpcSpell(NamedTuple):
    """One spell in the list of an NPC."""

    spell_id: int
    tier: int
    on_spawn: bool
    """Whether the NPC casts it when it appears."""
    on_aggro: bool
    """Whether the NPC casts it when a fight begins."""
    health_ratio: int
    """It casts it only below this percentage of its health; 0: always."""


@dataclass(frozen=True, slots=True)
class TierRow:
    """One tier of a spell: costs and times, and the values that its script gets."""

    row: Row
    """Its row in `spell_tiers`."""
    data: tuple[Stored, ...]
    """The arguments of the spell's script, in their order."""
    effects: tuple[Row, ...]
    """The lines of its description, in their order."""


@dataclass(frozen=True, slots=True)
class Spell:
    """A spell with its tiers and the classes that learn it."""

    row: Row
    tiers: Mapping[int, TierRow]
    classes: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Quest:
    """A quest with what it asks for and what it gives; its steps are in its script."""

    row: Row
    prerequisites: tuple[Row, ...]
    rewards: tuple[Row, ...]


class Component(NamedTuple):
    """One component of a recipe: any of some items, or nothing that is known."""

    items: tuple[int, ...]
    quantity: int
    title: str = ""
    """The name of the list; what a window calls it."""


class Product(NamedTuple):
    """What a recipe gives at one phase."""

    item_id: int
    quantity: int
    byproduct: int
    byproduct_quantity: int


@dataclass(frozen=True, slots=True)
class Recipe:
    """A recipe with its components and what each phase gives."""

    row: Row
    primary: Component | None
    secondary: tuple[Component, ...]
    fuel: Component | None
    phases: tuple[Product, ...]

    @property
    def can_be_made(self) -> bool:
        """Whether its products and an item for each of its components are known."""
        components = (self.primary, *self.secondary, self.fuel)
        return bool(self.row["is_complete"]) and all(
            one.items for one in components if one is not None
        )


def npc_spells(file: ContentFile, lists: Sequence[int]) -> dict[int, tuple[NpcSpell, ...]]:
    """Return the spells of NPCs by the number of their list."""
    return {
        number: tuple(
            NpcSpell(
                row["spell_id"], row["tier"], bool(row["on_spawn"]), bool(row["on_aggro"]),
                row["health_ratio"],
            )
            for row in rows
        )
        for number, rows in _grouped(file.rows("npc_spells", "list_id", lists), "list_id").items()
    }  # fmt: skip


def spells(file: ContentFile, ids: Sequence[int]) -> dict[int, Spell]:
    """Return spells by number; numbers without a spell are left out."""
    tiers: dict[int, dict[int, TierRow]] = {}
    data = rows_by_tier(file.rows("spell_data", "spell_id", ids))
    effects = rows_by_tier(file.rows("spell_effects", "spell_id", ids))
    for row in file.rows("spell_tiers", "spell_id", ids):
        key = row["spell_id"], row["tier"]
        # Of several rows of one tier the first counts.
        tiers.setdefault(row["spell_id"], {}).setdefault(
            row["tier"],
            TierRow(row, tuple(map(script_value, data.get(key, ()))), tuple(effects.get(key, ()))),
        )
    classes = _grouped(file.rows("spell_classes", "spell_id", ids), "spell_id")
    return {
        row["id"]: Spell(row, tiers.get(row["id"], {}), tuple(classes.get(row["id"], ())))
        for row in file.rows("spells", "id", ids)
    }


def rows_by_tier(rows: Iterable[Row]) -> dict[tuple[int, int], list[Row]]:
    """Return rows of spells by the number of the spell and the tier."""
    found: dict[tuple[int, int], list[Row]] = {}
    for row in rows:
        found.setdefault((row["spell_id"], row["tier"]), []).append(row)
    return found


def script_value(row: Row) -> Stored:
    """Return an argument of a spell's script as what it is: the database has texts.

    A text that is not a number of its kind is 0.
    """
    text = str(row["value"])
    if row["kind"] == "string":
        return text
    try:
        number = float(text)
        return number if row["kind"] == "float" else int(number)
    except (ValueError, OverflowError):
        return int(text.lower() == "true")


def _by_value(row: Row) -> tuple[str, int, int, int]:
    return row["subject"], row["value"], row["faction_id"], row["quantity"]


def quests(file: ContentFile, ids: Sequence[int]) -> dict[int, Quest]:
    """Return quests by number; numbers without a quest are left out."""
    details = _grouped(file.rows("quest_details", "quest_id", ids), "quest_id")

    def chosen(quest: int, kind: str, subjects: frozenset[str]) -> tuple[Row, ...]:
        # Other pairs mean nothing, nor does a faction without its number. Windows offer things in
        # the order of their numbers (recorded: EQ2Emulator reads the rows so).
        return tuple(
            row for row in sorted(details.get(quest, ()), key=_by_value)
            if row["kind"] == kind and row["subject"] in subjects
            and (row["subject"] != "faction" or row["faction_id"])
        )  # fmt: skip

    return {
        row["id"]: Quest(
            row,
            chosen(row["id"], "prereq", PREREQUISITES),
            chosen(row["id"], "reward", REWARDS),
        )
        for row in file.rows("quests", "id", ids)
    }


def recipes(file: ContentFile, ids: Sequence[int]) -> dict[int, Recipe]:
    """Return recipes by number; numbers without a recipe are left out."""
    rows = list(file.rows("recipes", "id", ids))
    secondary = _grouped(file.rows("recipe_components", "recipe_id", ids), "recipe_id")
    lists = {row[name] for row in rows for name in ("primary_list", "fuel_list")}
    lists |= {row["list_id"] for several in secondary.values() for row in several}
    items = _grouped(file.rows("component_items", "list_id", sorted(lists)), "list_id")
    titles = {row["id"]: row["name"] for row in file.rows("component_lists", "id", sorted(lists))}

    def component(number: int, quantity: int) -> Component | None:
        if not number or quantity >= NO_QUANTITY:
            return None
        fitting = tuple(row["item_id"] for row in items.get(number, ()))
        return Component(fitting, quantity, titles.get(number, ""))

    return {
        row["id"]: Recipe(
            row,
            component(row["primary_list"], row["primary_quantity"]),
            tuple(
                found
                for one in secondary.get(row["id"], ())
                if (found := component(one["list_id"], one["quantity"])) is not None
            ),
            component(row["fuel_list"], row["fuel_quantity"]),
            tuple(_product(row, phase) for phase in range(PHASES)),
        )
        for row in rows
    }


def recipes_of_book(file: ContentFile, item_id: int) -> list[int]:
    """Return the numbers of the recipes that a book teaches."""
    books = list(file.rows("item_recipe_books", "item_id", [item_id]))
    entries = file.rows("item_recipes", "recipe_id", [row["recipe_id"] for row in books])
    crcs = sorted({row["crc"] for row in entries})
    return sorted(row["id"] for row in file.rows("recipes", "crc", crcs))


def _product(row: Row, phase: int) -> Product:
    name = f"stage{phase}_"
    return Product(
        row[f"{name}item"], row[f"{name}quantity"],
        row[f"{name}byproduct"], row[f"{name}byproduct_quantity"],
    )  # fmt: skip


def _grouped(rows: Iterable[Row], column: str) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = {}
    for row in rows:
        found.setdefault(row[column], []).append(row)
    return found
