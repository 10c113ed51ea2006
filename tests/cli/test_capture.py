"""`emu capture` from the command line, on captures that two real sessions made."""

from __future__ import annotations

import gzip
import json
import random
import shlex
import tracemalloc
from pathlib import Path

import pytest
from click.testing import CliRunner

from emu.capture.trace import TraceWriter
from emu.cli.capture import capture, tail
from emu.cli.main import root
from emu.errors import CommandError, FileFormatError
from emu.opcodes import OpcodeStore, VersionRange
from tests.support.foreign.tshark import run_tshark
from tests.support.sessions.conversations import (
    KEY_BLOCK,
    login_by_number,
    login_request,
    pcap,
    whole_session,
)

COMMAND = bytes.fromhex("06000000ffbc01000001")  # EqCollectionUpdate of a recorded 546 session
MESSAGES = [
    (True, 1, login_by_number(546)),
    (False, 50, COMMAND),
    (False, 37, bytes.fromhex("e40f090e1415fa")),
    (False, 3, b"\x1b[2J raw"),
    (True, 30, b""),
]


def run(*arguments, **options):
    return CliRunner().invoke(root, ["capture", *map(str, arguments)], **options)


@pytest.fixture(scope="module")
def datagrams():
    return whole_session(MESSAGES).datagrams


@pytest.fixture
def recorded(datagrams, tmp_path):
    path = tmp_path / "session.pcap"
    path.write_bytes(pcap(datagrams))
    return path


def trace_of(datagrams):
    writer = TraceWriter()
    return [writer.header()] + [
        writer.datagram(one.t, one.source, one.destination, one.payload) for one in datagrams
    ]


def test_json_lines(recorded):
    result = run("decode", "--json", recorded)
    assert result.exit_code == 0, result.output
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(one["opcode"], one["payload"]) for one in lines] == [
        (opcode, body.hex()) for _, opcode, body in MESSAGES
    ]
    keys = [
        "time", "t", "session_id", "direction", "from", "to", "version", "opcode", "name",
        "payload", "fields", "undecoded",
    ]  # fmt: skip
    assert [list(one) for one in lines] == [
        keys if one["opcode"] != 50 else [*keys, "commands"] for one in lines
    ]
    login, commands, clock = lines[:3]
    assert login["from"] == {"host": "10.0.0.1", "port": 40001}
    assert login["to"] == {"host": "10.0.0.2", "port": 9100}
    assert (login["direction"], clock["direction"]) == ("to server", "to client")
    assert len({one["session_id"] for one in lines}) == 1
    assert isinstance(login["session_id"], int)
    assert {one["version"] for one in lines} == {546}
    assert login["name"] == "OP_LoginByNumRequestMsg"
    assert commands["name"] == "OP_ClientCmdMsg"
    (command,) = commands["commands"]
    assert list(command) == ["opcode", "name", "payload", "fields", "undecoded"]
    assert (command["opcode"], command["payload"]) == (444, "000001")
    assert command["name"] == "OP_EqCollectionUpdateCmd"
    assert clock["name"] == "OP_GameWorldTimeMsg"
    assert "messages: 5, sessions: 1" in result.stderr


def test_text_names_decodes_and_dumps(recorded):
    result = run("decode", recorded)
    assert result.exit_code == 0
    assert "10.0.0.1:40001 > 10.0.0.2:9100  OP_LoginByNumRequestMsg (1)  30 bytes" in result.stdout
    assert "    account_id: 101\n" in result.stdout
    assert "    version: 546\n" in result.stdout
    assert "000000  1b 5b 32 4a 20 72 61 77" in result.stdout
    assert "\x1b" not in result.output


def test_login_request_fields(tmp_path):
    path = tmp_path / "login.pcap"
    path.write_bytes(pcap(whole_session([(True, 0, login_request(546))]).datagrams))
    (line,) = run("decode", "--json", path).stdout.splitlines()
    record = json.loads(line)
    assert record["name"] == "OP_LoginRequestMsg"
    assert record["fields"]["username"] == "testlabs"


def test_gzip_and_stdin(recorded):
    packed = gzip.compress(recorded.read_bytes())
    plain = run("decode", "--json", recorded).stdout
    assert run("decode", "--json", "-", input=packed).stdout == plain


def test_version_given(recorded):
    lines = run("decode", "--json", "--version", 561, recorded).stdout.splitlines()
    assert {json.loads(line)["version"] for line in lines} == {561}


