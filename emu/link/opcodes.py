"""The operation numbers of the login-world link; names as EQ2Emulator has them.

Source: docs/protocol/link.md#opcodes.
"""

from __future__ import annotations

from enum import IntEnum


class LinkOpcode(IntEnum):
    """What a frame is for; u16 at offset 5 of the frame."""

    RELAY = 0x0000
    """Keep-alive of the connection layer; the payload, if any, is old relay control."""
    KeepAlive = 0x0001
    EmoteMessage = 0x0009
    LSInfo = 0x1000
    LSStatus = 0x1001
    LSFatalError = 0x1003
    SystemwideMessage = 0x1005
    ListWorlds = 0x1006
    EncapPacket = 0x2007
    WorldListUpdate = 0x2008
    WorldListRemove = 0x2009
    TriggerWorldListRefresh = 0x200A
    CharTimeStamp = 0x200F
    BasicCharUpdate = 0x2012
    CharacterCreate = 0x2013
    NameCharUpdate = 0x2014
    GetTableData = 0x2015
    GetTableQuery = 0x2016
    GetLatestTables = 0x2017
    RaceUpdate = 0x2018
    ZoneUpdate = 0x2019
    BugReport = 0x201A
    ResetDatabase = 0x201B
    ZoneUpdates = 0x201C
    LoginEquipment = 0x201D
    CharacterPicture = 0x201E
    UsertoWorldReq = 0xAB00
    UsertoWorldResp = 0xAB01


MESH_OPCODES = frozenset({
    LinkOpcode.EncapPacket,
    LinkOpcode.WorldListUpdate,
    LinkOpcode.WorldListRemove,
    LinkOpcode.TriggerWorldListRefresh,
})  # fmt: skip
"""Spoken only between login servers of the old mesh; a world that sends one is not a world."""

TABLE_OPCODES = frozenset({
    LinkOpcode.GetTableData,
    LinkOpcode.GetTableQuery,
    LinkOpcode.GetLatestTables,
})  # fmt: skip
"""Database updates that a login server once handed out; refused."""
