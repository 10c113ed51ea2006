"""World sessions recorded against EQ2Emulator (when present): the same messages, the same order.

The recorder noted each side's messages as its script handled them: a message that the script sent
while it was still working through a datagram stands before that datagram's last messages. So order
is compared per session and direction, and time against all.
"""

from __future__ import annotations

import pytest

from emu.capture.formats.pcap import CaptureReader
from emu.capture.messages import CapturedMessage
from emu.capture.sessions.follow import CaptureFollower, Notice
from emu.capture.show import to_json, to_text
from tests.support.files.known_names import shipped_messages
from tests.support.files.recordings import recording

RECORDINGS = [("546-zonein-alone", 546, 1, 78), ("561-two-players", 561, 2, 873)]
PARTS = ("info", "position", "vis")
FIRST_PORT = 40001  # client A; B has the next one
BEGINNING = 1763712000


@pytest.fixture(scope="module", params=RECORDINGS, ids=lambda one: one[0])
def decoded(request):
    name, version, sessions, count = request.param
    capture, rows = recording(name)
    follower = CaptureFollower(shipped_messages())
    found = []
    reader = CaptureReader()
    for record in reader.receive_data(capture):
        found += follower.receive(record)
    reader.close()
    found += follower.close()
    assert [one for one in found if isinstance(one, Notice)] == []
    messages = [one for one in found if isinstance(one, CapturedMessage)]
    assert (follower.sessions, len(messages)) == (sessions, count)
    assert {one.version for one in messages} == {version}
    return messages, [row for row in rows if row["k"] == "app"]


def end_of(message):
    client = max(message.source[1], message.destination[1])
    return "AB"[client - FIRST_PORT], "c2s" if message.source[1] == client else "s2c"


@pytest.mark.slow
def test_every_message_in_each_directions_order(decoded):
    messages, rows = decoded
    for end in {(row["c"], row["d"]) for row in rows}:
        wanted = [(row["op"], row["hex"]) for row in rows if (row["c"], row["d"]) == end]
        found = [(one.opcode, one.payload.hex()) for one in messages if end_of(one) == end]
        assert found == wanted


def test_every_message_at_its_time(decoded):
    messages, rows = decoded
    for one, row in zip(messages, rows, strict=True):
        assert abs(one.t - BEGINNING - row["t"]) < 0.002


def test_every_name_and_command(decoded):
    messages, rows = decoded
    for end in {(row["c"], row["d"]) for row in rows}:
        mine = [one for one in messages if end_of(one) == end]
        wanted = [row for row in rows if (row["c"], row["d"]) == end]
        for one, row in zip(mine, wanted, strict=True):
            assert one.name == row["name"]
            if "sub" in row:
                (command,) = one.commands
                assert (command.opcode, command.name) == (row["sub"], row["subname"])
                # The recorder kept size, FF and sub-opcode in front.
                assert row["hex"][14:] == command.payload.hex()


def test_everything_can_be_shown(decoded):
    messages, _ = decoded
    for one in messages:
        assert "\n" not in to_json(one)
        assert all(line.isprintable() for line in to_text(one).split("\n"))


def test_every_message_and_command_decodes_to_its_last_byte(decoded):
    # A layout refuses bytes behind it and a packed stream others than its own, so that fields
    # without a complaint mean that nothing is left over (known padding of the packer aside).
    messages, _ = decoded
    undecoded = [
        (one.name, what.name, what.undecoded)
        for one in messages
        for what in (one, *(one.commands or ()))
        if what.undecoded is not None or (what.fields is None and one.commands is None)
    ]
    assert undecoded == []


def test_ghosts_books_and_sheets_say_what_was_recorded(decoded):
    messages, _ = decoded
    decoded = {}
    for one in messages:
        for what in one.commands or (one,):
            decoded.setdefault(what.name, []).append(what.fields)
    names = {fields["info"]["name"] for fields in decoded["OP_EqCreateGhostCmd"]}
    assert "Guard Vexel" in names
    updates = decoded["OP_EqUpdateGhostCmd"]
    entries = [entry for one in updates for part in PARTS for entry in one[part]]
    assert entries
    assert not any("undecoded" in entry for entry in entries)
    sheet, *others = decoded["OP_UpdateCharacterSheetMsg"]
    assert (sheet["guild_status"], sheet["bind_zone"], sheet["breath"]) == (888888, "None", 30.0)
    assert all("guild_status" not in one for one in others if "character_name" not in one)
    (skills, *_) = decoded["OP_UpdateSkillBookMsg"]
    assert (len(skills["skill_array"]), skills["skill_array"][0]["current_val"]) == (27, 5)
    inventories = decoded["OP_UpdateInventoryMsg"]
    assert [one["equip_flag"] for one in inventories[:3]] == [1, 2, 1]
    assert not any(name.startswith("item_array") for name in inventories[2])
