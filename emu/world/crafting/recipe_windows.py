"""Devices, recipe books and the windows of recipes: the fields of their messages.

Source: docs/protocol/world/crafting.md#recipes, recorded in ../shared/data/recordings/items-*-deal.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Final, NamedTuple

from emu.content.knowledge import Component, Recipe
from emu.dialects import Dialect
from emu.dialects.dialect import wire_texts
from emu.errors import UnknownStruct
from emu.structs.packed import pack_counted
from emu.world.actors.player import Player
from emu.world.items.reward_windows import KindOf


class Bench(NamedTuple):
    """A device of crafting: its name, and the number that its spawns have."""

    name: str
    number: int


BENCHES: Final = {
    "sewing_table": Bench("Sewing Table & Mannequin", 1), "forge": Bench("Forge", 2),
    "chemistry_table": Bench("Chemistry Table", 3), "work_desk": Bench("Engraved Desk", 4),
    "work_bench": Bench("Work Bench", 5), "woodworking_table": Bench("Woodworking Table", 6),
    "stove_and_keg": Bench("Stove & Keg", 7),
}  # fmt: skip
"""The devices by their names in the content."""
NAMES: Final = {one.number: one.name for one in BENCHES.values()}
ANY_DEVICE: Final = 0
LONGEST_NAME, LONGEST_DEVICE = 199, 39
SHOW_MESSAGE: Final = "OP_ShowRecipeBookMsg"
SHOW_BOOK, DETAILS, LIST = "WS_ShowRecipeBook", "WS_RecipeDetailList", "WS_RecipeList"
DETAILS_HEAD: Final = 4
MOST_DETAILS: Final = 100
"""How many recipes one message describes."""
BOOK_TAIL: Final = 0x07005BE3
"""The last number of each row of the old recipe book (recorded)."""
KNOWN_DEVICE: Final = 1
"""What every recorded recipe has, whatever its device."""
SOME_DEVICES: Final = 1
"""What the recorded message about a device has before the number of devices."""


def bench_of(recipe: Recipe) -> Bench:
    """Return the device at which a recipe is made; one without a number is any device."""
    name = str(recipe.row["bench"])
    return BENCHES.get(name.casefold().replace(" ", "_"), Bench(name, ANY_DEVICE))


class KnownRecipe(NamedTuple):
    """A recipe of a player, and the name of the book that has it."""

    recipe: Recipe
    book: str

    @property
    def id(self) -> int:
        """The number of the recipe."""
        return int(self.recipe.row["id"])

    @property
    def name(self) -> str:
        """The name of the recipe."""
        return str(self.recipe.row["name"])

    @property
    def level(self) -> int:
        """The level of the recipe."""
        return int(self.recipe.row["level"])

    @property
    def technique(self) -> int:
        """The number of the skill that makes it."""
        return int(self.recipe.row["technique"]) & 0xFFFFFFFF


# -- the book -------------------------------------------------------------------------------------


def details_fields(known: KnownRecipe) -> dict[str, Any]:
    """Return one row of the details that clients keep of recipes."""
    row = known.recipe.row
    return {
        "recipe_id": known.id, "icon": row["icon"] & 0xFFFF,
        "recipe_name": known.name[:LONGEST_NAME], "recipe_desc": "", "book_volume": 1,
        "technique": known.technique, "knowledge": row["knowledge"] & 0xFFFFFFFF,
        "level": known.level, "recipe_book": known.book[:LONGEST_NAME],
        "device": bench_of(known.recipe).name[:LONGEST_DEVICE], "device_id": KNOWN_DEVICE,
    }  # fmt: skip


def send_details(player: Player, recipes: Iterable[KnownRecipe]) -> None:
    """Send a client the details of some of its recipes."""
    rows = [details_fields(one) for one in recipes][:MOST_DETAILS]
    if rows:
        fields = {"num_recipes": len(rows), "recipe_array": rows}
        player.client.send(DETAILS, fields)


def checksum_of(dialect: Dialect, known: KnownRecipe) -> int:
    """Return the checksum of a recipe's details: a CRC without its last inversion (recorded)."""
    fields = {"num_recipes": 1, "recipe_array": [details_fields(known)]}
    record = dialect.encode_known(DETAILS, wire_texts(fields))[DETAILS_HEAD:]
    return zlib.crc32(record) ^ 0xFFFFFFFF


