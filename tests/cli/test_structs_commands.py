"""`emu structs`: list, decode, encode and check, as an operator types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from emu.structs import shipped_catalog
from emu.structs.packed import pack
from tests.support.running.command_line import CommandLine

ODD = """<EQ2Emulator>
<Struct Name="WS_Mine" ClientVersion="546" OpcodeName="OP_MineMsg">
<Data ElementName="n" Type="int16"/><Data ElementName="flagged" Type="int8" IfFlagSet="loot"/>
</Struct>
</EQ2Emulator>"""
TIME = "e40f090e1415fa"


@pytest.fixture
def mine(tmp_path: Path) -> str:
    path = tmp_path / "mine.xml"
    path.write_text(ODD)
    return str(path)


@pytest.mark.slow
def test_list_reports_every_layout(emu: CommandLine) -> None:
    rows = emu.rows("structs", "list")
    assert len(rows) == len(shipped_catalog())
    assert {"WS_HearChat", "LS_LoginReplyMsg"} <= {row["name"] for row in rows}


def test_list_filters_by_version_name_and_message(emu: CommandLine) -> None:
    (chat,) = emu.rows("structs", "list", "hearchat", "--version", "560")
    assert chat == {
        "name": "WS_HearChat", "version": 373, "bytes": 21, "message": "OP_ClientCmdMsg",
        "command": "OP_EqHearChatCmd", "file": "WorldStructs.xml", "line": chat["line"],
    }  # fmt: skip
    assert emu.rows("structs", "list", "OP_EQHEARCHAT", "--version", "300") == []
    assert len(emu.rows("structs", "list", "OP_EqHearChatCmd")) == 4


def test_list_knows_every_name_of_a_message(emu: CommandLine) -> None:
    # EQ2Emulator's newer data calls OP_SignalMsg OP_SysClient.
    (signal,) = emu.rows("structs", "list", "OP_SysClient")
    assert (signal["name"], signal["message"]) == ("WS_Signal", "OP_SignalMsg")


def test_other_files_take_the_place_of_ours(emu: CommandLine, mine: str) -> None:
    names = [row["name"] for row in emu.rows("structs", "list", "--file", mine)]
    assert names == ["WS_Mine"]
    folder = str(Path(mine).parent)
    assert emu.rows("structs", "list", "--folder", folder)[0]["message"] == "OP_MineMsg"
    both = emu.run("structs", "list", "--file", mine, "--folder", folder)
    assert both.exit_code == 2


def test_decode_prints_fields_as_json(emu: CommandLine) -> None:
    result = emu.good(
        "structs", "decode", "WS_GameWorldTime", "--version", "546", "e40f:09 0e\n14 15 fa"
    )
    fields = json.loads(result.stdout)
    assert list(fields) == ["year", "month", "day", "hour", "minute", "unknown"]
    assert fields["year"] == 4068


def test_which_versions_a_definition_covers_is_reported_beside_it(emu: CommandLine) -> None:
    for words in (("show", "LS_WorldList"), ("decode", "LS_WorldList", "00")):
        name, *data = words[1:]
        result = emu.good("structs", words[0], name, "--version", "561", *data)
        assert "LS_WorldList of client versions 546-561" in result.stderr
        assert "of client versions" not in result.stdout


def test_bytes_that_do_not_fit_show_where_and_what_was_read(emu: CommandLine) -> None:
    result = emu.run("structs", "decode", "WS_GameWorldTime", "--version", "546", "e40f09")
    assert result.exit_code == 1
    assert json.loads(result.stdout) == {"year": 4068, "month": 9}
    reported = "WS_GameWorldTime 1, field day, byte 3: message shorter than its layout"
    assert reported in str(result.exception)


@pytest.mark.parametrize("given", [TIME, f"0x{TIME}", TIME.upper(), f" {TIME}\n"])
def test_what_was_decoded_can_be_encoded_by_standard_input(emu: CommandLine, given: str) -> None:
    words = ("WS_GameWorldTime", "--version", "546", "-")
    fields = emu.good("structs", "decode", *words, stdin=given).stdout
    assert emu.good("structs", "encode", *words, stdin=fields).stdout == TIME + "\n"


def test_any_byte_of_a_text_makes_the_way_and_back(emu: CommandLine) -> None:
    hexed = "0001" + bytes(range(256)).hex()
    shown = emu.good("structs", "decode", "WS_Signal", "--version", "546", hexed).stdout
    assert shown.isascii()
    assert shown.replace("\n", "").isprintable()
    again = emu.good("structs", "encode", "WS_Signal", "--version", "546", shown)
    assert again.stdout.strip() == hexed


def test_commands_are_taken_out_of_their_message_and_put_in(emu: CommandLine) -> None:
    hexed = "10000000ffa2010100000000000000" + "5c8f023fff"
    words = ("WS_SetControlGhost", "--version", "546", "--command")
    shown = emu.good("structs", "decode", *words, hexed).stdout
    assert json.loads(shown)["unknown2"] == 255
    assert emu.good("structs", "encode", *words, shown).stdout.strip() == hexed
    other = emu.refused("structs", "decode", *words, "07000000ffa30101000000")
    assert "no command 418" in other
    assert "not a command inside" in emu.refused(
        "structs", "encode", "WS_Signal", "--version", "546", "--command", "{}"
    )


def test_packed_structs_are_unpacked_and_packed(emu: CommandLine) -> None:
    layout = shipped_catalog().layout("WS_SpawnStruct", 546)
    hexed = pack(layout.encode({"info": {"name": "Aldana", "level": 1}}), 546).hex()
    words = ("WS_SpawnStruct", "--version", "546", "--packed")
    shown = emu.good("structs", "decode", *words, hexed).stdout
    assert json.loads(shown)["info"]["name"] == "Aldana"
    assert emu.good("structs", "encode", *words, "-", stdin=shown).stdout.strip() == hexed


def test_flags_float_colors_and_lenient_reading(emu: CommandLine, mine: str) -> None:
    words = ("WS_Mine", "--version", "546", "--file", mine)
    fields = '{"n": 1, "flagged": 2}'
    assert emu.good("structs", "encode", *words, fields).stdout == "0100\n"
    assert emu.good("structs", "encode", *words, "--flag", "loot", fields).stdout == "010002\n"
    assert "shorter than its layout" in emu.refused("structs", "decode", *words, "01")
    short = emu.good("structs", "decode", *words, "--lenient", "01").stdout
    assert json.loads(short) == {"n": 0}
    create = emu.good(
        "structs", "encode", "CreateCharacter", "--version", "1208", "--create-color", "{}"
    )
    assert len(create.stdout.strip()) == 2 * 692


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("decode", "WS_Nothing", "--version", "546", "00"), "there is no struct WS_Nothing"),
        (("decode", "ws_hearchat", "--version", "546", "00"), "similar: WS_HearChat"),
        (
            ("show", "WS_HearChat", "--version", "300"),
            "WS_HearChat has no layout for version 300; its first is 373",
        ),
        (("decode", "WS_Signal", "--version", "546", "zz"), "not readable hex"),
        (("decode", "WS_Signal", "--version", "546", "0"), "not readable hex"),
        (("decode", "WS_Signal", "--version", "546", "0500"), "2 bytes are not WS_Signal of"),
        (("encode", "WS_Signal", "--version", "546", "{"), "not readable JSON"),
        (("encode", "WS_Signal", "--version", "546", "[" * 100_000), "not readable JSON"),
        (("encode", "WS_Signal", "--version", "546", "[]"), "must be an object"),
        (("encode", "WS_Signal", "--version", "546", '{"signal": 5}'), "WS_Signal 1.signal"),
        (("encode", "WS_Signal", "--version", "546", '{"sign": ""}'), "sign: unknown field"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    emu: CommandLine, words: tuple[str, ...], text: str
) -> None:
    assert text in emu.refused("structs", *words)


@pytest.mark.parametrize(
    "words",
    [
        ("decode", "WS_Signal", "00"),
        ("decode", "WS_Signal", "--version", "new", "00"),
        ("list", "--file", "/nowhere.xml"),
        ("check",),
        ("unknown",),
    ],
)
def test_a_wrong_command_line_ends_with_status_2(emu: CommandLine, words: tuple[str, ...]) -> None:
    assert emu.run("structs", *words).exit_code == 2


@pytest.mark.parametrize("verb", ["list", "show", "decode", "encode", "check"])
def test_every_help_has_an_example(emu: CommandLine, verb: str) -> None:
    assert "Example: emu structs" in emu.good("structs", verb, "--help").stdout


def test_standard_input_is_bounded(emu: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("emu.cli.structs.INPUT_LIMIT", 10)
    words = ("structs", "decode", "WS_Signal", "--version", "546", "-")
    assert "more than 10 characters" in emu.refused(*words, stdin="00" * 6)


def test_check_passes_files_with_mere_notes(emu: CommandLine, mine: str) -> None:
    result = emu.good("structs", "check", mine, "--format", "json")
    (note,) = json.loads(result.stdout)
    assert note["severity"] == "note"
    assert "no opcode table has OP_MineMsg" in note["message"]
    assert json.loads(
        emu.good("structs", "check", mine, "--level", "error", "--format", "json").stdout
    ) == []  # fmt: skip


def test_check_reports_all_complaints_and_fails(emu: CommandLine, tmp_path: Path) -> None:
    bad = tmp_path / "bad.xml"
    bad.write_text(
        '<EQ2Emulator><Struct Name="A" ClientVersion="1"><Data ElementName="x" Type="new"/>\n'
        '<Data ElementName="y"/></Struct>\n<Struct Name="B"/></EQ2Emulator>'
    )
    cut = tmp_path / "cut.xml"
    cut.write_text(ODD[:150])
    result = emu.run("structs", "check", str(bad), str(cut), "--format", "csv")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert [line.split(",")[:2] for line in lines[1:]] == [
        ["error", '"bad.xml'], ["error", '"bad.xml'], ["error", '"bad.xml'], ["error", '"cut.xml'],
    ]  # fmt: skip


def test_check_finds_doubled_structs(emu: CommandLine, mine: str) -> None:
    result = emu.good("structs", "check", mine, mine)
    assert "is already defined in mine.xml, line 2" in result.stdout
    assert "1 structs" in result.stderr


@pytest.mark.slow
def test_our_own_files_pass_the_check(emu: CommandLine) -> None:
    folder = Path(__file__).parents[2] / "data" / "structs"
    names = ("Common", "Login", "LoginCode", "World", "Spawn", "Trial")
    files = [str(folder / f"{name}Structs.xml") for name in names]
    emu.good("structs", "check", "--level", "error", *files)


@pytest.mark.slow
def test_commands_have_the_numbers_of_the_chosen_database(emu: CommandLine, tmp_path: Path) -> None:
    words = ("structs", "encode", "WS_HearChat", "{}", "--version", "546", "--command")
    shipped = emu.good(*words).stdout
    emu.good("opcodes", "set", "OP_EqHearChatCmd", "700", "--version", "546")
    changed = emu.good(*words).stdout
    assert (700).to_bytes(2, "little").hex() in changed
    assert changed != shipped
    other = str(tmp_path / "other.sqlite")
    emu.good("opcodes", "set", "OP_EqHearChatCmd", "701", "--version", "546", "--db", other)
    again = emu.good(*words, "--db", other).stdout
    assert (701).to_bytes(2, "little").hex() in again
    wire = ("structs", "decode", "WS_HearChat", again.strip(), "--version", "546", "--command")
    assert '"message": ""' in emu.good(*wire, "--db", other).stdout
    assert "the message has no command 700" in emu.refused(*wire)
