"""Limits of the system: open files for connections, memory for sessions and passwords."""

from __future__ import annotations

import re
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from emu.cli.doctor.findings import Finding, fail, ok, warn
from emu.config import Config

LIMITS: Final = "limits"
OWN_FILES: Final = 100
"""Files and ports that a server has open for itself."""
CONSOLES_AND_PAGES: Final = 200
OWN_MEMORY: Final = 150_000_000
"""Bytes of a server that nobody has come to yet."""
MEMORY: Final = Path("/proc/meminfo")
MEGABYTE: Final = 1_000_000


def look_at_limits(config: Config, process: int | None) -> Iterator[Finding]:
    """Look at the limits of a running server, or those it would have if it were started here."""
    limit = _of_process(process) if process is not None else None
    if limit is None:
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    yield judge_files(limit, wanted_files(config))
    available = _available()
    if available is not None:
        yield judge_memory(available, wanted_memory(config))


def wanted_files(config: Config) -> int:
    """Return how many files may be open: each TCP connection is one, players are none."""
    rcon = config.rcon
    closed = not (rcon.password or rcon.password_file or rcon.users_file)
    connections = 0 if closed else rcon.max_connections
    if config.login.enabled:
        connections += config.link.max_connections
    return OWN_FILES + CONSOLES_AND_PAGES + connections


def wanted_memory(config: Config) -> int:
    """Return the bytes that players and passwords may take at worst."""
    endpoints = int(config.login.enabled) + int(config.world.enabled)
    passwords = config.login.password_threads * config.login.password_memory_cost * 1024
    return OWN_MEMORY + endpoints * config.network.session_memory + passwords


def judge_files(limit: int, wanted: int) -> Finding:
    """Judge how many files may be open; the server takes all that the system gives unasked."""
    if limit == resource.RLIM_INFINITY or limit >= wanted:
        given = "any number of" if limit == resource.RLIM_INFINITY else limit
        return ok(LIMITS, f"{given} open files; the settings allow {wanted}")
    text = f"{limit} open files, and the settings allow {wanted}"
    mend = f"LimitNOFILE={max(wanted, 65536)} in the unit, or ulimit -Hn; or lower max_connections"
    if limit < OWN_FILES:
        return fail(LIMITS, text, mend)
    return warn(LIMITS, text, mend)


def judge_memory(available: int, wanted: int) -> Finding:
    """Judge the bytes that are left on the machine."""
    text = f"{available // MEGABYTE} MB of memory left, {wanted // MEGABYTE} MB at worst"
    if available >= wanted:
        return ok(LIMITS, text)
    return warn(LIMITS, text, "lower network.session_memory, or login.password_threads")


def _of_process(process: int) -> int | None:
    """Return the open files that a running process may have, None when that cannot be seen."""
    try:
        return resource.prlimit(process, resource.RLIMIT_NOFILE)[1]
    except OSError:
        return None


def _available() -> int | None:
    """Return the bytes that programs can still have."""
    try:
        found = re.search(r"^MemAvailable: +(\d+) kB", MEMORY.read_text("ascii"), re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) * 1024 if found is not None else None
