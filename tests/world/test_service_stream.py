"""The observers decode all that a world sends them, to the last byte."""

from __future__ import annotations

import pytest

from emu.capture.messages import StructLookup
from emu.errors import EmuError
from emu.structs import shipped_catalog
from emu.world_stream.stream import WorldStream
from tests.support.world.worlds import Client, WorldHarness

LOOKUP = StructLookup(shipped_catalog())


def unread(client: Client) -> list[tuple[str, str]]:
    """Return (name, why) of every message that a client was sent and nobody can read."""
    version = client.dialect.version
    world = WorldStream(client.dialect)
    found = []
    for name, payload in client.log:
        try:
            if world.read_message(name, payload, to_server=False) is not None:
                continue
        except EmuError as error:
            found.append((name, str(error)))
            continue
        problems = []
        for layout in LOOKUP.layouts_for(name, None, version):
            try:
                layout.decode(payload)
            except EmuError as error:
                problems.append(str(error))
            else:
                break
        else:
            found.append((name, "; ".join(problems) or "no struct"))
    return found


@pytest.mark.parametrize("version", [546, 561])
def test_a_visit_is_read_to_its_last_byte(harness: WorldHarness, version: int) -> None:
    one, two = harness.stand(5, version), harness.stand(6, 546 + 561 - version)
    harness.run(1.0)
    for step in range(3):
        two.walk(450.0 + step, -37.0, 820.0)
        harness.run(0.5)
    two.types("/say Hello")
    two.types("/shout Hello")
    one.types("/who")
    two.say("OP_SitMsg")
    harness.run(1.0)
    two.say("OP_StandMsg")
    two.say("OP_RequestCampMsg", bytes(2))
    harness.run(30.0)
    for client in (one, two):
        assert unread(client) == []
        assert len(set(client.names)) > 20
    assert {"OP_EqUpdateGhostCmd", "OP_EqHearChatCmd", "OP_EqDestroyGhostCmd"} <= set(one.names)
