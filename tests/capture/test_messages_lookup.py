"""The choice of layouts for a message, from struct files written here."""

from __future__ import annotations

import itertools

import pytest

from emu.capture.messages import StructLookup, opcode_ranges
from emu.errors import EmuError, FileFormatError, UnknownStruct
from emu.opcodes import OpcodeRow, OpcodeTables, shipped_tables
from emu.structs import StructCatalog, shipped_catalog

STRUCTS = """<EQ2Emulator>
<Struct Name="Reply" ClientVersion="1" OpcodeName="OP_LoginReplyMsg">
<Data ElementName="code" Type="int8" Size="1" />
</Struct>
<Struct Name="Reply" ClientVersion="546" OpcodeName="OP_LoginReplyMsg">
<Data ElementName="code" Type="int16" Size="1" />
</Struct>
<Struct Name="Text" ClientVersion="1" OpcodeName="OP_ClientCmdMsg" OpcodeType="OP_EqTextCmd">
<Data ElementName="text" Type="EQ2_16Bit_String" Size="1" />
</Struct>
<Struct Name="LoginByNumRequest" ClientVersion="1">
<Data ElementName="old" Type="int16" Size="1" />
<Data ElementName="version" Type="int16" Size="1" />
</Struct>
<Struct Name="LoginByNumRequest" ClientVersion="562">
<Data ElementName="middle" Type="int8" Size="3" />
</Struct>
<Struct Name="LoginByNumRequest" ClientVersion="1208">
<Data ElementName="new" Type="int64" Size="1" />
<Data ElementName="version" Type="int16" Size="1" />
</Struct>
</EQ2Emulator>
"""
OTHER = """<EQ2Emulator>
<Struct Name="Mine" ClientVersion="1" OpcodeName="OP_LoginReplyMsg">
<Data ElementName="mine" Type="int8" Size="1" />
</Struct>
</EQ2Emulator>
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "Own.xml"
    path.write_text(STRUCTS)
    return path


def decoded(lookup, name, command, version, data):
    found = []
    for layout in lookup.layouts_for(name, command, version):
        try:
            found.append(layout.decode(data))
        except EmuError:
            continue
    return found


def test_a_messages_struct_is_the_highest_not_above(file):
    lookup = StructLookup(StructCatalog(), [file])
    assert decoded(lookup, "OP_LoginReplyMsg", None, 545, b"\1") == [{"code": 1}]
    assert decoded(lookup, "OP_LoginReplyMsg", None, 546, b"\1\0") == [{"code": 1}]
    assert decoded(lookup, "OP_LoginReplyMsg", None, 546, b"\1") == []
    assert decoded(lookup, "OP_OtherMsg", None, 546, b"\1") == []


def test_a_commands_struct_is_not_the_wrappers(file):
    lookup = StructLookup(StructCatalog(), [file])
    text = b"\2\0hi"
    assert decoded(lookup, "OP_ClientCmdMsg", "OP_EqTextCmd", 546, text) == [{"text": "hi"}]
    assert decoded(lookup, "OP_ClientCmdMsg", None, 546, text) == []


NAME = "OP_LoginByNumRequestMsg"


@pytest.mark.parametrize("version", [546, 900, 60114])
def test_the_first_message_is_tried_with_both_structs_that_servers_try(file, version):
    lookup = StructLookup(StructCatalog(), [file])
    word = version.to_bytes(2, "little")
    old, new = {"old": 1, "version": version}, {"new": 1, "version": version}
    assert decoded(lookup, NAME, None, version, b"\1\0" + word)[0] == old
    assert decoded(lookup, NAME, None, version, b"\1" + bytes(7) + word)[0] == new


@pytest.mark.parametrize("version", [546, 900, 60114])
def test_bytes_behind_the_first_message_are_let_be_when_the_version_is_right(file, version):
    lookup = StructLookup(StructCatalog(), [file])
    word = version.to_bytes(2, "little")
    assert decoded(lookup, NAME, None, version, b"\1\0" + word + bytes(40)) == [
        {"old": 1, "version": version}
    ]
    assert decoded(lookup, NAME, None, version, bytes(48)) == []


def test_the_operators_structs_come_first(file, tmp_path):
    other = tmp_path / "Other.xml"
    other.write_text(OTHER)
    catalog = StructCatalog()
    catalog.load(file)
    lookup = StructLookup(catalog, [other])
    found = decoded(lookup, "OP_LoginReplyMsg", None, 1, b"\1")
    assert found == [{"mine": 1}, {"code": 1}]
    assert lookup.layouts_for("OP_LoginReplyMsg", None, 1) is lookup.layouts_for(
        "OP_LoginReplyMsg", None, 1
    )


def test_a_message_is_found_under_its_former_name_too():
    lookup = StructLookup(shipped_catalog())
    for name in ("OP_SignalMsg", "OP_SysClient"):
        assert decoded(lookup, name, None, 1208, b"\2\0hi") == [{"signal": "hi"}]


def test_structs_by_name_are_the_operators_first(file):
    lookup = StructLookup(shipped_catalog(), [file])
    assert lookup.layout("Reply", 546).decode(b"\1\0") == {"code": 1}
    assert lookup.layout("LoginByNumRequest", 562).empty_size() == 3
    assert lookup.layout("WS_CharacterSheet", 546).empty_size() == 4897
    with pytest.raises(UnknownStruct):
        lookup.layout("WS_CharacterSheet", 545)


def test_a_bad_struct_file_is_refused(tmp_path):
    path = tmp_path / "Bad.xml"
    path.write_text("<EQ2Emulator><Struct")
    with pytest.raises(FileFormatError, match=r"Bad\.xml"):
        StructLookup(StructCatalog(), [path])


def test_ranges_for_the_dissector_do_not_overlap():
    ranges = list(opcode_ranges(shipped_tables()))
    for (_, high, _), (low, _, _) in itertools.pairwise(ranges):
        assert high < low
    low, high, names = next(one for one in ranges if one[0] <= 546 <= one[1])
    assert low <= 546 <= high
    assert names[0] == "OP_LoginRequestMsg"


def test_ranges_name_what_the_tables_name():
    tables = OpcodeTables([OpcodeRow(1, 9, "OP_XMsg", 3), OpcodeRow(5, 6, "OP_YMsg", 3)])
    for low, high, names in opcode_ranges(tables):
        assert names[3] == tables.for_version(low).name(3) == tables.for_version(high).name(3)
