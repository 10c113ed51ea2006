"""Files of recordings."""

from __future__ import annotations

import gzip
import os
import stat
from pathlib import Path

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from emu.config.load import parse
from emu.errors import CommandError, FileFormatError
from emu.net.world.recordings import MOST_FILES, RecordingFiles, read_file, write_recording
from emu.world.recording.recording import Header, Recording
from emu.world.recording.ring import InputEntry


def recording(reason: str = "bug 1", zone: str = "antonica") -> Recording:
    header = Header(12, 0, zone, 100.0, 9.5, 1e9, "ab", 3, "cd", 4, 1, False, reason)
    return Recording(header, None, [(True, InputEntry(1, 100.0, "turn", (1,)))])


def test_a_file_is_read_as_it_was_written_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "new", recording())
    assert path.name == "antonica-bug-1.zone"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_file(path).header == recording().header
    assert gzip.decompress(path.read_bytes()).startswith(b"{")


def test_no_file_is_written_over(tmp_path: Path) -> None:
    names = [write_recording(tmp_path, recording()).name for _ in range(3)]
    assert names == [f"antonica-bug-1{end}.zone" for end in ("", "-2", "-3")]


def test_a_name_has_nothing_that_leads_elsewhere(tmp_path: Path) -> None:
    path = write_recording(tmp_path, recording("../../etc", "../Zone 1"))
    assert path == tmp_path / "zone-1-etc.zone"


def test_the_oldest_files_go(tmp_path: Path) -> None:
    for number in range(MOST_FILES):
        path = tmp_path / f"old-{number}.zone"
        path.touch()
        os.utime(path, (number, number))
    newest = write_recording(tmp_path, recording())
    assert len([*tmp_path.iterdir()]) == MOST_FILES
    assert newest.exists()
    assert not (tmp_path / "old-0.zone").exists()
    assert (tmp_path / "old-1.zone").exists()


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    good = write_recording(tmp_path, recording()).read_bytes()
    damaged = tmp_path / "damaged"
    for data in (b"", b"text", good[:-5], gzip.compress(b"\xff"), gzip.compress(b"{}")):
        damaged.write_bytes(data)
        with pytest.raises(FileFormatError):
            read_file(damaged)
    with pytest.raises(CommandError, match="cannot be read"):
        read_file(tmp_path / "missing")
    with pytest.raises(CommandError, match="cannot be written"):
        write_recording(damaged, recording())


def test_a_recording_that_unpacks_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_recording(tmp_path, recording())
    monkeypatch.setattr("emu.net.world.recordings.MOST_BYTES", 20)
    with pytest.raises(FileFormatError, match="too large"):
        read_file(path)


class _Threads:
    def run(self, call: object) -> Deferred[Path]:
        done: Deferred[Path] = Deferred()
        done.callback(call())  # type: ignore[operator]
        return done


def test_a_server_writes_in_a_thread(tmp_path: Path) -> None:
    files = RecordingFiles(parse({}, [f"world.recordings={tmp_path}"]), Clock())
    files._threads = _Threads()  # type: ignore[assignment]
    done: list[str] = []
    Deferred.fromCoroutine(files.keep(recording())).addCallback(done.append)
    assert done == [str(tmp_path / "antonica-bug-1.zone")]
