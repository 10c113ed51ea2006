"""A server whose database file is deleted, replaced or overwritten, and one that is killed."""

import os
import re
import shutil
import signal
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from itertools import chain, repeat
from pathlib import Path
from urllib.request import urlopen

import pytest
import pytest_twisted
from twisted.internet.threads import deferToThread

from emu.store import Store
from tests.database.sqlite.test_keeper import names_in_main_file
from tests.support.examples import nightly
from tests.support.running.emu_process import emu, environment
from tests.support.running.forked import ForkedProgram
from tests.support.running.whole_server import (
    HOST,
    ServerProcess,
    add_account,
    find_port,
    harness,
    server_process,
    sleep,
    until,
)

WEB = {"web.listen": f"{HOST}:0", "database.watch_seconds": 0.1}


async def readiness(port: int) -> tuple[int, str]:
    def ask() -> tuple[int, str]:
        try:
            with urlopen(f"http://{HOST}:{port}/readyz", timeout=10) as answer:
                return answer.status, answer.read().decode()
        except OSError as error:
            status, body = getattr(error, "code", 0), getattr(error, "read", bytes)()
            return status, body.decode()

    return await deferToThread(ask)


@pytest_twisted.async_yield_fixture
async def server(tmp_path: Path) -> AsyncIterator[ServerProcess]:
    add_account(tmp_path / "emu.sqlite", "testlabs", "testpass")
    async with server_process(tmp_path, WEB) as process:
        await process.ready()
        yield process


def delete(path: Path, _copy: Path) -> None:
    path.unlink()


def delete_with_log(path: Path, _copy: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink()


def delete_all_of_its_name(path: Path, _copy: Path) -> None:
    for one in path.parent.glob(f"{path.name}*"):
        one.unlink()


def replace(path: Path, copy: Path) -> None:
    copy.replace(path)


def overwrite(path: Path, copy: Path) -> None:
    shutil.copyfile(copy, path)


def overwrite_with_nothing(path: Path, _copy: Path) -> None:
    path.write_bytes(b"")


def rescued(folder: Path) -> Path:
    (saved,) = folder.glob("emu.sqlite.*.rescued")
    return saved


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "word"),
    [
        (delete, "deleted"),
        nightly(delete_with_log, "deleted"),
        nightly(delete_all_of_its_name, "deleted"),
        (replace, "replaced"),
        nightly(overwrite, "overwritten"),
        (overwrite_with_nothing, "overwritten"),
    ],
)
async def test_a_lost_file_is_noticed_everywhere_and_nothing_takes_its_place(
    server: ServerProcess, tmp_path: Path, change: Callable[[Path, Path], None], word: str
) -> None:
    path, web = tmp_path / "emu.sqlite", find_port(server.text, "web", "pages and metrics on")
    config = tmp_path / "emu.toml"
    config.write_text(f'[database]\nurl = "sqlite:{path}"\n')
    assert await readiness(web) == (200, "ok\n")
    copy = tmp_path / "copy"
    _, complaint, status = await emu(tmp_path, "--config", config, "backup", copy)
    assert status == 0, complaint
    change(path, copy)
    kept = path.read_bytes() if path.exists() else None
    await server.line(rf"error database: .*emu\.sqlite: was {word} .*while the server")
    status, body = await readiness(web)
    assert status == 503
    assert "see the log" in body
    programs: list[tuple[str | Path, ...]] = [("account", "add", "late", "--password", "x")]
    # Each is a process of its own, and they differ in how they open the file, not in what they
    # report about the kinds of loss.
    if change is delete:
        programs += [
            ("account", "list"), ("opcodes", "undo"), ("backup", tmp_path / "another"),
            ("world", "list"),
        ]  # fmt: skip
    for words in programs:
        out, complaint, status = await emu(tmp_path, "--config", config, *words)
        assert (out, status) == ("", 1)
        assert re.fullmatch(rf"emu: .*: was {word} .*(re)?start the server.*\n", complaint)
    out, _, status = await emu(tmp_path, "--config", config, "doctor", "--problems")
    assert status == 1
    assert f"was {word}" in out
    if change in (delete, overwrite):  # others took the console's socket as well, or are alike
        out, complaint, status = await emu(
            tmp_path, "--config", config, "admin", "account", "add", "late", "x"
        )
        assert status == 1
        assert f"was {word}" in out + complaint
        out, _, status = await emu(tmp_path, "--config", config, "admin", "status")
        assert status == 0
    assert server.text.count(f": was {word}") < 10
    server.process.send_signal(signal.SIGTERM)
    assert await server.ended() in (0, -signal.SIGTERM)
    assert (path.read_bytes() if path.exists() else None) == kept
    assert not path.with_name("emu.sqlite-wal").exists()
    if word == "deleted":
        _, complaint, status = await emu(
            tmp_path, "--config", config, "account", "add", "late", "--password", "x"
        )
        assert status == 1
        assert "--create-database" in complaint
        assert not path.exists()
        async with server_process(tmp_path, WEB) as refused:
            assert await refused.ended() == 1
            assert "--create-database" in refused.text
        rescued(tmp_path).rename(path)
    if change is overwrite_with_nothing:
        async with server_process(tmp_path, WEB) as refused:
            assert await refused.ended() == 1
            assert "was overwritten" in refused.text
            assert "--create-database" in refused.text
        async with server_process(tmp_path, WEB, words=("--create-database",)) as begun:
            await begun.ready()
        return
    async with server_process(tmp_path, WEB) as again:
        await again.ready()
    with Store.open(path) as store:
        assert [one.name for one in store.login.accounts.every()] == ["testlabs"]


