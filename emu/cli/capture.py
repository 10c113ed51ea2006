"""`emu capture`: decode capture files, follow a running server's trace, make a dissector.

Owns files, terminals and waiting; what captures mean is the business of `emu.capture`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import click
from rich.console import Console
from rich.progress import Progress

from emu.capture.formats.pcap import CHUNK, CaptureReader
from emu.capture.formats.records import EQ2_SECRETS, Secrets
from emu.capture.keys import KeyRing
from emu.capture.messages import (
    CapturedMessage,
    MessageDecoder,
    StructLookup,
    opcode_ranges,
)
from emu.capture.select import MessageSelection, read_selection
from emu.capture.sessions.follow import CaptureFollower, Notice
from emu.capture.show import to_brief, to_brief_json, to_json, to_text
from emu.capture.statistics import COLUMNS, MessageStatistics, direction_name
from emu.capture.trace import make_dissector
from emu.cli.common import VerbGroup, load_config, together
from emu.cli.opcodes.common import present_tables
from emu.cli.paths import FilePath
from emu.cli.tables import line_format_option, print_rows
from emu.errors import CommandError, FileFormatError
from emu.structs import shipped_catalog
from emu.texts import counted

POLL_INTERVAL = 0.2
"""Seconds between looks at a file that is followed."""
TRACE_BEGIN = b"\x0a\x0d\x0d\x0a"
"""First bytes of every pcapng file."""
MAX_KEY_FILE = 16_000_000
"""Bytes of a key file that are read."""

FILE = FilePath(exists=True, dir_okay=False, path_type=Path)


@click.group(cls=VerbGroup)
def capture() -> None:
    """Decode captures of EQ2 sessions, follow a running server's trace, make a dissector.

    Example: emu capture decode session.pcapng
    """


_decoding_options = together(
    click.option(
        "--keys",
        type=FILE,
        help="Session keys from outside the capture: lines of `check SESSION HEX` or "
        "`rc4 SESSION HEX`; SESSION is a session id, the client's address:port or *. Or a server's "
        "trace, which holds the keys of its sessions.",
    ),
    click.option(
        "--key",
        "key_lines",
        multiple=True,
        metavar="LINE",
        help="One such line; may be repeated. With both keys of a session, a capture "
        "that begins in its middle can be decoded.",
    ),
    click.option(
        "--version",
        type=click.IntRange(1, 0xFFFFFFFF),
        help="Client version; the default is the one in each session's login.",
    ),
    line_format_option,
    click.option(
        "--structs",
        type=FILE,
        multiple=True,
        help="Struct file (XML) whose structs are tried first; may be repeated.",
    ),
)

_output_options = together(
    click.option(
        "--only",
        multiple=True,
        metavar="WHICH",
        help="Print or count only some messages: `to-server` or `to-client`; `session=ID` (an id "
        "as --brief prints it, or the client's address:port); an opcode number; or a pattern of "
        "names, such as 'OP_*Chat*', also of commands inside OP_ClientCmdMsg (`unknown` is a "
        "message without a name). May be repeated: a message must match one of each kind.",
    ),
    click.option(
        "--brief",
        is_flag=True,
        help="One line for each message: time, session id, direction, name, opcode, bytes.",
    ),
)


@capture.command()
@click.argument("file", type=FilePath(dir_okay=False, allow_dash=True, path_type=Path))
@_output_options
@click.option(
    "--stats",
    is_flag=True,
    help="Print a table in place of the messages: for each name and direction their number, "
    "bytes (smallest, mean, largest), messages and bytes per second, and how many have no fields. "
    "Bytes are decrypted and inflated payload.",
)
@_decoding_options
def decode(
    file: Path, style: str, only: tuple[str, ...], brief: bool, stats: bool, **options: Any
) -> None:
    """Print every application message in FILE (pcap or pcapng, gzipped or not; - is stdin).

    Ghosts, sheets, books and predictions are printed whole the first time, then as changes.
    Messages go to standard output; notes about the capture (bad checks, missing packets) and the
    progress go to standard error. A damaged file is decoded up to the damage; the exit status is 1.

    Example: emu capture decode --json session.pcap.gz > session.jsonl

    Example: emu capture decode --brief --only to-server --only 'OP_*Chat*' session.pcapng

    Example: emu capture decode --stats session.pcapng
    """
    if brief and stats:
        raise CommandError("--stats prints no messages; leave out --brief")
    output = _Output(style, only, is_brief=brief, statistics=MessageStatistics() if stats else None)
    follower = _make_follower(**options)
    reader = CaptureReader()
    damage: FileFormatError | None = None
    with _open(file) as stream, _progress() as progress:
        task = progress.add_task("decoding", total=_size_of(stream))
        try:
            while chunk := stream.read(CHUNK):
                for record in reader.receive_data(chunk):
                    output.print(follower.receive(record))
                progress.advance(task, len(chunk))
            reader.close()
        except FileFormatError as error:
            damage = error
    output.print(follower.close())
    output.print_statistics()
    sys.stdout.flush()
    # A file that is not a capture at all gets only its error.
    if damage is None or follower.sessions:
        _summarize(follower, reader, output)
    if damage is not None:
        raise FileFormatError(f"{file}: {damage}") from damage


@capture.command()
@click.argument("file", type=FilePath(dir_okay=False, path_type=Path), required=False)
@click.option("--from-start", is_flag=True, help="Also print the present contents of the file.")
@_output_options
@_decoding_options
def follow(
    file: Path | None,
    from_start: bool,
    style: str,
    only: tuple[str, ...],
    brief: bool,
    **options: Any,
) -> None:
    """Print messages while a running server writes them to its trace FILE; stop with Ctrl-C.

    FILE defaults to the configuration's trace.file. The file may not exist yet, or be replaced by a
    new one. Its present contents are read, because later messages need them, but not printed.

    Example: emu capture follow --brief --only to-server
    """
    output = _Output(style, only, is_brief=brief)
    path = file if file is not None else load_config().trace.file
    if path is None:
        raise CommandError("no FILE given, and the configuration's trace.file is empty")
    reader, follower = CaptureReader(), _make_follower(**options)
    quiet = not from_start
    # A file that does not exist yet has no old contents.
    if not path.exists():
        click.echo(f"waiting for {path}", err=True)
        quiet = False
    try:
        for chunk in tail(path, lambda: time.sleep(POLL_INTERVAL)):
            if chunk is None:
                click.echo(f"{path} was replaced; following the new file", err=True)
                # The new file is another trace, so sessions and baselines begin anew.
                reader, follower = CaptureReader(), _make_follower(**options)
                quiet = False
                continue
            # The present contents have been read; all further messages are new.
            if not chunk:
                quiet = False
                continue
            for record in reader.receive_data(chunk):
                output.print(follower.receive(record), quiet=quiet)
            sys.stdout.flush()
    except FileFormatError as error:
        raise FileFormatError(f"{path}: {error}") from error
    except KeyboardInterrupt:
        pass


@capture.command()
def dissector() -> None:
    """Write a Wireshark dissector (Lua) to standard output, made from the opcode tables.

    Put it into Wireshark's personal Lua plugin folder, or give it to tshark.

    Example: emu capture dissector > eq2.lua && tshark -X lua_script:eq2.lua -r session.pcap
    """
    click.echo(make_dissector(opcode_ranges(present_tables())), nl=False)


def tail(path: Path, wait: Callable[[], None]) -> Iterator[bytes | None]:
    """Yield the bytes of a growing file, and ``b""`` at its end before each call of `wait`.

    Yields None when the file was replaced or cut, before the new file's first bytes. A file that
    does not exist yet is waited for.
    """
    stream: BinaryIO | None = None
    try:
        while True:
            if stream is None:
                try:
                    stream = path.open("rb")
                except FileNotFoundError:
                    wait()
                    continue
            chunk = stream.read(CHUNK)
            yield chunk
            if chunk:
                continue
            # Checked only behind the last byte, so the old file is read completely first.
            if _replaced(path, stream):
                stream.close()
                stream = None
                yield None
            else:
                wait()
    finally:
        if stream is not None:
            stream.close()


def _replaced(path: Path, stream: BinaryIO) -> bool:
    """Return whether `path` is another file now, or the same one cut short."""
    try:
        there = path.stat()
    except FileNotFoundError:
        # Between the removal and the new file nothing has the name, and the old file may still
        # grow.
        return False
    here = os.fstat(stream.fileno())
    return (there.st_dev, there.st_ino) != (here.st_dev, here.st_ino) or (
        there.st_size < stream.tell()
    )


def _make_follower(
    *,
    keys: Path | None,
    key_lines: tuple[str, ...],
    version: int | None,
    structs: tuple[Path, ...],
) -> CaptureFollower:
    ring = KeyRing()
    if keys is not None:
        _add_keys(ring, keys)
    ring.add_text("\n".join(key_lines), name="--key")
    lookup = StructLookup(shipped_catalog(), structs)
    return CaptureFollower(MessageDecoder(present_tables(), lookup), keys=ring, version=version)


def _add_keys(ring: KeyRing, path: Path) -> None:
    """Take the keys of a text file, or those that a trace holds among its datagrams."""
    with path.open("rb") as stream:
        chunk = stream.read(CHUNK)
        if not chunk.startswith(TRACE_BEGIN):
            text = chunk + stream.read(MAX_KEY_FILE)
            ring.add_text(text.decode("utf-8-sig", "replace"), name=str(path))
            return
        reader = CaptureReader()
        while chunk:
            for record in reader.receive_data(chunk):
                if isinstance(record, Secrets) and record.kind == EQ2_SECRETS:
                    ring.add_text(record.data.decode("ascii", "replace"), name=str(path))
            chunk = stream.read(CHUNK)


def _open(file: Path) -> BinaryIO:
    if str(file) == "-":
        return sys.stdin.buffer
    try:
        return file.open("rb")
    except OSError as error:
        raise CommandError(f"cannot read {file}: {error.strerror}") from error


def _progress() -> Progress:
    """Return a progress bar on standard error; it shows only where it cannot hit the messages."""
    shown = sys.stderr.isatty() and not sys.stdout.isatty()
    console = Console(stderr=True)
    return Progress(console=console, transient=True, redirect_stdout=False, disable=not shown)


def _size_of(stream: BinaryIO) -> int | None:
    """Return a file's size in bytes, or None for a pipe."""
    try:
        return os.fstat(stream.fileno()).st_size or None
    except OSError:
        return None


