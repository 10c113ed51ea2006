"""The Wireshark dissector, run by Debian's tshark on datagrams built by hand.

Bytes of a real 546 client: docs/protocol/transport.md#check, docs/protocol/transport.md#setup; what
is built here follows its tables.
"""

from __future__ import annotations

import json
import random
import struct
import zlib

import pytest

from emu.capture.trace import NAMES_MARK, RANGES_MARK, TraceWriter, make_dissector
from emu.errors import FileFormatError
from tests.support.foreign.tshark import run_tshark

pytestmark = pytest.mark.slow
CLIENT = ("10.0.0.1", 40001)
SERVER = ("10.0.0.2", 9312)  # no registered port: the heuristic has to find it
KEY = 0x33624702
COMMANDS = {50: "OP_ClientCmdMsg", 60: "OP_ShortCmd", 412: "OP_EqDisplayTextCmd"}
TABLES = [
    (540, 546, {0: "OP_LoginRequestMsg", 2: "OP_WSLoginRequestMsg", 300: "OP_OldMsg"}),
    (547, 999, {2: "OP_WSLoginRequestMsg", 300: "OP_NewMsg"}),
    (374, 375, COMMANDS),
]

REQUEST = bytes.fromhex("0001000000025352f60f00000200")
RESPONSE = bytes.fromhex("00025352f60f33624702020000000002000000 0000")
STATISTICS = bytes.fromhex("000752d7" + "00" * 20 + "0000000000000002" + "0000000000000001f83c")
KEY_AND_LOGIN = bytes.fromhex(
    "00090000001944ffffffff3c00000051a894fa218823d4cff902c37c55ad51fa05a2caac209c212d152221c36b"
    "518358cafb0d653e10bd3f94b3eb89b581c54307b80984f3c1efb0f87bfd239d86fd74d5fdbf8d5750ed519e9c"
    "301a4875a605a0cfdac83c9e110859454a028df195f840"
)
KEY_REQUEST = b"\x02" + struct.pack("<I", 60) + b"\xff" * 60 + struct.pack("<I", 1) + b"\x01"


def seal(packet, key=KEY):
    check = zlib.crc32(packet, zlib.crc32(struct.pack("<I", key))) & 0xFFFF
    return packet + check.to_bytes(2, "big")


def sequenced(op, sequence, payload):
    return struct.pack(">HH", op, sequence) + payload


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "eq2.lua"
    path.write_text(make_dissector(TABLES))
    return path


@pytest.fixture
def dissect(tmp_path, script):
    """Run tshark over datagrams (from_client, payload); return the eq2 layer of each frame."""

    def run(datagrams, *arguments, server=SERVER):
        writer = TraceWriter()
        data = writer.header()
        for number, (from_client, payload) in enumerate(datagrams):
            ends = (CLIENT, server) if from_client else (server, CLIENT)
            data += writer.datagram(float(number), *ends, payload)  # type: ignore[call-arg]
        path = tmp_path / "trace.pcapng"
        path.write_bytes(data)
        out = run_tshark(
            "-r", str(path), "-T", "json", "--no-duplicate-keys", *arguments, script=script
        )
        return [frame["_source"]["layers"].get("eq2") for frame in json.loads(out)]

    return run


OPENING = [(True, REQUEST), (False, RESPONSE), (True, STATISTICS)]


def test_a_real_clients_opening(dissect):
    request, response, statistics, login = dissect([*OPENING, (True, KEY_AND_LOGIN)])
    assert (request["eq2.op"], request["eq2.session"]) == ("0x0001", "0x5352f60f")
    assert request["eq2.max_length"] == "512"
    assert (response["eq2.key"], response["eq2.format"]) == ("0x33624702", "0x00")
    assert "eq2.check" not in request
    assert "eq2.check" not in response
    assert (statistics["eq2.check"], statistics["eq2.check.status"]) == ("0xf83c", "1")
    assert statistics["eq2.request_id"] == "21207"
    assert statistics["eq2.client_sent"] == "2"
    assert login["eq2.check.status"] == "1"
    assert login["eq2.sequence"] == "0"
    assert login["eq2.op"] == ["0x0009", "0x0019"]
    key, secret = login["eq2.part"]
    assert key["eq2.part.length"] == "68"
    assert key["eq2.key_exchange.rc4"] == KEY_AND_LOGIN[7:75][:-9:-1].hex()
    assert secret["eq2.app.encrypted"].startswith("9d:86:fd")


