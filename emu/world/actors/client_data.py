"""Data that a client keeps with its character: hotbars, macros, map fog, slots, and choices.

Each of them is bounded, so that the text stays below `emu.model.LONGEST_CLIENT_DATA`.

The server stores these values and sends them back; it does not use most of them. All but the
hotbars are stored as one text. Source: docs/protocol/world/entering.md#client-data.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from emu.errors import LimitExceeded, MalformedMessage
from emu.model import Hotkey
from emu.world.actors.hotbars import Hotbars

MOST_MACROS: Final = 100
MOST_COMMANDS: Final = 10
"""Commands of one macro."""
LONGEST_MACRO: Final = 64
LONGEST_COMMAND: Final = 255
MOST_SLOTS: Final = 1000
MOST_MACRO_BYTES: Final = 24_000
"""Bytes of all macros as they are stored."""
MOST_FOGS: Final = 12
"""Zones whose fog is kept; the one that was sent first is forgotten first."""
LONGEST_FOG: Final = 1024
LONGEST_BIOGRAPHY: Final = 511
"""Bytes of the biography in the window of a player."""
VOICES: Final = ("combat_voice", "emote_voice")
U8, U16, U32 = 0xFF, 0xFFFF, 0xFFFFFFFF
GROUP_OPTIONS: Final = (1, 0, 1, 0, 1, 0, 0, 0, 0)
"""The defaults of groups: loot method, rarity, split coins, an unknown byte, who yells, lock, and
three times whether to lock or loot by itself (recorded)."""


class Macro(NamedTuple):
    """A macro of a client."""

    name: str
    icon: int
    commands: tuple[str, ...]


class ClientData:
    """The values that one client keeps. Each method that changes them raises `PeerError`."""

    __slots__ = (
        "_fogs", "_macros", "_slots", "biography", "group", "hotbars", "language", "voices",
    )  # fmt: skip

    def __init__(self, text: str = "", hotkeys: Iterable[Hotkey] = ()) -> None:
        """Read a stored text; what it does not understand is left out."""
        self.hotbars = Hotbars(hotkeys)
        stored = _read(text)
        self._macros = dict(_macros(stored.get("macros")))
        self._slots = dict(_numbers(stored.get("slots"), U16))
        self._fogs = dict(_fogs(stored.get("fogs")))
        biography = stored.get("biography")
        self.biography = biography if isinstance(biography, str) else ""
        group = _row(stored.get("group"), len(GROUP_OPTIONS), U8)
        self.group: tuple[int, ...] = group or GROUP_OPTIONS
        """The player's defaults of groups, in the order of `GROUP_OPTIONS`."""
        voices = _row(stored.get("voices"), 2, U16)
        self.voices: tuple[int, ...] = voices or (0, 0)
        """Numbers of the voices in fights and in emotes; 0 for the usual one."""
        language = _row([stored.get("language")], 1, U8)
        self.language = language[0] if language else 0
        """The language that it speaks; 0 is the common one."""

    @property
    def text(self) -> str:
        """The values as they are stored; empty without any."""
        stored: dict[str, Any] = {}
        if self._macros:
            stored["macros"] = self._macros
        if self._slots:
            stored["slots"] = self._slots
        if self._fogs:
            stored["fogs"] = {
                zone: base64.b64encode(fog).decode() for zone, fog in self._fogs.items()
            }
        if self.biography:
            stored["biography"] = self.biography
        if self.group != GROUP_OPTIONS:
            stored["group"] = self.group
        if any(self.voices):
            stored["voices"] = self.voices
        if self.language:
            stored["language"] = self.language
        return json.dumps(stored, separators=(",", ":")) if stored else ""

    def voice_fields(self) -> dict[str, int]:
        """Return the chosen voices, as fields of a ghost."""
        fields = zip(VOICES, self.voices, strict=True)
        return {name: number for name, number in fields if number}

    # -- macros ---------------------------------------------------------------------------------

    @property
    def macros(self) -> Sequence[tuple[int, Macro]]:
        """The macros, by number."""
        return sorted(self._macros.items())

    def put_macro(self, number: int, macro: Macro) -> None:
        """Keep a macro; one without a command removes that of its number."""
        commands = tuple(one for one in macro.commands if one)
        if not commands:
            self._macros.pop(number, None)
            return
        if len(commands) > MOST_COMMANDS or any(len(one) > LONGEST_COMMAND for one in commands):
            raise MalformedMessage("macro too long")
        if len(macro.name) > LONGEST_MACRO:
            raise MalformedMessage("name of a macro too long")
        if number not in self._macros and len(self._macros) >= MOST_MACROS:
            raise LimitExceeded("too many macros")
        macro = macro._replace(commands=commands)
        others = sum(_size(one) for key, one in self._macros.items() if key != number)
        if others + _size(macro) > MOST_MACRO_BYTES:
            raise LimitExceeded("too many texts in macros")
        self._macros[number] = macro

    # -- the window of spells -------------------------------------------------------------------

    @property
    def slots(self) -> Sequence[tuple[int, int]]:
        """Spells and their slots in the window, by spell."""
        return sorted(self._slots.items())

    def put_slots(self, slots: Sequence[tuple[int, int]]) -> None:
        """Keep where spells stand in the window, besides those that are kept."""
        merged = self._slots | dict(slots)
        if len(merged) > MOST_SLOTS:
            raise LimitExceeded("too many slots of spells")
        self._slots = merged

    # -- maps -----------------------------------------------------------------------------------

    def fog(self, zone_id: int) -> bytes:
        """Return what the client has sent of the fog of a zone's map last; empty if nothing."""
        return self._fogs.get(str(zone_id), b"")

    def put_fog(self, zone_id: int, fog: bytes) -> None:
        """Keep the fog of a zone's map, as the client has sent it."""
        if len(fog) > LONGEST_FOG:
            raise LimitExceeded("fog of a map too long")
        # Taken out first, so that the order is that of the last changes.
        self._fogs.pop(str(zone_id), None)
        self._fogs[str(zone_id)] = fog
        while len(self._fogs) > MOST_FOGS:
            self._fogs.pop(next(iter(self._fogs)))


