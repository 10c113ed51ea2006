"""The way in for programs: a file's messages with one import."""

from __future__ import annotations

import gzip
import io
from dataclasses import replace
from pathlib import Path

import pytest

import emu.capture
from emu.errors import FileFormatError
from tests.support.sessions.conversations import (
    CLIENT,
    SERVER,
    Conversation,
    login_request,
    pcap,
    whole_session,
)

SAID = [(True, 0, login_request(546)), (False, 300, b"x"), (True, 300, b"y")]


@pytest.fixture
def recorded() -> bytes:
    return pcap(whole_session(SAID).datagrams)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_path_gives_messages_with_names_fields_and_session(recorded, pack, tmp_path) -> None:
    path = tmp_path / "x.pcap"
    path.write_bytes(pack(recorded))
    for source in (path, str(path)):
        messages = list(emu.capture.open(source))
        assert [message.opcode for message in messages] == [0, 300, 300]
        assert messages[0].name == "OP_LoginRequestMsg"
        assert messages[0].fields["username"] == "testlabs"
        assert {message.session for message in messages} == {(CLIENT, SERVER, 0x5352F60F)}
        assert messages[0].session.client == CLIENT


def test_two_sessions_are_distinguished(tmp_path: Path) -> None:
    other = Conversation(session_id=7, client=("10.0.0.9", 4000))
    other.say(True, 0, login_request(546))
    other.run()
    stream = io.BytesIO(pcap(whole_session(SAID).datagrams + other.datagrams))
    assert len({message.session for message in emu.capture.open(stream)}) == 2


def test_the_file_is_closed_at_the_end_or_before(recorded, tmp_path) -> None:
    for taken in (0, 1, 3):
        stream = io.BytesIO(recorded)
        with emu.capture.open(stream) as capture:
            assert len([next(capture) for _ in range(taken)]) == taken
        assert stream.closed
        assert list(capture) == []
    stream = io.BytesIO(recorded)
    assert len(list(emu.capture.open(stream))) == 3
    assert stream.closed


def test_unreadable_messages_are_reported(recorded, tmp_path) -> None:
    with pytest.raises(FileNotFoundError):
        emu.capture.open(tmp_path / "missing.pcap")
    with pytest.raises(FileFormatError, match="key"):
        emu.capture.open(io.BytesIO(recorded), keys="no key at all")
    with pytest.raises(FileFormatError):
        list(emu.capture.open(io.BytesIO(b"no capture at all, but long enough")))


def test_damage_comes_behind_the_messages_before_it(recorded) -> None:
    capture = emu.capture.open(io.BytesIO(recorded[:-5]))
    found = []
    with pytest.raises(FileFormatError):
        found.extend(capture)
    assert [message.opcode for message in found] == [0, 300, 300][: len(found)]
    assert found


def test_a_given_version_is_used_and_a_wrong_one_reported(recorded) -> None:
    messages = list(emu.capture.open(io.BytesIO(recorded), version=1208))
    assert {message.version for message in messages} == {1208}
    datagrams = whole_session(SAID).datagrams
    damaged = [*datagrams[:-4], replace(datagrams[-4], payload=b"\0\x09\0\0hello\0\0")]
    capture = emu.capture.open(io.BytesIO(pcap(damaged)))
    list(capture)
    assert any("bad check" in notice for notice in capture.notices)
