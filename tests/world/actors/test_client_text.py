"""A line in the chat window."""

from __future__ import annotations

from emu.world.actors.client import send_text
from tests.support.world.worlds import WorldHarness


def test_the_recorded_line() -> None:
    """docs/protocol/world/recorded.md#examples."""
    client = WorldHarness().stand(5)
    send_text(client.player.client, "Unable to find client Nobody", 3)
    assert client.log[-1] == (
        "OP_EqDisplayTextCmd", b"\x03\x1c\0Unable to find client Nobody\xff\0",
    )  # fmt: skip
