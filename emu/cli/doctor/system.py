"""Checks of the clock, the system's limits, files and secrets."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from emu.cli.config import file_problems
from emu.cli.doctor.database import read_one
from emu.cli.doctor.findings import Finding, fail, ok, warn
from emu.config import Config, exposed
from emu.config.administration import GgmpPolicy
from emu.database import Where
from emu.errors import ConfigError
from emu.limits.addresses import is_loopback
from emu.login.passwords import SALT_SIZE, PasswordConfig, check_password
from emu.net.admin.commands import rcon_users
from emu.store.repository import name_key
from emu.system import file_limit, own_user, user_name
from emu.texts import timestamp

CLOCK: Final = "clock"
WRITTEN: Final = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
"""An earlier date is wrong: the program did not exist then."""
LARGEST_STEP: Final = 0.05
"""Seconds that two clocks may differ over a short pause."""
AHEAD: Final = 3600.0
"""Seconds that a stored time may be ahead of the clock."""
SYNC: Final = "timedatectl set-ntp true, or set the clock: date -u --set"


def check_clock(
    database: Where,
    date: Callable[[], float],
    steady: Callable[[], float],
    pause: Callable[[float], None],
) -> Iterator[Finding]:
    """Compare the wall clock `date` with a `steady` clock and the stored times."""
    yield judge_date(date())
    before = date(), steady()
    pause(0.2)
    yield judge_pace(date() - before[0], steady() - before[1])
    newest = newest_login(database)
    if newest is not None:
        yield judge_stored(newest, date())


def judge_date(date: float) -> Finding:
    """Judge the date, in seconds since 1970."""
    if date < WRITTEN:
        return fail(CLOCK, f"it is not {timestamp(date)} any more", SYNC)
    return ok(CLOCK, f"it is {timestamp(date)}; the machine's time zone does not matter")


def judge_pace(passed: float, steady: float) -> Finding:
    """Judge how far the date moved in some steady seconds."""
    if abs(passed - steady) <= LARGEST_STEP:
        return ok(CLOCK, "the date and the monotonic clock run at the same speed")
    return warn(
        CLOCK, f"the date moved {passed:.2f} s in {steady:.2f} s: a program sets it",
        "let only one program set the clock: bans and last logins depend on it",
    )  # fmt: skip


def judge_stored(newest: float, date: float) -> Finding:
    """Judge the date by the newest stored login."""
    if newest <= date + AHEAD:
        return ok(CLOCK, "no stored login is in the future")
    return fail(
        CLOCK, f"the last login was at {timestamp(newest)}: the clock has been set back", SYNC
    )


def newest_login(database: Where) -> float | None:
    """Return the time of the newest login, None if it is not known."""
    row = read_one(database, "SELECT max(last_login) FROM accounts")
    return None if row is None or row[0] is None else float(row[0])


LIMITS: Final = "limits"
OWN_FILES: Final = 100
"""Files and ports that a server opens for itself."""
CONSOLES_AND_PAGES: Final = 200
OWN_MEMORY: Final = 150_000_000
"""Bytes of memory of a server without players."""
MEMORY: Final = Path("/proc/meminfo")
MEGABYTE: Final = 1_000_000


def check_limits(config: Config, process: int | None) -> Iterator[Finding]:
    """Check the limits of the running server, or those it would have if started here."""
    try:
        limit = file_limit(process or 0)
    except OSError:  # it has just ended, or belongs to another user
        limit = file_limit()
    yield judge_files(limit, wanted_files(config))
    available = _available()
    if available is not None:
        yield judge_memory(available, wanted_memory(config))


def wanted_files(config: Config) -> int:
    """Return how many files may be open: one for each TCP connection, none for players."""
    rcon = config.rcon
    closed = not (rcon.password or rcon.password_file or rcon.users_file)
    connections = 0 if closed else rcon.max_connections
    if config.login.enabled:
        connections += config.link.max_connections
    return OWN_FILES + CONSOLES_AND_PAGES + connections


def wanted_memory(config: Config) -> int:
    """Return the maximum memory of players and password checks, in bytes."""
    endpoints = int(config.login.enabled) + int(config.world.enabled)
    # The setting counts KiB, the result bytes.
    passwords = config.login.password_threads * config.login.password_memory_cost * 1024
    return OWN_MEMORY + endpoints * config.network.session_memory + passwords


def judge_files(limit: int | None, wanted: int) -> Finding:
    """Judge the limit of open files, None for none. The server raises its own to the system's."""
    if limit is None or limit >= wanted:
        given = "any number of" if limit is None else limit
        return ok(LIMITS, f"{given} open files; the settings allow {wanted}")
    text = f"{limit} open files, and the settings allow {wanted}"
    fix = f"LimitNOFILE={max(wanted, 65536)} in the unit, or ulimit -Hn; or lower max_connections"
    if limit < OWN_FILES:
        return fail(LIMITS, text, fix)
    return warn(LIMITS, text, fix)


