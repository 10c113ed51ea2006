"""The PID file of `twistd`, and errors of a daemon's start at the terminal."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from emu.errors import StoreError
from emu.net.daemon import check_pid_file, detach, running_program
from tests.support.patience import patience
from tests.support.running.forked import forked_words
from tests.support.running.whole_server import HOST, PROGRAMS, prepare_database

ENDED = 4_000_000
"""No process has this number: the kernel's limit is below it, or it is free."""


def test_in_the_foreground_a_folder_that_cannot_be_written_needs_no_pid_file(
    tmp_path: Path,
) -> None:
    writable = {"pidfile": str(tmp_path / "twistd.pid"), "nodaemon": True}
    check_pid_file(writable)
    assert writable["pidfile"] == str(tmp_path / "twistd.pid")
    assert list(tmp_path.iterdir()) == []
    shut = {"pidfile": "/proc/twistd.pid", "nodaemon": True}
    check_pid_file(shut)
    assert shut["pidfile"] == ""
    with pytest.raises(StoreError, match="--pidfile"):
        check_pid_file({"pidfile": "/proc/twistd.pid", "nodaemon": False})
    check_pid_file(None)
    check_pid_file({"pidfile": ""})


@pytest.mark.parametrize("text", [f"{ENDED}", f"{ENDED}\n", "9" * 40])
def test_the_file_of_a_process_that_has_ended_is_removed(tmp_path: Path, text: str) -> None:
    file = tmp_path / "twistd.pid"
    file.write_text(text)
    check_pid_file({"pidfile": str(file), "nodaemon": False})
    assert not file.exists()


@pytest.mark.parametrize("nodaemon", [True, False])
def test_a_file_in_the_way_is_kept_and_named(tmp_path: Path, nodaemon: bool) -> None:
    file = tmp_path / "twistd.pid"
    for text, reason in (
        ("abc", r"is no PID file of twistd; remove it, or"),
        ("", r"is no PID file of twistd; remove it, or"),
        (f"{os.getppid()}", rf"process {os.getppid()} is another program \(.+\); .* remove it"),
    ):
        file.write_text(text)
        with pytest.raises(StoreError, match=reason) as caught:
            check_pid_file({"pidfile": str(file), "nodaemon": nodaemon})
        assert str(file) in str(caught.value)
        assert file.read_text() == text
    with pytest.raises(StoreError, match="is a folder"):
        check_pid_file({"pidfile": str(tmp_path), "nodaemon": nodaemon})


def test_the_file_of_a_process_with_the_own_number_is_removed(tmp_path: Path) -> None:
    # In a container, the server has the same number after each start.
    file = tmp_path / "twistd.pid"
    file.write_text(f"{os.getpid()}\n")
    check_pid_file({"pidfile": str(file), "nodaemon": True})
    assert not file.exists()


def test_the_program_of_a_process() -> None:
    assert running_program(ENDED) is None
    assert "py" in (running_program(os.getpid()) or "")


def test_in_the_foreground_nothing_is_detached() -> None:
    before = os.getpid()
    for twistd in (None, {}, {"nodaemon": True}):
        detach(twistd).ready()
        assert os.getpid() == before


@contextmanager
def taken_port() -> Iterator[str]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as holder:
        holder.bind((HOST, 0))
        yield f"{HOST}:{holder.getsockname()[1]}"


def start(
    folder: Path, *words: str, options: tuple[str, ...] = (), installed: bool = False
) -> tuple[int, str]:
    """Start a daemon; return exit status and output."""
    prepare_database(folder / "e.sqlite")
    program = [str(PROGRAMS / "twistd")] if installed else forked_words("twistd")
    sets = (f"database.url=sqlite:{folder / 'e.sqlite'}", "world.listen=127.0.0.1:0", *words)
    done = subprocess.run(
        [*program, *options, "emu", *(w for one in sets for w in ("--set", one))],
        cwd=folder, capture_output=True, text=True, timeout=patience(20), check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("-n", "--pidfile=", "--logfile=twistd.log")])
def test_a_taken_port_is_reported_completely(tmp_path: Path, options: tuple[str, ...]) -> None:
    with taken_port() as place:
        status, text = start(tmp_path, f"login.listen={place}", options=options)
    assert status == 1
    assert text == (
        f"emu: login.listen: cannot listen on UDP {place} (Address already in use); stop the"
        " program that holds the port, or choose another\n"
    )
    assert text.removeprefix("emu: ") in (tmp_path / "twistd.log").read_text()
    assert not (tmp_path / "twistd.pid").exists()


@pytest.mark.slow
def test_a_bad_file_is_reported_completely(tmp_path: Path) -> None:
    zones = tmp_path / ("a-folder-with-a-long-name" * 5)
    zones.mkdir()
    (zones / "wrong.toml").write_text("id = ?")
    status, text = start(tmp_path, "login.listen=127.0.0.1:0", f"world.zones={zones}")
    assert status == 1
    assert re.fullmatch(rf"emu: {zones}/wrong\.toml: not a TOML file: .+\n", text), text
    assert not (tmp_path / "twistd.pid").exists()


@pytest.mark.slow
def test_a_pid_file_in_the_way_is_reported_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "twistd.pid"
    file.write_text("not a number")
    status, text = start(tmp_path, "login.listen=127.0.0.1:0")
    assert (status, text) == (
        1, "emu: twistd.pid: is no PID file of twistd; remove it, or give twistd another"
        " --pidfile\n".replace("twistd.pid:", f"{file}:"),
    )  # fmt: skip


@pytest.mark.slow
def test_a_daemon_is_ready_when_the_command_returns(tmp_path: Path) -> None:
    file = tmp_path / "twistd.pid"
    file.write_text(str(ENDED))
    status, text = start(tmp_path, "login.listen=127.0.0.1:0", installed=True)
    process = int(file.read_text())
    try:
        assert (status, text) == (0, "")
        assert "server: ready" in (tmp_path / "twistd.log").read_text()
        assert os.getsid(process) != os.getsid(0), "it outlives the terminal"
        assert {str(Path(f"/proc/{process}/fd/{n}").readlink()) for n in range(3)} == {os.devnull}
        umask = re.search(
            r"^Umask:\s*(\d+)", Path(f"/proc/{process}/status").read_text(), re.MULTILINE
        )
        assert umask is not None
        assert int(umask[1], 8) == 0o077
        status, text = start(tmp_path, "login.listen=127.0.0.1:0")
        assert (status, text.count("\n")) == (1, 1)
        assert f"a server runs as process {process}; stop it with `kill {process}`" in text
    finally:
        os.kill(process, signal.SIGTERM)
