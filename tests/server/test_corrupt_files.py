"""Files that are damaged in any way: one line that names the file, and never a traceback.

Real files are changed at random and given to what reads them at a start or in a command.
EMU_CORRUPT_ROUNDS is how many changes are made to each file.
"""

import os
import random
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from emu.cli.config import machine_problems
from emu.cli.doctor.database import check_database
from emu.cli.doctor.opcodes import check_opcodes
from emu.cli.main import root
from emu.config import load
from emu.database.sqlite.keeper import Keeper
from emu.errors import ConfigError, EmuError
from emu.files import data_file, opcodes_folder
from emu.net.link.tls import make_certificate
from emu.net.opcode_source import OpcodeWatcher
from emu.net.server import check_files
from emu.opcodes import OpcodeStore
from emu.store import Store
from emu.structs import StructCatalog
from emu.worlds import RegisteredWorld
from tests.cli.test_capture import MESSAGES, trace_of
from tests.cli.test_eq2emu_imports import DUMP
from tests.support.database.store_crasher import change
from tests.support.examples import nightly
from tests.support.sessions.conversations import pcap, whole_session

ROUNDS = int(os.environ.get("EMU_CORRUPT_ROUNDS", "3"))
PAGE = 4096
SETTINGS = b"""[database]
url = "sqlite:emu.sqlite"
[login]
listen = "127.0.0.1:0"
[world]
listen = "127.0.0.1:0"
zones = "zones"
knowledge = "knowledge"
name = "Norrath"
[link]
certificate = "link.pem"
tls_listen = "127.0.0.1:0"
[rcon]
listen = "127.0.0.1:0"
password_file = "rcon.password"
users_file = "rcon.users"
[ggmp]
listen = "127.0.0.1:0"
tokens_file = "ggmp.tokens"
"""
SMALL: dict[str, bytes] = {
    "emu.toml": SETTINGS,
    "rcon.password": b"a long password\n",
    "rcon.users": b"# users\nbob guide secretsecret\nann master passpass word\n",
    "ggmp.tokens": b"gate query,watch 3f9a2c71d05be846\nother * 3f9a2c71d05be8461\n",
    "dump.sql": DUMP.encode(),
}
INSERTED = (
    b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3", b'"', b"[", b"{" * 3000, b"1e999", b"\n",
    b"9" * 5000, b"<!ENTITY", b"\xed\xa0\x80", b"\x1b[2J",
)  # fmt: skip
NUMBERS = (b"nan", b"inf", b"-1", b"1e400", b"9" * 30, b"true", b'"x"', b"[]", b"{}", b"1979-05-27")
TEXTS = (b'""', b"5", b"[]", b'"\\u0000"', b'"' + b"x" * 70_000 + b'"', b"{}", b'"a\\nb"')


def changed(data: bytes, choice: random.Random) -> bytes:
    """Damage a file in one of several ways."""
    found = bytearray(data)
    place = choice.randrange(len(found))
    match choice.randrange(8):
        case 0:
            found[place] = choice.randrange(256)
        case 1:
            found[place : place + choice.randrange(40)] = choice.randbytes(choice.randrange(1, 40))
        case 2:
            del found[place:]
        case 3:
            found[place:place] = choice.choice(INSERTED)
        case 4:
            return data.decode("latin-1").encode("utf-16")
        case 5:
            return exchanged(data, rb"-?\d+(\.\d+)?", NUMBERS, choice)
        case 6:
            return exchanged(data, rb'"[^"\n]*"', TEXTS, choice)
        case 7:
            return b""
    return bytes(found)


def exchanged(data: bytes, what: bytes, by: tuple[bytes, ...], choice: random.Random) -> bytes:
    matches = list(re.finditer(what, data))
    if not matches:
        return data + b"\xff"
    match = choice.choice(matches)
    return data[: match.start()] + choice.choice(by) + data[match.end() :]


def in_one_line(path: Path, read: Callable[[Path], object]) -> None:
    """Have a file read, and look at what is said of it when it is refused."""
    try:
        read(path)
    except ConfigError as error:
        lines = error.problems
    except EmuError as error:
        lines = (str(error),)
    else:
        return
    for line in lines:
        assert line.isprintable(), line
        assert path.name in line, line


