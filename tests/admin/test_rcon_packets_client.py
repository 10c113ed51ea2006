"""Our client against our session, and against servers of other habits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.rcon import Answered, LoginAnswered, RconClient, RconPacket
from emu.errors import CommandError
from tests.admin.test_rcon_session import LETTERS, Listener


@given(st.integers(1, 5000))
def test_a_long_answer_is_whole_however_it_is_cut(size: int) -> None:
    client, listener = RconClient(), Listener()
    assert client.receive_data(b"".join(listener.send(client.log_in("sekret")))) == [
        LoginAnswered(ok=True)
    ]
    data = b"".join(listener.send(client.command("big10000") + client.command("echo ünter")))
    got = []
    for at in range(0, len(data), size):
        got += client.receive_data(data[at : at + size])
    assert got == [Answered("big10000", (LETTERS * 385)[:10_000]), Answered("echo ünter", "ünter")]


def test_a_wrong_password() -> None:
    client, listener = RconClient(), Listener()
    listener.send(client.log_in("wrong"))
    assert client.receive_data(b"".join(listener.wait(1.0))) == [LoginAnswered(ok=False)]


def test_source_and_minecraft_answer_the_packet_behind_in_their_way() -> None:
    for behind in ([b"", b"\0\1\0\0"], [b"Unknown request 0"]):
        client = RconClient()
        client.log_in("x")
        assert client.receive_data(RconPacket(1, 0).encode() + RconPacket(1, 2).encode()) == [
            LoginAnswered(ok=True)
        ]
        client.command("status")
        data = RconPacket(2, 0, b"fine").encode()
        data += b"".join(RconPacket(3, 0, body).encode() for body in behind)
        assert client.receive_data(data) == [Answered("status", "fine")]


def test_what_cannot_be_carried_is_refused() -> None:
    with pytest.raises(CommandError, match="a command cannot hold a NUL"):
        RconClient().command("a\0b")