def test_combined_statistics_and_key_request_are_taken_apart(dissect):
    answer = struct.pack(">HHIQQQQ", 8, 0x52D7, 1234, 2, 1, 3, 4)
    request = sequenced(9, 0, KEY_REQUEST)
    combined = b"\0\3" + bytes([len(answer)]) + answer + bytes([len(request)]) + request
    frame = dissect([*OPENING, (False, seal(combined))])[-1]
    assert frame["eq2.op"] == "0x0003"
    assert frame["eq2.check.status"] == "1"
    assert frame["eq2.part"][0]["eq2.op"] == "0x0008"
    assert frame["eq2.part"][0]["eq2.clock"] == "1234"
    assert frame["eq2.part"][1]["eq2.sequence"] == "0"
    assert frame["eq2.part"][1]["eq2.app.opcode"] == "2"
    # Opcode 2 is OP_WSLoginRequestMsg in the tables, but this message belongs to the session layer.
    assert frame["eq2.part"][1]["eq2.app.name"] == "key request"
    assert frame["eq2.part"][1]["eq2.key_exchange.exponent"] == "01"


def test_the_key_request_has_its_name_in_the_list_of_packets(tmp_path, script):
    writer = TraceWriter()
    path = tmp_path / "opening.pcapng"
    request = seal(sequenced(9, 0, KEY_REQUEST))
    ends = (("C", REQUEST), ("S", RESPONSE), ("C", STATISTICS), ("S", request))
    data = writer.header()
    for number, (side, payload) in enumerate(ends):
        source, destination = (CLIENT, SERVER) if side == "C" else (SERVER, CLIENT)
        data += writer.datagram(float(number), source, destination, payload)
    path.write_bytes(data)
    found = run_tshark("-r", str(path), "-Y", 'eq2.app.name == "key request"', script=script)
    (line,) = found.splitlines()
    assert line.split()[0] == "4"
    assert " EQ2 " in line
    assert line.endswith("Packet seq 0 key request")


def test_a_long_combined_part_has_a_three_byte_length(dissect):
    packet = sequenced(9, 7, b"\0" + bytes([5]) + bytes(300))
    combined = b"\0\3\2\0\6\xff" + struct.pack(">H", len(packet)) + packet
    frame = dissect([*OPENING, (False, seal(combined))])[-1]
    assert frame["eq2.part"][0]["eq2.op"] == "0x0006"
    assert frame["eq2.part"][1]["eq2.part.length"] == str(len(packet))
    assert frame["eq2.part"][1]["eq2.sequence"] == "7"


def test_acks_keepalive_disconnect_and_a_bad_check(dissect):
    frames = dissect(
        [
            *OPENING,
            (True, bytes.fromhex("001500009e7f")),
            (True, bytes.fromhex("00064585")),
            (False, seal(sequenced(0x11, 9, b""))),
            (True, seal(struct.pack(">HIH", 5, 0x5352F60F, 6))),
            (False, bytes.fromhex("001500009e7e")),
            (False, b"\0\x1d"),
        ]
    )[3:]
    assert [frame["eq2.op"] for frame in frames] == [
        "0x0015", "0x0006", "0x0011", "0x0005", "0x0015", "0x001d",
    ]  # fmt: skip
    assert [frame.get("eq2.check.status") for frame in frames] == ["1", "1", "1", "1", "0", None]
    assert [frame.get("eq2.sequence") for frame in frames] == ["0", None, "9", None, "0", None]
    assert frames[3]["eq2.reason"] == "6"
    assert "eq2.check.bad" in json.dumps(frames[4])


