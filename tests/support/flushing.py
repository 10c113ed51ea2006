"""Lets no program of the tests wait until a file is on the disk.

SQLite and `emu.system.flush` ask the system to write a file to the disk, thousands of times in a
run, and each time takes milliseconds in which a processor may have nothing to do. Only the end of
the machine could show a difference: a killed process loses nothing of what it has written. Tests
of a power cut have a disk of their own (`tests/simulation/disk.py`), which sees the same calls.
"""

from __future__ import annotations

import ctypes
import platform
import struct
import sys

_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38
_MODE_FILTER = 2

_SYSTEMS = {"x86_64": (0xC000003E, 74, 75), "aarch64": (0xC00000B7, 82, 83)}
"""By machine: the architecture as the kernel names it, and its numbers of `fsync` and `fdatasync`;
`linux/audit.h` and `asm/unistd.h`."""

_LOAD, _IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW = 0x7FFF0000
_DONE = 0x00050000
"""The call is not made, and its result is the error number 0: it has worked."""
_NUMBER, _ARCHITECTURE = 0, 4
"""Offsets in `struct seccomp_data`."""


class _Program(ctypes.Structure):
    """`struct sock_fprog`."""

    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]


def skip_flushes() -> bool:
    """Let flushes of this process, and of all that it starts, return at once.

    It cannot be undone. Returns False, and changes nothing, where the system has no such filter.
    """
    system = _SYSTEMS.get(platform.machine())
    if sys.platform != "linux" or system is None:
        return False
    steps = _steps(*system)
    program = _Program(len(steps) // 8, steps)
    prctl = ctypes.CDLL(None).prctl

    def is_set() -> bool:
        return int(prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(program), 0, 0)) == 0

    # Who is not root may set a filter once no program that it starts can gain rights.
    return is_set() or (int(prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) == 0 and is_set())


def _steps(architecture: int, *calls: int) -> bytes:
    """Return a filter as bytes: each step is a `struct sock_filter`."""
    count = len(calls)
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_IF_EQUAL, 0, count + 1, architecture),  # else to `_ALLOW`
        (_LOAD, 0, 0, _NUMBER),
        *[(_IF_EQUAL, count - place, 0, call) for place, call in enumerate(calls)],
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _DONE),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
