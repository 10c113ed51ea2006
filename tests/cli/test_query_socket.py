"""Questions over real UDP: answered, lost and asked again, refused, and never answered."""

from __future__ import annotations

import socket

import pytest

from emu.cli.query import TRIES, ask
from emu.config import Address
from emu.config.readers import address as read_address
from emu.errors import CommandError, MalformedMessage
from tests.support.admin.answering import answering


class Twice:
    """Asked once, then again; done with the second answer."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []

    @property
    def is_answered(self) -> bool:
        return len(self.heard) == 2

    def datagram(self) -> bytes:
        return b"ask %d" % len(self.heard)

    def receive(self, data: bytes) -> bool:
        if data == b"noise":
            raise MalformedMessage("no answer")
        if data == b"no":
            raise CommandError("the server refuses")
        self.heard.append(data)
        return not self.is_answered


class Server:
    """Answers each datagram with what `answers` has for it, after so many were lost."""

    def __init__(self, *answers: bytes, lost: int = 0) -> None:
        self.answers = answers
        self.lost = lost
        self.asked: list[bytes] = []

    def answer(self, data: bytes, _address: tuple[str, int], _now: float) -> tuple[bytes, ...]:
        self.asked.append(data)
        return self.answers if len(self.asked) > self.lost else ()


def asked(server: Server, patience: float = 2.0) -> Twice:
    question = Twice()
    with answering(server) as at:
        ask(read_address(at), question, patience)
    return question


def test_a_question_goes_on_until_it_is_answered() -> None:
    server = Server(b"noise", b"told")
    assert asked(server).heard == [b"told", b"told"]
    assert server.asked == [b"ask 0", b"ask 1"]


@pytest.mark.slow
def test_what_is_lost_is_asked_again() -> None:
    server = Server(b"told", lost=2)
    assert asked(server, 0.6).heard == [b"told", b"told"]
    assert server.asked == [b"ask 0"] * 3 + [b"ask 1"]


def test_a_refusal_is_the_end() -> None:
    with pytest.raises(CommandError, match="the server refuses"):
        asked(Server(b"no"))


def test_silence_is_given_up_in_time() -> None:
    server = Server(lost=100)
    with pytest.raises(CommandError, match=r"127\.0\.0\.1:\d+ does not answer"):
        asked(server, 0.15)
    assert len(server.asked) == TRIES


def test_who_answers_with_something_else_is_distinguished_from_silence() -> None:
    with pytest.raises(CommandError, match=r"127\.0\.0\.1:\d+ answers, but in another protocol"):
        asked(Server(b"noise"), 0.15)


def test_a_name_with_several_addresses_is_asked_at_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """As localhost is, on a machine where it is ::1 first and the server knows IPv4 only."""
    found = socket.getaddrinfo
    server, question = Server(b"told"), Twice()

    def both(host: str, port: int, **kind: int) -> list[object]:
        assert host == "localhost"
        return [*found("::1", port, **kind), *found("127.0.0.1", port, **kind)]

    with answering(server) as at:
        monkeypatch.setattr(socket, "getaddrinfo", both)
        ask(Address("localhost", read_address(at).port), question, 2.0)
    assert question.heard == [b"told", b"told"]


def test_nobody_there_is_said() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as gone:
        gone.bind(("127.0.0.1", 0))
        at = Address("127.0.0.1", gone.getsockname()[1])
    with pytest.raises(CommandError, match=f"nothing listens on UDP {at}"):
        ask(at, Twice(), 0.3)
    with pytest.raises(CommandError, match="cannot be reached"):
        ask(Address("no-such.invalid", 1), Twice(), 0.3)
