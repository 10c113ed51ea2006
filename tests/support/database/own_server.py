"""A PostgreSQL server of a test's own, which the test may stop, kill and fill."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from emu.database import ServerUrl
from tests.support.cluster.engines import stop_processes
from tests.support.database.engines import run


def programs() -> Path | None:
    """Return the folder with the server's programs, the newest of several."""
    found = shutil.which("initdb")
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    return Path(found).parent if found else folders[0].parent if folders else None


class OwnServer:
    """A running server; `where` is the URL of an empty database."""

    def __init__(self, folder: Path, bin_folder: Path) -> None:
        self._data = folder / "data"
        self._bin = bin_folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        # The server refuses to run as root.
        self._user = pwd.getpwnam("postgres") if os.geteuid() == 0 else None
        if self._user is not None:
            for path in (folder, *folder.parents[:-2]):
                path.chmod(path.stat().st_mode | 0o011)
            os.chown(folder, self._user.pw_uid, self._user.pw_gid)
        self._call(
            "initdb", "-D", str(self._data), "-U", "emu", "-A", "trust", "-E", "UTF8", "-N",
            "--wal-segsize=1",
        )  # fmt: skip
        self._filling = folder / "filling"
        self._process: subprocess.Popen[bytes] | None = None
        self.start()
        run(ServerUrl("emu", "127.0.0.1", str(self.port), "postgres"), "CREATE DATABASE emu")
        self.where = ServerUrl("emu", "127.0.0.1", str(self.port), "emu")

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = [
            "-D", str(self._data), "-p", str(self.port), "-h", "127.0.0.1", "-k", "",
            "-c", "shared_buffers=8MB", "-c", "max_connections=30",
        ]  # fmt: skip
        self._process = subprocess.Popen(
            [self._bin / "postgres", *options], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **self._as_user(),
        )  # fmt: skip
        where = ServerUrl("emu", "127.0.0.1", str(self.port), "postgres")
        deadline = time.monotonic() + 60
        while True:
            try:
                run(where, "SELECT 1")
            except Exception:  # noqa: BLE001  # whatever: it is not there yet
                assert time.monotonic() < deadline, "the server does not start"
                time.sleep(0.05)
            else:
                return

    def use_tls(self, certificate: Path, key: Path) -> None:
        """Start it again with TLS."""
        for path in (certificate, key):
            copy = shutil.copy(path, self._data / path.name)
            if self._user is not None:
                os.chown(copy, self._user.pw_uid, self._user.pw_gid)
        with (self._data / "postgresql.auto.conf").open("a") as file:
            file.write(
                f"ssl = on\nssl_cert_file = '{certificate.name}'\nssl_key_file = '{key.name}'\n"
            )
        self.stop()
        self.start()

    def pause(self) -> None:
        """Let it stand still."""
        stop_processes(self._processes())

    def resume(self) -> None:
        """Let it go on."""
        self.signal(signal.SIGCONT)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all its processes."""
        for process in self._processes():
            with suppress(ProcessLookupError):
                os.kill(process, number)

    def kill(self) -> None:
        """Kill all its processes."""
        self.signal(signal.SIGKILL)
        if self._process is not None:
            self._process.wait(30)

    def fill_disk(self) -> None:
        """Leave no space on the volume of its data."""
        with self._filling.open("ab", buffering=0) as file, suppress(OSError):
            for size in (1 << 20, 1 << 12, 1):
                with suppress(OSError):
                    while file.write(bytes(size)) == size:
                        pass

    def empty_disk(self) -> None:
        """Free what `fill_disk` has taken; start the server again if it has ended."""
        self._filling.unlink(missing_ok=True)
        assert self._process is not None
        if self._process.poll() is not None:
            self.start()

    def stop(self) -> None:
        """Stop it at once."""
        if self._process is not None and self._process.poll() is None:
            self.signal(signal.SIGCONT)
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()

    def _processes(self) -> Sequence[int]:
        assert self._process is not None
        first = self._process.pid
        children = Path(f"/proc/{first}/task/{first}/children")
        found = [int(word) for word in children.read_text().split()] if children.exists() else []
        return [first, *found]

    def _as_user(self) -> dict[str, Any]:
        if self._user is None:
            return {}
        return {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []}

    def _call(self, program: str, *words: str) -> None:
        subprocess.run(
            [self._bin / program, *words], check=True, capture_output=True, **self._as_user()
        )


@contextmanager
def small_volume(megabytes: int) -> Iterator[Path]:
    """Mount a volume in memory; skip the test where that is not allowed."""
    with TemporaryDirectory(prefix="emu-volume-") as folder:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder]
        try:
            subprocess.run(mount, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            pytest.skip("this user may not mount a volume")
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True, capture_output=True)


@contextmanager
def own_server(volume: Path | None = None) -> Iterator[OwnServer]:
    """Run a server; skip the test where its programs are not installed."""
    folder = programs()
    if folder is None:
        pytest.skip("the programs of PostgreSQL are not installed")
    memory = Path("/dev/shm")  # a disk that is never slow
    base_folder = volume or (memory if memory.is_dir() else None)
    with TemporaryDirectory(prefix="emu-pg-", dir=base_folder) as base:
        server = OwnServer(Path(base), folder)
        try:
            yield server
        finally:
            server.stop()
