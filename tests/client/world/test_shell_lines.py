"""The language of the shell: words, the world's commands, completion, and what is refused."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.client.world import ClientWorldMessages, WorldClientCore, WorldHandoff, WorldPhase
from emu.client.world.events import DialogOpened
from emu.client.world.shell import WORDS, completions, run_line
from emu.errors import CommandError
from emu.times import Monotonic
from emu.world_stream.ghosts import CREATE_GHOST
from tests.support.world.ghost_views import dialect
from tests.support.world.ghost_writer import GhostWriter

NOW = Monotonic(10.0)


class Sent:
    """A session that keeps what it is given."""

    def __init__(self) -> None:
        self.messages: list[tuple[int, bytes]] = []

    def send(self, opcode: int, payload: bytes) -> None:
        self.messages.append((opcode, payload))


Seen = tuple[int, str, float]
"""Index, name and x of a ghost."""


def standing(*more: Seen) -> tuple[WorldClientCore, list[tuple[int, bytes]]]:
    session = Sent()
    handoff = WorldHandoff("127.0.0.1", 1, 1, 2)
    core = WorldClientCore(ClientWorldMessages(dialect(546)), handoff, lambda: session)  # type: ignore[arg-type,return-value]
    core.phase = WorldPhase.STANDING
    core.commands = {"say": 0, "tell": 1, "who": 2}
    core.own_index = 1
    writer = GhostWriter()
    assert core.surroundings is not None
    people: list[Seen] = [(1, "Aldana", 0.0), (2, "Borvik", 30.0), (3, "Old Fenwick", 4.0)]
    for index, name, x in (*people, *more):
        create = writer.create(
            index, position={"pos_x": x}, info={"name": name, "level": index - 1}
        )
        core.surroundings.create(CREATE_GHOST, create)
    return core, session.messages


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("around", ["    4.0  Old Fenwick (level 2)  at 4.00, 0.00, 0.00",
                    "   30.0  Borvik (level 1)  at 30.00, 0.00, 0.00"]),
        ("around 10", ["    4.0  Old Fenwick (level 2)  at 4.00, 0.00, 0.00"]),
        ("around 1", ["nothing is around"]),
        ("look", ["    4.0  Old Fenwick (level 2)  at 4.00, 0.00, 0.00",
                  "   30.0  Borvik (level 1)  at 30.00, 0.00, 0.00"]),
        ("walk 3 4", ["5.0 units to go"]),
        ("where", ["nowhere: 0.00, 0.00, 0.00, heading 0.0"]),
        ("move 3 4", ["5.0 units to go"]),
        ("move 3 9 4", ["5.0 units to go"]),
        ("move Old Fenwick", ["4.0 units to go"]),
        ("move fen", ["4.0 units to go"]),
        ("", []),
        ("stop", []),
    ],
)  # fmt: skip
def test_answers(line: str, answer: list[str]) -> None:
    core, _ = standing()
    assert list(run_line(core, line, NOW)) == answer


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("sit", (165, b"")),
        ("stand", (166, b"")),
        ("camp", (42, b"\0\0")),
        ("quit", (42, b"\1\1")),
        ("use Old Fenwick", (dialect(546).table.number("OP_EntityVerbsVerbMsg"), b"\3\0\0\0")),
        ("say hello you", (36, b"\0\0\x09\0hello you")),
        ("/tell Borvik hi", (36, b"\1\0\x09\0Borvik hi")),
        ("who", (36, b"\2\0\0\0")),
        ("raw 4711 01 02ff", (4711, b"\1\2\xff")),
        ("raw OP_SitMsg", (165, b"")),
    ],
)
def test_what_is_sent(line: str, message: tuple[int, bytes]) -> None:
    core, sent = standing()
    run_line(core, line, NOW)
    assert sent == [message]


def test_dialogs_and_targets() -> None:
    core, sent = standing()
    core.dialog = DialogOpened(7, "Guard", "Halt", ("Why?",))
    run_line(core, "answer 1", NOW)
    core.dialog = DialogOpened(8, "Guard", "Halt", ())
    run_line(core, "answer", NOW)
    run_line(core, "target borvik", NOW)
    run_line(core, "target", NOW)
    layout = dialect(546).layout("WS_UpdateTarget")
    assert [layout.decode(body)["spawn_index"] for _, body in sent[2:]] == [2, 0xFFFF]


def test_the_nearest_of_a_name_is_meant() -> None:
    core, _ = standing((4, "a Shepherd's Dog", 600.0), (5, "a Shepherd's Dog", 6.0))
    assert list(run_line(core, "move shepherd's dog", NOW)) == ["6.0 units to go"]


def test_words_that_are_in_several_names_are_refused_with_the_names() -> None:
    core, _ = standing((4, "Old Borvik", 2.0), (5, "Old Marl", 3.0))
    with pytest.raises(CommandError, match="'old' can be Old Borvik or Old Fenwick or Old Marl"):
        run_line(core, "look old", NOW)
    # A whole name comes before a part of another one.
    assert "index: 2" in run_line(core, "look borvik", NOW)


def test_look_shows_all_fields() -> None:
    core, _ = standing()
    assert {"index: 2", "info.name: Borvik", "position.pos_x: 30.0"} <= set(
        run_line(core, "look Borvik", NOW)
    )


@pytest.mark.parametrize(
    "line",
    ["fly", "/fly", "use", "use Nobody", "look Nobody", "move", "move x", "move 1", "move nan inf",
     "raw", "raw OP_NoMsg", "raw 1 xyz", "answer 1", "around far"],
)  # fmt: skip
def test_what_cannot_be_done_is_said(line: str) -> None:
    core, sent = standing()
    with pytest.raises(CommandError):
        run_line(core, line, NOW)
    assert sent == []


def test_help_names_every_word() -> None:
    core, _ = standing()
    lines = run_line(core, "help", NOW)
    assert all(any(line.startswith(word.usage) for line in lines) for word in WORDS.values())
    assert lines[-1] == (
        "The world has 3 commands. The Tab key completes them; /help lists most of them."
    )


def test_names_around_are_completed() -> None:
    core, _ = standing()
    assert list(completions(core, "look bo")) == ["Borvik"]
    assert list(completions(core, "wh")) == ["where", "who"]


@given(st.text())
def test_any_line_is_done_or_refused(line: str) -> None:
    core, _ = standing()
    with suppress(CommandError):
        run_line(core, line, NOW)