def judge_memory(available: int, wanted: int) -> Finding:
    """Judge the machine's available memory, in bytes."""
    text = f"{available // MEGABYTE} MB of memory left, {wanted // MEGABYTE} MB at worst"
    if available >= wanted:
        return ok(LIMITS, text)
    return warn(LIMITS, text, "lower network.session_memory, or login.password_threads")


def _available() -> int | None:
    """Return the machine's available memory, in bytes."""
    try:
        found = re.search(r"^MemAvailable: +(\d+) kB", MEMORY.read_text("ascii"), re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) * 1024 if found is not None else None


FILES: Final = "files"
LONGEST_SOCKET_NAME: Final = 107
"""Maximum length of a UNIX socket's name on Linux, in bytes."""


def check_permissions(config: Config, source: Path | None) -> Iterator[Finding]:
    """Check all files that the configuration names; `source` is the configuration's own file."""
    troubles = [judge_trouble(found.text) for found in file_problems(config)]
    yield from troubles
    if not troubles:
        yield ok(FILES, "database, trace and certificate are usable")
    database = config.database.path
    if database.exists():
        yield judge_owner(database, database.stat().st_uid, own_user())
    secrets = list(exposed(config, source))
    yield from (judge_exposed(line) for line in secrets)
    if not secrets:
        yield ok(FILES, "files with secrets are readable only by their owner")
    if config.console.enabled:
        yield judge_socket(config.console_path)
    yield judge_log_folder(Path.cwd(), _is_writable(Path.cwd()))


def judge_trouble(line: str) -> Finding:
    """Judge a line about an unusable file."""
    if line.startswith("link.certificate"):
        return fail(FILES, line, "make one with: emu world certificate --out link.pem")
    if "damaged" in line or "newer version" in line:
        return fail(FILES, line, "restore a backup, or upgrade the program")
    return fail(FILES, line, "give the server's user access to the folder: chown, chmod u+rwx")


def judge_owner(path: Path, owner: int, user: int) -> Finding:
    """Judge the owner of the database."""
    if owner == user:
        return ok(FILES, f"{path} belongs to {user_name(user)}")
    return warn(
        FILES,
        f"{path} belongs to {user_name(owner)}, and you are {user_name(user)}",
        f"run emu and the server as one user: sudo -u {user_name(owner)} emu doctor",
    )


def judge_exposed(line: str) -> Finding:
    """Judge a line about a file with secrets that everybody can read."""
    what, _, fix = line.rpartition(": ")
    return warn(FILES, what, fix)


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
    """Judge the folder in which a daemon would write its log."""
    if is_writable:
        return ok(FILES, f"a daemon started in {folder} can write its log there")
    return warn(
        FILES, f"a daemon started in {folder} cannot write twistd.log and twistd.pid there",
        "start it in another folder, or give twistd --logfile and --pidfile (-n needs neither)",
    )  # fmt: skip


def _is_writable(folder: Path) -> bool:
    # An attempt also finds read-only mounts and full disks, which permissions do not show.
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


SECRETS: Final = "secrets"
SHORT: Final = 12
"""Passwords with fewer letters can be guessed over the network."""
GUESSED: Final = frozenset(
    ("password", "passwd", "secret", "changeme", "admin", "administrator", "letmein", "rcon",
     "test", "testpass", "qwerty", "eq2emu", "emu", "everquest", "12345678", "123456789")
)  # fmt: skip
"""The first passwords that attackers try."""
EXAMPLE: Final = ("testlabs", b"testpass")
"""The account that `make run` and the guides create."""