@pytest.mark.slow
async def test_play_is_in_the_main_file_before_long(tmp_path: Path) -> None:
    settings = {"login.auto_create_accounts": True, "database.checkpoint_seconds": 0.3}
    async with server_process(tmp_path, settings) as server:
        await server.ready()
        words = ("client", "play", f"{HOST}:{server.login_port}", "--user", "alice", "--password",
                 "wonder", "--character", "Aldana", "--create", "--for", "1")  # fmt: skip
        _, complaint, status = await emu(tmp_path, *words)
        assert status == 0, complaint

        def names() -> list[str]:
            alone = tmp_path / "alone.sqlite"
            shutil.copyfile(tmp_path / "emu.sqlite", alone)
            with closing(sqlite3.connect(alone)) as connection:
                query = "SELECT name FROM world_characters"
                return [name for (name,) in connection.execute(query)]

        await until(lambda: names() == ["Aldana"], "the character in the main file", 20.0)
        server.kill()
    assert "alice" in names_in_main_file(tmp_path / "emu.sqlite")


async def test_a_server_without_its_database_lets_nobody_in(tmp_path: Path) -> None:
    async with harness(tmp_path, {"database.watch_seconds": 0.1}) as server:
        assert await server.lets_in()
        server.database.unlink()
        await server.log.line("was deleted while the server")
        assert not await server.lets_in()


def incomplete(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir() if ".emu-partial" in one.name)


@pytest.mark.slow
async def test_kills_while_a_database_is_made_leave_nothing_in_the_end(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    left = 0
    for number in range(6):
        path.unlink(missing_ok=True)
        async with server_process(tmp_path, prepared=False) as server:
            await until(lambda: incomplete(tmp_path) or path.exists(), "the file", 30.0)
            await sleep(number * 0.004)
            server.kill()
        left = max(left, len(incomplete(tmp_path)))
    assert left <= 4, "what one kill leaves: a database and what SQLite puts beside it"
    async with server_process(tmp_path, prepared=False) as server:
        await server.ready()
    assert incomplete(tmp_path) == []


def backing_up(path: Path, folder: Path) -> ForkedProgram:
    words = ["emu", "--db", str(path), "backup", str(folder)]
    with Path(os.devnull).open("wb") as output:
        return ForkedProgram(words, folder, environment(folder), output)


def kill_backup(path: Path, folder: Path, pause: float) -> None:
    """Begin a backup, and kill it so many seconds after it began to write."""
    before = set(incomplete(folder))
    process = backing_up(path, folder)
    # No reactor waits here: a backup is written within a few of its turns.
    while process.poll() is None and not set(incomplete(folder)) - before:
        pass
    time.sleep(pause)
    process.kill()
    process.wait(30)


@pytest.mark.slow
async def test_kills_while_a_backup_is_written_leave_nothing_in_the_end(tmp_path: Path) -> None:
    path, folder = tmp_path / "emu.sqlite", tmp_path / "backups"
    folder.mkdir()
    with Store.create(path) as store, store.transaction():
        store.database.connection.executemany(
            "INSERT INTO accounts (name, name_key, password, created) VALUES (?1, ?1, ?2, 1)",
            [(f"name{number}", "x" * 2000) for number in range(20_000)],
        )
    seen = 0
    # On a busy machine a backup may be whole before it is killed: more are killed until one is not.
    for pause in chain(range(6), repeat(0, 40)):
        if pause == 0 and seen:
            break
        kill_backup(path, folder, pause * 0.002)
        seen += bool(incomplete(folder))
        # What was left before is removed first.
        assert len(incomplete(folder)) <= 4, "a database, and what SQLite puts beside it"
    assert seen
    _, complaint, status = await emu(tmp_path, "--db", path, "backup", folder)
    assert status == 0, complaint
    assert incomplete(folder) == []


@pytest.mark.slow
async def test_an_empty_file_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    path.touch()
    out, complaint, status = await emu(
        tmp_path, "--db", path, "account", "add", "alice", "--password", "x"
    )
    assert (out, status) == ("", 1)
    assert re.fullmatch(r"emu: .*: is empty.*--create-database.*\n", complaint)
    async with server_process(tmp_path) as refused:
        assert await refused.ended() == 1
        assert "is empty" in refused.text
        assert "Traceback" not in refused.text
    assert path.read_bytes() == b""
    async with server_process(tmp_path, words=("--create-database",)) as server:
        await server.ready()
    async with server_process(tmp_path, words=("--create-database",)) as server:
        await server.ready()


@pytest.mark.slow
async def test_a_log_without_its_database_is_not_taken_for_that_of_a_new_one(
    tmp_path: Path,
) -> None:
    path = tmp_path / "emu.sqlite"
    add_account(path, "testlabs", "testpass")
    async with server_process(tmp_path) as server:
        await server.ready()
        server.kill()
    path.unlink()
    async with server_process(tmp_path) as refused:
        assert await refused.ended() == 1
        assert "emu.sqlite-wal" in refused.text
    async with server_process(tmp_path, words=("--create-database",)) as begun:
        await begun.ready()
        begun.process.send_signal(signal.SIGTERM)
        await begun.ended()
    with Store.open(path) as store:
        assert store.login.accounts.every() == []
