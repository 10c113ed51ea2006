"""What a client is sent about things, as lines of text that a test can compare.

Numbers of things are left out: each server numbers them by itself. A list is what
has changed in it since the one before, so that a list that comes twice is no difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from emu.structs.packed import unpack_counted, xor
from emu.world.actors.item_lists import HEAD, STRUCT
from tests.support.world.ghost_views import DIALECTS

INVENTORY: Final = "OP_UpdateInventoryMsg"
EXAMINE: Final = "OP_EqExamineInfoCmd"
TEXT: Final = "OP_EqDisplayTextCmd"
MERCHANT: Final = "OP_EqUpdateMerchantCmd"
CAST_END: Final = "OP_EqSpellCastEndCmd"
STOPPED: Final = "OP_StoppedLootingMsg"
CHOICE: Final = "OP_EqChoiceWinCmd"
SHEET: Final = "OP_UpdateCharacterSheetMsg"
ONSCREEN: Final = "OP_OnscreenMsgMsg"
BANK: Final = "OP_EqUpdateBankCmd"
CHAT: Final = "OP_EqHearChatCmd"
PLAIN: Final = frozenset((
    BANK, "OP_EntityVerbsReplyMsg", "OP_EqSpellCastStartCmd", CAST_END,
    ONSCREEN, "OP_EqPlaySoundCmd", "OP_SpellGainedMsg", "OP_EqDisplaySpellFailCmd",
    "OP_EqUpdateLootCmd", STOPPED, "OP_EqShowBookCmd", "OP_EqCollectionUpdateCmd",
    "OP_EqCollectionItemCmd", "OP_EqCollectionFilterCmd", "OP_UpdateRecipeBookMsg",
    "OP_ShowRecipeBookMsg", "OP_RecipeDetailsMsg", "OP_RecipeListCmd", CHOICE,
    "OP_ShowCreateFromRecipeUIMsg", "OP_ShowItemCreationProcessUIMsg", "OP_StopItemCreationMsg",
    "OP_UpdateItemCreationProcessUIMsg",
    "OP_EqDialogOpenCmd", "OP_EqUpdatePlayerTradeCmd", "OP_EqUpdateStoreCmd",
))  # fmt: skip
"""Messages of which all fields are compared."""
_ROW: Final = (
    "unique_id", "bag_id", "inv_slot_id", "menu_type", "slot_id", "index", "icon", "count", "tier",
    "num_slots", "item_id", "name",
)  # fmt: skip
_THINGS: Final = frozenset(("unique_id", "bag_id", "inv_slot_id", "unique_item_id"))
"""Fields with the number of a thing."""
_OTHERS: Final = frozenset(("mail_id", "player_to_id"))
"""Fields with the number of a letter or of a character."""
SLOTS: Final = "slots"
"""The field of what another player wears, as bytes."""
_SLOT_HEAD: Final = re.compile("\0.{4}(?=\xff{8})", re.DOTALL)
"""The creator of a thing and its number, before the number of its kind, which is left out."""
_LINK: Final = re.compile(r"(\\aITEM \d+ )[1-9]\d*:")
_OF_THINGS: Final = re.compile(r"(\\#[0-9A-F]{6})?You (have|added)")
_PURSE: Final = ("coins_copper", "coins_silver", "coins_gold", "coins_plat")
_IN_BANK: Final = frozenset(name.removeprefix("coins_") for name in _PURSE)
_VOLATILE: Final = frozenset((
    "packed_size", "unknown02", "conversation_id", "time_left", "loot_id", "unknown8_1",
    "reaction_icon", "reaction_name",
))  # fmt: skip


class ItemLists:
    """The lists of a client as its messages have made them."""

    def __init__(self, version: int) -> None:
        self.dialect = DIALECTS.for_version(version)
        self.layout = self.dialect.layout(STRUCT)
        empty = self.dialect.encode_known(STRUCT, {"item_count": 1, "item_array": [{}]})
        self.size = len(empty) - HEAD - 1
        self.before: dict[int, bytes] = {}

    def rows(self, body: bytes) -> tuple[int, list[dict[str, Any]]]:
        """Return the number of a list, and its records."""
        count, packed, tail = unpack_counted(body, self.size, 1, self.dialect.version)
        base = self.before.get(tail[0], b"")[: len(packed)].ljust(len(packed), b"\0")
        whole = self.before[tail[0]] = xor(packed, base)
        plain = count.to_bytes(2, "little") + bytes(4) + whole + tail
        return tail[0], list(self.layout.decode(plain)["item_array"])


class ThingLines:
    """The lines of one client, and what it knows of its things."""

    def __init__(
        self, version: int, *, has_index: bool = True, more: frozenset[str] = frozenset()
    ) -> None:
        """`has_index` is false if the index of records, which shows their age, is not compared.

        `more` are messages beside `PLAIN` of which all fields are compared.
        """
        self.version = version
        self._plain = PLAIN | more
        self._row = _ROW if has_index else tuple(one for one in _ROW if one != "index")
        self._lists = ItemLists(version)
        self.shown: dict[int, list[dict[str, Any]]] = {}
        """The records of each list."""
        self._last: dict[Any, str] = {}
        self.lines: list[str] = []
        self._since = 0
        self._own: set[int] = set()
        """The numbers of all things that the client has had."""
        self.coins: list[int] = []
        """The purse in copper after each change."""
        self._purse: dict[str, int] = {}
        self.own_name = ""
        self.partner = ""
        """Whose words are compared beside the player's."""

    def begin_session(self) -> None:
        """Forget the lists: a client that enters again knows nothing."""
        self._lists = ItemLists(self.version)
        self.shown = {}

    def begin_act(self) -> None:
        """Note that the client does something: a line after it is no repetition."""
        self._since = len(self.lines)

    @property
    def payments(self) -> list[int]:
        """By how much copper the purse has changed each time."""
        return [after - before for before, after in pairwise(self.coins)]

    def add(self, name: str, fields: Any, body: bytes) -> None:
        """Read a message to the client; spawns in its fields have names already."""
        if name == SHEET and fields:
            self._read_sheet(fields)
        elif fields is not None or name in (INVENTORY, EXAMINE):
            self.lines += self._lines(name, fields, body)

    def _read_sheet(self, fields: dict[str, Any]) -> None:
        sheet = fields.get("sheet", fields)
        self.own_name = sheet.get("character_name", self.own_name)
        self._purse |= {key: sheet[key] for key in _PURSE if key in sheet}
        coins = sum(self._purse.get(key, 0) * 100**turn for turn, key in enumerate(_PURSE))
        if self._purse and coins not in self.coins[-1:]:
            self.coins.append(coins)

    def _lines(self, name: str, fields: Any, body: bytes) -> Iterator[str]:
        if name == INVENTORY:
            yield from self._changes(body)
        elif name == EXAMINE:
            # Windows of zeros are a fault of EQ2Emulator.
            info = (fields or {}).get("item", {}).get("info", {})
            if any(body) and (not info or info.get("unique_id")):
                yield f"window {self._fields(fields or body.hex())}"
        elif name == TEXT:
            text = re.sub(" +", " ", _LINK.sub(r"\1N:", fields["text"]))
            line = f"text {fields['color']}: {text}"
            # EQ2Emulator says some lines twice.
            if self.lines[self._since :][-1:] != [line]:
                yield line
        elif name == CHAT:
            if fields["from"] in (self.own_name, self.partner):
                speaker = "PLAYER" if fields["from"] == self.own_name else fields["from"]
                yield f"says {speaker}: {fields['message']}"
        else:
            yield from self._plain_line(name, fields)

    def _plain_line(self, name: str, fields: Any) -> Iterator[str]:
        if name == BANK:
            # The purse is compared by what changes in it.
            fields = {key: one for key, one in fields.items() if key not in _IN_BANK}
        if name == MERCHANT:
            line = f"merchant {self._fields(fields)}"
            if self._last.get((name, fields["type"])) != line:
                self._last[name, fields["type"]] = line
                yield line
        elif name == ONSCREEN and not _OF_THINGS.match(fields["text"]):
            return  # the names of places
        elif name in self._plain:
            line = f"{name.removeprefix('OP_').removeprefix('Eq')} {self._fields(fields)}"
            line = line.replace("\n", "|")
            # EQ2Emulator sends the end of a cast, and of looting, twice.
            if name not in (CAST_END, STOPPED) or not self._is_repeated(line):
                yield line

    def _is_repeated(self, line: str) -> bool:
        name = line.split(maxsplit=1)[0]
        recent = self.lines[-8:]
        return (
            line in recent
            and not any(one.startswith("SpellCastStart") for one in recent[recent.index(line) :])
            and name in line
        )

    def _changes(self, body: bytes) -> Iterator[str]:
        number, rows = self._lists.rows(body)
        before = self.shown.get(number, [])
        self.shown[number] = rows
        self._own.update(row["unique_id"] for row in rows if row["unique_id"] != row["item_id"])
        self._own.discard(0)
        bags = {row["unique_id"]: f"bag {place}" for place, row in enumerate(rows)}
        bags[0] = "0"
        found = []
        for place, row in enumerate(rows):
            old = before[place] if place < len(before) else None
            if old is not None and all(old.get(key) == row.get(key) for key in self._row):
                continue
            if not row["unique_id"]:
                found.append(f"{place}=-")
                continue
            values = {key: row[key] for key in self._row if row.get(key) and key not in _THINGS}
            place_in = row["inv_slot_id"]
            values["in"] = bags.get(place_in, place_in)
            values["bag"] = int(row["bag_id"] == row["unique_id"])
            found.append(f"{place}={_plain(values)}")
        if found:
            yield f"list {number}: " + "; ".join(found)

    def _fields(self, value: Any, key: str = "", item_id: int = 0) -> str:
        """Return fields without those that are zero, or that say nothing of the content."""
        if isinstance(value, dict):
            own = value.get("item_id") or value.get("broker_item_id") or item_id
            own = own if isinstance(own, int) else item_id
            pairs = (
                (one, self._fields(two, one, own)) for one, two in value.items()
                if one not in _VOLATILE and two not in (0, "", [], None)
            )  # fmt: skip
            return "(" + " ".join(f"{one}={two}" for one, two in pairs if two) + ")"
        if isinstance(value, list):
            return "[" + ", ".join(self._fields(one, key, item_id) for one in value) + "]"
        if isinstance(value, int):
            is_own = value in self._own or key in _OTHERS
            is_own = is_own or (key in _THINGS and value not in (0, item_id))
            return "N" if is_own else str(value)
        if isinstance(value, float):
            return f"{value:.4g}"
        return self._text(value, key) if isinstance(value, str) else str(value)

    def _text(self, value: str, key: str) -> str:
        if key == SLOTS:
            return _SLOT_HEAD.sub("", value).encode("latin-1", "replace").hex()
        return _LINK.sub(r"\1N:", value).replace(self.own_name or "\0", "PLAYER")


def _plain(values: dict[str, Any]) -> str:
    return " ".join(f"{key}={one}" for key, one in values.items())
