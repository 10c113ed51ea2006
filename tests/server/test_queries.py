"""OGP and A2S on a running server: clients that none of us wrote, and our own commands."""

from __future__ import annotations

import json
import random
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from defusedxml.ElementTree import fromstring
from twisted.internet.protocol import DatagramProtocol

from emu.net.admin.status import StatusSource
from emu.net.udp.dispatcher import Outbox
from emu.net.udp.query import QueryShell
from tests.support.admin.ggmp import TOKEN
from tests.support.admin.query_vectors import read_examples
from tests.support.admin.statuses import crowd, server_status
from tests.support.admin.worked_examples import examples
from tests.support.foreign import query_clients
from tests.support.foreign.npm import npm_client, npm_clients
from tests.support.foreign.programs import debian_program, output_of
from tests.support.running.forked import forked_words
from tests.support.running.whole_server import (
    HOST,
    Harness,
    find_port,
    harness,
    reactor,
    sleep,
    until,
)

SETTINGS = {
    "ogp.listen": f"{HOST}:0",
    "a2s.listen": f"{HOST}:0",
    "query.per_address": 1000,
    "query.name": "Qeynos",
    "ogp.game_id": 258,
    "ogp.host_name_colors": "0:0x0a,3:0x10",
}
ONE_DATAGRAM = {"quakestat", "source-server-query", "steam-server-query"}
"""Clients that cannot join an answer of several datagrams."""


def port_of(server: Harness, protocol: str) -> int:
    return find_port(server.log.text, "query", f"{protocol} on UDP")


@pytest.fixture
def crowded(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], None]:
    """Let the server report so many players in two zones, and so many rules."""

    def fill(count: int, rules: int = 60) -> None:
        settings = tuple((f"rule {number:03}", "é" * 20) for number in range(rules))
        status = server_status(players=crowd(count), online=count, rules=settings)
        monkeypatch.setattr(StatusSource, "status", lambda _self, _now: status)

    return fill


def check(reported: dict[str, Any], count: int, rules: int = 60) -> None:
    assert (reported["name"], reported["map"], reported["count"]) == (
        "Qeynos",
        "qey_harbor",
        min(count, 254),
    )
    names = [f"Player{number:04}" for number in range(count)]
    assert reported["players"] == names[: len(reported["players"])]
    assert len(reported["players"]) == count if count <= 60 else len(reported["players"]) > 60
    assert reported["rules"][f"rule {rules - 1:03}"] == "é" * 20


@pytest.mark.parametrize("name", sorted(query_clients.CLIENTS))
@pytest.mark.parametrize("count", [0, 60, 300])
async def test_clients_of_others_read_a2s(name: str, count: int, crowded, tmp_path: Path) -> None:
    crowded(count)
    async with harness(tmp_path, SETTINGS) as server:
        words = [query_clients.__file__, name, HOST, str(port_of(server, "A2S"))]
        reported = json.loads(await output_of([sys.executable, *words]))
    check(reported, count)
    assert reported["game_port"] == 9000


@pytest.mark.parametrize("name", npm_clients("a2s"))
async def test_clients_from_npm_read_a2s(name: str, crowded, tmp_path: Path) -> None:
    rules = 5 if name in ONE_DATAGRAM else 60
    crowded(60, rules)
    async with harness(tmp_path, SETTINGS) as server:
        words = [*npm_client("a2s", name), HOST, str(port_of(server, "A2S"))]
        check(json.loads(await output_of(words)), 60, rules)


async def test_debians_quakestat_reads_a2s(crowded, tmp_path: Path) -> None:
    program = debian_program("quakestat", "qstat")
    crowded(60, 5)
    async with harness(tmp_path, SETTINGS) as server:
        at = f"{HOST}:{port_of(server, 'A2S')}"
        tree = fromstring(await output_of([program, "-a2s", at, "-P", "-R", "-utf8", "-xml"]))
    assert tree.findtext("server/name") == "Qeynos"
    assert tree.findtext("server/map") == "qey_harbor"
    assert tree.findtext("server/numplayers") == "60"
    names = {one.text for one in tree.iterfind("server/players/player/name")}
    assert names == {f"Player{number:04}" for number in range(60)}
    rules = {one.get("name"): one.text for one in tree.iterfind("server/rules/rule")}
    assert rules["players"] == "60"
    assert "rule 004" in rules


@pytest.mark.parametrize(
    ("verb", "options"), [("a2s", []), ("ogp", []), ("ogp", ["--dialect", "0.94"])]
)
async def test_our_own_command_asks_a_running_server(verb, options, tmp_path: Path) -> None:
    async with harness(tmp_path, SETTINGS) as server:
        await server.world_registered()
        at = f"{HOST}:{port_of(server, verb.upper())}"
        words = [*forked_words("emu"), "query", verb, at, *options]
        reported = json.loads(await output_of([*words, "--json"]))
        lines = await output_of(words)
        port = server.login_port
    if verb == "a2s":
        assert (reported["info"]["name"], reported["info"]["port"]) == ("Qeynos", port)
        assert reported["players"] == []
        assert reported["rules"]["world Norrath"] == "up, 0 players"
        assert "  name: Qeynos" in lines
    else:
        assert (reported["game_id"], reported["server"]["host_name"]) == (258, "Qeynos")
        assert reported["server"]["connect_port"] == port
        assert (reported["teams"], reported["players"], reported["limits"]) == ([], [], [])
        assert reported["rules"]["world Norrath"] == "up, 0 players"
        assert {"flags": ["active"], "short_name": "greeter"}.items() <= reported["add_ons"][
            0
        ].items()
        assert "  host_name: Qeynos" in lines


