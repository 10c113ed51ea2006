"""A server child with accounts made beforehand, for the sections that log players in."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from emu.config import load
from emu.login.passwords import SALT_SIZE, PasswordConfig, hash_password
from emu.net.parameters import account_config
from emu.store import Store
from tools.bench.fleet import PASSWORD, account_name
from tools.bench.processes import Child, child

CHEAP = ("login.password_memory_cost=8", "login.password_iterations=1")
"""Settings under which a password costs next to nothing, where it is not what is measured."""


@contextmanager
def login_child(accounts: int, *settings: str) -> Iterator[Child]:
    """Run a server that knows the first accounts of `tools.bench.fleet`."""
    with tempfile.TemporaryDirectory(prefix="emu-bench-") as name:
        folder = Path(name)
        passwords = account_config(load(None, list(settings))).passwords
        make_accounts(folder / "emu.sqlite", accounts, passwords)
        with child("tools.bench.login_server", str(folder), *settings) as server:
            yield server


def make_accounts(path: Path, count: int, passwords: PasswordConfig) -> None:
    """Make accounts with the same password; hashing it once is enough for a measurement."""
    hashed = hash_password(PASSWORD.encode(), os.urandom(SALT_SIZE), passwords)
    with Store.create(path) as store, store.transaction():
        for number in range(count):
            store.add_account(account_name(number), hashed, 0.0)
