"""Statistics of a capture."""

from __future__ import annotations

from emu.capture.messages import CapturedCommand
from emu.capture.statistics import COLUMNS, MessageStatistics
from tests.support.files.captured import captured_message


def counted(*messages):
    statistics = MessageStatistics()
    for message in messages:
        statistics.count_message(message)
    return statistics


def test_each_name_and_direction_has_its_figures():
    statistics = counted(
        captured_message(t=10.0, payload=bytes(2)),
        captured_message(t=14.0, payload=bytes(9), undecoded="why"),
        captured_message(t=12.0, to_server=True, payload=bytes(3)),
        captured_message(t=13.0, name=None, opcode=999, payload=b"", undecoded="why"),
    )
    first, second, third = statistics.rows()
    assert third["undecoded"] == 0  # an empty payload has nothing to decode
    assert tuple(first) == COLUMNS
    assert first == {
        "name": "OP_LoginReplyMsg", "opcode": 4, "direction": "to client", "messages": 2,
        "bytes": 11, "smallest": 2, "mean": 5.5, "largest": 9, "per_second": 0.5,
        "bytes_per_second": 2.8, "undecoded": 1,
    }  # fmt: skip
    assert (second["direction"], second["bytes"]) == ("to server", 3)
    assert (third["name"], third["opcode"], third["smallest"]) == ("unknown", 999, 0)
    assert statistics.seconds == 4.0
    assert {side: total.messages for side, total in statistics.totals.items()} == {
        False: 3,
        True: 1,
    }


def test_commands_have_rows_of_their_own_and_are_no_messages():
    commands = (CapturedCommand(412, "OP_EqDisplayTextCmd", bytes(5), {}),) * 2
    message = captured_message(
        opcode=50, name="OP_ClientCmdMsg", payload=bytes(20), commands=commands
    )
    statistics = counted(message)
    rows = {row["name"]: (row["messages"], row["bytes"]) for row in statistics.rows()}
    assert rows == {
        "OP_ClientCmdMsg": (1, 20),
        "OP_ClientCmdMsg/OP_EqDisplayTextCmd": (2, 10),
    }
    assert statistics.totals[False].messages == 1


def test_a_single_moment_has_no_rates():
    (row,) = counted(captured_message()).rows()
    assert (row["per_second"], row["bytes_per_second"]) == (None, None)
    assert MessageStatistics().rows() == []


def test_memory_depends_on_the_kinds_alone():
    statistics = MessageStatistics()
    for number in range(2000):
        statistics.count_message(captured_message(t=float(number), opcode=number % 3, name=None))
    assert len(statistics.kinds) == 3