def _size(macro: Macro) -> int:
    """Return the most bytes that a macro has in the stored text."""
    # Besides its texts there are its number, its icon, quotes and commas.
    return 24 + sum(3 + _length(one) for one in (macro.name, *macro.commands))


def _length(text: str) -> int:
    """Return the most bytes of a text in JSON."""
    if not (text.isascii() and text.isprintable()):
        return 6 * len(text)
    return len(text) + text.count('"') + text.count("\\")


def _read(text: str) -> dict[str, Any]:
    try:
        stored = json.loads(text) if text else {}
    except ValueError:
        return {}
    return stored if isinstance(stored, dict) else {}


def _is_number(value: Any, most: int) -> bool:
    return type(value) is int and 0 <= value <= most


def _row(value: Any, length: int, most: int) -> tuple[int, ...]:
    """Return a list of numbers of this length, empty for anything else."""
    is_row = isinstance(value, list) and len(value) == length
    return tuple(value) if is_row and all(_is_number(one, most) for one in value) else ()


def _items(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from value.items()


def _numbers(value: Any, most: int) -> Iterator[tuple[int, int]]:
    for key, number in _items(value):
        if key.isascii() and key.isdigit() and _is_number(number, most):
            yield int(key), number


def _macros(value: Any) -> Iterator[tuple[int, Macro]]:
    for key, row in _items(value):
        match row:
            case [str() as name, int() as icon, [*commands]]:
                is_whole = all(isinstance(one, str) for one in commands)
                if key.isascii() and key.isdigit() and int(key) <= U8 and is_whole:
                    yield int(key), Macro(name, icon & U16, tuple(commands))
            case _:
                continue


def _fogs(value: Any) -> Iterator[tuple[str, bytes]]:
    for key, text in _items(value):
        try:
            yield key, base64.b64decode(text, validate=True)
        except (binascii.Error, TypeError, ValueError):
            continue