def check_secrets(config: Config) -> Iterator[Finding]:
    """Check every secret of the configuration, listeners without one, and the example account."""
    found = [*_passwords(config), *_open_listeners(config), *_example(config)]
    yield from found
    if not found:
        yield ok(SECRETS, "no password is easy to guess, and every open listener has one")


def judge_password(key: str, password: str, host: str) -> Finding | None:
    """Judge a password for a listener; one that is open to the network needs more letters."""
    fix = "choose a long one, for instance: openssl rand -base64 18"
    # Passwords of few different letters are guessed early as well.
    if password.casefold() in GUESSED or len(set(password)) < 3:
        judge = warn if is_loopback(host) else fail
        return judge(SECRETS, f"{key} is one that everybody tries first", fix)
    if len(password) < SHORT and not is_loopback(host):
        return fail(
            SECRETS, f"{key} has {len(password)} letters, and others reach the port at {host}", fix
        )
    return None


def _passwords(config: Config) -> Iterator[Finding]:
    rcon, ssq, world = config.rcon, config.ssq, config.world
    try:
        users = list(rcon_users(rcon))
    except ConfigError as error:
        yield fail(SECRETS, str(error), "fix that file")
        users = []
    for user in users:
        password = user.password.decode("utf-8", "replace")
        found = judge_password(f"the rcon password of {user.name}", password, rcon.listen.host)
        if found is not None:
            yield found
    if users and not is_loopback(rcon.listen.host):
        yield warn(
            SECRETS, f"rcon passwords cross the network unencrypted to {rcon.listen}",
            "listen on 127.0.0.1 and connect through ssh -L",
        )  # fmt: skip
    for key, password, host in (
        ("ssq.password", ssq.password if ssq.enabled else "", ssq.listen.host),
        # The login servers are elsewhere, so this password always crosses the network.
        ("world.password", world.password if world.login_servers else "", "0.0.0.0"),  # noqa: S104
    ):
        found = judge_password(key, password, host) if password else None
        if found is not None:
            yield found


def _example(config: Config) -> Iterator[Finding]:
    """Check whether the example account of the guides can log in from elsewhere."""
    name, password = EXAMPLE
    if is_loopback(config.login.listen.host):
        return
    query = "SELECT password FROM accounts WHERE name_key = ?"
    row = read_one(config.database.url, query, name_key(name))
    if row is None:
        return
    salt = bytes(SALT_SIZE)  # the new hash is for storage, and the doctor stores nothing
    if check_password(password, str(row[0]), salt, PasswordConfig()).right:
        yield fail(
            SECRETS, f"the account {name} has the password of the guides, and others can log in",
            f"emu account password {name}, or emu account remove {name}",
        )  # fmt: skip


def _open_listeners(config: Config) -> Iterator[Finding]:
    web, login = config.web.listen, config.login
    if web is not None and not is_loopback(web.host):
        yield fail(
            SECRETS, f"the page at {web} needs no password",
            "set web.listen to 127.0.0.1 behind a web server with a password",
        )  # fmt: skip
    ggmp = config.ggmp
    if ggmp.policy is GgmpPolicy.OPEN and ggmp.may_be_joined and not is_loopback(ggmp.listen.host):
        yield warn(
            SECRETS, f"any GGMP client may {', '.join(ggmp.open_actions)} without a token",
            "set ggmp.policy to token, or ggmp.listen to 127.0.0.1",
        )  # fmt: skip
    is_open = login.enabled and not is_loopback(login.listen.host)
    if is_open and login.auto_create_accounts:
        yield warn(
            SECRETS, "any login creates an account: login.auto_create_accounts",
            "set it to false and create accounts with emu account add",
        )  # fmt: skip
    if is_open and (login.crc_seed is not None or config.world.crc_seed is not None):
        yield warn(
            SECRETS, "crc_seed is one number for all: anybody can end the sessions of others",
            'set login.crc_seed and world.crc_seed to "random"',
        )  # fmt: skip
    if is_open and config.link.unregistered_worlds:
        yield warn(
            SECRETS, "any world may register here: link.unregistered_worlds",
            "set it to false and add worlds with emu world add",
        )  # fmt: skip
