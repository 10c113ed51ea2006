"""Who may use RCON: named users, each with a password and a rank. The password says who it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hmac import compare_digest

from emu.commands.ranks import ROLES


@dataclass(frozen=True, slots=True)
class RconUser:
    """One user; `rank` is on the scale of `admin_status`."""

    name: str
    rank: int
    password: bytes


class RconUsers:
    """All users; without one nobody can log in."""

    def __init__(self, users: Iterable[RconUser]) -> None:
        self._users = tuple(users)

    def __len__(self) -> int:
        return len(self._users)

    def __iter__(self) -> Iterator[RconUser]:
        return iter(self._users)

    def find(self, password: bytes) -> RconUser | None:
        """Return whose password this is; takes as long for a wrong one as for a right one."""
        found = None
        for user in self._users:
            if compare_digest(user.password, password):
                found = user
        return found


def read_users(text: str) -> list[RconUser]:
    """Read a users' file: on each line a name, a role and a password, ``#`` begins a comment.

    Raises `ValueError` that names the line and says what would be right.
    """
    users: dict[str, RconUser] = {}
    passwords: set[str] = set()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        words = line.split(maxsplit=2)
        if len(words) != 3:
            raise ValueError(f"line {number}: must be a name, a role and a password")
        name, role, password = words[0], words[1], words[2].strip()
        if role not in ROLES:
            raise ValueError(f"line {number}: {role!r} is none of {', '.join(ROLES)}")
        if name in users:
            raise ValueError(f"line {number}: {name!r} is there twice")
        if password in passwords:
            raise ValueError(f"line {number}: another user has this password")
        passwords.add(password)
        users[name] = RconUser(name, ROLES[role], password.encode())
    return list(users.values())