class _Output:
    """Prints or counts the selected messages, and prints notices to standard error."""

    def __init__(
        self,
        style: str,
        only: tuple[str, ...],
        *,
        is_brief: bool,
        statistics: MessageStatistics | None = None,
    ) -> None:
        self._selection = _read_only(only) if only else None
        self._style = style
        self._statistics = statistics
        texts = (to_brief, to_brief_json) if is_brief else (to_text, to_json)
        self._text = texts[style == "json"]
        self.selected: int | None = None if self._selection is None else 0
        """How many messages were selected; None if all are."""

    def print(self, found: Iterator[CapturedMessage | Notice], *, quiet: bool = False) -> None:
        """Print or count messages, and print notices; with `quiet`, only run the decoder."""
        for one in found:
            if quiet:
                continue
            if isinstance(one, Notice):
                click.echo(f"note: {one.text}", err=True)
            else:
                self._message(one)

    def _message(self, message: CapturedMessage) -> None:
        if self._selection is not None and self.selected is not None:
            selected = self._selection.select(message)
            if selected is None:
                return
            self.selected += 1
            message = selected
        if self._statistics is not None:
            self._statistics.count_message(message)
        else:
            sys.stdout.write(self._text(message) + "\n")

    def print_statistics(self) -> None:
        """Print the statistics, if there are any: a table and totals, or a JSON object per row."""
        statistics = self._statistics
        if statistics is None or not statistics.kinds:
            return
        if self._style == "json":
            for row in statistics.rows():
                click.echo(json.dumps(row))
            return
        print_rows(statistics.rows(), "table", COLUMNS, least=("undecoded", "opcode"))
        for to_server, total in sorted(statistics.totals.items(), reverse=True):
            click.echo(
                f"{direction_name(to_server)}: {counted(total.messages, 'message')}, "
                f"{counted(total.bytes, 'byte')} in {statistics.seconds:.1f} s"
            )


def _read_only(only: tuple[str, ...]) -> MessageSelection:
    known = {name for _, _, names in opcode_ranges(present_tables()) for name in names.values()}
    return read_selection(only, known)


def _summarize(follower: CaptureFollower, reader: CaptureReader, output: _Output) -> None:
    if not follower.sessions:
        click.echo("no EQ2 session in this capture", err=True)
    else:
        selected = "" if output.selected is None else f" (selected: {output.selected})"
        click.echo(
            f"messages: {follower.messages}{selected}, sessions: {follower.sessions}", err=True
        )
    for reason, count in sorted(reader.left_out.items()):
        click.echo(f"left out: {count} {reason}", err=True)