async def test_what_is_not_set_is_not_open(tmp_path: Path) -> None:
    async with harness(tmp_path) as server:
        assert "query: " not in server.log.text
        assert server.service.server.admin.queries is not None
        assert server.service.server.admin.queries.shells == {}


QUESTIONS = [
    asked for name in ("ogp", "a2s") for one in read_examples(name) for asked, _ in one.exchanges
] + [
    bytes.fromhex(asked)
    for name in ("ssq", "ggmp")
    for one in examples(name)
    for asked in one["questions"]
]


def every_port(folder: Path) -> dict[str, object]:
    """Settings that open all query ports."""
    tokens = folder / "tokens"
    tokens.write_text(f"radar * {TOKEN}\n", encoding="utf-8")
    return {
        **SETTINGS,
        "ssq.enabled": True,
        "ssq.listen": f"{HOST}:0",
        "ggmp.listen": f"{HOST}:0",
        "ggmp.tokens_file": tokens,
    }


def shells_of(server: Harness) -> dict[str, QueryShell]:
    admin = server.service.server.admin
    return {**admin.queries.shells, "ssq": admin.ssq.shell, "ggmp": admin.ggmp.shell}


def nonsense(seed: int, count: int) -> Iterator[bytes]:
    """Yield questions of the worked examples, broken, and bytes that never were any."""
    dice = random.Random(seed)
    for _ in range(count):
        data = bytearray(dice.choice(QUESTIONS))
        for _ in range(dice.randrange(1, 5)):
            place = dice.randrange(len(data) + 1)
            data[place : place + dice.randrange(3)] = dice.randbytes(dice.randrange(4))
        yield bytes(data) if dice.random() < 0.8 else dice.randbytes(dice.randrange(0, 1500))


class Deaf(DatagramProtocol):
    """Sends, and takes no notice of answers."""


async def test_nonsense_leaves_ports_that_answer(tmp_path: Path) -> None:
    async with harness(tmp_path, every_port(tmp_path)) as server:
        shells = shells_of(server)
        ports = [shell.transport.getHost().port for shell in shells.values()]
        sender = reactor.listenUDP(0, Deaf(), interface=HOST)
        try:
            for number, data in enumerate(nonsense(7, 4000)):
                for port in ports:
                    sender.write(data, (HOST, port))
                if number % 25 == 0:
                    await sleep(0)
            await until(
                lambda: all(shell.counters.total() > 1000 for shell in shells.values()),
                "the rest of the questions",
            )
        finally:
            await sender.stopListening()
        assert [name for name, shell in shells.items() if shell.counters["failed"]] == []
        for verb in ("a2s", "ogp"):
            at = f"{HOST}:{port_of(server, verb.upper())}"
            assert "Qeynos" in await output_of([*forked_words("emu"), "query", verb, at])
        words = ["ggmp", "query", f"{HOST}:{ports[-1]}", "--password", TOKEN]
        assert "Qeynos" in await output_of([*forked_words("emu"), *words])


async def test_a_flood_of_invented_addresses_does_not_reach_the_players(tmp_path: Path) -> None:
    """Sent past the socket, since nobody may invent addresses on a real one."""
    sent: list[bytes] = []
    flooded = {**every_port(tmp_path), "query.addresses": 1000, "query.per_second": 500}
    async with harness(tmp_path, flooded) as server:
        shells = shells_of(server).values()
        real = {shell: shell.outbox for shell in shells}
        for shell in shells:
            shell.outbox = Outbox(None, lambda data, _address: sent.append(data))
        tracemalloc.start()
        begun = server.clock.seconds()
        try:
            before, _ = tracemalloc.get_traced_memory()
            for number in range(20_000):
                address = (f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}", 5000)
                for shell in shells:
                    shell.datagramReceived(QUESTIONS[number % len(QUESTIONS)], address)
                if number == 10_000:
                    async with await server.logged_in() as client:
                        assert client is not None
                if number % 200 == 0:
                    await sleep(0)
            grown = tracemalloc.get_traced_memory()[0] - before - sum(map(sys.getsizeof, sent))
        finally:
            tracemalloc.stop()
            for shell in shells:
                shell.outbox = real[shell]
        # The limits allow so much a second. The flood takes longer on a slower machine.
        answered = 2 * 500 * (server.clock.seconds() - begun + 2)
        for name, shell in shells_of(server).items():
            if name != "ggmp":  # which has other limits
                assert shell.counters["limited"] >= 20_000 - answered
            assert shell.counters["failed"] == 0
    assert grown < 16_000_000, "it is 12 MB, and 26 MB with a limit of 100,000 addresses"
