"""Kinds of things as the messages of a recording show them, as TOML rows.

The community's table `items` is in no public copy; the rows of the recorded world were made by hand
(../shared/data/recordings/real-README.md). What its clients saw of a row is here: name, icon, tier,
slots, weight, price, stack. Parts, effects and looks are those of the content file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from emu.content.items import _COLUMNS
from emu.world.actors.item_lists import server_slot
from tests.support.world.fight_recordings import Mark, Message
from tests.support.world.thing_lines import EXAMINE, INVENTORY, MERCHANT, ItemLists

USABLE, STACKS = 524288, 16384
"""Bits of the menu of a thing."""
USUAL_STACK: Final = 20
_FOOTER: Final = {"stack_size": "stack", "collectable": "is_collectable",
                  "crafting_flag": "harvest"}  # fmt: skip
"""Columns that newer windows show at their end."""
DECIMAL: Final = 6
"""The kind of statistics that are no whole numbers."""
WORN: Final = 1
"""The number of the list of worn things."""
SELL: Final = 1
"""The type of the list of what a player can sell; from 1096 on with the bit 128."""


def kinds_toml(recorded: Iterable[Message | Mark], version: int, scripts: Path) -> str:
    """Return the rows of all kinds that a client was shown."""
    kinds = _Kinds(version)
    for one in recorded:
        if not isinstance(one, Mark) and not one.to_server:
            kinds.see(one)
    named = {path.stem.casefold(): path for path in scripts.glob("ItemScripts/**/*.lua")}
    lines = []
    for item_id, values in sorted(kinds.found.items()):
        if "name" not in values:
            continue
        script = named.get(_stem(values["name"]))
        if script is not None:
            values.setdefault("script", script.relative_to(scripts).as_posix())
        body = ", ".join(f"{key} = {_toml(one)}" for key, one in values.items())
        lines.append(f"{{id = {item_id}, {body}}}")
    return "item = [\n" + ",\n".join(lines) + "\n]\n"


def _stat(row: dict[str, Any]) -> dict[str, Any]:
    kind, value = row.get("stat_type", 0), row["value"]
    number = {"decimal": float(value)} if kind == DECIMAL else {"integer": int(value)}
    return {"kind": kind, "subkind": row.get("stat_subtype", 0), **number}


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + "}"
    return json.dumps(value)


def _stem(name: str) -> str:
    return "".join(one for one in name.casefold() if one.isalnum())


class _Kinds:
    """What a client has seen of kinds, by number."""

    def __init__(self, version: int) -> None:
        self._version = version
        self._lists = ItemLists(version)
        self.found: dict[int, dict[str, Any]] = {}

    def see(self, one: Message) -> None:
        if one.name == "OP_LoginReplyMsg":
            self._lists = ItemLists(self._version)
        elif one.name == INVENTORY:
            number, rows = self._lists.rows(one.body)
            for row in rows:
                if row["item_id"]:
                    self._see_record(row)
                    if number == WORN:
                        self._see_worn(row)
        elif one.name == EXAMINE and one.fields and "item" in one.fields:
            self._see_window(one.fields["item"])
        elif one.name == MERCHANT and one.fields:
            for row in one.fields["item_array"]:
                self._see_ware(row, one.fields["type"])

    def _note(self, item_id: int, **values: Any) -> None:
        self.found.setdefault(item_id, {}).update(values)

    def _see_record(self, row: dict[str, Any]) -> None:
        known = self.found.setdefault(row["item_id"], {})
        known |= {"name": row["name"], "icon": row["icon"], "tier": row["tier"]}
        known["is_usable"] = int(bool(row["menu_type"] & USABLE))
        if row["menu_type"] & STACKS:
            known.setdefault("stack", USUAL_STACK)

    def _see_worn(self, row: dict[str, Any]) -> None:
        """Note the slot of a worn thing, unless a window has shown all slots."""
        slot = server_slot(row["slot_id"], self._version)
        if slot is not None:
            self.found[row["item_id"]].setdefault("slots", 1 << slot)

    def _see_window(self, item: dict[str, Any]) -> None:
        info, footer = item["info"], item["footer"]
        item_id = info.get("item_id") or info["broker_item_id"]
        if not item_id or not footer["name"]:
            return
        slots = (server_slot(one["slot"], self._version) for one in info["slot_array"])
        self._note(
            item_id, name=footer["name"], icon=info["icon"], tier=info["tier"],
            weight=info["weight"], slots=sum(1 << slot for slot in slots if slot is not None),
            description=footer["description"], stats=[_stat(one) for one in info["stat_array"]],
            **{name: int(bool(info["flags"] & flag)) for name, flag in _COLUMNS.items()},
            **{
                name: footer[field] for field, name in _FOOTER.items() if field in footer
            },
        )  # fmt: skip

    def _see_ware(self, row: dict[str, Any], window: int) -> None:
        values = {"name": row["item_name"], "icon": row["icon"], "tier": row["tier"]}
        known = self.found.setdefault(row["item_id"], {})
        known |= values
        if row["unique_item_id"]:
            known["price"] = row["price"]
        elif window & 0xFF != SELL:
            known["stack"] = row["stack_size"]
            known.setdefault("price", row["price"])