def commanded(*words: object) -> None:
    result = CliRunner().invoke(root, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception


def configured(folder: Path) -> None:
    """Do what `emu config check` does, and thereby the start of a server."""
    for found in machine_problems(load(folder / "emu.toml")):
        assert found.text.isprintable(), found.text


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    for name, data in SMALL.items():
        (folder / name).write_bytes(data)
    (folder / "link.pem").write_bytes(make_certificate("x", datetime.now(UTC)))
    for name in ("zones", "knowledge"):
        shutil.copytree(data_file("world", name), folder / name)
    shutil.copytree(data_file("structs"), folder / "structs")
    shutil.copy(next(iter(sorted(opcodes_folder().glob("*.csv")))), folder / "0001-0002.csv")
    datagrams = whole_session(MESSAGES).datagrams
    (folder / "session.pcap").write_bytes(pcap(datagrams))
    (folder / "session.pcapng").write_bytes(b"".join(trace_of(datagrams)))
    return folder


READ: dict[str, Callable[[Path, Path], object]] = {
    ".pcap": lambda _, path: commanded("capture", "decode", path),
    ".pcapng": lambda _, path: commanded("capture", "decode", path),
    ".sql": lambda folder, path: commanded(
        "--db", folder / "emu.sqlite", "account", "import-eq2emu", path, "--dry-run"
    ),
    ".csv": lambda folder, path: commanded(
        "--db", folder / "emu.sqlite", "opcodes", "import", path, "--dry-run"
    ),
    ".xml": lambda _, path: StructCatalog().load(path),
}


@pytest.mark.slow
def test_a_damaged_file_is_one_line(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "here"
    shutil.copytree(whole, folder)
    choice = random.Random(0)
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        good = path.read_bytes()
        for _ in range(ROUNDS):
            path.write_bytes(changed(good, choice))
            read = READ.get(path.suffix, lambda folder, _: configured(folder))
            in_one_line(path, lambda path: read(folder, path))  # noqa: B023
        path.write_bytes(good)


# -- databases ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("database") / "emu.sqlite"
    choice = random.Random(3)
    with Store.create(path) as store:
        store.login.accounts.add("owner", "0", 0.0)
        store.login.worlds.add(RegisteredWorld(0, "world", "world", ""))
        for number in range(60):
            list(change(store, choice, f"name{number}"))
    OpcodeStore.ensure(path).close()
    # Of 35,000 rows of opcodes most damages would hit one, and each reader would read all.
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DELETE FROM opcodes WHERE first_version BETWEEN 2 AND 60000")
        connection.execute(
            "DELETE FROM opcode_history WHERE id < (SELECT max(id) FROM opcode_history)"
        )
        connection.execute("VACUUM")
    return path.read_bytes()


def damaged_pages(data: bytes, choice: random.Random) -> bytes:
    found = bytearray(data)
    place, page = choice.randrange(len(found)), PAGE * choice.randrange(len(found) // PAGE)
    match choice.randrange(6):
        case 0:
            found[choice.randrange(100)] = choice.randrange(256)
        case 1:
            found[place : place + 300] = bytes(choice.randrange(128, 256) for _ in range(300))
        case 2:
            del found[place:]
        case 3:
            found[page : page + PAGE] = bytes(PAGE)
        case 4:
            other = PAGE * choice.randrange(len(data) // PAGE)
            found[page : page + PAGE] = data[other : other + PAGE]
        case 5:
            word = choice.choice((b"accounts", b"TEXT", b"opcode", b"CREATE", b"shipped", b"OP_"))
            places = [match.start() for match in re.finditer(re.escape(word), data)]
            found[choice.choice(places) + 1] = choice.choice(b"\xff\xc3\x80\0'")
    return bytes(found[: len(data)])


VALUES = (
    "CAST(x'ff80c3' AS TEXT)", "x'00ff'", "NULL", "''", "'abc'", "-1", "1e400",
    "9223372036854775807", "'a' || char(10) || 'b'", "x''",
)  # fmt: skip


def damage_rows(path: Path, choice: random.Random) -> None:
    """Do what a tool that minds nothing could do."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        query = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*'"
        table = choice.choice([name for (name,) in connection.execute(query)])
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        with suppress(sqlite3.Error):
            connection.execute(
                f"UPDATE {table} SET {choice.choice(columns)} = {choice.choice(VALUES)}"
            )
        connection.commit()


def started(path: Path) -> None:
    config = load(None, [f"database.url=sqlite:{path}", "login.listen=127.0.0.1:0"])
    check_files(config)
    watcher = OpcodeWatcher(path)
    watcher.poll()
    watcher.close()
    keeper = Keeper(path)
    try:
        keeper.begin()
        keeper.check()
        keeper.checkpoint()
    finally:
        keeper.close()


def read_opcodes(path: Path) -> None:
    with OpcodeStore.open_to_read(path) as store:
        store.rows()
        store.history()


def read_accounts(path: Path) -> None:
    with Store.open_for_reading(path) as store:
        store.login.accounts.every()
        store.login.bans.every()


def doctored(path: Path) -> None:
    for found in (*check_database(path), *check_opcodes(path)):
        assert found.what.isprintable(), found.what


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, nightly(2), nightly(3)])
@pytest.mark.parametrize("read", [started, read_opcodes, read_accounts, doctored])
def test_a_damaged_database_is_one_line(
    tmp_path: Path, database: bytes, read: Callable[[Path], Any], seed: int
) -> None:
    choice = random.Random(seed)
    for number in range(3 * ROUNDS):
        path = tmp_path / f"{number}.sqlite"
        if number % 3:
            path.write_bytes(damaged_pages(database, choice))
        else:
            path.write_bytes(database)
            damage_rows(path, choice)
        in_one_line(path, read)


@pytest.mark.parametrize("word", [b"CREATE TABLE accounts", b"TEXT"])
@pytest.mark.parametrize("byte", [0xFF, 0x80, 0xC3])
def test_a_schema_that_is_no_text_is_one_line(
    tmp_path: Path, database: bytes, word: bytes, byte: int
) -> None:
    path = tmp_path / "emu.sqlite"
    place = database.index(word) + 2
    path.write_bytes(database[:place] + bytes([byte]) + database[place + 1 :])
    for read in (started, read_opcodes, read_accounts):
        with pytest.raises(EmuError) as caught:
            read(path)
        assert str(path) in str(caught.value)
        assert str(caught.value).isprintable()
    doctored(path)


def test_a_key_of_another_certificate_is_one_line(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "here"
    shutil.copytree(whole, folder)
    begin = b"-----BEGIN CERTIFICATE"
    mine, other = ((folder / "link.pem").read_bytes(), make_certificate("y", datetime.now(UTC)))
    (folder / "link.pem").write_bytes(mine[: mine.index(begin)] + other[other.index(begin) :])
    found = [one.text for one in machine_problems(load(folder / "emu.toml"))]
    said = [text for text in found if text.startswith("link.certificate: ")]
    assert len(said) == 1
    assert "belong together" in said[0]
