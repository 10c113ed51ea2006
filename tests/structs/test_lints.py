"""What the check says of structs that load and are odd."""

from __future__ import annotations

import pytest

from emu.structs.lints import oddities
from emu.structs.reader import read_text

COUNT = '<Data ElementName="n" Type="int8"/>'
ARRAY = (
    '<Data ElementName="a" Type="Array" ArraySizeVariable="m">'
    '<Data ElementName="b" Type="int8"/></Data>'
)
LATER = (
    '<Data ElementName="a" Type="int8" IfVariableNotEquals="later"/>'
    '<Data ElementName="later" Type="int8"/>'
)


def said(
    fields: str, *, name: str = "WS_Odd", head: str = "", known: set[str] | None = None
) -> list[str]:
    struct = f'<Struct Name="{name}" ClientVersion="1" {head}>\n{fields}\n</Struct>'
    text = f"<EQ2Emulator>\n{struct}</EQ2Emulator>"
    structs = read_text(text.encode(), "odd.xml")
    return [line for made in structs for line in oddities(made, known)]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (COUNT + COUNT, "field n: the name stands there already"),
        (
            ARRAY,
            "field a: no field m before it, so it never has elements",
        ),
        (
            '<Data ElementName="a" Type="int8" IfVariableSet="gone,n"/>',
            "field a: IfVariableSet names gone, which does not stand before it",
        ),
        (
            LATER,
            "field a: IfVariableNotEquals names later",
        ),
        ('<Data ElementName="i" Type="EQ2_Item"/>' + COUNT, "field i: an item before the end"),
    ],
)
def test_each_odd_thing_is_told_with_its_place(fields: str, text: str) -> None:
    first, *rest = said(fields)
    assert first.startswith("odd.xml, line 3: struct WS_Odd 1: " + text)
    assert len(rest) <= 1  # the list of two names has one of them wrong twice


def test_what_is_in_order_is_not_told() -> None:
    fields = (
        COUNT + '<Data ElementName="a" Type="Array" ArraySizeVariable="n" IfVariableSet="n">'
        '<Data ElementName="k" Type="int8"/>'
        '<Data ElementName="b" Type="Array" ArraySizeVariable="k_%i">'
        '<Data ElementName="c" Type="int8" IfVariableSet="n"/></Data></Data>'
        '<Data ElementName="i" Type="EQ2_Item"/>'
    )
    assert said(fields) == []


def test_a_substruct_may_speak_of_its_holders_fields() -> None:
    assert said(ARRAY, name="Substruct_Odd") == []
    assert len(said(ARRAY)) == 1


def test_messages_that_no_table_has_are_told() -> None:
    head = 'OpcodeName="OP_ClientCmdMsg" OpcodeType="OP_EqOddCmd"'
    assert said(COUNT, head=head, known={"OP_ClientCmdMsg", "OP_EqOddCmd"}) == []
    assert said(COUNT, head=head) == []
    (line,) = said(COUNT, head=head, known={"OP_ClientCmdMsg"})
    assert line.startswith("odd.xml, line 2: struct WS_Odd 1: no opcode table has OP_EqOddCmd")