def test_only_the_first_fragment_of_each_run_has_a_total(dissect):
    def run(start, total):
        chunks = [total.to_bytes(4, "big") + bytes(502)]
        left = total - 502
        while left > 0:
            chunks.append(bytes(min(506, left)))
            left -= 506
        return [seal(sequenced(0x0D, start + n, chunk)) for n, chunk in enumerate(chunks)]

    one, two = run(1, 1200), run(4, 900)
    order = [one[0], one[2], one[1], one[1], *two, one[0]]
    frames = dissect([*OPENING, *((False, part) for part in order)])[3:]
    totals = [frame.get("eq2.fragment.total") for frame in frames]
    assert totals[:6] == ["1200", None, None, None, "900", None]
    assert all(frame["eq2.op"] == "0x000d" for frame in frames)


def test_application_opcodes_in_clear_are_named_by_the_chosen_version(dissect):
    wide = b"\0\xff" + struct.pack("<H", 300) + b"payload"
    datagrams = [
        *OPENING,
        (False, seal(sequenced(9, 1, wide))),
        (True, seal(sequenced(9, 0, b"\0abc"))),
    ]
    server, client = dissect(datagrams)[3:]
    assert (server["eq2.app.opcode"], server["eq2.app.name"]) == ("300", "OP_OldMsg")
    assert server["eq2.app.data"] == b"payload".hex(":")
    assert (client["eq2.app.opcode"], client["eq2.app.name"]) == ("0", "OP_LoginRequestMsg")
    server = dissect(datagrams, "-o", "eq2.version:561")[3]
    assert server["eq2.app.name"] == "OP_NewMsg"


def test_commands_in_clear_are_named(dissect):
    # docs/protocol/structs.md#client-cmd: sizes are u32 above 374, else u8 or FF + u16.
    commands = bytes.fromhex("05000000ff9c01aabb 02000000 3ccc 03000000ff0f27")
    old = bytes.fromhex("05ff9c01aabb ff0200 3ccc 03ff0f27")
    for body, version in ((commands, 375), (old, 374)):
        message = (False, seal(sequenced(9, 1, b"\0\x32" + body)))
        frame = dissect([*OPENING, message], "-o", f"eq2.version:{version}")[-1]
        assert frame["eq2.app.name"] == "OP_ClientCmdMsg"
        text, short, unknown = frame["eq2.command"]
        assert (text["eq2.command.opcode"], text["eq2.command.size"]) == ("412", "5")
        assert text["eq2.command.name"] == "OP_EqDisplayTextCmd"
        assert text["eq2.command.data"] == "aa:bb"
        assert (short["eq2.command.name"], short["eq2.command.data"]) == ("OP_ShortCmd", "cc")
        assert (unknown["eq2.command.opcode"], unknown["eq2.command.name"]) == ("9999", "unknown")
        assert "eq2.command.data" not in unknown


@pytest.mark.parametrize("body", ["00000000", "0500", "09000000ff9c01", "02000000ff9c"])
def test_damaged_commands_are_reported(dissect, body):
    message = (False, seal(sequenced(9, 1, b"\0\x32" + bytes.fromhex(body))))
    frame = dissect([*OPENING, message], "-o", "eq2.version:375")[-1]
    assert "eq2.malformed" in str(frame)


def test_after_the_key_block_messages_are_shown_as_encrypted(dissect):
    message = seal(sequenced(9, 1, b"\0\0\1\2\3"))
    frames = dissect([*OPENING, (True, KEY_AND_LOGIN), (False, message), (True, KEY_AND_LOGIN)])
    assert frames[4]["eq2.escape"] == "0x00"
    assert frames[4]["eq2.app.encrypted"] == "00:01:02:03"
    assert "eq2.key_exchange.block" in frames[5]["eq2.part"][0]  # a retransmission shows the same


