"""The server's side of RCON: the worked examples, and what their protocol leaves open."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.console import MOST_WAITING
from emu.admin.ports import CommandGiven, LoginFailed, SessionEnded, UserAuthenticated
from emu.admin.rcon import (
    PacketReader,
    RconDialect,
    RconPacket,
    RconRules,
    RconSession,
    RconUser,
    RconUsers,
)
from emu.commands import Reply
from emu.limits.rates import FailureRules, Failures

VECTORS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "vectors" / "rcon.jsonl").read_text().splitlines()
]
ADMIN = RconUser("rcon", 200, b"sekret")
GUIDE = RconUser("bert", 10, b"other")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def run(line: str) -> str:
    if line == "big10000":
        return (LETTERS * 385)[:10_000]
    return line.removeprefix("echo ") if line.startswith("echo ") else f"no {line}"


class Listener:
    """A session whose commands are answered at once unless `slow`."""

    def __init__(self, rules: RconRules | None = None, failures: Failures | None = None) -> None:
        self.failures = Failures(FailureRules()) if failures is None else failures
        users = RconUsers([ADMIN, GUIDE])
        self.session = RconSession(rules or RconRules(), users, self.failures, "192.0.2.1", 0.0)
        self.now = 0.0
        self.events: list[Any] = []
        self.slow = False

    def send(self, data: bytes) -> list[bytes]:
        self.session.receive_data(data, self.now)
        return self.writes()

    def writes(self) -> list[bytes]:
        out = self.session.data_to_send()
        while (event := self.session.next_event()) is not None:
            self.events.append(event)
            if isinstance(event, CommandGiven) and not self.slow:
                self.session.answered(Reply((run(event.line),)), self.now)
                out += self.session.data_to_send()
        return out

    def wait(self, seconds: float) -> list[bytes]:
        end, out = self.now + seconds, []
        while (due := self.session.get_timer()) is not None and due <= end:
            self.now = max(self.now, due)
            self.session.handle_timer(self.now)
            out += self.writes()
        self.now = end
        return out

    def log_in(self, password: bytes = b"sekret") -> None:
        assert self.send(RconPacket(1, 3, password).encode()) == [RconPacket(1, 2).encode()]

    def packets(self, data: bytes) -> list[RconPacket]:
        return list(PacketReader(1 << 20).receive(b"".join(self.send(data))))


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_worked_examples(vector: dict[str, Any]) -> None:
    listener = Listener(RconRules(auth_junk_packet=vector["state"].get("auth_junk_packet", False)))
    if vector["state"].get("after") == "auth":
        listener.log_in()
    got, wanted = b"", b""
    for step in vector["steps"]:
        data = bytes.fromhex(step["hex"])
        if step["dir"] == "c>s":
            got += b"".join(listener.send(data) + listener.wait(0.1))
        elif step["note"] == "close":
            assert listener.session.closed
        else:
            wanted += data
    assert got == wanted


def test_junk_and_answer_are_two_writes_apart_in_time() -> None:
    listener = Listener(RconRules(auth_junk_packet=True))
    assert listener.send(RconPacket(1, 3, b"sekret").encode()) == [RconPacket(1, 0).encode()]
    assert listener.wait(0.03) == []
    assert listener.wait(0.03) == [RconPacket(1, 2).encode()]
    assert listener.send(RconPacket(2, 3, b"wrong").encode()) == []
    assert listener.wait(1.1) == [RconPacket(-1, 2).encode()]


def test_nothing_runs_before_the_login(listener: Listener) -> None:
    assert listener.packets(RconPacket(5, 2, b"echo a").encode()) == [RconPacket(-1, 2)]
    assert listener.packets(RconPacket(5, 77).encode()) == [RconPacket(-1, 2)]
    assert listener.events == []


def test_a_wrong_password_costs_more_each_time_and_then_the_connection(listener: Listener) -> None:
    for number, delay in ((1, 1.0), (2, 2.0), (3, 3.0)):
        assert listener.send(RconPacket(7, 3, b"wrong").encode()) == []
        assert listener.wait(delay - 0.1) == []
        assert not listener.session.closed
        assert listener.wait(0.1) == [RconPacket(-1, 2).encode()]
        assert listener.session.closed == (number == 3)
    assert listener.events == [LoginFailed()] * 3 + [SessionEnded("too many wrong passwords")]


def test_an_address_that_guesses_is_banned_for_a_while() -> None:
    failures = Failures(FailureRules(delay=0.0))
    for _ in range(4):
        listener = Listener(failures=failures)
        for _ in range(3):
            listener.send(RconPacket(7, 3, b"wrong").encode())
            listener.wait(0.0)
    assert failures.is_banned("192.0.2.1", 0.0)
    listener = Listener(failures=failures)
    listener.send(RconPacket(7, 3, b"sekret").encode())
    assert listener.wait(0.1) == [RconPacket(-1, 2).encode()]
    listener.now = 700.0
    listener.log_in()


def test_what_waits_behind_a_wrong_password_is_not_run(listener: Listener) -> None:
    listener.log_in()
    listener.send(RconPacket(2, 3, b"wrong").encode() + RconPacket(3, 2, b"echo a").encode())
    assert listener.wait(1.0) == [RconPacket(-1, 2).encode(), RconPacket(-1, 2).encode()]


def test_users_run_commands_under_their_name_and_rank(listener: Listener) -> None:
    listener.log_in(b"other")
    listener.send(RconPacket(2, 2, b"echo a").encode())
    [logged_in, given_] = listener.events
    assert logged_in == UserAuthenticated("bert")
    assert (given_.caller.name, given_.caller.rank) == ("bert", 10)
    assert given_.caller.origin == "rcon 192.0.2.1"


def test_commands_run_one_after_the_other_and_answers_keep_their_order(listener: Listener) -> None:
    listener.log_in()
    listener.slow = True
    wanted = [RconPacket(n, 2, f"echo {n}".encode()) for n in range(100)]
    assert listener.send(b"".join(one.encode() for one in wanted)) == []
    assert not listener.session.wants_data
    answers = []
    for number in range(100):
        event = listener.events[-1]
        assert event.line == f"echo {number}"
        listener.session.answered(Reply((f"answer {number}",)), 1.0)
        answers += listener.writes()
    assert answers == [RconPacket(n, 0, f"answer {n}".encode()).encode() for n in range(100)]
    assert listener.session.wants_data
    assert 0 < MOST_WAITING < 100


def test_the_end_of_an_answer_can_be_asked_for_in_both_ways(listener: Listener) -> None:
    listener.log_in()
    command, own, other = RconPacket(9, 2, b"echo a"), RconPacket(9, 0), RconPacket(10, 0)
    got = listener.packets(b"".join(one.encode() for one in (command, own, command, other)))
    assert [one.id for one in got] == [9, 9, 9, 9, 10]
    assert b"".join(listener.send(own.encode())).endswith(b"\0\1\0\0\0\0")


def test_the_srcds_dialect_says_after_any_mirror_that_it_was_one() -> None:
    listener = Listener(RconRules(dialect=RconDialect.SRCDS))
    listener.log_in()
    for number in (4, 5):
        got = listener.packets(RconPacket(4, 2, b"").encode() + RconPacket(number, 0).encode())
        assert [one.id for one in got] == [4, number, number]


def test_the_minecraft_dialect_says_what_its_clients_wait_for() -> None:
    listener = Listener(RconRules(dialect=RconDialect.MINECRAFT))
    listener.log_in()
    assert listener.packets(RconPacket(4, 0).encode()) == [RconPacket(4, 0, b"Unknown request 0")]


def test_an_unknown_type_is_answered(listener: Listener) -> None:
    listener.log_in()
    assert listener.packets(RconPacket(4, 0x1F).encode()) == [
        RconPacket(4, 0, b"Unknown request 1f")
    ]
    assert listener.packets(RconPacket(4, -1).encode()) == [
        RconPacket(4, 0, b"Unknown request ffffffff")
    ]


def test_lines_are_cleaned(listener: Listener) -> None:
    listener.log_in()
    listener.send(RconPacket(4, 2, b"echo \xff\x1b[0m\r\nx\t").encode())
    assert listener.events[-1].line == "echo \ufffd [0m  x"
    assert listener.packets(RconPacket(4, 2, b" \r\n").encode()) == [RconPacket(4, 0)]


@pytest.mark.parametrize("size", [513, -1, 8, 1 << 30])
def test_before_the_login_little_is_taken(listener: Listener, size: int) -> None:
    listener.send(size.to_bytes(4, "little", signed=True))
    assert listener.session.closed


def test_after_a_failed_second_login_little_is_taken_again(listener: Listener) -> None:
    """Who logged in may send long packets; a wrong password afterwards takes that back."""
    listener.log_in()
    longest = RconPacket(2, 2, b"echo " + b"x" * (4110 - 10 - 5))
    assert len(longest.encode()) == 4 + 4110
    assert listener.packets(longest.encode())[0].body.startswith(b"xxx")
    listener.send(RconPacket(3, 3, b"wrong").encode())
    listener.wait(5.0)
    assert not listener.session.closed
    assert listener.packets(RconPacket(4, 2, b"x" * (512 - 10)).encode()) == [RconPacket(-1, 2)]
    listener.send(RconPacket(5, 2, b"x" * (513 - 10)).encode())
    assert listener.session.closed


def test_after_a_wrong_password_the_right_one_takes_long_packets_again(listener: Listener) -> None:
    listener.log_in()
    listener.send(RconPacket(3, 3, b"wrong").encode())
    listener.wait(5.0)
    listener.log_in()
    assert (
        listener.packets(RconPacket(4, 2, b"echo " + b"x" * 3000).encode())[0].body == b"x" * 3000
    )


def test_a_login_has_ten_seconds_a_packet_thirty_and_silence_half_an_hour() -> None:
    silent = Listener()
    silent.wait(9.9)
    assert not silent.session.closed
    silent.wait(0.1)
    assert silent.events == [SessionEnded("not logged in in time")]
    slow = Listener()
    slow.log_in()
    slow.send(b"\x20")
    for _ in range(29):
        slow.wait(1.0)
        slow.send(b"\0")
        assert not slow.session.closed
    slow.wait(1.0)
    assert slow.events[-1] == SessionEnded("packet not finished in time")
    idle = Listener()
    idle.log_in()
    idle.wait(1000.0)
    idle.send(RconPacket(2, 2, b"echo a").encode())
    idle.wait(1799.0)
    assert not idle.session.closed
    idle.wait(1.0)
    assert idle.events[-1] == SessionEnded("idle")


def test_a_command_that_takes_long_is_no_silence(listener: Listener) -> None:
    listener.log_in()
    listener.slow = True
    listener.send(RconPacket(2, 2, b"save").encode())
    assert listener.wait(10_000.0) == []
    assert not listener.session.closed
    listener.session.answered(Reply(("saved",)), listener.now)
    assert listener.writes() == [RconPacket(2, 0, b"saved").encode()]


def test_an_answer_after_the_end_goes_nowhere(listener: Listener) -> None:
    listener.log_in()
    listener.slow = True
    listener.send(RconPacket(2, 2, b"save").encode())
    listener.session.connection_lost(1.0)
    listener.session.answered(Reply(("saved",)), 2.0)
    assert listener.writes() == []
    assert listener.events[-1] == SessionEnded("connection lost")


@given(st.lists(st.one_of(st.binary(max_size=60), st.builds(
    lambda number, kind, body: RconPacket(number, kind, body.replace(b"\0", b"")).encode(),
    st.integers(-3, 3), st.sampled_from([0, 2, 3, 9]),
    st.sampled_from([b"", b"sekret", b"echo x", b"\xff"]),
))))  # fmt: skip
def test_nothing_raises(chunks: list[bytes]) -> None:
    listener = Listener()
    for chunk in chunks:
        listener.send(chunk)
        listener.wait(0.5)