def test_structs_of_the_operator(recorded, tmp_path):
    path = tmp_path / "Mine.xml"
    path.write_text(
        '<EQ2Emulator><Struct Name="Mine" ClientVersion="1" OpcodeName="OP_ClientCmdMsg" '
        'OpcodeType="OP_EqCollectionUpdateCmd"><Data ElementName="three" Type="int8" Size="3" />'
        "</Struct></EQ2Emulator>"
    )
    result = run("decode", "--json", "--structs", path, recorded)
    (command,) = json.loads(result.stdout.splitlines()[1])["commands"]
    assert command["fields"] == {"three": [0, 0, 1]}


@pytest.mark.slow
def test_opcodes_of_another_database(recorded, datagrams, tmp_path):
    path = tmp_path / "opcodes.sqlite"
    with OpcodeStore.ensure(path) as store:
        store.unset(VersionRange(540, 546), "OP_GameWorldTimeMsg")
        store.set(VersionRange(540, 546), "OP_MineMsg", 37)
    result = run("decode", "--json", "--db", path, recorded)
    assert [json.loads(line)["name"] for line in result.stdout.splitlines()][2] == "OP_MineMsg"
    assert '"OP_MineMsg"' in run("dissector", "--db", path).stdout


def test_keys_file(datagrams, tmp_path):
    path, keys = tmp_path / "late.pcap", tmp_path / "keys.txt"
    path.write_bytes(pcap([one for one in datagrams if one.payload[1] not in (1, 2)]))
    assert "no EQ2 session" in run("decode", path).stderr
    text = f"\ufeffcheck * 1234abcd\nrc4 * {KEY_BLOCK[-8:][::-1].hex()}\n"
    keys.write_text(text, encoding="utf-8")
    result = run("decode", "--json", "--keys", keys, path)
    assert len(result.stdout.splitlines()) == len(MESSAGES)
    assert "the capture begins after this session did" in result.stderr
    keys.write_text("rubbish\n")
    result = run("decode", "--keys", keys, path)
    assert isinstance(result.exception, FileFormatError)
    assert "keys.txt, line 1" in str(result.exception)


def test_keys_of_a_trace_and_of_the_command_line(datagrams, tmp_path):
    path, trace = tmp_path / "late.pcap", tmp_path / "trace.pcapng"
    path.write_bytes(pcap([one for one in datagrams if one.payload[1] not in (1, 2)]))
    writer = TraceWriter()
    trace.write_bytes(writer.header() + writer.key(0x5352F60F, check_key=0x1234ABCD))
    for words in (("--keys", trace), ("--key", "check 10.0.0.1:40001 1234abcd")):
        result = run("decode", "--json", *words, path)
        assert len(result.stdout.splitlines()) == len(MESSAGES), result.stderr
    result = run("decode", path)
    assert "datagrams cannot be followed: the capture begins after" in result.stderr
    result = run("decode", "--key", "rubbish", path)
    assert "--key, line 1" in str(result.exception)


def test_damage_prints_what_was_good_and_exits_with_one_line(recorded):
    whole = recorded.read_bytes()
    recorded.write_bytes(whole[:-3])
    result = run("decode", "--json", recorded)
    assert len(result.stdout.splitlines()) == len(MESSAGES)
    assert isinstance(result.exception, FileFormatError)
    assert str(result.exception).startswith(f"{recorded}: byte ")
    recorded.write_bytes(b"hello, this is no capture")
    result = run("decode", recorded)
    assert isinstance(result.exception, FileFormatError)
    assert "not a capture file" in str(result.exception)
    assert "no EQ2 session" not in result.stderr


def test_a_file_that_is_not_there():
    result = run("decode", "/nowhere/at/all.pcap")
    assert isinstance(result.exception, CommandError)
    assert "No such file" in str(result.exception)


@pytest.mark.slow
def test_dissector_from_the_shipped_tables_runs_in_tshark(datagrams, tmp_path):
    result = run("dissector")
    assert result.exit_code == 0
    assert '"OP_LoginRequestMsg"' in result.stdout
    script, trace = tmp_path / "eq2.lua", tmp_path / "trace.pcapng"
    script.write_text(result.stdout)
    trace.write_bytes(b"".join(trace_of(datagrams)))
    out = run_tshark(
        "-r", str(trace), "-Y", "eq2.app.opcode == 2", "-T", "fields", "-e", "eq2.app.name",
        script=script,
    )  # fmt: skip
    assert out.strip() == "key request"


# -- selecting, short lines, statistics ---------------------------------------------------------


@pytest.mark.slow
def test_only_selects_by_name_number_direction_and_session(recorded):
    def names(*words):
        arguments = [part for word in words for part in ("--only", word)]
        result = run("decode", "--json", *arguments, recorded)
        assert result.exit_code == 0, result.output
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        assert f"(selected: {len(lines)}), sessions: 1" in result.stderr
        return [one["opcode"] for one in lines]

    assert names("to-server") == [1, 30]
    assert names("to-server", "30") == [30]
    assert names("to-client", "30") == []
    assert names("OP_*Time*", "op_loginbynum*") == [1, 37]
    assert names("OP_EqCollectionUpdateCmd") == [50]
    assert names("session=10.0.0.1:40001", "3") == [3]
    assert names("session=1") == []


