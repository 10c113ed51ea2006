"""Files of recorded zones: a folder of compressed lines, of which the newest are kept."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from emu.config import Config
from emu.errors import CommandError, FileFormatError
from emu.files import OWNER_ONLY, partial_file, take_name
from emu.net.logs import logger
from emu.net.machine import machine_of
from emu.times import Clock
from emu.world.recording.recorder import Recorder
from emu.world.recording.recording import Recording, read_recording
from emu.world.rules import RecordRules

_log = logger("world")
ENDING: Final = ".zone"
MOST_FILES: Final = 100
"""Files that the folder keeps; the oldest one goes when another one comes."""
MOST_BYTES: Final = 1 << 29
"""Bytes of a recording that is read, before it was compressed."""
_CHUNK: Final = 1 << 16


SEED_BYTES: Final = 32


def recorder_of(config: Config, clock: Clock) -> Recorder:
    """Return the recorder of a world, with chance from the system."""
    rules = RecordRules(config.world.record, config.world.record_seconds)
    return Recorder(rules, clock, lambda: os.urandom(SEED_BYTES))


class RecordingFiles:
    """Writes recordings in a thread."""

    def __init__(self, config: Config, reactor: Any) -> None:
        """Write into the folder of the settings, which is made when it is needed."""
        self._folder = config.world.recordings or config.database.path.parent / "recordings"
        self._threads = machine_of(reactor).threads(reactor, 1, "emu-recordings")

    async def keep(self, recording: Recording) -> str:
        """Write a recording; return the name of its file. Raises `CommandError`."""
        path: Path = await self._threads.run(partial(write_recording, self._folder, recording))
        header = recording.header
        _log.info("recorded {seconds:.0f} seconds of {zone} ({reason}) in {path}",
                  seconds=header.seconds, zone=header.zone, reason=header.reason,
                  path=str(path))  # fmt: skip
        return str(path)

    def stop(self) -> None:
        """End the thread; no recording is being written."""
        self._threads.stop()


def write_recording(folder: Path, recording: Recording) -> Path:
    """Write a recording into a folder; return its path. Raises `CommandError`."""
    header = recording.header
    stem = re.sub(r"[^a-z0-9]+", "-", f"{header.zone} {header.reason}".lower()).strip("-")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        number, path = 1, folder / f"{stem}{ENDING}"
        with partial_file(path, OWNER_ONLY) as fresh:
            with fresh.open("wb") as file:
                file.writelines(_compressed(recording.lines()))
            while not take_name(fresh, path):
                number += 1
                path = folder / f"{stem}-{number}{ENDING}"
        _remove_oldest(folder, path)
    except OSError as error:
        raise CommandError(f"{folder}: cannot be written ({error.strerror})") from None
    return path


def _remove_oldest(folder: Path, newest: Path) -> None:
    found = [path for path in folder.glob(f"*{ENDING}") if path != newest]
    found.sort(key=lambda path: path.stat().st_mtime)
    for path in found[: max(0, len(found) + 1 - MOST_FILES)]:
        path.unlink(missing_ok=True)


def _compressed(lines: Iterable[str]) -> Iterator[bytes]:
    # As gzip: people can look at a recording with zcat.
    packer = zlib.compressobj(wbits=31)
    for line in lines:
        yield packer.compress(f"{line}\n".encode())
    yield packer.flush()


def read_file(path: Path) -> Recording:
    """Read a recording. Raises `FileFormatError` and `CommandError`."""
    unpacker = zlib.decompressobj(wbits=31)
    found = bytearray()
    try:
        with path.open("rb") as file:
            while data := file.read(_CHUNK):
                found += unpacker.decompress(data, MOST_BYTES + 1 - len(found))
                if len(found) > MOST_BYTES or unpacker.unconsumed_tail:
                    raise FileFormatError(f"{path}: the recording is too large")
    except OSError as error:
        raise CommandError(f"{path}: cannot be read ({error.strerror})") from None
    except zlib.error:
        raise FileFormatError(f"{path}: this is no recording of a zone") from None
    if not unpacker.eof:
        raise FileFormatError(f"{path}: the recording is cut off")
    try:
        lines = found.decode().splitlines()
    except UnicodeDecodeError:
        raise FileFormatError(f"{path}: this is no recording of a zone") from None
    return read_recording(lines)
