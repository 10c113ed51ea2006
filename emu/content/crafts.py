"""Nodes, collections and recipes of a world, as a content file and TOML files have them.

Each is read when it is first needed, and kept.
Source: docs/guides/content.md#recipes, docs/guides/crafting.md#files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Final, NamedTuple, TypeVar

from emu.content.file import ContentFile
from emu.content.knowledge import PHASES, Component, Product, Recipe, recipes, recipes_of_book
from emu.content.tables import content_tables
from emu.errors import FileFormatError
from emu.files import data_file, read_document
from emu.rules.crafting import CraftChange, CraftEvent
from emu.rules.harvest import COMMON, IMBUED, RARE, HarvestItem, HarvestNode, HarvestTable
from emu.rules.transmuting import TransmuteTier

T = TypeVar("T")
MOST_KEPT: Final = 20_000
"""Recipes that are kept in memory."""
RARITIES: Final = {"common": COMMON, "rare": RARE, "imbued": IMBUED}
"""The words of TOML files."""
REWARD_KINDS: Final = ("item", "selectable", "coin", "xp")


class CollectionReward(NamedTuple):
    """One thing that a collection gives."""

    kind: str
    """``item``; ``selectable``, of which one is chosen; ``coin`` or ``xp``."""
    value: int
    """The number of the item, copper, or points."""
    quantity: int


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection: its pieces in their order, and what it gives."""

    id: int
    name: str
    category: str
    level: int
    pieces: tuple[int, ...]
    """Numbers of items; pieces that nothing describes are left out."""
    rewards: tuple[CollectionReward, ...]

    def place_of(self, item_id: int) -> int | None:
        """Return the place of a piece; None if the thing is none."""
        return self.pieces.index(item_id) if item_id in self.pieces else None


# -- the content file -----------------------------------------------------------------------------


def nodes(file: ContentFile, ids: Iterable[int]) -> dict[int, HarvestNode]:
    """Return what nodes give, by the number of their tables; switched off tables are left out."""
    wanted = sorted(set(ids))
    items: dict[int, list[HarvestItem]] = {}
    for row in file.rows("harvest_items", "ground_id", wanted):
        if row["item_id"] > 0:
            items.setdefault(row["ground_id"], []).append(
                HarvestItem(row["item_id"], row["rarity"], row["grid"])
            )
    tables: dict[int, list[HarvestTable]] = {}
    for row in file.rows("harvests", "ground_id", wanted):
        if row["is_enabled"]:
            tables.setdefault(row["ground_id"], []).append(
                HarvestTable(
                    row["min_skill"], row["min_level"], bool(row["is_bonus"]), row["one"],
                    row["three"], row["five"], row["imbued"], row["rare"], row["ten"],
                )
            )  # fmt: skip
    return {
        number: HarvestNode(tuple(found), tuple(items.get(number, ())))
        for number, found in tables.items()
    }


def collections(file: ContentFile, ids: Iterable[int]) -> dict[int, Collection]:
    """Return collections by number; those without pieces are left out."""
    wanted = sorted(set(ids))
    pieces: dict[int, list[tuple[int, int, int]]] = {}
    for row in file.rows("collection_items", "collection_id", wanted):
        if row["item_id"] > 0:
            pieces.setdefault(row["collection_id"], []).append(
                (row["index"], row["id"], row["item_id"])
            )
    rewards: dict[int, list[CollectionReward]] = {}
    for row in file.rows("collection_rewards", "collection_id", wanted):
        if row["kind"] in REWARD_KINDS and row["value"] > 0:
            rewards.setdefault(row["collection_id"], []).append(
                CollectionReward(row["kind"], row["value"], max(1, row["quantity"]))
            )
    return {
        row["id"]: Collection(
            row["id"], row["name"], row["category"], row["level"],
            tuple(dict.fromkeys(item for *_, item in sorted(pieces[row["id"]]))),
            tuple(rewards.get(row["id"], ())),
        )
        for row in file.rows("collections", "id", wanted)
        if row["id"] in pieces
    }  # fmt: skip


def events(file: ContentFile) -> dict[int, tuple[CraftEvent, ...]]:
    """Return the events of crafting by technique."""
    found: dict[int, list[CraftEvent]] = {}
    for row in file.table("crafting_events"):
        found.setdefault(row["technique"], []).append(
            CraftEvent(
                row["name"], row["icon"],
                CraftChange(row["success_durability"], row["success_progress"]),
                CraftChange(row["fail_durability"], row["fail_progress"]),
            )
        )  # fmt: skip
    return {technique: tuple(rows) for technique, rows in found.items()}


# -- TOML files -----------------------------------------------------------------------------------


