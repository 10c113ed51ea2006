"""What the check says of structs that load and are odd."""

from __future__ import annotations

import pytest

from emu.structs import shipped_catalog
from emu.structs.lints import oddities
from emu.structs.reader import read_text
from tests.support.patience import within

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
        (COUNT + COUNT, "field n: the name is used already"),
        (
            ARRAY,
            "field a: no field m precedes it, so the array never has elements",
        ),
        (
            '<Data ElementName="a" Type="int8" IfVariableSet="gone,n"/>',
            "field a: IfVariableSet names gone, but no such field precedes",
        ),
        (
            LATER,
            "field a: IfVariableNotEquals names later",
        ),
        ('<Data ElementName="i" Type="EQ2_Item"/>' + COUNT, "field i: an item before the end"),
    ],
)
def test_each_odd_thing_is_reported_with_its_place(fields: str, text: str) -> None:
    first, *rest = said(fields)
    assert first.startswith("odd.xml, line 3: struct WS_Odd 1: " + text)
    assert len(rest) <= 1  # the list of two names has one of them wrong twice


def test_what_is_in_order_is_not_reported() -> None:
    fields = (
        COUNT + '<Data ElementName="a" Type="Array" ArraySizeVariable="n" IfVariableSet="n">'
        '<Data ElementName="k" Type="int8"/>'
        '<Data ElementName="b" Type="Array" ArraySizeVariable="k_%i">'
        '<Data ElementName="f" Type="int8"/>'
        '<Data ElementName="c" Type="int8" IfVariableSet="f_0"/></Data></Data>'
        '<Data ElementName="i" Type="EQ2_Item"/>'
    )
    assert said(fields) == []


def test_names_around_an_array_are_not_known_in_it() -> None:
    fields = (
        COUNT + '<Data ElementName="a" Type="Array" ArraySizeVariable="n">'
        '<Data ElementName="b" Type="int8" IfVariableSet="n"/></Data>'
    )
    (line,) = said(fields)
    assert "field b: IfVariableSet names n, but no such field precedes it in its array" in line


HIDDEN_COUNT = (
    COUNT + '<Data ElementName="m" Type="int8" IfVariableNotSet="n"/>'
    '<Data ElementName="a" Type="Array" ArraySizeVariable="m" {}>'
    '<Data ElementName="b" Type="int8"/></Data>'
)


def test_elements_whose_count_may_be_absent_are_reported() -> None:
    (line,) = said(HIDDEN_COUNT.format(""))
    text = "struct WS_Odd 1: field a: its count m is not always present; elements without it"
    assert text + " can be written but not read back" in line
    assert said(HIDDEN_COUNT.format('IfVariableNotSet="n"')) == []
    assert said(HIDDEN_COUNT.format('IfVariableNotSet="n" IfFlagSet="f"')) == []
    assert len(said(HIDDEN_COUNT.format('IfVariableSet="n"'))) == 1


LOSING = (
    '<Struct Name="{name}" ClientVersion="1"><Data ElementName="n" Type="int8"/>'
    '<Data ElementName="a" Type="int8" IfVariableNotSet="n"/>'
    '<Data ElementName="b" Type="int8" IfVariableEquals="n"/></Struct>'
    '<Struct Name="WS_Odd" ClientVersion="1">'
    '<Data ElementName="s" Substruct="{name}"/></Struct>'
)


@pytest.mark.parametrize(
    ("name", "begin"),
    [("Substruct_Odd", "struct Substruct_Odd 1: copies lose "),
     ("Other", "struct WS_Odd 1: field s: copies of Other lose ")],
)  # fmt: skip
def test_conditions_that_copies_lose_are_reported_once(name: str, begin: str) -> None:
    text = f"<EQ2Emulator>{LOSING.format(name=name)}</EQ2Emulator>"
    structs = read_text(text.encode(), "odd.xml")
    first, second = (line for made in structs for line in oddities(made))
    assert (
        begin + "IfVariableNotSet of a; copies of these fields are always present, as in EQ2Em"
        in first
    )
    assert (
        begin + "IfVariableEquals of b; copies of these fields are always present, as in EQ2Em"
        in second
    )


@pytest.mark.slow
def test_our_own_files_do_without_conditions_that_copies_lose() -> None:
    assert not [
        line
        for made in shipped_catalog()
        for line in oddities(made)
        if " lose " in line or "not always there" in line
    ]


def test_a_substruct_may_speak_of_its_holders_fields() -> None:
    assert said(ARRAY, name="Substruct_Odd") == []
    assert len(said(ARRAY)) == 1


def test_messages_that_no_table_has_are_reported() -> None:
    head = 'OpcodeName="OP_ClientCmdMsg" OpcodeType="OP_EqOddCmd"'
    assert said(COUNT, head=head, known={"OP_ClientCmdMsg", "OP_EqOddCmd"}) == []
    assert said(COUNT, head=head) == []
    (line,) = said(COUNT, head=head, known={"OP_ClientCmdMsg"})
    assert line.startswith("odd.xml, line 2: struct WS_Odd 1: no opcode table has OP_EqOddCmd")


@pytest.mark.slow
def test_structs_that_each_hold_the_one_before_twice_are_looked_at_soon() -> None:
    held = '<Data ElementName="x" Substruct="S{0}"/><Data ElementName="y" Substruct="S{0}"/>'
    doubling = "".join(
        f'<Struct Name="S{i + 1}" ClientVersion="1">{held.format(i)}</Struct>' for i in range(12)
    )
    last = (
        '<Struct Name="Last" ClientVersion="1"><Data ElementName="z" Substruct="S12"/>{}</Struct>'
    )
    names = "z_" + "x_" * 11 + "y_n", "z_" + "x_" * 12 + "n_0_0", "z_" + "x_" * 13 + "n"
    asking = "".join(
        f'<Data ElementName="a{i}" Type="int8" IfVariableSet="{name}"/>'
        for i, name in enumerate(names)
    )
    with within(5):
        first = f'<Struct Name="S0" ClientVersion="1">{COUNT}</Struct>'
        text = f"<EQ2Emulator>{first}{doubling}{last.format(asking)}</EQ2Emulator>"
        structs = read_text(text.encode(), "odd.xml")
        (line,) = (line for made in structs for line in oddities(made))
        assert f"field a2: IfVariableSet names {names[2]}, but no such field precedes" in line
