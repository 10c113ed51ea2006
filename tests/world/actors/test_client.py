"""Messages a version does not have are left out."""

from __future__ import annotations

from emu.world.actors.client import PlayerClient
from tests.support.world.ghost_views import dialect
from tests.support.world.worlds import WorldHarness


def test_a_message_of_another_age_is_not_sent() -> None:
    client = WorldHarness().client()
    behind = PlayerClient(dialect(546), client, "127.0.0.1")
    assert not behind.send("WS_NoSuchStruct")
    assert not behind.send_bytes("OP_NoSuchMsg")
    behind.command("OP_NoSuchCmd", b"")
    behind.drop("odd")
    assert client.log == []
    assert sum(behind.drops.values()) == 4
    assert behind.send("WS_SetPOVGhostCmd", {"spawn_id": 1})
    assert client.log == [("OP_EqSetPOVGhostCmd", bytes.fromhex("01000000"))]


def test_lines_wait_for_a_link_without_space_up_to_a_limit_and_the_rest_is_counted() -> None:
    client = WorldHarness().client()
    behind = PlayerClient(dialect(546), client, "127.0.0.1")
    line = {"color": 5, "text": "x" * 100, "unknown02": 0}
    client.space = 0
    behind.send_line("WS_DisplayText", line, 10_000)
    size = len(client.log[0][1])
    for _ in range(3):
        behind.send_line("WS_DisplayText", line, 3 * size)
    assert (len(client.log), behind.lines_left_out) == (3, 1)
    client.space = 1
    behind.send_line("WS_DisplayText", line, 3 * size)
    texts = [row["text"] for row in client.decoded("WS_DisplayText")]
    lost = "Your connection was interrupted. Lines of chat that were lost: 1."
    assert texts == ["x" * 100] * 3 + [lost, "x" * 100]
    client.space = 0
    for _ in range(4):
        behind.send_line("WS_DisplayText", line, 3 * size)
    behind.has_capacity()
    behind.has_capacity()
    reported = [row["text"] for row in client.decoded("WS_DisplayText") if "lost" in row["text"]]
    assert reported == [lost, lost.replace("1", "2")]
    behind.send_line("WS_NoSuchStruct", line, 3 * size)
    assert sum(behind.drops.values()) == 1
