"""`emu node` and `emu zone`: what operators type and what they see."""

from __future__ import annotations

from pathlib import Path

import pytest

from emu.cluster.ports import LEASE, NodeAbout, NodeState, ZonePlace
from emu.store import Store
from tests.support.running.command_line import CommandLine

ANTONICA = 12


@pytest.fixture
def emu(tmp_path: Path) -> CommandLine:
    """A database with three nodes, of which one does not live."""
    line = CommandLine(tmp_path)
    with Store.create(line.database) as store:
        nodes = store.world.nodes
        east, _, _ = [
            nodes.take_term(name, NodeAbout("192.0.2.1", 9001, "1.0", capacity, (ANTONICA,)))
            for name, capacity in (("east", 100), ("login", 0), ("west", 100))
        ]
        nodes.claim(ZonePlace(ANTONICA, 0, "east", east), None)
        nodes.hold_lease("link", "east", east, LEASE)
        nodes.beat("east", east, 20, LEASE)
        # They stay alive however long the commands take.
        with store.database.transaction() as connection:
            connection.execute("UPDATE nodes SET seen = seen + 1000000")
    return line


def lose(emu: CommandLine, name: str) -> None:
    with Store.open(emu.database) as store, store.database.transaction() as connection:
        connection.execute("UPDATE nodes SET seen = seen - 1000060 WHERE name = ?", (name,))


def state_of(emu: CommandLine, name: str) -> str:
    return str(next(row["state"] for row in emu.rows("node", "list") if row["name"] == name))


def test_lists_and_shows_nodes(emu: CommandLine) -> None:
    lose(emu, "west")
    rows = emu.rows("node", "list")
    assert [(row["name"], row["state"], row["players"]) for row in rows] == [
        ("east", "up", 20), ("login", "up", 0), ("west", "lost", 0),
    ]  # fmt: skip
    assert (rows[0]["load"], rows[0]["zones"], rows[0]["address"]) == (0.2, 1, "192.0.2.1:9001")
    record = emu.rows("node", "show", "east")
    assert (record["running"], record["leases"], record["pinned"]) == (
        [{"name": "Antonica", "instance": 0}], "link", "Antonica",
    )  # fmt: skip
    assert "there is no node north" in emu.refused("node", "show", "north")


def test_drains_and_resumes(emu: CommandLine) -> None:
    assert "east is draining and sends 20 players away" in emu.good("node", "drain", "east").stderr
    assert state_of(emu, "east") == "draining"
    assert "20 players still on east after 0.1 seconds" in emu.refused(
        "node", "drain", "east", "--wait", "0.1"
    )
    assert "east is up" in emu.good("node", "resume", "east").stderr
    assert state_of(emu, "east") == "up"
    said = emu.good("node", "drain", "west", "--wait", "5").stderr
    assert "west is draining and is empty" in said
    assert "no other node" not in said
    assert "no other node can take" in emu.good("node", "drain", "east").stderr


def test_forgets_a_node_that_does_not_live(emu: CommandLine) -> None:
    assert "east is alive; stop it first" in emu.refused("node", "forget", "east")
    lose(emu, "east")
    assert "east does not run" in emu.refused("node", "drain", "east")
    assert "east is forgotten" in emu.good("node", "forget", "east").stderr
    assert [row["name"] for row in emu.rows("node", "list")] == ["login", "west"]
    assert emu.rows("zone", "list") == []


def test_moves_a_zone_to_another_node(emu: CommandLine) -> None:
    assert emu.rows("zone", "list") == [
        {
            "name": "Antonica", "id": ANTONICA, "instance": 0, "node": "east", "full": False,
            "state": "placed",
        }
    ]  # fmt: skip
    assert "Antonica moves to west" in emu.good("zone", "move", "antonica", "west").stderr
    # The node that ran it has not beaten since, so its players are still there.
    assert [(row["node"], row["state"]) for row in emu.rows("zone", "list")] == [
        ("east", "leaving"), ("west", "arriving"),
    ]  # fmt: skip
    with Store.open(emu.database) as store:
        store.world.nodes.set_leaving("east", ())
    assert [(row["node"], row["state"]) for row in emu.rows("zone", "list")] == [("west", "placed")]
    assert "runs on west already" in emu.refused("zone", "move", "antonica", "west")
    assert "there is no zone atlantis" in emu.refused("zone", "move", "atlantis", "west")
    assert "login runs no zones" in emu.refused("zone", "move", "antonica", "login")
    with Store.open(emu.database) as store:
        store.world.nodes.set_state("east", NodeState.DRAINING)
    assert "east is draining" in emu.refused("zone", "move", "antonica", "east")
    assert "moves to west" in emu.good("zone", "move", "325", "west", "--instance", "1").stderr
