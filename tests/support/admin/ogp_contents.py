"""Strategies for contents of OGP, and readers of the states that worked examples assume."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hypothesis import strategies as st

from emu.admin.ogp import fields as kinds
from emu.admin.ogp.elements import WIDE, ColorChange, Name, bit
from emu.admin.ogp.fields import (
    ADD_ON_FIELDS,
    MAP_FIELDS,
    TEAM_FIELDS,
    V94,
    AddOnFlag,
    OgpField,
    OgpVersion,
    PlayerFlag,
    ServerFlags,
)
from emu.admin.ogp.messages import OgpContent

TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=12)
U16 = st.integers(0, 0xFFFF)
U32 = st.integers(0, 0xFFFFFFFF)
I32 = st.integers(-0x80000000, 0x7FFFFFFF)
_PAIR = {
    name: st.fixed_dictionaries({"name": TEXTS, second: TEXTS})
    for name, second in (("mod", "dir"), ("map", "file"), ("next_map", "file"))
}
_MAP = {
    "file": TEXTS, "size": U32, "md5": st.binary(min_size=16, max_size=16).map(bytes.hex),
    "version": TEXTS, "url": TEXTS, "author": TEXTS,
}  # fmt: skip


_MOD = {"identifier": TEXTS, "size": U32, "version": TEXTS, "url": TEXTS, "author": TEXTS}


def names(*, colored: bool) -> st.SearchStrategy[Name]:
    """Return names, with colors or without."""
    if not colored:
        return st.builds(Name, TEXTS)
    narrow = st.integers(0, 0xFF).filter(lambda value: value not in WIDE)
    changes = st.lists(st.builds(ColorChange, st.integers(0, 40), narrow), max_size=3)
    ordered = changes.map(lambda found: tuple(sorted(found, key=lambda one: one.position)))
    return st.builds(Name, TEXTS, ordered)


def values(field: OgpField, dialect: OgpVersion, *, colored: bool) -> st.SearchStrategy[Any]:
    """Return values of a field."""
    if field.kind == kinds.MOD_94:
        named = st.fixed_dictionaries({"name": TEXTS.filter(bool)}, optional=_MOD)
        return st.just({"name": ""}) | named
    if field.name in _PAIR:
        return _PAIR[field.name]
    plain: dict[object, st.SearchStrategy[Any]] = {
        kinds.U16: U16, kinds.U32: U32, kinds.TEXT: TEXTS, kinds.UINT: U32, kinds.SINT: I32,
        kinds.NAME: names(colored=colored),
        kinds.PLAYER_FLAGS: st.integers(0, 0x3FFF).map(PlayerFlag),
        kinds.ADD_ON_FLAGS: st.integers(0, 0x7F).map(AddOnFlag),
        kinds.IPV4: st.ip_addresses(v=4).map(str),
        kinds.ADDRESS: st.ip_addresses().map(str) | st.just(""),
        kinds.SERVER_FLAGS_91: st.builds(
            ServerFlags, st.booleans(), st.booleans(), st.integers(0, 15), st.just(False)
        ),
        kinds.SERVER_FLAGS_94: st.builds(
            ServerFlags, st.booleans(), st.booleans(), st.integers(0, 7), st.booleans()
        ),
    }  # fmt: skip
    return plain[field.kind]


def rows(
    table: Iterable[OgpField], dialect: OgpVersion, *, colored: bool
) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Return lists of rows that all have the same fields, one at least."""

    def of(fields: list[OgpField]) -> st.SearchStrategy[list[dict[str, Any]]]:
        row = {field.name: values(field, dialect, colored=colored) for field in fields}
        return st.lists(st.fixed_dictionaries(row), max_size=4)

    return st.lists(st.sampled_from(list(table)), min_size=1, unique=True).flatmap(of)


@st.composite
def servers(draw: st.DrawFn, dialect: OgpVersion, *, colored: bool) -> dict[str, Any]:
    """Return a strategy for a server; maps of one server have the same fields."""
    fields = draw(st.lists(st.sampled_from(list(dialect.server)), unique=True))
    row = {field.name: draw(values(field, dialect, colored=colored)) for field in fields}
    if dialect is V94:
        parts = draw(st.lists(st.sampled_from([field.name for field in MAP_FIELDS]), unique=True))
        kept = st.fixed_dictionaries({"name": TEXTS, **{name: _MAP[name] for name in parts}})
        row |= {name: draw(kept) for name in ("map", "next_map") if name in row}
        if "map" not in row:
            row.pop("next_map", None)
    return row


@st.composite
def contents(draw: st.DrawFn, dialect: OgpVersion) -> tuple[OgpContent, bool]:
    """Return contents, and whether their names have colors."""
    colored = dialect.colors and draw(st.booleans())
    limits = st.fixed_dictionaries(
        {"type": st.integers(0, 15), "limit": U32}, optional={"left": U32}
    )
    content = OgpContent(
        game_id=draw(U16),
        server=draw(st.none() | servers(dialect, colored=colored)),
        teams=draw(st.none() | rows(TEAM_FIELDS, dialect, colored=colored)),
        players=draw(st.none() | rows(dialect.players, dialect, colored=colored)),
        rules=draw(st.none() | st.lists(st.tuples(TEXTS, TEXTS), max_size=4)),
        add_ons=draw(st.none() | rows(ADD_ON_FIELDS, dialect, colored=colored)),
        limits=draw(st.none() | st.lists(limits, max_size=3)),
    )
    return content, colored


_INFO = {
    "GameName": "game_name", "ConnectPort": "connect_port", "GameType": "game_type",
    "GameMode": "game_mode", "PlayerCount": "player_count", "SlotMax": "slot_max",
    "BotCount": "bot_count", "ReservedSlots": "reserved_slots",
}  # fmt: skip
_PLAYER = {
    "Slot": "slot", "Team": "team", "Class": "class", "Race": "race", "Score": "score",
    "Frags": "frags", "Kills": "kills", "Death": "death", "Suicides": "suicides",
    "TeamKills": "team_kills", "ID": "id", "GlobalID": "global_id", "Ping": "ping", "Loss": "loss",
    "Model": "model", "Time": "time",
}  # fmt: skip


def content_of(state: Mapping[str, Any]) -> OgpContent:
    """Return the content of a server that an example describes; empty lists are unknown there."""
    if "server" not in state:
        players = [{"slot": slot, "name": Name(f"Player{slot:03}")} for slot in range(60)]
        return OgpContent(258, players=players)
    server = state["server"]
    info = server["info"]
    colors = bytes.fromhex(server.get("hostname_colour", ""))
    changes, place = [], 0
    for delta, value in zip(colors[::2], colors[1::2], strict=True):
        place += delta
        changes.append(ColorChange(place, value))
    row = {
        **{ours: info[theirs] for theirs, ours in _INFO.items()},
        "host_name": Name(info["HostName"], tuple(changes)),
        "server_flags": ServerFlags(system=2),
        "mod": {"name": info["Mod"][0], "dir": info["Mod"][1]},
        "map": {"name": info["Map"][0], "file": info["Map"][1]},
        "next_map": {"name": info["NextMap"][0], "file": info["NextMap"][1]},
    }
    players = [
        {
            **{ours: one[theirs] for theirs, ours in _PLAYER.items()},
            "name": Name(one["Name"]),
            "flags": PlayerFlag(sum(bit(*place) for place in one["Flags"])),
        }
        for one in server["players"]
    ]
    rules = [(name, value) for name, value in server["rules"]]
    return OgpContent(server["game_id"], row, players=players, rules=rules)
