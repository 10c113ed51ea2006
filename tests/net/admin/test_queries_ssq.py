"""The port over real UDP."""

from __future__ import annotations

import socket

from twisted.internet.threads import deferToThread

from emu.admin.ssq.packets import SsqQuestion
from emu.admin.ssq.query import Headers
from emu.config import Address
from emu.config.administration import SsqConfig
from emu.net.admin.queries import SsqPort, ssq_rules
from emu.net.scheduler import Scheduler
from tests.support.admin.worked_examples import server_status
from tests.support.running.whole_server import HOST, captured_log, reactor


def port_of(**settings: object) -> SsqPort:
    config = SsqConfig(listen=Address(HOST, 0), **settings)  # type: ignore[arg-type]
    return SsqPort(config, lambda _now: server_status(), HOST, reactor, Scheduler(reactor))


def asked(port: int, text: str) -> list[list[str]] | None:
    question = SsqQuestion(1, text)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
        asker.settimeout(5.0)
        asker.sendto(question.datagram(), (HOST, port))
        while not question.is_answered:
            question.receive(asker.recv(2048))
    return question.rows


async def test_a_question_is_answered() -> None:
    port = port_of(enabled=True, password="john")
    port.listen()
    try:
        rows = await deferToThread(asked, port.port, "SELECT hostip,numplayers")
        assert rows == [["hostip", "numplayers"], [f"{HOST}:9000", "2"]]
        token = await deferToThread(asked, port.port, "AUTH john")
        assert token is not None
        assert len(token[1][0]) == 32
    finally:
        await port.stop()


async def test_wrong_passwords_are_logged_once_and_then_summed_up() -> None:
    port = port_of(enabled=True, password="john")
    with captured_log("text") as log:
        port.listen()
        try:
            for word in ("bert", "john", "fred"):
                await deferToThread(asked, port.port, f"AUTH {word}")
        finally:
            await port.stop()
    assert [line.split("ssq: ")[1] for line in log.text.splitlines()[1:]] == [
        f"wrong password from {HOST}",
        f"1 more wrong passwords of {HOST}: wrong password (1)",
    ]


async def test_it_is_closed_unless_wanted() -> None:
    port = port_of()
    port.listen()
    assert port.port == 0
    await port.stop()


async def test_another_password_and_another_form_count_at_once() -> None:
    port = port_of(enabled=True, password="john")
    port.listen()
    try:
        (_, (token,)) = await deferToThread(asked, port.port, "AUTH john") or []
        private = f"SELECT x-account IDENTIFIED {token}"
        assert await deferToThread(asked, port.port, private) == [["x-account"], ["7"], ["7"]]
        config = SsqConfig(listen=Address(HOST, 0), password="jane", headers="compact")
        port.configure(config)
        assert await deferToThread(asked, port.port, private) == [[]]
        assert await deferToThread(asked, port.port, "AUTH john") == [["token"], [""]]
        assert await deferToThread(asked, port.port, "SELECT map,x") == [
            ["1", "0"],
            ["Qeynos Harbor"],
        ]
    finally:
        await port.stop()


def test_settings_become_rules() -> None:
    rules = ssq_rules(SsqConfig(headers="null", datagram_bytes=600))
    assert (rules.headers, rules.datagram_bytes) == (Headers.NULL, 600)
