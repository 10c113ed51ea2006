"""The keys on a player's hotbars. They belong to the client; the server only stores them.

Source: docs/protocol/world/entering.md#quickbar.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from emu.dialects import Dialect
from emu.dialects.dialect import read_name
from emu.errors import LimitExceeded, MalformedMessage
from emu.model import Hotkey
from emu.world.actors.client import PlayerClient

EMPTY: Final = 0xFFFFFFFF
"""The type of a slot that was emptied."""
LAST_BAR: Final = 99
LAST_SLOT: Final = 99
MOST_KEYS: Final = 500
LONGEST_TEXT: Final = 255


class Hotbars:
    """The keys of one player, by bar and slot."""

    __slots__ = ("_keys",)

    def __init__(self, keys: Iterable[Hotkey] = ()) -> None:
        self._keys = {(key.bar, key.slot): key for key in keys}

    @property
    def keys(self) -> tuple[Hotkey, ...]:
        """All keys by bar and slot."""
        # By bar and slot, so that equal hotbars are stored and sent in the same order.
        return tuple(self._keys[place] for place in sorted(self._keys))

    def fill_slot(self, key: Hotkey) -> None:
        """Fill or empty a slot. Raises `LimitExceeded`, and `MalformedMessage` for a bad key."""
        if not (0 <= key.bar <= LAST_BAR and 0 <= key.slot <= LAST_SLOT):
            raise MalformedMessage("a hotbar that nobody has")
        place = key.bar, key.slot
        if key.type == EMPTY:
            self._keys.pop(place, None)
            return
        if len(key.text) > LONGEST_TEXT:
            raise MalformedMessage("text of a hotkey too long")
        # A client could otherwise store 10,000 slots with 255 characters each.
        if len(self._keys) >= MOST_KEYS and place not in self._keys:
            raise LimitExceeded("too many hotkeys")
        self._keys[place] = key

    def apply_change(self, dialect: Dialect, body: bytes) -> None:
        """Apply a client's change of a slot. Raises `PeerError`."""
        fields = dialect.layout("WS_QuickBarUpdateRequest").decode(body)
        self.fill_slot(
            Hotkey(
                fields["hotbar_number"], fields["hotkey_slot"], fields["type"], fields["icon"],
                fields["icontype"], fields["id"], fields["unique_id"], read_name(fields["text"]),
            )
        )  # fmt: skip

    def send(self, client: PlayerClient) -> None:
        """Send a client all keys."""
        client.send(
            "WS_QuickBarInit",
            {
                "num_abilities": len(self._keys),
                "ability_array": [
                    {
                        "hotbar": key.bar,
                        "slot": key.slot,
                        "type": key.type,
                        "icon": key.icon,
                        "icon_type": key.icon_type,
                        "id": key.ability,
                        "unique_id": key.tier,
                        "text": key.text,
                    }
                    for key in self.keys
                ],
            },
        )
