"""The port over real UDP: joined by a token, closed without one."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest
from twisted.internet.threads import deferToThread

from emu.admin.ggmp.acting import GgmpAction, GgmpPlace
from emu.admin.ggmp.messages import LITTLE
from emu.cli.consoles.ggmp import GgmpSocket
from emu.commands import Use
from emu.config import Address
from emu.config.administration import GgmpConfig, GgmpPolicy
from emu.errors import CommandError, ConfigError
from emu.net.admin.ggmp import GgmpPort, ggmp_rules
from emu.net.scheduler import Scheduler
from tests.support.admin.ggmp import GUARD, TOKEN, FakeActors
from tests.support.running.whole_server import HOST, captured_log, reactor


def config(folder: Path, text: str = f"radar * {TOKEN}\n") -> GgmpConfig:
    path = folder / "tokens.txt"
    path.write_text(text, encoding="utf-8")
    return GgmpConfig(listen=Address(HOST, 0), tokens_file=path)


async def test_a_tool_joins_and_acts(tmp_path: Path) -> None:
    context, uses = FakeActors(), list[Use]()
    port = GgmpPort(config(tmp_path), context, reactor, Scheduler(reactor), uses.append)
    port.listen()

    def talk() -> list[object]:
        with GgmpSocket(Address(HOST, port.port), TOKEN, 5.0) as server:
            server.client.watch(GUARD, 0.1, server.now)
            server.client.move(GUARD, GgmpPlace(5.0, 5.0, 5.0, 0.0), server.now)
            reported = [server.expect() for _ in range(4)]
            return [values[-1].value for values in reported]  # type: ignore[index, union-attr]

    try:
        assert sorted(map(str, await deferToThread(talk))) == ["0.0", "90.0", "done", "done"]
    finally:
        await port.stop()
    assert context.actors[GUARD].place.x == 5.0
    assert [use.caller for use in uses] == ["radar"]


async def test_a_wrong_token_is_not_answered(tmp_path: Path) -> None:
    port = GgmpPort(config(tmp_path), FakeActors(), reactor, Scheduler(reactor), lambda _use: None)
    with captured_log("text") as log:
        port.listen()
        try:
            with pytest.raises(CommandError, match="lets us not in"):
                await deferToThread(GgmpSocket, Address(HOST, port.port), "x" * 16, 0.3)
        finally:
            await port.stop()
    assert log.text.count(f"ggmp: wrong token from {HOST}") == 1


async def test_without_tokens_it_stays_closed(tmp_path: Path) -> None:
    with captured_log("text") as log:
        static = GgmpConfig(policy=GgmpPolicy.STATIC)
        for made in (GgmpConfig(), config(tmp_path, "# nobody\n"), static):
            port = GgmpPort(made, FakeActors(), reactor, Scheduler(reactor), lambda _use: None)
            port.listen()
            assert port.port == 0
            await port.stop()
    assert "closed: ggmp.tokens_file names no client" in log.text
    assert "closed: ggmp.clients_file names no client" in log.text


async def test_tokens_count_from_the_moment_they_are_read_again(tmp_path: Path) -> None:
    port = GgmpPort(GgmpConfig(listen=Address(HOST, 0)), FakeActors(), reactor,
                    Scheduler(reactor), lambda _use: None)  # fmt: skip
    port.listen()
    assert port.port == 0
    assert list(port.open_ports()) == []
    port.configure(config(tmp_path))
    assert len(list(port.open_ports())) == 1
    at = Address(HOST, port.port)
    try:
        (await deferToThread(GgmpSocket, at, TOKEN, 5.0)).__exit__(None, None, None)
        port.configure(config(tmp_path, f"radar * {'y' * 16}\n"))
        assert len(port.core) == 0
        assert port.port == at.port
        with pytest.raises(CommandError, match="lets us not in"):
            await deferToThread(GgmpSocket, at, TOKEN, 0.3)
        with pytest.raises(ConfigError, match="line 1"):
            port.configure(config(tmp_path, "radar"))
        (await deferToThread(GgmpSocket, at, "y" * 16, 5.0)).__exit__(None, None, None)
    finally:
        await port.stop()
    port.configure(config(tmp_path))
    assert port.port == 0


def test_policies(tmp_path: Path) -> None:
    tokens = config(tmp_path)
    clients = tmp_path / "clients.txt"
    clients.write_text("bot query 7 192.0.2.50\n", encoding="utf-8")
    every = attrs.evolve(tokens, clients_file=clients, byteorder="little")
    rules = ggmp_rules(every)
    assert (len(rules.grants), rules.anonymous, rules.clients) == (1, None, {})
    assert rules.order is LITTLE
    rules = ggmp_rules(attrs.evolve(every, policy=GgmpPolicy.OPEN, open_actions=("watch",)))
    assert rules.anonymous is not None
    assert (len(rules.grants), rules.anonymous.actions) == (1, {GgmpAction.WATCH})
    rules = ggmp_rules(attrs.evolve(every, policy=GgmpPolicy.STATIC))
    assert (list(rules.grants), rules.anonymous, list(rules.clients)) == ([], None, [7])
    clients.write_text("bot", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"ggmp\.clients_file: .*line 1"):
        ggmp_rules(attrs.evolve(every, policy=GgmpPolicy.STATIC))


def test_a_file_that_is_wrong_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="line 1: must be a name"):
        ggmp_rules(config(tmp_path, "radar"))
    with pytest.raises(ConfigError, match="No such file"):
        ggmp_rules(GgmpConfig(tokens_file=tmp_path / "none"))