def test_a_name_that_no_message_has_is_an_error(recorded):
    result = run("decode", "--only", "OP_GameWorldTimMsg", recorded)
    assert isinstance(result.exception, CommandError)
    assert "did you mean OP_GameWorldTimeMsg?" in str(result.exception)


def test_brief_prints_one_line_for_each_message(recorded):
    result = run("decode", "--brief", recorded)
    lines = result.stdout.splitlines()
    assert len(lines) == len(MESSAGES)
    assert lines[0].endswith("  to server  OP_LoginByNumRequestMsg (1)  30 bytes")
    assert lines[1].endswith("OP_ClientCmdMsg (50)  10 bytes: OP_EqCollectionUpdateCmd")
    records = [
        json.loads(line)
        for line in run("decode", "--brief", "--json", recorded).stdout.splitlines()
    ]
    assert [one["bytes"] for one in records] == [len(body) for _, _, body in MESSAGES]
    session = lines[0].split()[1]
    selected = run("decode", "--brief", "--only", f"session={session}", recorded)
    assert selected.stdout == result.stdout


def test_statistics_are_a_table_and_totals(recorded):
    result = run("decode", "--stats", recorded)
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.stdout.splitlines() if line]
    assert rows[0][:4] == ["name", "opcode", "direction", "messages"]
    (login,) = (row for row in rows if row[:1] == ["OP_LoginByNumRequestMsg"])
    assert login[1:8] == ["1", "to", "server", "1", "30", "30", "30.0"]
    assert any(row[:1] == ["OP_ClientCmdMsg/OP_EqCollectionUpdateCmd"] for row in rows)
    assert "to server: 2 messages, 30 bytes in " in result.stdout
    assert "to client: 3 messages, 25 bytes in " in result.stdout


def test_statistics_as_json_are_of_the_selected_messages(recorded):
    lines = run("decode", "--stats", "--json", "--only", "to-client", recorded).stdout.splitlines()
    records = [json.loads(line) for line in lines]
    assert {one["direction"] for one in records} == {"to client"}
    assert sum(one["messages"] for one in records if "/" not in one["name"]) == 3


def test_without_messages_there_are_no_statistics(recorded, tmp_path):
    empty = tmp_path / "empty.pcap"
    empty.write_bytes(b"")
    assert run("decode", "--stats", empty).stdout == ""
    assert run("decode", "--stats", "--only", "session=1", recorded).stdout == ""


def test_statistics_and_short_lines_exclude_each_other(recorded):
    assert isinstance(run("decode", "--stats", "--brief", recorded).exception, CommandError)


@pytest.mark.slow
def test_a_capture_ten_times_as_long_needs_no_more_memory(tmp_path):
    def peak(count):
        path = tmp_path / f"{count}.pcap"
        opening = (True, 1, login_by_number(546))
        said = [(False, 3, random.Random(1).randbytes(4000))] * count
        path.write_bytes(pcap(whole_session([opening, *said]).datagrams))
        tracemalloc.start()
        try:
            result = run("decode", "--stats", "--json", path)
            used = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert sum(json.loads(line)["messages"] for line in result.stdout.splitlines()) == count + 1
        return used, path.stat().st_size

    run("decode", "-", input=b"")  # Load what is loaded once.
    few, _ = peak(30)
    many, size = peak(300)
    assert size > 1_000_000
    assert many - few < 200_000, (few, many)


@pytest.mark.slow
def test_the_guides_line_for_tshark_shows_the_key_request(datagrams, tmp_path):
    guide = Path(__file__).parents[2] / "docs/guides/packets.md"
    (line,) = (one for one in guide.read_text().splitlines() if one.startswith("    tshark "))
    (tmp_path / "eq2.lua").write_text(run("dissector").stdout)
    (tmp_path / "session.pcapng").write_bytes(b"".join(trace_of(datagrams)))
    script, capture, *rest = shlex.split(line)[2], *shlex.split(line)[4:]
    assert (script, capture) == ("lua_script:eq2.lua", "session.pcapng")
    out = run_tshark("-r", str(tmp_path / capture), *rest, script=tmp_path / "eq2.lua")
    assert [one.endswith("key request") for one in out.splitlines()] == [True]


# -- following ---------------------------------------------------------------------------------


class Stopped(Exception):
    """Ends a loop that would follow for ever."""


def waits(*steps):
    """Return a `wait` that does one thing a call, and stops the loop after the last."""
    left = list(steps)

    def wait():
        if not left:
            raise Stopped
        left.pop(0)()

    return wait