class TomlCrafts:
    """Nodes, collections, recipes and events of TOML files, by number.

    The forms of ``[[node]]``, ``[[collection]]``, ``[[recipe]]`` and ``[[event]]``:
    docs/guides/crafting.md#files.
    """

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        """Raises `FileFormatError`."""
        self.nodes: dict[int, HarvestNode] = {}
        self.collections: dict[int, Collection] = {}
        self.recipes: dict[int, Recipe] = {}
        self.books: dict[int, list[int]] = {}
        """The recipes of a book, by the number of its item."""
        self.events: dict[int, list[CraftEvent]] = {}
        for path in paths:
            document = read_document(path)
            try:
                self._read(document)
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise FileFormatError(f"{path}: node, collection or recipe: {error}") from error

    def _read(self, document: Mapping[str, Any]) -> None:
        for row in document.get("node", ()):
            self.nodes[_number(row, "id")] = _toml_node(row)
        for row in document.get("collection", ()):
            made = _toml_collection(row)
            self.collections[made.id] = made
        for row in document.get("recipe", ()):
            recipe = _toml_recipe(row)
            self.recipes[recipe.row["id"]] = recipe
            self.books.setdefault(_number(row, "book", 0), []).append(recipe.row["id"])
        for row in document.get("event", ()):
            self.events.setdefault(_number(row, "technique"), []).append(
                CraftEvent(
                    str(row["name"]), _number(row, "icon"),
                    CraftChange(*row.get("success", (0, 0))),
                    CraftChange(*row.get("failure", (0, 0))),
                )
            )  # fmt: skip


def _number(row: Mapping[str, Any], name: str, default: int | None = None) -> int:
    value = row.get(name, default)
    if type(value) is not int or value < 0:
        raise ValueError(f"{name} must be a number")
    return value


def _percent(row: Mapping[str, Any], name: str) -> float:
    value = float(row.get(name, 0))
    if not 0 <= value <= 100:
        raise ValueError(f"{name} must be a percentage")
    return value


def _toml_node(row: Mapping[str, Any]) -> HarvestNode:
    percents = [_percent(row, name) for name in ("one", "three", "five", "imbued", "rare", "ten")]
    table = HarvestTable(
        _number(row, "min_skill", 0), _number(row, "min_level", 0), False, *percents
    )  # fmt: skip
    items = tuple(
        HarvestItem(
            _number(one, "item"), RARITIES[one.get("rarity", "common")], _number(one, "grid", 0)
        )
        for one in row["items"]
    )
    return HarvestNode((table,), items)


def _toml_collection(row: Mapping[str, Any]) -> Collection:
    rewards = []
    for one in row.get("rewards", ()):
        if one["kind"] not in REWARD_KINDS:
            raise ValueError(f"kind: none of {', '.join(REWARD_KINDS)}")
        rewards.append(
            CollectionReward(one["kind"], _number(one, "value"), _number(one, "quantity", 1))
        )
    return Collection(
        _number(row, "id"), str(row["name"]), str(row.get("category", "")),
        _number(row, "level", 1), tuple(row["items"]), tuple(rewards),
    )  # fmt: skip


def _toml_recipe(row: Mapping[str, Any]) -> Recipe:
    columns = content_tables()["recipes"].columns
    values: dict[str, Any] = {column.name: column.default for column in columns}
    for column in columns:
        if column.name in row:
            stored = column.convert(row[column.name])
            if stored is None:
                raise ValueError(f"{column.name}: {row[column.name]!r} is no usable value")
            values[column.name] = stored
    number = _number(row, "id")
    values |= {"id": number, "crc": number, "is_complete": 1}
    products = [_toml_product(one) for one in row["products"]]
    if len(products) != PHASES:
        raise ValueError(f"products: {PHASES} are needed")
    return Recipe(
        values, _toml_component(row.get("primary")),
        tuple(one for made in row.get("components", ()) if (one := _toml_component(made))),
        _toml_component(row.get("fuel")), tuple(products),
    )  # fmt: skip


def _toml_component(row: Mapping[str, Any] | None) -> Component | None:
    if row is None:
        return None
    return Component(tuple(row["items"]), _number(row, "quantity", 1), str(row["title"]))


def _toml_product(row: Mapping[str, Any]) -> Product:
    return Product(
        _number(row, "item"), _number(row, "quantity", 1), _number(row, "byproduct", 0),
        _number(row, "byproduct_quantity", 0),
    )  # fmt: skip


def shipped_crafts() -> Path:
    """Return the file of the nodes, collections and recipes that come with the server."""
    return data_file("world", "crafts.toml")


# -- the crafts of a world ------------------------------------------------------------------------


