"""All that is wrong with a file, not only the first: what `emu structs check` reads with."""

from __future__ import annotations

from pathlib import Path

import pytest

from emu.errors import FileFormatError
from emu.structs import StructCatalog
from emu.structs.reader import COMPLAINT_LIMIT, read_text

BAD = """<EQ2Emulator>
<Struct Name="A" ClientVersion="1">
<Data ElementName="x" Type="INT8_t"/>
<Data ElementName="y" Type="nothing"/>
<Data ElementName="z" Type="int8"/>
</Struct>
<Struct ClientVersion="1"><Data ElementName="x" Type="int8"/></Struct>
<Struct Name="B" ClientVersion="1">
<Struct Name="Inner" ClientVersion="1"/>
<Data ElementName="x" Substruct="Nowhere"/>
</Struct>
<Struct Name="C" ClientVersion="546"><Data ElementName="a" Substruct="A"/></Struct>
</EQ2Emulator>"""


def test_every_complaint_is_collected_and_whole_structs_are_kept() -> None:
    complaints: list[FileFormatError] = []
    structs = read_text(BAD.encode(), "bad.xml", None, complaints)
    assert [(made.name, made.client_version) for made in structs] == [("C", 546)]
    assert [str(error).split(":")[0] for error in complaints] == [
        "bad.xml, line 4", "bad.xml, line 7", "bad.xml, line 9", "bad.xml, line 10",
    ]  # fmt: skip


def test_without_a_list_the_first_complaint_ends_the_reading() -> None:
    with pytest.raises(FileFormatError, match=r"line 4.*struct A.*field y"):
        read_text(BAD.encode(), "bad.xml")


@pytest.mark.parametrize("text", ["<EQ2Emulator><Struct", "<Other/>", "", "<!DOCTYPE a><a/>"])
def test_a_file_that_is_no_struct_file_is_refused_all_the_same(text: str) -> None:
    complaints: list[FileFormatError] = []
    with pytest.raises(FileFormatError):
        read_text(text.encode(), "bad.xml", None, complaints)
    assert complaints == []


def test_complaints_are_bounded() -> None:
    fields = '<Data ElementName="x" Type="nothing"/>' * (COMPLAINT_LIMIT + 5)
    text = f'<EQ2Emulator><Struct Name="A" ClientVersion="1">{fields}</Struct></EQ2Emulator>'
    complaints: list[FileFormatError] = []
    with pytest.raises(FileFormatError):
        read_text(text.encode(), "bad.xml", None, complaints)
    assert len(complaints) == COMPLAINT_LIMIT


def test_nesting_too_deep_is_one_complaint_of_its_struct() -> None:
    opened = '<Data ElementName="a" Type="Array" ArraySizeVariable="n">' * 40
    text = (
        f'<EQ2Emulator><Struct Name="A" ClientVersion="1">{opened}{"</Data>" * 40}</Struct>'
        '<Struct Name="B" ClientVersion="1"><Data ElementName="n" Type="int8"/></Struct>'
        "</EQ2Emulator>"
    )
    complaints: list[FileFormatError] = []
    structs = read_text(text.encode(), "deep.xml", None, complaints)
    assert [made.name for made in structs] == ["B"]
    assert "nested deeper" in str(complaints[0])


def test_a_catalog_takes_what_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "bad.xml"
    path.write_text(BAD)
    catalog = StructCatalog()
    with pytest.raises(FileFormatError):
        catalog.load(path)
    assert len(catalog) == 0
    complaints: list[FileFormatError] = []
    assert catalog.load(path, complaints) == 1
    assert len(complaints) == 4


WHOLE = '<EQ2Emulator><Struct Name="A" ClientVersion="1">{}</Struct></EQ2Emulator>'


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (
            b'<!DOCTYPE a [<!ENTITY a "xx"><!ENTITY b "&a;&a;">]><EQ2Emulator>&b;</EQ2Emulator>',
            "type",
        ),
        (b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', "type declaration"),
        (b'<?xml version="1.0" encoding="nonsense"?><EQ2Emulator/>', "unknown encoding"),
        (b'<?xml version="1.0" encoding="rot13"?><EQ2Emulator/>', "not readable XML"),
        (b'<?xml version="1.0" encoding="utf-7"?><EQ2Emulator/>', "not readable XML"),
        (b'<EQ2Emulator a="\xff"/>', "not well-formed"),
        (WHOLE.format(chr(0)).encode(), "not well-formed"),
        (WHOLE.format('<Data ElementName="&#xD800;" Type="int8"/>').encode(), "not well-formed"),
        (b"<a>" * 20_000 + b"</a>" * 20_000, "root element"),
        (
            WHOLE.format('<Data ElementName="a" Type="Array">' * 3000).encode(),
            "nested deeper|no Arr",
        ),
        (WHOLE.format('<Data ElementName="a" Type="int8" Size="-1"/>').encode(), "a number from"),
        (WHOLE.format(f'<Data ElementName="a" Size="{"9" * 5000}"/>').encode(), "a number from"),
        (WHOLE.format('<Data ElementName="a" Type="int8" Size="\u00b2"/>').encode(), "a number"),
        (WHOLE.format('<Data ElementName="a" Substruct="A"/>').encode(), "copies itself"),
        (WHOLE.format(f'<Data ElementName="{"x" * 500_000}"/>').encode(), "more than 128"),
    ],
)
def test_a_malformed_file_is_refused_with_one_line(data: bytes, reason: str) -> None:
    with pytest.raises(FileFormatError, match=reason) as error:
        read_text(data, "bad.xml")
    assert str(error.value).startswith("bad.xml, line 1: ")
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300
