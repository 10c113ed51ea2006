"""Messages as text and JSON."""

from __future__ import annotations

import json

from emu.capture.messages import CapturedCommand
from emu.capture.show import hex_dump, show_time, to_brief, to_brief_json, to_json, to_text
from tests.support.files.captured import CLIENT, SERVER, captured_message

ENDS = (CLIENT, SERVER)


def message(**changes):
    return captured_message(**{"source": ENDS[0], "destination": ENDS[1], **changes})


def test_json_has_exactly_these_keys():
    record = json.loads(to_json(message()))
    assert record == {
        "time": "2025-11-21T08:00:00.059700Z", "t": 1763712000.0597,
        "session_id": 7, "direction": "to client",
        "from": {"host": "10.0.0.1", "port": 40001}, "to": {"host": "2001:db8::2", "port": 9100},
        "version": 546, "opcode": 4, "name": "OP_LoginReplyMsg", "payload": "01000000",
        "fields": {"number": 1}, "undecoded": None,
    }  # fmt: skip


def test_json_of_what_is_not_known():
    record = json.loads(to_json(message(version=None, name=None, fields=None, undecoded="why")))
    assert [record[key] for key in ("version", "name", "fields")] == [None] * 3
    assert record["undecoded"] == "why"


def test_json_of_commands():
    commands = (
        CapturedCommand(412, "OP_EqDisplayTextCmd", b"\2", {"x": 2}),
        CapturedCommand(9, None, b"", None, "why"),
    )
    record = json.loads(to_json(message(fields=None, commands=commands)))
    assert record["commands"] == [
        {
            "opcode": 412,
            "name": "OP_EqDisplayTextCmd",
            "payload": "02",
            "fields": {"x": 2},
            "undecoded": None,
        },
        {"opcode": 9, "name": None, "payload": "", "fields": None, "undecoded": "why"},
    ]
    assert json.loads(to_json(message(commands=())))["commands"] == []


def test_json_is_one_strict_line_whatever_a_peer_sent():
    fields = {"a": float("nan"), "b": [float("inf"), {"c": 1.5}], "d": "line\nfeed\x1b[2J\xff"}
    line = to_json(message(fields=fields))
    assert "\n" not in line
    assert "\x1b" not in line

    def refuse(name):
        raise AssertionError(name)

    record = json.loads(line, parse_constant=refuse)
    assert record["fields"] == {"a": None, "b": [None, {"c": 1.5}], "d": "line\nfeed\x1b[2J\xff"}


def test_text_with_fields_nested_and_in_lists():
    fields = {
        "name": "Aldana", "color": [1, 2, 3], "empty": [],
        "place": {"x": 1.5}, "world_list": [{"id": 1}, {"id": 2}],
    }  # fmt: skip
    assert to_text(message(fields=fields)) == (
        "2025-11-21T08:00:00.059700Z  10.0.0.1:40001 > [2001:db8::2]:9100"
        "  OP_LoginReplyMsg (4)  4 bytes\n"
        "    name: 'Aldana'\n"
        "    color: [1, 2, 3]\n"
        "    empty: []\n"
        "    place:\n"
        "        x: 1.5\n"
        "    world_list[0]:\n"
        "        id: 1\n"
        "    world_list[1]:\n"
        "        id: 2"
    )


def test_text_of_an_unknown_message_is_a_hex_dump():
    payload = bytes(range(0x1F, 0x31))
    text = to_text(message(name=None, fields=None, payload=payload, undecoded="why"))
    assert text.split("\n")[0].endswith("unknown (4)  18 bytes")
    assert text.split("\n")[1:] == [
        "    not decoded: why",
        "    000000  1f 20 21 22 23 24 25 26 27 28 29 2a 2b 2c 2d 2e  . !\"#$%&'()*+,-.",
        "    000010  2f 30                                            /0",
    ]


def test_text_of_commands():
    commands = (
        CapturedCommand(412, "OP_EqDisplayTextCmd", b"\2", {"x": 2}),
        CapturedCommand(9, None, b"A", None, "?"),
    )
    text = to_text(message(name="OP_ClientCmdMsg", fields=None, commands=commands))
    assert text.split("\n")[1:] == [
        "    OP_EqDisplayTextCmd (412)  1 byte",
        "        x: 2",
        "    unknown (9)  1 byte",
        "        not decoded: ?",
        "        000000  41                                               A",
    ]
    garbled = message(name="OP_ClientCmdMsg", fields=None, commands=commands, undecoded="cut")
    lines = to_text(garbled).split("\n")
    assert lines[1] == "    OP_EqDisplayTextCmd (412)  1 byte"
    assert lines[-2] == "    not decoded: cut"
    assert lines[-1].startswith("    000000  01 00 00 00")


def test_text_never_carries_a_peers_control_characters():
    text = to_text(message(fields={"name": "\x1b[2J\r\n\x9b", "bytes": b"\x1b"}))
    assert "\x1b" not in text
    assert "\r" not in text
    assert "\x9b" not in text
    assert len(text.split("\n")) == 3


def test_times_that_are_no_date_are_shown_as_seconds():
    assert show_time(0.5) == "1970-01-01T00:00:00.500000Z"
    assert show_time(1e30) == f"{1e30:.6f}"
    assert show_time(-1e30) == f"{-1e30:.6f}"


def test_an_empty_payload_dumps_nothing():
    assert list(hex_dump(b"")) == []


COMMANDS = (
    CapturedCommand(412, "OP_EqDisplayTextCmd", b"\2", {"x": 2}),
    CapturedCommand(9, None, b"", None, "why"),
)


def test_brief_is_one_line():
    line = to_brief(message(fields={"text": "a\nb"}))
    assert line == (
        "2025-11-21T08:00:00.059700Z  00000007  to client  OP_LoginReplyMsg (4)  4 bytes"
    )
    line = to_brief(message(name="OP_ClientCmdMsg", opcode=50, commands=COMMANDS))
    assert line.endswith("OP_ClientCmdMsg (50)  4 bytes: OP_EqDisplayTextCmd, unknown (9)")


def test_brief_json_has_sizes_in_place_of_contents():
    record = json.loads(to_brief_json(message(commands=COMMANDS)))
    assert list(record) == [
        "time", "t", "session_id", "direction", "from", "to", "version", "opcode", "name",
        "bytes", "commands",
    ]  # fmt: skip
    assert record["bytes"] == 4
    assert record["commands"] == [
        {"opcode": 412, "name": "OP_EqDisplayTextCmd", "bytes": 1},
        {"opcode": 9, "name": None, "bytes": 0},
    ]
