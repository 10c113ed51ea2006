"""Hotbars: a client is sent the next time what it put on them."""

from __future__ import annotations

from typing import Any

import pytest

from emu.errors import LimitExceeded, MalformedMessage
from emu.model import Hotkey
from emu.world.actors.hotbars import EMPTY, LAST_BAR, LAST_SLOT, LONGEST_TEXT, MOST_KEYS, Hotbars
from tests.support.world.worlds import Client, WorldHarness

RECORDED = (
    Hotkey(0, 0, 4, text="attack"), Hotkey(0, 11, 1, ability=8308), Hotkey(0, 12, 1, ability=8057),
    Hotkey(0, 13, 1, ability=8278),
)  # fmt: skip
"""What EQ2Emulator was recorded to send (docs/protocol/world/recorded.md), in 154 bytes."""


def puts(client: Client, **fields: Any) -> None:
    client.say(
        "OP_QuickbarUpdateMsg", client.dialect.layout("WS_QuickBarUpdateRequest").encode(fields)
    )


def bars(client: Client) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = client.decoded("WS_QuickBarInit")[-1]["ability_array"]
    return rows


@pytest.mark.parametrize("version", [546, 561])
def test_the_recorded_bars_have_the_recorded_size(version: int) -> None:
    client = WorldHarness().enter(5, version, hotkeys=RECORDED, last_played=1.0)
    assert [len(data) for name, data in client.log if name == "OP_QuickbarInitMsg"] == [154]


def test_what_was_put_there_stands_there_at_the_next_login(harness: WorldHarness) -> None:
    client = harness.stand(5, last_played=1.0)
    puts(client, hotbar_number=1, hotkey_slot=2, type=4, icon=9, icontype=8, text="caf\xc3\xa9")
    puts(client, hotbar_number=0, hotkey_slot=0, type=1, id=8308, unique_id=2)
    puts(client, hotbar_number=0, hotkey_slot=5, type=1, id=1)
    puts(client, hotbar_number=0, hotkey_slot=5, type=EMPTY)
    assert harness.store.rows[5].hotkeys == (), "a change waits for others"
    harness.run(3.0)
    kept = Hotkey(1, 2, 4, 9, 8, text="café")
    assert harness.store.rows[5].hotkeys == (Hotkey(0, 0, 1, ability=8308, tier=2), kept)
    harness.console("kick Name5")
    shown = bars(harness.enter(5))
    assert [(row["hotbar"], row["slot"], row["text"]) for row in shown] == [
        (0, 0, ""), (1, 2, "caf\xc3\xa9"),
    ]  # fmt: skip


def test_bars_are_bounded() -> None:
    keys = Hotbars()
    for bad in (Hotkey(LAST_BAR + 1, 0, 1), Hotkey(0, LAST_SLOT + 1, 1), Hotkey(0, 0xFFFFFFFF, 1)):
        with pytest.raises(MalformedMessage, match="nobody has"):
            keys.fill_slot(bad)
    with pytest.raises(MalformedMessage, match="too long"):
        keys.fill_slot(Hotkey(0, 0, 4, text="x" * (LONGEST_TEXT + 1)))
    for number in range(MOST_KEYS):
        keys.fill_slot(Hotkey(*divmod(number, LAST_SLOT), 1))
    with pytest.raises(LimitExceeded):
        keys.fill_slot(Hotkey(LAST_BAR, 0, 1))
    keys.fill_slot(Hotkey(0, 0, EMPTY))
    keys.fill_slot(Hotkey(LAST_BAR, 0, 1))
    assert len(keys.keys) == MOST_KEYS


def test_the_hotkeys_of_a_beginner_are_stored(harness: WorldHarness) -> None:
    client = harness.enter(5, class_=0)
    assert [row["text"] for row in bars(client)] == ["attack", "", "", ""]
    harness.run(3.0)
    assert harness.store.rows[5].hotkeys[0] == Hotkey(0, 0, 4, text="attack")
