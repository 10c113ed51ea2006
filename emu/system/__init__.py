"""One set of functions over POSIX systems and over Windows, which do these things differently.

`posix` and `windows` define the same functions. Everything else in the project works the same on
both, or asks with `hasattr` whether the system has a thing, as Python's own library does. What was
tried on Windows, and how, is in docs/guides/windows.md.
"""

import os
from typing import Final

HAS_POSIX: Final = os.name == "posix"

if HAS_POSIX:
    from emu.system.posix import (
        ALARM,
        OPEN_FLAGS,
        alarm_now,
        allow_files,
        clear_alarm,
        file_limit,
        flush,
        is_running,
        lock,
        open_locked,
        open_shared,
        own_user,
        read_at,
        set_alarm,
        unlock,
        user_name,
        write_at,
    )
else:
    from emu.system.windows import (
        ALARM,
        OPEN_FLAGS,
        alarm_now,
        allow_files,
        clear_alarm,
        file_limit,
        flush,
        is_running,
        lock,
        open_locked,
        open_shared,
        own_user,
        read_at,
        set_alarm,
        unlock,
        user_name,
        write_at,
    )

__all__ = [
    "ALARM",
    "HAS_POSIX",
    "OPEN_FLAGS",
    "alarm_now",
    "allow_files",
    "clear_alarm",
    "file_limit",
    "flush",
    "is_running",
    "lock",
    "open_locked",
    "open_shared",
    "own_user",
    "read_at",
    "set_alarm",
    "unlock",
    "user_name",
    "write_at",
]
