"""Files: who may read and write the database, what lies beside it, and what holds secrets."""

from __future__ import annotations

import os
import pwd
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from emu.cli.config.check import look_at_files
from emu.cli.doctor.findings import Finding, fail, ok, warn
from emu.config import Config, exposed

FILES: Final = "files"
LONGEST_SOCKET_NAME: Final = 107
"""Bytes that Linux has for the name of a UNIX socket."""


def look_at_permissions(config: Config, source: Path | None) -> Iterator[Finding]:
    """Look at all files that the configuration, which is in `source`, names."""
    troubles = [judge_trouble(found.text) for found in look_at_files(config)]
    yield from troubles
    if not troubles:
        yield ok(FILES, "database, trace and certificate can be used")
    database = config.database.path
    if database.exists():
        yield judge_owner(database, database.stat().st_uid, os.geteuid())
    secrets = list(exposed(config, source))
    yield from (judge_exposed(line) for line in secrets)
    if not secrets:
        yield ok(FILES, "what holds secrets is not readable by everybody")
    if config.console.enabled:
        yield judge_socket(config.console_path)
    yield judge_log_folder(Path.cwd(), _is_writable(Path.cwd()))


def judge_trouble(line: str) -> Finding:
    """Judge a line about a file that cannot be used."""
    if line.startswith("link.certificate"):
        return fail(FILES, line, "make one with: emu world certificate --out link.pem")
    if "damaged" in line or "newer version" in line:
        return fail(FILES, line, "restore a backup, or upgrade the program")
    return fail(FILES, line, "give the server's user the folder: chown, chmod u+rwx")


def judge_owner(path: Path, owner: int, user: int) -> Finding:
    """Judge whose the database is."""
    if owner == user:
        return ok(FILES, f"{path} belongs to {_name(user)}")
    return warn(
        FILES,
        f"{path} belongs to {_name(owner)}, and you are {_name(user)}",
        f"run emu and the server as one user: sudo -u {_name(owner)} emu doctor",
    )


def judge_exposed(line: str) -> Finding:
    """Judge a line about a file with secrets that everybody can read."""
    what, _, mend = line.rpartition(": ")
    return warn(FILES, what, mend)


def judge_socket(path: Path) -> Finding:
    """Judge the name of the socket for `emu admin`."""
    size = len(os.fsencode(path))
    if size <= LONGEST_SOCKET_NAME:
        return ok(FILES, f"the console's socket is {path}")
    return fail(
        FILES, f"the console's socket has a name of {size} bytes, over {LONGEST_SOCKET_NAME}",
        "set console.path to a shorter one, for instance in /run/eq2emu",
    )  # fmt: skip


def judge_log_folder(folder: Path, is_writable: bool) -> Finding:
    """Judge where a daemon that is started here would write its log."""
    if is_writable:
        return ok(FILES, f"a daemon started in {folder} can write its log there")
    return warn(
        FILES, f"a daemon started in {folder} cannot write twistd.log and twistd.pid there",
        "start it elsewhere, or give twistd --logfile and --pidfile (-n needs neither)",
    )  # fmt: skip


def _is_writable(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _name(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"user {user}"
