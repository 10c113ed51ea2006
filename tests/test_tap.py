import gc
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from twisted.internet import reactor
from twisted.internet.task import deferLater
from twisted.logger import LogLevel

from emu import tap
from emu.config import LogConfig
from emu.errors import StoreError
from emu.net.logs import LogFile
from emu.net.server import EmuService
from emu.store import Store
from tests.support.patience import patience
from tests.support.running.forked import ForkedProgram
from tests.support.running.whole_server import captured_log, prepare_database


def options(*arguments: str) -> tap.Options:
    made = tap.Options()
    made.parseOptions(list(arguments))
    return made


@pytest.mark.slow
def test_options_and_overrides_reach_the_service(tmp_path: Path) -> None:
    file = tmp_path / "emu.toml"
    file.write_text('[world]\nname = "From file"\n[database]\nurl = "sqlite:e.sqlite"\n')
    service = tap.makeService(
        options("--config", str(file), "--set", "login.listen=127.0.0.1:0", "-s", "log.level=warn")
    )
    assert isinstance(service, EmuService)
    assert service.config.world.name == "From file"
    assert service.config.login.listen.port == 0
    assert service.config.database.path == tmp_path / "e.sqlite"
    assert (tmp_path / "e.sqlite").exists()


@pytest.mark.slow
def test_a_database_may_be_named_as_for_the_tools(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "emu.toml").write_text('[database]\nurl = "sqlite:e.sqlite"\n')
    service = tap.makeService(options("--db", "mine.sqlite"))
    assert isinstance(service, EmuService)
    assert service.config.database.path == tmp_path / "mine.sqlite"
    assert not (tmp_path / "e.sqlite").exists()


