"""`emu item`: the kinds of things, and `emu character items`: what somebody has."""

from __future__ import annotations

from typing import Any, Final

import click

from emu.cli.common import VerbGroup, load_config, read_store
from emu.cli.tables import Row, format_option, print_record, print_rows
from emu.content.items import ItemKinds, TomlItems, shipped_items
from emu.errors import CommandError
from emu.items.held import Thing
from emu.items.kinds import ItemKind
from emu.ledger import Owner, OwnerKind

MOST_FOUND: Final = 1000
COLUMNS: Final = ("number", "name", "sort", "slots", "level", "price")
THINGS: Final = (
    "thing", "list", "bag", "slot", "item", "name", "count", "condition", "attuned", "creator",
)  # fmt: skip
HOLDERS: Final = ("keeper", "number", "thing", "count")


def item_kinds() -> ItemKinds:
    """Return the kinds of things of the configured world. Raises `FileFormatError`."""
    world = load_config().world
    own = [] if world.items is None else [world.items]
    return ItemKinds(world.content, TomlItems([shipped_items(), *own]))


@click.group(cls=VerbGroup)
def item() -> None:
    """Look at the kinds of things of the world: show, search.

    Kinds are those of the content file and of TOML files.

    Example: emu item search sword
    """


@item.command()
@click.argument("word")
@click.option(
    "--limit", type=click.IntRange(1, MOST_FOUND), default=50, show_default=True,
    help="How many kinds to list.",
)  # fmt: skip
@format_option
def search(word: str, limit: int, style: str) -> None:
    """List the kinds of things whose name contains WORD.

    Example: emu item search "short sword"
    """
    kinds = item_kinds()
    found = kinds.load(number for number, _ in kinds.search(word, limit))
    rows = [_row(kind) for _, kind in sorted(found.items())]
    print_rows(rows, style, COLUMNS, least=("price", "level"))


def _row(kind: ItemKind) -> Row:
    return {
        "number": kind.id,
        "name": kind.name,
        "sort": kind.sort.name.lower(),
        "slots": ", ".join(slot.name.lower() for slot in kind.slots),
        "level": kind.level,
        "price": kind.price,
    }


@item.command()
@click.argument("number", type=click.IntRange(1))
@click.option("--holders", is_flag=True, help="List who has such things instead.")
@format_option
def show(number: int, holders: bool, style: str) -> None:
    """Show the kind of things with a NUMBER.

    Example: emu item show 2000000004
    """
    if holders:
        with read_store() as store:
            found = store.world.things.holders_of(number, MOST_FOUND)
        rows: list[Row] = [dict(zip(HOLDERS, one, strict=True)) for one in found]
        print_rows(rows, style, HOLDERS)
        return
    kind = item_kinds().get(number)
    if kind is None:
        raise CommandError(f"there is no item {number}; find its number with: emu item search WORD")
    print_record({**_row(kind), **_details(kind)}, style)


def _details(kind: ItemKind) -> dict[str, Any]:
    """Return what a kind has besides the columns of a list; nothing that is 0 or empty."""
    flags = [one.name.lower() for one in (*kind.flags, *kind.more_flags) if one.name]
    part = kind.part._asdict() if kind.part is not None else {}
    values = {
        "description": kind.description,
        "tier": kind.tier,
        "weight": kind.weight / 10,
        "stack": kind.stack if kind.is_stackable else 0,
        "charges": kind.most_charges,
        "flags": ", ".join(flags),
        "script": kind.script,
        "stats": ", ".join(f"{one.sort}.{one.subsort} {one.value:+g}" for one in kind.stats),
        "effects": "; ".join(one.text for one in kind.effects),
        "model": kind.look.model if kind.look is not None else 0,
        "made for a trial": kind.is_stand_in,
        **{name: str(value) for name, value in part.items() if value},
    }
    return {name: value for name, value in values.items() if value}


def print_things(char_id: int, account_id: int, style: str) -> None:
    """Print what a character has, and what lies in the shared bank of its account."""
    owners = [Owner.character(char_id), Owner(OwnerKind.ACCOUNT, account_id)]
    with read_store() as store:
        found = store.world.things.of(owners)
    things = [one for owner in owners for one in found.get(owner, [])]
    kinds = item_kinds().load(one.item_id for one in things)
    things.sort(key=lambda one: (one.place.where, one.place.bag, one.place.slot))
    rows = [_thing_row(one, kinds.get(one.item_id)) for one in things]
    print_rows(rows, style, THINGS, least=("creator", "condition", "thing"))


def _thing_row(one: Thing, kind: ItemKind | None) -> Row:
    return {
        "thing": one.id,
        "list": str(one.place.where),
        "bag": one.place.bag or None,
        "slot": one.place.slot,
        "item": one.item_id,
        "name": kind.name if kind is not None else "not described",
        "count": one.count,
        "condition": one.condition,
        "attuned": one.is_attuned,
        "creator": one.creator,
    }
