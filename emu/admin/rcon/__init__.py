"""Source RCON: commands over TCP, for the tools that administrators have.

`packets` is the wire format, `session` the server's side, `client` the other.
"""

from __future__ import annotations

from emu.admin.rcon.client import RconClient
from emu.admin.rcon.packets import Packet, PacketType
from emu.admin.rcon.session import RconRules, RconSession
from emu.admin.rcon.users import RconUser, RconUsers

__all__ = [
    "Packet",
    "PacketType",
    "RconClient",
    "RconRules",
    "RconSession",
    "RconUser",
    "RconUsers",
]