@pytest.fixture
def open_database() -> Iterator[Path]:
    """A database in a folder that everybody may enter, which pytest's own is not."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        path = Path(name) / "emu.sqlite"
        Store.create(path).close()
        path.chmod(0o644)
        yield path


@pytest.mark.slow
async def test_files_that_expose_secrets_are_logged(open_database: Path) -> None:
    sets = (f"database.url=sqlite:{open_database}", "login.listen=127.0.0.1:0", "world.enabled=no")
    service = tap.makeService(options(*(word for one in sets for word in ("--set", one))))
    with captured_log("text") as log:
        service.startService()
        assert f"warn  server: {open_database} holds password hashes" in log.text
        await service.stopService()


@pytest.mark.slow
@pytest.mark.parametrize("way", ["SIGHUP", "create", "nothing", "copytruncate"])
def test_a_log_file_that_another_program_rotates_goes_on(tmp_path: Path, way: str) -> None:
    log, old = tmp_path / "emu.log", tmp_path / "emu.log.old"
    file = tmp_path / "emu.toml"
    settings = '[database]\nurl = "sqlite:e.sqlite"\n[login]\nlisten = "127.0.0.1:0"\n'
    file.write_text(settings + '[world]\nlisten = "127.0.0.1:0"\n')
    prepare_database(tmp_path / "e.sqlite")
    words = ["twistd", "-n", "--pidfile=", f"--logfile={log}", "emu", "--config", str(file)]
    with Path(os.devnull).open("wb") as nothing:
        process = ForkedProgram(words, Path("/"), os.environ, nothing)
    try:
        wait_for(log, "ready")
        if way == "copytruncate":
            old.write_bytes(log.read_bytes())
            log.write_bytes(b"")
        else:
            log.rename(old)
        if way == "create":
            log.touch(0o640)
        if way == "SIGHUP":
            process.send_signal(signal.SIGHUP)
            wait_for(log, "the configuration was read again")
        else:
            time.sleep(1.1)  # the file is looked at once a second, when a line is written
            process.send_signal(signal.SIGTERM)
            process.wait(20)
            wait_for(log, "stopped")
        assert "ready" in old.read_text()
        assert "\0" not in log.read_text()
        assert log.read_text().startswith("20")
    finally:
        process.kill()
        process.wait(20)


@pytest.mark.slow
def test_without_options_the_working_folder_counts(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("emu.toml").write_text('[database]\nurl = "sqlite:here.sqlite"\n')
    tap.makeService(options())
    assert (tmp_path / "here.sqlite").exists()


def test_every_problem_of_the_configuration_is_a_line(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as caught:
        tap.makeService(options("--set", "login.listen=x", "--set", "world.name=a"))
    lines = str(caught.value.code).splitlines()
    assert len(lines) == 2
    assert all(line.startswith("emu: ") for line in lines)


def test_a_database_that_cannot_be_used_is_a_line(tmp_path: Path) -> None:
    path = tmp_path / "not.sqlite"
    path.write_bytes(b"this is no database, whatever its name says" * 100)
    with pytest.raises(SystemExit) as caught:
        tap.makeService(options("--set", f"database.url=sqlite:{path}"))
    assert str(path) in str(caught.value.code)
    assert path.read_bytes().startswith(b"this is no database")


@pytest.fixture
def _cleaned_up(monkeypatch):
    """Close the log files that are opened, and put the signal back."""
    files = []

    class Kept(LogFile):
        def __init__(self, *arguments, **more):
            super().__init__(*arguments, **more)
            files.append(self)

    monkeypatch.setattr(tap, "LogFile", Kept)
    before = signal.signal(signal.SIGUSR1, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGUSR1, before)
    for file in files:
        file.close()


EVENT = {"log_time": 0.0, "log_level": LogLevel.info, "log_namespace": "emu.x", "log_format": "hi"}


@pytest.mark.usefixtures("_cleaned_up")
@pytest.mark.parametrize(
    ("twistd", "place"),
    [
        ({"nodaemon": True, "logfile": None}, "-"),
        ({"nodaemon": True, "logfile": "-"}, "-"),
        ({"nodaemon": True, "logfile": "own.log"}, "own.log"),
        ({"nodaemon": False, "logfile": None}, "twistd.log"),
        ({}, "-"),
    ],
)
def test_the_log_goes_to_the_place_of_twistds_options(
    twistd, place, tmp_path: Path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    written_by = tap.log_observer(LogConfig(), twistd)
    assert written_by is not None
    written_by(EVENT)
    text = capsys.readouterr().out if place == "-" else (tmp_path / place).read_text()
    assert text.endswith("info  x: hi\n")


@pytest.mark.usefixtures("_cleaned_up")
async def test_sigusr1_begins_a_new_log_file(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    written_by = tap.log_observer(LogConfig(), {"nodaemon": False})
    assert written_by is not None
    written_by(EVENT)
    signal.raise_signal(signal.SIGUSR1)
    await deferLater(reactor, 0.05)
    assert (tmp_path / "twistd.log").read_text() == ""
    assert (tmp_path / "twistd.log.1").read_text().endswith("hi\n")


@pytest.mark.usefixtures("_cleaned_up")
def test_log_files_are_bounded_in_size_and_number(tmp_path: Path) -> None:
    path = tmp_path / "own.log"
    log = LogConfig(max_bytes=10_000, files=2)
    written_by = tap.log_observer(log, {"nodaemon": True, "logfile": str(path)})
    assert written_by is not None
    for _ in range(1000):
        written_by(EVENT | {"log_format": "x" * 100})
    assert sorted(one.name for one in tmp_path.iterdir()) == ["own.log", "own.log.1", "own.log.2"]
    assert all(one.stat().st_size < 11_000 for one in tmp_path.iterdir())


def test_a_log_file_that_cannot_be_written_is_a_line(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="logfile"):
        tap.log_observer(LogConfig(), {"nodaemon": True, "logfile": str(tmp_path / "no" / "x.log")})


def test_syslog_is_left_to_twistd() -> None:
    assert tap.log_observer(LogConfig(), {"nodaemon": False, "syslog": True}) is None


def test_help_lists_both_options() -> None:
    text = str(tap.Options())
    assert "--config" in text
    assert "--set" in text


@pytest.mark.slow
def test_the_collector_leaves_alone_what_is_loaded() -> None:
    before = gc.get_threshold()
    try:
        tap.spare_the_collector()
        assert gc.get_freeze_count() > 1000
        assert gc.get_threshold() == tap.COLLECTOR_THRESHOLDS
    finally:
        # What is frozen remains so: the collector would look through it during all other tests.
        gc.set_threshold(*before)


@pytest.mark.slow
def test_it_runs_in_a_folder_that_cannot_be_written_and_a_hang_up_ends_nothing(
    tmp_path: Path,
) -> None:
    file = tmp_path / "emu.toml"
    text = '[login]\nlisten = "127.0.0.1:0"\n[world]\nlisten = "127.0.0.1:0"\nmax_players = %d\n'
    file.write_text(text % 3 + '[database]\nurl = "sqlite:e.sqlite"\n')
    log = tmp_path / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [str(Path(sys.executable).parent / "twistd"), "-n", "emu", "--config", str(file)],
            cwd="/proc", stdout=out, stderr=out,
        )  # fmt: skip
    try:
        wait_for(log, "ready")
        file.write_text(text % 4 + '[database]\nurl = "sqlite:other.sqlite"\n')
        process.send_signal(signal.SIGHUP)
        wait_for(log, "changed: world.max_players")
        wait_for(log, "at the next start only: database.url")
        file.write_text("no toml")
        process.send_signal(signal.SIGHUP)
        wait_for(log, "the configuration is as before")
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) in (0, -signal.SIGTERM)
        assert "stopped" in log.read_text()
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_under_nohup_a_hang_up_stays_ignored(tmp_path: Path) -> None:
    log = tmp_path / "log"
    twistd = str(Path(sys.executable).parent / "twistd")
    listen = ["login.listen=127.0.0.1:0", "world.listen=127.0.0.1:0", "rcon.listen=127.0.0.1:0"]
    settings = ["--db", "e.sqlite", *(word for one in listen for word in ("--set", one))]
    with log.open("wb") as out:
        process = subprocess.Popen(
            ["nohup", twistd, "-n", "--pidfile=", "emu", *settings],
            cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
        )  # fmt: skip
    try:
        wait_for(log, "server: ready")
        status = Path(f"/proc/{process.pid}/status").read_text()
        masks = dict(line.split(":\t") for line in status.splitlines() if line.startswith("Sig"))
        hang_up = 1 << (signal.SIGHUP - 1)
        assert int(masks["SigIgn"], 16) & hang_up
        assert not int(masks["SigCgt"], 16) & hang_up
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) in (0, -signal.SIGTERM)
        assert "server: stopped" in log.read_text()
        assert "read again" not in log.read_text()
    finally:
        process.kill()
        process.wait()


def wait_for(log: Path, text: str) -> None:
    """Wait until a process of its own has written something."""
    end = time.monotonic() + patience(20)
    while not log.exists() or text not in log.read_text():
        assert time.monotonic() < end, f"waited in vain for {text}"
        time.sleep(0.05)


@pytest.mark.slow
def test_a_worker_has_the_configuration_of_its_supervisor_for_itself(tmp_path: Path) -> None:
    file = tmp_path / "emu.toml"
    file.write_text('[login]\nmax_characters = 3\n[web]\nlisten = "127.0.0.1:1"\n')
    words = tap.worker_command(file, ["link.max_connections=7", "world.enabled=no"], 1)
    service = tap.makeService(options(*words[words.index("emu") + 1 :]))
    assert isinstance(service, EmuService)
    assert service.config.login.max_characters == 3
    assert (service.config.link.max_connections, service.config.world.enabled) == (7, False)
    assert str(service.config.web.listen) == "127.0.0.1:2"


def test_lines_of_workers_reach_the_log_as_they_are(tmp_path: Path, capsys) -> None:
    stream = tap.log_stream(LogConfig(), {"nodaemon": True, "logfile": str(tmp_path / "a.log")})
    tap.raw_writer(stream)(b"one\xff\n")
    assert (tmp_path / "a.log").read_bytes() == b"one\xff\n"
    stream._file.close()
    tap.raw_writer(tap.log_stream(LogConfig(), {"nodaemon": True}))(b"two\xff\n")
    assert capsys.readouterr().out == "two\\xff\n"
    with captured_log("text") as log:
        tap.raw_writer(None)(b"three\n")
    assert log.text.endswith("server: three\n")