def chunks_of(path, wait):
    found = []
    with pytest.raises(Stopped):  # noqa: PT012
        for chunk in tail(path, wait):
            if chunk != b"":
                found.append(chunk)
    return found


def test_tail_waits_for_the_file_and_gives_what_is_appended(tmp_path):
    path = tmp_path / "trace"

    def append(data):
        with path.open("ab") as stream:
            stream.write(data)

    wait = waits(lambda: None, lambda: append(b"one"), lambda: append(b"two"))
    assert chunks_of(path, wait) == [b"one", b"two"]


def test_tail_notices_a_replaced_and_a_cut_file(tmp_path):
    path, other = tmp_path / "trace", tmp_path / "other"
    path.write_bytes(b"old")
    other.write_bytes(b"new")
    wait = waits(lambda: other.replace(path), lambda: path.write_bytes(b"c"))
    assert chunks_of(path, wait) == [b"old", None, b"new", None, b"c"]


def test_tail_outlives_a_moment_without_the_file(tmp_path):
    path = tmp_path / "trace"
    path.write_bytes(b"old")
    wait = waits(path.unlink, lambda: path.write_bytes(b"new"))
    assert chunks_of(path, wait) == [b"old", None, b"new"]


def follow(monkeypatch, arguments, *steps, style="--json"):
    """Run `emu capture follow` with these things happening while it waits; then Ctrl-C."""
    left = list(steps)

    def sleep(_seconds):
        if not left:
            raise KeyboardInterrupt
        left.pop(0)()

    monkeypatch.setattr("emu.cli.capture.time.sleep", sleep)
    return run("follow", style, *arguments)


def test_follow_prints_messages_as_they_come(monkeypatch, datagrams, tmp_path):
    path = tmp_path / "trace.pcapng"
    parts = trace_of(datagrams)
    middle = len(parts) // 2
    path.write_bytes(b"".join(parts[:middle]))
    early = len(run("decode", "--json", path).stdout.splitlines())
    assert 0 < early < len(MESSAGES)

    def append(data):
        with path.open("ab") as stream:
            stream.write(data)

    rest = b"".join(parts[middle:])
    steps = (lambda: append(rest[:33]), lambda: append(rest[33:]))
    result = follow(monkeypatch, [path], *steps)
    assert result.exit_code == 0, result.output
    assert len(result.stdout.splitlines()) == len(MESSAGES) - early


def test_follow_from_start_and_a_new_file(monkeypatch, datagrams, tmp_path):
    path, new = tmp_path / "trace.pcapng", tmp_path / "new"
    path.write_bytes(b"".join(trace_of(datagrams)))
    new.write_bytes(b"".join(trace_of(datagrams)))
    result = follow(monkeypatch, ["--from-start", path], lambda: new.replace(path))
    assert len(result.stdout.splitlines()) == 2 * len(MESSAGES)
    assert "was replaced" in result.stderr


def test_follow_prints_short_lines_of_selected_messages(monkeypatch, datagrams, tmp_path):
    path = tmp_path / "trace.pcapng"
    path.write_bytes(b"".join(trace_of(datagrams)))
    options = ["--from-start", "--only", "to-server", path]
    result = follow(monkeypatch, options, style="--brief")
    assert len(result.stdout.splitlines()) == 2


def test_follow_takes_the_configured_trace(monkeypatch, datagrams, tmp_path):
    path, config = tmp_path / "trace.pcapng", tmp_path / "emu.toml"
    config.write_text('[trace]\nfile = "trace.pcapng"\n')
    left = [lambda: path.write_bytes(b"".join(trace_of(datagrams)))]

    def sleep(_seconds):
        if not left:
            raise KeyboardInterrupt
        left.pop(0)()

    monkeypatch.setattr("emu.cli.capture.time.sleep", sleep)
    arguments = ["--config", str(config), "capture", "follow", "--json"]
    result = CliRunner().invoke(root, arguments)
    assert len(result.stdout.splitlines()) == len(MESSAGES)
    assert f"waiting for {path}" in result.stderr
    config.write_text("")
    result = CliRunner().invoke(root, arguments)
    assert isinstance(result.exception, CommandError)


def test_a_damaged_trace_ends_following_with_one_line(monkeypatch, tmp_path):
    path = tmp_path / "trace.pcapng"
    path.write_bytes(b"this is no trace")
    result = follow(monkeypatch, [path])
    assert isinstance(result.exception, FileFormatError)
    assert str(path) in str(result.exception)


def test_help_has_examples():
    for arguments in ([], ["decode"], ["follow"], ["dissector"]):
        result = CliRunner().invoke(capture, [*arguments, "--help"])
        assert result.exit_code == 0
        assert "Example: emu capture" in " ".join(result.stdout.split())