def old_book(dialect: Dialect, recipes: Iterable[KnownRecipe]) -> bytes:
    """Return the recipe book of clients up to 561; it is empty for versions without details."""
    # A row has a checksum of the details.
    shown = recipes if dialect.has(DETAILS) else ()
    rows = [
        b"".join(
            number.to_bytes(4, "little")
            for number in (one.id, checksum_of(dialect, one), BOOK_TAIL)
        )
        for one in shown
    ]
    return pack_counted(len(rows), b"".join(rows), b"", dialect.version)


def list_fields(recipes: Iterable[KnownRecipe], color: Callable[[int], int]) -> dict[str, Any]:
    """Return the recipe book of newer clients; `color` gives the color of a level, from 0 to 4."""
    rows = [
        {
            "recipe_id": one.id, "tier": color(one.level), "level": one.level,
            "unknown1": one.level, "icon": one.recipe.row["icon"] & 0xFFFF,
            "classes": one.recipe.row["tradeskill_classes"] & 0x7FFFFFFFFFFFFFFF,
            "technique": one.technique, "knowledge": one.recipe.row["knowledge"] & 0xFFFFFFFF,
            "device_type": _place_of(bench_of(one.recipe).number),
            "recipe_name": one.name, "recipe_book": one.book,
        }
        for one in recipes
    ]  # fmt: skip
    return {"num_recipes": len(rows), "recipe_array": rows}


def _place_of(device: int) -> int:
    """Return the place of a device among those of its kind, as newer clients number them."""
    return max(0, device - 1)


def show_device(player: Player, device: int) -> None:
    """Open a client's recipe book at a device."""
    fields = {
        "device": NAMES[device], "unknown1": SOME_DEVICES, "num_devices": len(BENCHES),
        "device_mask": 1 << _place_of(device),
    }  # fmt: skip
    client = player.client
    with suppress(UnknownStruct):
        client.send_bytes(SHOW_MESSAGE, client.dialect.encode_known(SHOW_BOOK, wire_texts(fields)))


# -- the window of a recipe -----------------------------------------------------------------------

WINDOW, WINDOW_COMMAND = "WS_ExamineInfo", "OP_EqExamineInfoCmd"
RECIPE_TYPE: Final = 2
"""The type of a window about a recipe."""
USUAL_SKILL: Final = 50
LEAD: Final = 3
NO_CLASS: Final = 0xFF


def show_recipe(player: Player, known: KnownRecipe, kind_of: KindOf) -> None:
    """Open the window of a recipe."""
    rules, recipe, row = player.client.dialect.world_rules, known.recipe, known.recipe.row
    product = kind_of(recipe.phases[-1].item_id)
    fields = {
        "id": known.id, "unknown": LEAD, "level": known.level, "technique": known.technique,
        "knowledge": row["knowledge"] & 0xFFFFFFFF, "skill_level": USUAL_SKILL,
        "device": bench_of(recipe).name,
        "unknown3": [1, 0] if rules.recipe_devices > 1 else 1, "icon": row["icon"] & 0xFFFF,
        "adventure_id": NO_CLASS, "tradeskill_id": player.character.tradeskill_class & 0xFF,
        "product_icon": product.icon if product is not None else 0,
        "product_name": product.name if product is not None else known.name,
        "primary_count": 1, **_named("primary_comp", recipe.primary),
        "num_comps": len(recipe.secondary),
        "comp_array": [
            {"build_comp": one.title, "build_comp_qty": min(one.quantity, 0xFF)}
            for one in recipe.secondary
        ],
        **_named("fuel_comp", recipe.fuel),
        "recipe_name": known.name, "recipe_description": str(row["description"]),
    }  # fmt: skip
    head = {"packettype": RECIPE_TYPE}
    if not rules.older_windows:
        head = {"packettype": rules.item_window_type, "packetsubtype": RECIPE_TYPE}
    client, values = player.client, {**head, "recipe": fields}
    with suppress(UnknownStruct):
        client.command(WINDOW_COMMAND, client.dialect.encode_known(WINDOW, wire_texts(values)))


def _named(name: str, component: Component | None) -> dict[str, Any]:
    if component is None:
        return {name: "", f"{name}_qty": 0}
    return {name: component.title, f"{name}_qty": min(component.quantity, 0xFF)}
