"""What OGP 0.91 and 0.94 say of a server, as tables: the flag, name and type of each field.

The order of a table is that of the values on the wire. Source:
docs/protocol/administration/ogp.md#fields, docs/protocol/administration/ogp.md#dialect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from emu.admin.ogp import kinds
from emu.admin.ogp.elements import Numbers, Numbers91, Numbers94, bit
from emu.admin.ogp.kinds import NAME, SINT, TEXT, U16, U32, UINT, Field

SERVER: Final = bit(0, 0)
TEAMS: Final = bit(0, 1)
PLAYERS: Final = bit(0, 2)
RULES: Final = bit(0, 3)
ADD_ONS: Final = bit(0, 4)
LIMITS: Final = bit(0, 5)
COLORED: Final = bit(1, 0)
"""RequestFlags: which sections there are, and whether names carry colors."""

NOT_ASSIGNED: Final = -1
"""Team of a player who is in none."""

_COUNTS: Final = (
    Field(bit(2, 0), "player_count", UINT),
    Field(bit(2, 1), "slot_max", UINT),
    Field(bit(2, 2), "bot_count", UINT),
    Field(bit(2, 3), "reserved_slots", UINT),
)
_MOD_94: Final = bit(1, 0)
_MAP_94: Final = bit(1, 3)
_NEXT_MAP_94: Final = bit(1, 4)

_SERVER_91: Final = (
    Field(bit(0, 0), "game_name", TEXT),
    Field(bit(0, 1), "server_flags", kinds.SERVER_FLAGS_91),
    Field(bit(0, 2), "mod", kinds.pair("name", "dir")),
    Field(bit(0, 3), "connect_port", U16),
    Field(bit(1, 0), "host_name", NAME),
    Field(bit(1, 1), "map", kinds.pair("name", "file")),
    Field(bit(1, 2), "next_map", kinds.pair("name", "file")),
    Field(bit(1, 3), "game_type", TEXT),
    Field(bit(1, 4), "game_mode", TEXT),
    *_COUNTS,
)
_SERVER_94: Final = (
    Field(bit(0, 0), "game_name", TEXT),
    Field(bit(0, 1), "server_flags", kinds.SERVER_FLAGS_94),
    Field(bit(0, 2), "host_name", NAME),
    Field(bit(0, 3), "connect_port", U16),
    Field(_MOD_94, "mod", kinds.MOD_94),
    Field(bit(1, 1), "game_type", TEXT),
    Field(bit(1, 2), "game_mode", TEXT),
    Field(_MAP_94, "map", kinds.MAP_94),
    Field(_NEXT_MAP_94, "next_map", kinds.NEXT_MAP_94),
    *_COUNTS,
)
TEAM_FIELDS: Final = (
    Field(bit(0, 0), "name", NAME),
    Field(bit(0, 1), "score", SINT),
    Field(bit(0, 2), "average_ping", U16),
    Field(bit(0, 3), "average_loss", U16),
    Field(bit(0, 4), "player_count", UINT),
    Field(bit(0, 5), "color", U16),
)
_PLAYER: Final = (
    Field(bit(0, 0), "flags", kinds.PLAYER_FLAGS),
    Field(bit(0, 1), "slot", UINT),
    Field(bit(0, 2), "name", NAME),
    Field(bit(0, 3), "team", SINT),
    Field(bit(0, 4), "class", TEXT),
    Field(bit(0, 5), "race", TEXT),
    Field(bit(1, 0), "score", SINT),
    Field(bit(1, 1), "frags", SINT),
    Field(bit(1, 2), "kills", UINT),
    Field(bit(1, 3), "death", UINT),
    Field(bit(1, 4), "suicides", UINT),
    Field(bit(1, 5), "team_kills", UINT),
    Field(bit(2, 0), "id", U32),
    Field(bit(2, 1), "global_id", TEXT),
    Field(bit(2, 2), "ping", U16),
    Field(bit(2, 3), "loss", U16),
    Field(bit(2, 4), "model", TEXT),
    Field(bit(2, 5), "time", U16),
)
ADD_ON_FIELDS: Final = (
    Field(bit(0, 0), "flags", kinds.ADD_ON_FLAGS),
    Field(bit(0, 1), "short_name", TEXT),
    Field(bit(0, 2), "long_name", TEXT),
    Field(bit(0, 3), "version", TEXT),
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """One version of the protocol."""

    name: str
    numbers: Numbers
    server: Sequence[Field]
    players: Sequence[Field]
    arrays: Mapping[str, tuple[str, int]]
    """The bit arrays behind RequestFlags, in order: name, and what brings it, a flag of another
    array or of the request itself (``requests``)."""
    all_arrays: bool
    """Whether they may all be there whatever the flags say."""
    colors: bool
    """Whether names may carry colors."""
    needs: Mapping[int, int]
    """Fields of the server that cannot be without another: its flag, and the other's."""


_ARRAYS: Final = {
    "server": ("requests", SERVER),
    "teams": ("requests", TEAMS),
    "players": ("requests", PLAYERS),
    "add_ons": ("requests", ADD_ONS),
}

V91: Final = Dialect(
    "0.91",
    Numbers91(),
    _SERVER_91,
    (*_PLAYER, Field(bit(3, 0), "ipv4", kinds.IPV4)),
    _ARRAYS,
    all_arrays=False,
    colors=True,
    needs={},
)
V94: Final = Dialect(
    "0.94",
    Numbers94(),
    _SERVER_94,
    (*_PLAYER, Field(bit(3, 0), "address", kinds.ADDRESS)),
    {
        "server": _ARRAYS["server"],
        "mod": ("server", _MOD_94),
        "map": ("server", _MAP_94),
        **_ARRAYS,
    },
    all_arrays=True,
    colors=False,
    needs={_NEXT_MAP_94: _MAP_94},
)
DIALECTS: Final = (V91, V94)
"""In the order in which a question is tried to be read."""
