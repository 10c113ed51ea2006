"""Packet structs: microseconds of one decode or encode, and of packing a spawn.

The yardstick is a byte of RC4 in plain Python, which is the same kind of work.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from timeit import Timer

from emu.structs import shipped_catalog
from emu.structs.packed import DeltaBase, pack, unpack
from tools.bench.figures import Figure, Round
from tools.bench.yardsticks import RC4_BYTE, rc4_loop

VERSION = 546
CHARACTERS = 7
SECONDS_A_ROUND = 0.05
SMALL = ("LS_LoginRequest, decode", "LS_LoginRequest, encode", "WS_GameWorldTime, decode")

LOGIN = {"username": "aldana", "password": "correct horse", "version": VERSION}
CHARACTER = {
    "charid": 106, "server_id": 1, "name": "Aldana", "race": 9, "class": 1, "gender": 1,
    "level": 12, "zone": "Isle of Refuge", "zonename2": " ", "zonedesc": " ",
}  # fmt: skip
SPAWN = {
    "position": {"pos_heading1": -5632, "pos_x": 1.56, "pos_y": -7.97, "pos_z": 243.45},
    "vis": {"vis_flags": 1, "targetable": 1, "show_name": 1},
    "info": {"name": "Aldana", "level": 12, "model_type": 134, "race": 9, "power_percent": 100},
}


def report(rounds: int) -> list[Figure]:
    """Do each work beside the loop."""
    catalog = shipped_catalog()
    login = catalog.layout("LS_LoginRequest", VERSION)
    login_bytes = login.encode(LOGIN)
    time = catalog.layout("WS_GameWorldTime", VERSION)
    time_bytes = bytes.fromhex("e40f090e1415fa")
    profile = catalog.layout("CharSelectProfile", VERSION)
    character = _character()
    spawn = catalog.layout("WS_SpawnStruct", VERSION)
    ghost = spawn.encode(SPAWN)
    packed = pack(ghost, VERSION)
    base = DeltaBase(len(ghost))
    works: dict[str, Callable[[], object]] = {
        "LS_LoginRequest, decode": lambda: login.decode(login_bytes),
        "LS_LoginRequest, encode": lambda: login.encode(LOGIN),
        "WS_GameWorldTime, decode": lambda: time.decode(time_bytes),
        f"character list of {CHARACTERS}, encode": lambda: b"".join(
            [profile.encode(character) for _ in range(CHARACTERS)]
        ),
        "spawn of 1255 bytes, encode": lambda: spawn.encode(SPAWN),
        "spawn of 1255 bytes, XOR with the last": lambda: base.encode(ghost),
        "spawn of 1255 bytes, pack": lambda: pack(ghost, VERSION),
        "spawn of 1255 bytes, unpack": lambda: unpack(packed, len(ghost), VERSION),
    }
    return [
        Figure(what, "us", RC4_BYTE, _rounds(work, rounds), "3 us" if what in SMALL else "")
        for what, work in works.items()
    ]


def _character() -> dict[str, object]:
    """Return a profile with every field given, as the login service gives them."""
    layout = shipped_catalog().layout("CharSelectProfile", VERSION)
    whole = layout.decode(layout.encode({}))
    return whole | {key: value for key, value in CHARACTER.items() if key in whole}


def _rounds(work: Callable[[], object], rounds: int) -> list[Round]:
    timer, number = Timer(work, timer=process_time), 1
    while (took := timer.timeit(number)) < SECONDS_A_ROUND:
        number = max(
            number + 1, min(number * 10, int(number * 1.2 * SECONDS_A_ROUND / (took or 1e-9)))
        )
    return [Round(timer.timeit(number) / number * 1e6, rc4_loop().cpu * 1e6) for _ in range(rounds)]
