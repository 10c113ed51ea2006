"""A live database of MySQL or MariaDB, read in place of a dump of it.

PyMySQL speaks the protocol; it is an optional library (the extra `mariadb`) and is imported with
the first connection. All rows are read in one read-only transaction with a consistent snapshot, and
come as a stream, so a table of any size needs little memory. Values have the types that a dump of
the same rows gives: dates are text in UTC, decimals are numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from emu.errors import CommandError
from emu.sqldump.reader import InsertRow

SCHEMES: Final = ("mysql", "mariadb")
PORT: Final = 3306
CONNECT_SECONDS: Final = 10
READ_SECONDS: Final = 60
"""Longest wait for the next bytes of a result."""
SETTINGS: Final = (
    # A slow import must not make the server give up the stream (its default is 60 s).
    "SET SESSION net_write_timeout = 600",
    # As mysqldump does, so that TIMESTAMP columns have the same text.
    "SET SESSION time_zone = '+00:00'",
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
)
TABLES: Final = (
    "SELECT table_name, engine FROM information_schema.tables WHERE table_schema = DATABASE()"
)
SNAPSHOTS: Final = frozenset(("innodb", "rocksdb"))
"""Storage engines whose rows a snapshot fixes."""

_CURES: Final = {
    1044: "the user has no rights on this database: GRANT SELECT ON {database}.* TO {user}",
    1045: "the user or the password is wrong, or the user may not come from this machine",
    1049: "the server has no database {database}",
    1142: "the user may not read a table: GRANT SELECT ON {database}.* TO {user}",
    1698: "this user can log in only through the server's socket: add ?socket=PATH to the URL,"
    " or use a user with a password",
    2003: "no server answers there",
}
"""Error numbers of MySQL and MariaDB -> fault and cure."""


@dataclass(frozen=True, slots=True)
class LiveAddress:
    """The parts of a URL: ``mysql://USER[:PASSWORD]@HOST[:PORT]/DATABASE[?socket=PATH&ca=FILE]``.

    With `ca`, the file of a certificate authority, the server must prove its name by TLS. Without,
    TLS is used if the server offers it.
    """

    user: str
    host: str
    port: int
    database: str
    password: str | None = field(repr=False)
    socket: str | None = None
    ca: str | None = None

    def __str__(self) -> str:
        port = "" if self.port == PORT else f":{self.port}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        socket = f"?socket={self.socket}" if self.socket else ""
        return f"mysql://{self.user}@{host}{port}/{self.database}{socket}"


def is_url(text: str) -> bool:
    """Return whether a text is the URL of a live database, and no file."""
    return text.partition("://")[0].lower() in SCHEMES and "://" in text


def parse(url: str) -> LiveAddress:
    """Return the parts of a URL. Raises `CommandError`, whose text has no password."""
    # The text after the last @ has no password, however wrong the URL is.
    shown = f"mysql://...@{url.rpartition('@')[2]}" if "@" in url else url
    try:
        split = urlsplit(url)
        port = split.port or PORT
    except ValueError as error:
        raise CommandError(f"{shown}: is no URL of a database ({error})") from None
    database = unquote(split.path).strip("/")
    if not split.username or not split.hostname or not database or "/" in database:
        raise CommandError(f"{shown}: write it like mysql://USER@HOST/DATABASE")
    options = _options(split, shown)
    return LiveAddress(
        unquote(split.username), split.hostname, port, database,
        None if split.password is None else unquote(split.password),
        options.get("socket"), options.get("ca"),
    )  # fmt: skip


def _options(split: SplitResult, shown: str) -> dict[str, str]:
    options = dict(parse_qsl(split.query))
    unknown = sorted(set(options) - {"socket", "ca"})
    if unknown or split.fragment:
        raise CommandError(f"{shown}: after the database's name, only socket= and ca= are known")
    authority = options.get("ca")
    if authority is not None and not Path(authority).is_file():
        raise CommandError(f"{shown}: there is no file {authority!r}")
    return options


class LiveDatabase:
    """A live database as a source of rows; errors and notes name it without its password.

    `password` is asked once, before the first connection, if the URL has none. `warn` gets a line
    if the snapshot does not fix the rows of some tables.
    """

    def __init__(
        self,
        url: str,
        *,
        password: Callable[[str], str] = lambda _who: "",
        warn: Callable[[str], object] = lambda _line: None,
    ) -> None:
        self.address = parse(url)
        self.tables: set[str] = set()
        self._ask = password
        self._warn = warn
        self._names: dict[str, str] = {}
        """Name in lower case -> name."""
        self._unfixed: set[str] = set()
        self._connection: Any = None

    def __str__(self) -> str:
        return str(self.address)

    @property
    def name(self) -> str:
        """The database's name."""
        return self.address.database

    def error(self, text: str) -> CommandError:
        """Return an error that names the database."""
        return CommandError(f"{self}: {text}")

    def close(self) -> None:
        """End the connection, if there is one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def open(self) -> None:
        """Connect and fix the snapshot, unless that was done. Raises `CommandError`."""
        if self._connection is not None:
            return
        with self._faults():
            self._connection = self._connect()
            with self._connection.cursor() as cursor:
                for statement in SETTINGS:
                    cursor.execute(statement)
                cursor.execute(TABLES)
                for name, engine in cursor.fetchall():
                    self._names[name.lower()] = name
                    if engine and engine.lower() not in SNAPSHOTS:
                        self._unfixed.add(name.lower())
        self.tables.update(self._names)

    def read_rows(self, tables: Collection[str]) -> Iterator[InsertRow]:
        """Yield the rows of those tables that exist. Raises `CommandError`.

        Only one reading at a time may be under way.
        """
        self.open()
        here = sorted({name.lower() for name in tables} & self.tables)
        self._warn_of(here)
        with self._faults():
            for name in here:
                yield from self._rows(self._names[name])

    def _connect(self) -> Any:
        import pymysql  # noqa: PLC0415  # an optional library
        from pymysql.cursors import SSCursor  # noqa: PLC0415

        at = self.address
        password = at.password
        if password is None:
            password = self._ask(f"Password of {at.user} for {at.database} at {at.host}")
        options: dict[str, Any] = {}
        if at.socket:
            options["unix_socket"] = at.socket
        if at.ca:
            options |= {"ssl_ca": at.ca, "ssl_verify_identity": True}
        return pymysql.connect(
            user=at.user,
            # As bytes: PyMySQL takes a text as Latin-1, the server as UTF-8.
            password=password.encode(),
            host=at.host,
            port=at.port,
            database=at.database,
            charset="utf8mb4",
            conv=_converters(),
            cursorclass=SSCursor,
            connect_timeout=CONNECT_SECONDS,
            read_timeout=READ_SECONDS,
            write_timeout=READ_SECONDS,
            program_name="emu",
            autocommit=True,
            **options,
        )

    def _warn_of(self, tables: Collection[str]) -> None:
        unfixed = [name for name in tables if name in self._unfixed]
        if unfixed:
            self._unfixed.difference_update(unfixed)
            self._warn(
                f"{self}: some tables are not InnoDB ({', '.join(unfixed)}): what the old server"
                " changes in them during the import may be read or not; stop it before"
            )

    def _rows(self, table: str) -> Iterator[InsertRow]:
        with self._connection.cursor() as cursor:
            quoted = table.replace("`", "``")
            cursor.execute(f"SELECT * FROM `{quoted}`")  # noqa: S608  # a table of the server's own list
            columns = tuple(column[0] for column in cursor.description)
            for values in cursor.fetchall_unbuffered():
                yield InsertRow(table, columns, values, 0)

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """Raise the driver's errors as `CommandError`."""
        import pymysql  # noqa: PLC0415  # an optional library

        try:
            yield
        except pymysql.err.MySQLError as error:
            raise self.error(self._fault(error)) from None

    def _fault(self, error: Exception) -> str:
        code, *rest = error.args or (0,)
        text = _CURES.get(code)
        if text is None:
            return f"cannot be read ({rest[0] if rest else error})"
        at = self.address
        return f"{text.format(database=at.database, user=at.user)} ({rest[0] if rest else code})"


def _converters() -> dict[int, Callable[[Any], Any]]:
    """Return the functions that make values of texts, by the type of the column."""
    from pymysql.constants import FIELD_TYPE  # noqa: PLC0415  # an optional library

    whole = ("TINY", "SHORT", "LONG", "LONGLONG", "INT24", "YEAR")
    found: dict[int, Callable[[Any], Any]] = {getattr(FIELD_TYPE, name): int for name in whole}
    others = ("FLOAT", "DOUBLE", "DECIMAL", "NEWDECIMAL")
    found |= {getattr(FIELD_TYPE, name): _number for name in others}
    found[FIELD_TYPE.BIT] = int.from_bytes
    return found


def _number(text: str) -> int | float:
    # As in a dump, where a whole number has no decimal point, whatever its column's type.
    return float(text) if text.strip("+-0123456789") else int(text)
