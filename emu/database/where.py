"""The place of a database: a SQLite file, or a server's URL without its password."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import parse_qsl, quote, unquote

POSTGRESQL: Final = "postgresql"
"""Scheme of a URL; ``postgres`` means the same."""
_FORM: Final = f"{POSTGRESQL}://USER@HOST/DATABASE"


@dataclass(frozen=True, slots=True)
class ServerUrl:
    """The URL of a database on a server.

    `str` and `repr` leave the password out, so that no log, page or error shows it.
    """

    user: str
    host: str
    """Name or address, several with commas; empty for the socket of this machine."""
    port: str
    database: str
    password: str = field(default="", repr=False)
    options: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Further connection parameters of libpq, such as ``sslmode``."""

    def __str__(self) -> str:
        user = f"{quote(self.user)}@" if self.user else ""
        port = f":{self.port}" if self.port else ""
        return f"{POSTGRESQL}://{user}{quote(self.host, safe=',:[]')}{port}/{quote(self.database)}"

    @classmethod
    def parse(cls, text: str) -> ServerUrl:
        """Read a URL. Raises `ValueError`, whose text has nothing of the URL."""
        scheme, separator, rest = text.strip().partition("://")
        if scheme not in (POSTGRESQL, "postgres") or not separator or not text.isprintable():
            raise ValueError(f'must be "{_FORM}"')
        rest, _, query = rest.partition("?")
        server, _, database = rest.partition("/")
        # The last one: a password may have an @ that is not escaped.
        login, _, address = server.rpartition("@")
        user, _, password = login.partition(":")
        host, _, port = address.rpartition(":") if _has_port(address) else (address, "", "")
        options = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
        given = dict(options)
        # libpq also takes them as parameters; a password there would otherwise be shown.
        password = unquote(password) or given.pop("password", "")
        host = unquote(host) or given.pop("host", "")
        port = port or given.pop("port", "")
        if not database or "/" in database or not _is_port(port):
            raise ValueError(f'must be "{_FORM}", with one number as port')
        return cls(
            unquote(user) or given.pop("user", ""), host, port, unquote(database), password,
            tuple(sorted(given.items())),
        )  # fmt: skip

    def named(self, name: str) -> ServerUrl:
        """Return this URL for a connection that the server lists as `name`.

        A name in the URL itself counts more.
        """
        return replace(self, options=(("application_name", name), *self.options))

    def hide(self, text: str) -> str:
        """Return a text of the driver or the server without the password."""
        return text.replace(self.password, "***") if self.password else text


Where: TypeAlias = Path | ServerUrl
"""A SQLite file, or a database on a server."""


def shown(where: Where) -> str:
    """Return the URL of a database as the setting ``database.url`` has it, without a password."""
    return f"sqlite:{where}" if isinstance(where, Path) else str(where)


def _has_port(address: str) -> bool:
    # An IPv6 address has colons inside of its brackets.
    return ":" in address.rpartition("]")[2]


def _is_port(port: str) -> bool:
    return not port or (port.isascii() and port.isdigit() and 0 < int(port) < 65536)
