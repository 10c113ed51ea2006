"""Secrets: passwords that anybody guesses, and doors that ask for none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from emu.cli.doctor.database import read_one
from emu.cli.doctor.findings import Finding, fail, ok, warn
from emu.config import Config
from emu.errors import ConfigError
from emu.limits.addresses import is_loopback
from emu.login.accounts.passwords import SALT_SIZE, check_password
from emu.login.accounts.settings import PasswordConfig
from emu.net.admin.rcon import rcon_users
from emu.store.names import name_key

SECRETS: Final = "secrets"
SHORT: Final = 12
"""Letters below which a password can be tried out from the network."""
GUESSED: Final = frozenset(
    ("password", "passwd", "secret", "changeme", "admin", "administrator", "letmein", "rcon",
     "test", "testpass", "qwerty", "eq2emu", "emu", "everquest", "12345678", "123456789")
)  # fmt: skip
"""Passwords that every list of passwords begins with."""
EXAMPLE: Final = ("testlabs", b"testpass")
"""The account that `make run` and the guides make."""


def look_at_secrets(config: Config) -> Iterator[Finding]:
    """Look at every secret of the configuration, at doors that need none, and at one account."""
    found = [*_passwords(config), *_open_doors(config), *_example(config)]
    yield from found
    if not found:
        yield ok(SECRETS, "no password is easily guessed, no open door is without one")


def judge_password(key: str, password: str, host: str) -> Finding | None:
    """Judge a password that opens a port on an address, None when it is good enough there."""
    mend = "choose a long one, for instance: openssl rand -base64 18"
    if password.casefold() in GUESSED or len(set(password)) < 3:
        judge = warn if is_loopback(host) else fail
        return judge(SECRETS, f"{key} is one that everybody tries first", mend)
    if len(password) < SHORT and not is_loopback(host):
        return fail(
            SECRETS, f"{key} has {len(password)} letters, and others reach the port at {host}", mend
        )
    return None


def _passwords(config: Config) -> Iterator[Finding]:
    rcon, ssq, world = config.rcon, config.ssq, config.world
    try:
        users = list(rcon_users(rcon))
    except ConfigError as error:
        yield fail(SECRETS, str(error), "mend the file that it names")
        users = []
    for user in users:
        password = user.password.decode("utf-8", "replace")
        found = judge_password(f"the rcon password of {user.name}", password, rcon.listen.host)
        if found is not None:
            yield found
    if users and not is_loopback(rcon.listen.host):
        yield warn(
            SECRETS, f"rcon passwords cross the network in the clear to {rcon.listen}",
            "listen on 127.0.0.1, and come through ssh -L",
        )  # fmt: skip
    for key, password, host in (
        ("ssq.password", ssq.password if ssq.enabled else "", ssq.listen.host),
        ("world.password", world.password if world.login_servers else "", "0.0.0.0"),  # noqa: S104
    ):
        found = judge_password(key, password, host) if password else None
        if found is not None:
            yield found


def _example(config: Config) -> Iterator[Finding]:
    """Look whether others can log in with the name and password that stand in every guide."""
    name, password = EXAMPLE
    if is_loopback(config.login.listen.host):
        return
    query = "SELECT password FROM accounts WHERE name_key = ?"
    row = read_one(config.database.path, query, name_key(name))
    if row is None:
        return
    salt = bytes(SALT_SIZE)  # for a new hash of an old kind, which nobody keeps
    if check_password(password, str(row[0]), salt, PasswordConfig()).right:
        yield fail(
            SECRETS, f"the account {name} has the password of the guides, and others can log in",
            f"emu account password {name}, or emu account remove {name}",
        )  # fmt: skip


def _open_doors(config: Config) -> Iterator[Finding]:
    web, login = config.web.listen, config.login
    if web is not None and not is_loopback(web.host):
        yield fail(
            SECRETS, f"the page at {web} asks nobody for a password",
            "set web.listen to 127.0.0.1, and put a web server with a password in front",
        )  # fmt: skip
    ggmp = config.ggmp
    if ggmp.policy == "open" and ggmp.may_be_joined and not is_loopback(ggmp.listen.host):
        yield warn(
            SECRETS, f"whoever comes by GGMP may {', '.join(ggmp.open_actions)} without a token",
            "set ggmp.policy to token, or ggmp.listen to 127.0.0.1",
        )  # fmt: skip
    is_open = login.enabled and not is_loopback(login.listen.host)
    if is_open and login.auto_create_accounts:
        yield warn(
            SECRETS, "whoever logs in gets an account: login.auto_create_accounts",
            "set it to false, and make accounts with emu account add",
        )  # fmt: skip
    if is_open and (login.crc_seed is not None or config.world.crc_seed is not None):
        yield warn(
            SECRETS, "crc_seed is one number for all: anybody can end the sessions of others",
            'set login.crc_seed and world.crc_seed to "random"',
        )  # fmt: skip
    if is_open and config.link.unregistered_worlds:
        yield warn(
            SECRETS, "any world may register here: link.unregistered_worlds",
            "set it to false, and name worlds with emu world add",
        )  # fmt: skip