def transmuting(file: ContentFile) -> tuple[TransmuteTier, ...]:
    """Return the materials that things give by their levels, the lowest levels first."""
    rows = sorted(file.table("transmuting"), key=lambda row: (row["min_level"], row["id"]))
    return tuple(
        TransmuteTier(
            row["min_level"], row["max_level"], row["fragment"], row["powder"], row["infusion"],
            row["mana"],
        )
        for row in rows
    )  # fmt: skip


class CraftTables:
    """The nodes, collections and recipes of one world, read when they are first needed.

    Any thread may call it. A first call takes about a millisecond.
    """

    def __init__(self, content: Path | None = None, layer: TomlCrafts | None = None) -> None:
        self._layer = layer or TomlCrafts()
        self._lock = Lock()
        self.reload(content)

    def reload(self, content: Path | None) -> None:
        """Read from another file, or from the changed one."""
        with self._lock:
            self._path = content
            self._file: ContentFile | None = None
            self._nodes: dict[int, HarvestNode | None] = dict(self._layer.nodes)
            self._collections: dict[int, Collection | None] = dict(self._layer.collections)
            self._recipes: dict[int, Recipe | None] = dict(self._layer.recipes)
            self._with: dict[int, tuple[int, ...]] | None = None
            self._events: dict[int, tuple[CraftEvent, ...]] | None = None
            self._transmuting: tuple[TransmuteTier, ...] | None = None
            self._books: dict[int, list[int]] = {}

    def _content(self) -> ContentFile | None:
        if self._path is not None and self._file is None:
            self._file = ContentFile(self._path, is_shared=True)
        return self._file

    def _found(
        self,
        known: dict[int, T | None],
        read: Callable[[ContentFile, Sequence[int]], Mapping[int, T]],
        ids: Iterable[int],
    ) -> dict[int, T]:
        wanted = list(dict.fromkeys(ids))
        with self._lock:
            missing = [one for one in wanted if one not in known]
            file = self._content() if missing else None
            if missing:
                found = read(file, missing) if file is not None else {}
                known.update({one: found.get(one) for one in missing})
            pairs = [(one, known.get(one)) for one in wanted]
        return {number: value for number, value in pairs if value is not None}

    def node(self, number: int) -> HarvestNode | None:
        """Return what a node gives; None without tables. Raises `FileFormatError`."""
        return self._found(self._nodes, nodes, [number]).get(number)

    def collections(self, ids: Iterable[int]) -> dict[int, Collection]:
        """Return collections by number. Raises `FileFormatError`."""
        return self._found(self._collections, collections, ids)

    def collections_with(self, item_id: int) -> list[Collection]:
        """Return the collections of which a thing is a piece. Raises `FileFormatError`."""
        if self._with is None:
            self._with = self._pieces()
        return list(self.collections(self._with.get(item_id, ())).values())

    def _pieces(self) -> dict[int, tuple[int, ...]]:
        """Return the collections of all pieces: some thousand pairs."""
        found: dict[int, set[int]] = {}
        with self._lock:
            file = self._content()
            rows = file.table("collection_items") if file is not None else []
        for row in rows:
            found.setdefault(row["item_id"], set()).add(row["collection_id"])
        for one in self._layer.collections.values():
            for item in one.pieces:
                found.setdefault(item, set()).add(one.id)
        return {item: tuple(sorted(numbers)) for item, numbers in found.items()}

    def recipes(self, ids: Iterable[int]) -> dict[int, Recipe]:
        """Return recipes by number; those whose products are unknown are left out.

        Raises `FileFormatError`.
        """
        if len(self._recipes) > MOST_KEPT:
            self._recipes = dict(self._layer.recipes)
        found = self._found(self._recipes, recipes, ids)
        return {number: one for number, one in found.items() if one.row["is_complete"]}

    def recipes_of_book(self, item_id: int) -> list[int]:
        """Return the numbers of the recipes that a book teaches. Raises `FileFormatError`."""
        if item_id in self._layer.books:
            return list(self._layer.books[item_id])
        numbers = self._books.get(item_id)
        if numbers is None:
            with self._lock:
                file = self._content()
                numbers = recipes_of_book(file, item_id) if file is not None else []
                self._books[item_id] = numbers
        return sorted(self.recipes(numbers))

    def events(self, technique: int) -> tuple[CraftEvent, ...]:
        """Return the events that can come with a technique. Raises `FileFormatError`."""
        if self._events is None:
            with self._lock:
                file = self._content()
                found = events(file) if file is not None else {}
            own = {number: tuple(rows) for number, rows in self._layer.events.items()}
            self._events = found | own
        return self._events.get(technique, ())

    def transmuting(self) -> tuple[TransmuteTier, ...]:
        """Return the materials that things give. Raises `FileFormatError`."""
        if self._transmuting is None:
            with self._lock:
                file = self._content()
                self._transmuting = transmuting(file) if file is not None else ()
        return self._transmuting
