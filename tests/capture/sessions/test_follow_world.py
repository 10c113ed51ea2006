"""World sessions in captures: what later messages change is known, or said to be unknown."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from emu.capture.keys import KeyRing
from emu.capture.messages import CapturedMessage
from emu.capture.sessions import follow as follow_module
from emu.capture.sessions.follow import CaptureFollower, KeptStates
from emu.structs.packed import write_client_cmd
from emu.world_stream.ghosts import CREATE_GHOST, POSITION, UPDATE_GHOST
from tests.support.files.known_names import shipped_messages
from tests.support.sessions.conversations import (
    KEY_BLOCK,
    Conversation,
    login_by_number,
    whole_session,
)
from tests.support.world.ghost_views import dialect
from tests.support.world.ghost_writer import GhostWriter

COMMAND = 50
ANSWER = 31
"""OP_DoneSendingInitialEntitiesMsg, which is empty."""
UNKNOWN = {"index": 2, "undecoded": "the creation of this ghost was not read"}


def command(name: str, payload: bytes) -> tuple[bool, int, bytes]:
    number = dialect(546).table.number(name)
    return False, COMMAND, write_client_cmd(number, payload, 546)


def moved(writer: GhostWriter, index: int, x: float) -> tuple[bool, int, bytes]:
    return command(UPDATE_GHOST, writer.update(1, [writer.changed(POSITION, index, {"pos_x": x})]))


def positions(datagrams, **options) -> Iterator[dict]:
    """Yield the position entries of every update that a capture shows."""
    ring = KeyRing()
    ring.add_text(f"check * 1234abcd\nrc4 * {KEY_BLOCK[-8:][::-1].hex()}\n")
    follower = CaptureFollower(shipped_messages(), keys=ring, version=546)
    for record in datagrams:
        for one in follower.receive(record):
            for inner in (one.commands or ()) if isinstance(one, CapturedMessage) else ():
                if inner.name == UPDATE_GHOST:
                    yield from inner.fields["position"]


def idle(count: int) -> list[tuple[bool, int, bytes]]:
    return [(False, ANSWER, b"")] * count


def test_updates_are_read_from_the_creation_on() -> None:
    writer = GhostWriter()
    whole = whole_session([
        (True, 1, login_by_number(546)),
        command(CREATE_GHOST, writer.create(2)), moved(writer, 2, 4.0), moved(writer, 2, 4.0),
        moved(writer, 2, 5.0),
    ])  # fmt: skip
    assert list(positions(whole.datagrams)) == [
        {"index": 2, "pos_x": 4.0}, {"index": 2}, {"index": 2, "pos_x": 5.0},
    ]  # fmt: skip


def test_from_the_middle_only_what_was_created_since_is_read() -> None:
    writer = GhostWriter()
    before = [
        (True, 1, login_by_number(546)), command(CREATE_GHOST, writer.create(2)), *idle(20),
    ]  # fmt: skip
    after = [
        *idle(40), moved(writer, 2, 4.0), command(CREATE_GHOST, writer.create(3)),
        moved(writer, 2, 5.0), moved(writer, 3, 6.0),
    ]  # fmt: skip
    skipped = len(whole_session(before).datagrams) + 4
    whole = whole_session([*before, *after])
    assert list(positions(whole.datagrams[skipped:])) == [
        UNKNOWN, UNKNOWN, {"index": 3, "pos_x": 6.0},
    ]  # fmt: skip


@pytest.mark.slow
def test_a_message_that_cannot_be_read_loses_what_it_may_have_changed() -> None:
    # Messages that leave together are deflated into one stream: the text said again refers to the
    # first time, which fills the datagram where the capture does not begin yet.
    text = random.Random(1).randbytes(480)
    writer = GhostWriter()
    before = [(True, 1, login_by_number(546)), *idle(20)]
    together = [
        (False, 38, text), *idle(40), command(CREATE_GHOST, writer.create(2)),
        moved(writer, 2, 4.0), (False, 38, text), moved(writer, 2, 5.0),
    ]  # fmt: skip
    conversation = Conversation()
    conversation.run()
    for message in before:
        conversation.say(*message)
        conversation.run()
    skipped = len(conversation.datagrams) + 1
    for message in together:
        conversation.say(*message)
    conversation.run()
    assert conversation.heard == before + together
    seen = list(positions(conversation.datagrams[skipped:]))
    assert seen == [{"index": 2, "pos_x": 4.0}, UNKNOWN]


def test_sessions_together_keep_a_bounded_amount(monkeypatch) -> None:
    monkeypatch.setattr(follow_module, "KeptStates", lambda: KeptStates(limit=3000))
    writer = GhostWriter()
    whole = whole_session([
        (True, 1, login_by_number(546)),
        *(command(CREATE_GHOST, writer.create(index)) for index in (2, 3)), moved(writer, 2, 1.0),
        command(CREATE_GHOST, writer.create(4)), moved(writer, 2, 4.0),
    ])  # fmt: skip
    assert list(positions(whole.datagrams)) == [{"index": 2, "pos_x": 1.0}, UNKNOWN]
