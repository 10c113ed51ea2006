from __future__ import annotations

from emu.link.codec import MESH_OPCODES, TABLE_OPCODES, LinkOpcode


def test_numbers_are_those_of_the_recorded_link() -> None:
    assert LinkOpcode.LSInfo == 0x1000
    assert LinkOpcode.LSStatus == 0x1001
    assert LinkOpcode.CharacterCreate == 0x2013
    assert LinkOpcode.ZoneUpdate == 0x2019
    assert (LinkOpcode.UsertoWorldReq, LinkOpcode.UsertoWorldResp) == (0xAB00, 0xAB01)


def test_groups_of_refused_numbers() -> None:
    assert {0x2007, 0x2008, 0x2009, 0x200A} == MESH_OPCODES
    assert {0x2015, 0x2016, 0x2017} == TABLE_OPCODES