@pytest.mark.slow
def test_compressed_and_encoded_forms(dissect):
    body = struct.pack(">H", 3) + b"\0\5" + bytes(60)

    def encoded(plain, key):
        out, k = b"", key
        for at in range(0, len(plain) - 3, 4):
            k ^= struct.unpack_from("<I", plain, at)[0]
            out += struct.pack("<I", k)
        return out + bytes(byte ^ (k & 255) for byte in plain[len(out) :])

    response = bytearray(RESPONSE)
    response[11] = 1
    opening = [(True, REQUEST), (False, bytes(response))]
    packed, plain = dissect(
        [
            *opening,
            (False, seal(b"\0\x09\x5a" + zlib.compress(body))),
            (False, seal(b"\0\x09\xa5" + body)),
        ]
    )[2:]
    assert (packed["eq2.compression"], plain["eq2.compression"]) == ("0x5a", "0xa5")
    assert packed["eq2.sequence"] == plain["eq2.sequence"] == "3"
    assert packed["eq2.app.opcode"] == plain["eq2.app.opcode"] == "5"
    response[11] = 4
    opening = [(True, REQUEST), (False, bytes(response))]
    for tail in (b"", b"\1", b"\1\2", b"\1\2\3"):
        frame = dissect([*opening, (False, seal(b"\0\x09" + encoded(body + tail, KEY)))])[2]
        assert frame["eq2.sequence"] == "3"
        assert frame["eq2.app.data"] == (bytes(60) + tail).hex(":")


def test_a_capture_that_begins_in_the_middle(dissect):
    message = seal(sequenced(9, 5, b"\1\2\3"))
    # By port: dissected, the check unverified. On another port: left alone.
    (frame,) = dissect([(False, message)], server=("10.0.0.2", 9100))
    assert (frame["eq2.sequence"], frame["eq2.check.status"]) == ("5", "2")
    assert dissect([(False, message)]) == [None]
    (frame,) = dissect([(False, message)], "-o", "eq2.ports:9312")
    assert frame["eq2.sequence"] == "5"


def test_two_sessions_of_one_address_pair_use_their_own_keys(dissect):
    second = bytearray(RESPONSE)
    second[2:6], second[6:10] = b"\1\2\3\4", struct.pack(">I", 77)
    request = REQUEST[:6] + b"\1\2\3\4" + REQUEST[10:]
    frames = dissect(
        [
            *OPENING,
            (True, request),
            (False, bytes(second)),
            (True, seal(b"\0\6", 77)),
            (True, seal(b"\0\6", KEY)),
        ]
    )
    assert [frame["eq2.check.status"] for frame in frames[5:]] == ["1", "0"]
    assert frames[2]["eq2.check.status"] == "1"


@pytest.mark.parametrize("form", [0, 1, 4])
def test_garbage_never_stops_the_script(dissect, form):
    rng = random.Random(1954 + form)
    response = RESPONSE[:11] + bytes([form]) + RESPONSE[12:]
    datagrams = [(True, REQUEST), (False, response), (True, STATISTICS)]
    for _ in range(300):
        op = rng.choice([1, 2, 3, 5, 7, 8, 9, 13, 17, 21, 25, 29, 99])
        body = bytes(rng.choice([0, 1, 2, 25, 255, rng.randrange(256)]) for _ in range(
            rng.choice([0, 1, 2, 3, 5, 8, 13, 40, 90])
        ))  # fmt: skip
        datagrams.append((rng.random() < 0.5, seal(struct.pack(">H", op) + body)))
    nested = b""
    for _ in range(50):
        nested = b"\0\3" + bytes([len(nested)]) + nested if len(nested) < 250 else nested
    datagrams.append((True, seal(nested)))
    frames = dissect(datagrams)
    assert len(frames) == len(datagrams)
    assert "Lua Error" not in json.dumps(frames)
    assert all(frame for frame in frames)


def test_a_name_that_is_no_word_is_refused():
    with pytest.raises(FileFormatError, match="is not an opcode name"):
        make_dissector([(1, 2, {1: 'OP_X", os.execute("rm")'})])


def test_the_lists_are_filled_in():
    script = make_dissector(TABLES)
    assert NAMES_MARK not in script
    assert RANGES_MARK not in script
    assert '{ 540, 546, "0=1 2=2 300=3" },' in script
