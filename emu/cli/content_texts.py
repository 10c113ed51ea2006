"""The lines of `emu content show`: what a content file has about one number."""

from __future__ import annotations

from collections.abc import Iterator

from emu.content.file import ContentFile, Template
from emu.content.knowledge import npc_spells
from emu.content.subjects import SUBJECTS, describe, name_of, named
from emu.content.trade import Ware, loot_of, loot_tables, wares_of
from emu.rules.loot import LootTable


def lines_of(file: ContentFile, subject: str, number: int) -> Iterator[str]:
    """Yield a subject's columns, then the rows of other tables that belong to it."""
    for section in describe(file, subject, number):
        is_own = section.table == SUBJECTS[subject].table
        for row in section.rows:
            words = named(file, section.table, row)
            if is_own and len(section.rows) == 1:
                yield from (f"{column}: {text}" for column, text in words)
            else:
                yield f"{section.table}: " + ", ".join(f"{one} {text}" for one, text in words)
        if section.has_more:
            yield f"{section.table}: and more"


def spawn_lines(file: ContentFile, number: int) -> Iterator[str]:
    """Yield all about a spawn: what it is and wears, its verbs, scripts, loot, wares and places."""
    spawn = file.spawn(number)
    if spawn is None:
        return
    for table, part in (("spawns", spawn.spawn), (spawn.kind, spawn.own)):
        for column, text in named(file, table, part):
            if column != "spawn_id":
                yield f"{column}: {text}"
    yield f"kind: {spawn.kind}"
    for field, color in sorted(spawn.appearance.items()):
        yield f"{field}: {' '.join(map(str, color))}"
    for row in spawn.equipment:
        yield f"equipment slot {row['slot']}: model {row['model']}"
    yield from _verbs(file, spawn)
    for kind, one, script in file.scripts_of(number):
        yield f"script of {kind} {one}: {script}"
    for loot in loot_tables(file, loot_of(file, [number]).get(number, ())).values():
        yield from _loot(file, loot)
    yield from _wares(file, spawn)
    yield from _spells(file, spawn)
    for zone_id, placement, weight in file.places_of(number):
        zone = name_of(file, "zones", "id", zone_id)
        yield f"stands in zone {zone_id} ({zone}) at placement {placement}, weight {weight:g}"


def _verbs(file: ContentFile, spawn: Template) -> Iterator[str]:
    for column in ("commands", "more_commands"):
        if number := spawn.spawn[column]:
            for row in file.rows("commands", "list_id", [number]):
                yield f"verb: {row['text']} ({row['command']}), within {row['distance']:g}"


def _loot(file: ContentFile, table: LootTable) -> Iterator[str]:
    low, high = table.coins
    yield (
        f"loot table {table.id} ({table.name}): {table.most_items} times {table.drop_probability:g}"
        f" %, {low} to {high} copper at {table.coin_probability:g} %"
    )
    for drop in table.drops:
        yield f"loot table {table.id}: item {_item(file, drop.item_id)}, weight {drop.weight:g}"


def _wares(file: ContentFile, spawn: Template) -> Iterator[str]:
    if merchant := spawn.spawn["merchant"]:
        for ware in wares_of(file, [merchant]).get(merchant, ()):
            yield f"sells item {_item(file, ware.item_id)}{_price(file, ware)}"


def _price(file: ContentFile, ware: Ware) -> str:
    parts = [f"{ware.coins} copper"] if ware.coins else []
    parts += [f"{ware.status} status"] if ware.status else []
    parts += [f"{many} of item {_item(file, item)}" for item, many in ware.tokens]
    number = "" if ware.quantity is None else f", {ware.quantity} of them"
    return number + (f" for {' and '.join(parts)}" if parts else "")


def _spells(file: ContentFile, spawn: Template) -> Iterator[str]:
    own = spawn.own
    lists = [own[name] for name in ("spell_list", "second_spell_list") if own.get(name)]
    for number, spells in npc_spells(file, lists).items():
        for one in spells:
            name = name_of(file, "spells", "id", one.spell_id)
            moments = " when it appears" * one.on_spawn + " when a fight begins" * one.on_aggro
            yield f"spell list {number}: {one.spell_id} ({name}), tier {one.tier}{moments}"


def _item(file: ContentFile, number: int) -> str:
    name = name_of(file, "items", "id", number)
    return f"{number} ({name})" if name else str(number)
