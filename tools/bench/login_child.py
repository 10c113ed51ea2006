"""A server child with accounts made beforehand, for the sections that log players in."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from emu.config import load
from emu.config.world import WorldConfig
from emu.database import Where
from emu.limits.addresses import normalize_prefix
from emu.login.passwords import SALT_SIZE, PasswordConfig, hash_password
from emu.model import Character, Color, Equipment
from emu.net.parameters import account_config
from emu.net.world.registration import built_in_account
from emu.store import BannedAddress, Store
from emu.times import UNKNOWN
from emu.world.population.atlas import read_atlas
from tools.bench.login_players import PASSWORD, account_name
from tools.bench.processes import Child, child

CHEAP = ("login.password_memory_cost=8", "login.password_iterations=1")
"""Settings under which a password costs next to nothing, where it is not what is measured."""
OFTEN = ("login.logins_at_once=1000000", "login.address_logins_at_once=1000000")
"""Settings under which the same players may log in as often as they are measured."""
BANS = 1000
"""Banned addresses and networks that every server knows: no login may cost more for them."""
COLORS = (
    "skin_color", "skin_color2", "eye_color", "hair_color1", "hair_color2", "hair_highlight",
    "hair_type_color", "hair_face_color", "shirt_color", "pants_color", "eyes2", "ears", "cheeks",
    "lips", "chin", "nose",
)  # fmt: skip
MODELS = ("race_type", "hair_type", "face_type", "chest_type", "legs_type", "body_size")


@contextmanager
def login_child(
    accounts: int,
    *settings: str,
    characters: int = 0,
    module: str = "tools.bench.login_server",
    where: Where | None = None,
) -> Iterator[Child]:
    """Run a server that knows the first accounts of `tools.bench.login_players`.

    `where` is an empty database on a server; None for a file.
    """
    with tempfile.TemporaryDirectory(prefix="emu-bench-") as name:
        folder = Path(name)
        passwords = account_config(load(None, list(settings))).passwords
        make_accounts(where or folder / "emu.sqlite", accounts, passwords, characters)
        remote = () if where is None else (f"database.url={where}",)
        own = f"database.node_file={folder / 'node.sqlite'}"
        with child(module, str(folder), *OFTEN, own, *remote, *settings) as server:
            yield server


def make_accounts(path: Where, count: int, passwords: PasswordConfig, characters: int) -> None:
    """Make accounts with the same password; hashing it once is enough for a measurement."""
    hashed = hash_password(PASSWORD.encode(), os.urandom(SALT_SIZE), passwords)
    with Store.create(path) as store, store.transaction():
        built_in_account(store, WorldConfig().name, UNKNOWN, read_atlas())
        ban_many(store)
        world = store.login.worlds.find(WorldConfig().name)
        assert world is not None
        for number in range(count):
            account = store.login.accounts.add(account_name(number), hashed, UNKNOWN)
            for char_id in range(number * characters, (number + 1) * characters):
                store.login.characters.add(character(account.id, world.id, char_id + 1))


def ban_many(store: Store) -> None:
    """Ban single addresses of either kind, parts of some, and networks of all sizes."""
    for number in range(BANS // 4):
        for prefix in (
            f"203.0.{number}.{number + 1}",
            f"198.18.{number}",
            f"10.{number}.0.0/{16 + number % 17}",
            f"2001:db8:{number:x}::/{48 + number % 81}",
        ):
            store.login.bans.add(BannedAddress(normalize_prefix(prefix)))


def character(account_id: int, world_id: int, char_id: int) -> Character:
    """Return a character with the appearance of a real one."""
    return Character(
        id=0,
        account_id=account_id,
        world_id=world_id,
        char_id=char_id,
        name=f"Character{char_id}",
        level=20,
        zone_name="qey_north",
        appearance=dict.fromkeys(MODELS, 77),
        colors=dict.fromkeys(COLORS, Color(10, 200, 30)),
        equipment=tuple(Equipment(slot, 5000 + slot) for slot in range(10)),
    )
