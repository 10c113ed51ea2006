"""`emu ggmp` against a server in a thread."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from secrets import randbelow

import pytest

from emu.admin.ggmp.acting import read_clients
from emu.admin.ggmp.messages import LITTLE
from emu.admin.ggmp.server import GgmpRules, GgmpServer
from emu.times import Monotonic
from tests.support.admin.answering import answering
from tests.support.admin.ggmp import BOB, GRANT, GUARD, TOKEN, FakeActors
from tests.support.running.command_line import CommandLine


@contextmanager
def serving(rules: GgmpRules) -> Iterator[str]:
    """Serve in a thread; yields the address."""
    core = GgmpServer(FakeActors(), rules, randbelow)

    def unasked(now: Monotonic) -> list[tuple[bytes, tuple[str, int]]]:
        core.handle_timer(now)
        return core.data_to_send()

    with answering(core, unasked) as address:
        yield address


@pytest.fixture
def address() -> Iterator[str]:
    with serving(GgmpRules((GRANT,))) as at:
        yield at


def test_query(emu: CommandLine, address: str) -> None:
    reported = emu.good(
        "ggmp", "query", address, "--name", "a guard", "--json", "--password", TOKEN
    )
    assert json.loads(reported.stdout) == {
        "actor": GUARD, "name": "a guard", "zone": 5, "x": 1.0, "y": 2.0, "z": 3.0,
        "heading": 90.0,
    }  # fmt: skip
    reported = emu.good("ggmp", "query", address, "--password", TOKEN)
    assert reported.stdout.startswith("name Qeynos, online 2, places 500, zones 1")
    reported = emu.good("ggmp", "query", address, "--zone", "5", "--password", TOKEN)
    assert reported.stdout == f"zone 5, actors {GUARD} {BOB}\n"
    refused = emu.refused("ggmp", "query", address, "--actor", "99", "--password", TOKEN)
    assert "the server refuses: there is no actor 99" in refused


def test_say_move_and_watch(emu: CommandLine, address: str) -> None:
    reported = emu.good("ggmp", "say", address, str(GUARD), "Halt!", "--password", TOKEN)
    assert reported.stdout == f"actor {GUARD}, said done\n"
    reported = emu.good(
        "ggmp", "move", address, str(GUARD), "10.5", "-3", "22", "90", "--password", TOKEN
    )
    assert reported.stdout == f"actor {GUARD}, said done\n"
    reported = emu.good(
        "ggmp", "watch", address, str(GUARD), "--seconds", "0.3", "--password", TOKEN
    )
    assert reported.stdout == (
        f"actor {GUARD}, name a guard, zone 5, x 10.50, y -3.00, z 22.00, heading 90.00\n"
    )


def test_a_token_that_is_none(emu: CommandLine, address: str) -> None:
    wrong = emu.refused("ggmp", "query", address, "--timeout", "0.3", "--password", "x" * 16)
    assert "lets us not in" in wrong


def test_a_failure_is_json_as_well(emu: CommandLine, address: str) -> None:
    reported = emu.run("ggmp", "query", address, "--actor", "99", "--password", TOKEN, "--json")
    assert json.loads(reported.stdout) == {"error": "the server refuses: there is no actor 99"}


def test_another_byte_order_and_a_number_of_ones_own(emu: CommandLine) -> None:
    with serving(GgmpRules((GRANT,), order=LITTLE)) as at:
        words = ["ggmp", "query", at, "--byteorder", "little", "--password", TOKEN]
        assert emu.good(*words, "--zone", "5").stdout == f"zone 5, actors {GUARD} {BOB}\n"
    with serving(GgmpRules(clients=read_clients("bot query 300 127.0.0.1"))) as at:
        reported = emu.good("ggmp", "query", at, "--client", "300")
        assert reported.stdout.startswith("name Qeynos")
    with serving(GgmpRules(anonymous=replace(GRANT, token=""))) as at:
        assert emu.good("ggmp", "query", at, stdin="\n").stdout.startswith("name Qeynos")
