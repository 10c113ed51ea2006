"""Packet structs: microseconds of one decode or encode, and of packing a spawn.

Aim: about 3 us for a small struct. Each figure is the best of several runs, so that what else the
machine does does not count.
"""

from __future__ import annotations

from collections.abc import Callable
from timeit import Timer

from emu.structs import shipped_catalog
from emu.structs.packed import DeltaBase, pack, unpack

VERSION = 546
CHARACTERS = 7
RUNS = 7
SECONDS_A_RUN = 0.05

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


def report() -> list[tuple[str, str]]:
    """Measure and return rows (what, figure)."""
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
    return [
        ("LS_LoginRequest, decode", _figure(lambda: login.decode(login_bytes))),
        ("LS_LoginRequest, encode", _figure(lambda: login.encode(LOGIN))),
        ("WS_GameWorldTime, decode", _figure(lambda: time.decode(time_bytes))),
        (
            f"character list of {CHARACTERS}, encode",
            _figure(lambda: b"".join([profile.encode(character) for _ in range(CHARACTERS)])),
        ),
        ("spawn of 1255 bytes, encode", _figure(lambda: spawn.encode(SPAWN))),
        ("spawn of 1255 bytes, XOR with the last", _figure(lambda: base.encode(ghost))),
        ("spawn of 1255 bytes, pack", _figure(lambda: pack(ghost, VERSION))),
        ("spawn of 1255 bytes, unpack", _figure(lambda: unpack(packed, len(ghost), VERSION))),
    ]


def _character() -> dict[str, object]:
    """Return a profile with every field given, as the login service gives them."""
    layout = shipped_catalog().layout("CharSelectProfile", VERSION)
    whole = layout.decode(layout.encode({}))
    return whole | {key: value for key, value in CHARACTER.items() if key in whole}


def _figure(work: Callable[[], object]) -> str:
    timer = Timer(work)
    number, took = timer.autorange()
    number = max(1, int(number * SECONDS_A_RUN / took))
    best = min(timer.repeat(RUNS, number)) / number
    return f"{best * 1e6:.2f} us"
