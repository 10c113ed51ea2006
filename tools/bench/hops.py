"""Files and calls of five everyday paths: counted, not timed.

The paths are one movement step, from the datagram to the state of the world and from there to the
observer's datagram, a `say`, a kick by RCON, and a login. The tool counts calls of Python functions
below ``emu/`` in the whole server, in all threads. Two players stand beside each other; one acts,
one watches, and nothing else moves.

A path begins when the server reads the message. It ends with the last datagram that the server
sends because of it; acknowledgements that clients send afterwards do not count, nor does the status
that the world sends its login server a moment after a kick. Turns of an idle server (upkeep,
reviews, polls) do not count, nor do turns for other players during a login. Metrics and log lines
of a path itself do count. Each path is taken several times, and the round with the fewest calls
counts: chance only ever adds some (two datagrams that arrive together, a periodic timer).
"""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import groupby
from pathlib import Path
from textwrap import fill
from time import sleep

from rich.console import Console
from rich.table import Table

from emu.admin.rcon import PacketType, RconPacket
from emu.net.client.swarm import character_name
from tools.bench.figures import ROUNDS, Figure, Round
from tools.bench.hops_paths import (
    AIMS,
    CALM,
    KICK,
    LOGIN,
    PASSWORD,
    SAY,
    SETTLE,
    STEP_IN,
    STEP_OUT,
    VICTIM,
    VISITOR,
    Hops,
    files_of,
    step_in,
    step_out,
    until_sent,
)  # fmt: skip
from tools.bench.hops_server import Turn
from tools.bench.hops_virtual import virtual_paths
from tools.bench.login_child import CHEAP
from tools.bench.login_players import LoginPlayers
from tools.bench.processes import Child, child
from tools.bench.world_child import PREFIX, boundless_zone, crowded, make_characters
from tools.ports import free_port

HEADINGS = {
    STEP_IN: "A step, from the datagram to the world's state",
    STEP_OUT: "A step, from the world's state to the observer's datagram",
    SAY: "A `say`, from the speaker's datagram to the hearer's",
    KICK: "A kick by RCON, to the victim's disconnect and save",
    LOGIN: "A login, from the session request to the character list",
}
"""The headings of the lists in docs/contributing/architecture.md."""
BEGIN, END = "<!-- paths -->", "<!-- end of paths -->"
"""The marks around these lists."""
COLUMNS = 120

Found = dict[str, list[Hops]]
"""The rounds of each path."""


class Scene:
    """A server that records, players in its world, and who acts there."""

    def __init__(self, server: Child, rcon: socket.socket, players: subprocess.Popen[str]) -> None:
        self._server = server
        self._rcon = rcon
        self._players = players
        self._idle: set[frozenset[str]] = set()

    def wait_until_calm(self) -> None:
        """Let the last arrival settle, and learn what the server does when nothing happens."""
        sleep(CALM)
        self._turns()
        sleep(2 * SETTLE)
        self._idle = {files_of(turn) for turn in self._turns()}

    def round(self) -> dict[str, Hops]:
        """Take each path once."""
        step = self._in_world(lambda: self._player_does("step"))
        said = self._in_world(lambda: self._player_does("say"))
        self._player_does("enter")
        self._await_players()
        sleep(CALM)
        victim = character_name(PREFIX, VICTIM)
        kicked = self._in_world(lambda: self._command(f"kick {victim}", victim))
        return {
            STEP_IN: step_in(step),
            STEP_OUT: step_out(step),
            SAY: until_sent(said),
            KICK: until_sent(kicked),
            LOGIN: self._login(),
        }

    def _login(self) -> Hops:
        group = LoginPlayers(self._server.port)
        players = group.add([VISITOR])
        players[0].user = f"{PREFIX}{VISITOR:05}"

        def log_in() -> None:
            group.log_in(players)
            group.settle()

        turns = [turn for turn in self._recorded(log_in) if not self._is_of_others(turn)]
        if players[0].seconds is None:
            raise SystemExit(f"the player could not log in: {players[0].trouble}")
        group.leave()
        return until_sent(turns)

    def _is_of_others(self, turn: Turn) -> bool:
        """Say whether a turn has network traffic, but none of the login server."""
        ports = {*turn["received"], *turn["sent"]}
        return bool(ports) and self._server.port not in ports

    def _in_world(self, act: Callable[[], object]) -> list[Turn]:
        """Return the turns of an act in the world, without those of the login server's clients."""
        turns = self._recorded(act)
        return [turn for turn in turns if self._server.port not in turn["received"]]

    def _recorded(self, act: Callable[[], object]) -> list[Turn]:
        """Return the server's turns while something is done, without those of an idle server."""
        self._turns()
        act()
        sleep(SETTLE)
        return [turn for turn in self._turns() if self._is_busy(turn)]

    def _is_busy(self, turn: Turn) -> bool:
        return bool(turn["received"] or turn["sent"]) or files_of(turn) not in self._idle

    def _turns(self) -> list[Turn]:
        """Return what was recorded since the last time."""
        assert self._server.process.stdout is not None
        self._server.process.send_signal(signal.SIGUSR2)
        turns: list[Turn] = json.loads(self._server.process.stdout.readline())
        return turns

    def _player_does(self, line: str) -> None:
        assert self._players.stdin is not None
        self._players.stdin.write(f"{line}\n")
        self._players.stdin.flush()

    def _await_players(self) -> None:
        assert self._players.stdout is not None
        if self._players.stdout.readline() != "ready 0\n":
            raise SystemExit("a player could not enter the world")

    def _command(self, line: str, expected: str) -> None:
        self._rcon.sendall(RconPacket(7, PacketType.EXECCOMMAND, line.encode()).encode())
        if expected.encode() not in (answer := self._rcon.recv(4096)):
            raise SystemExit(f"{line}: RCON answered {answer!r}")


@contextmanager
def scene() -> Iterator[Scene]:
    """Run the server and the players, until nothing happens any more."""
    with tempfile.TemporaryDirectory(prefix="emu-bench-") as name:
        folder, port = Path(name), free_port()
        make_characters(folder / "emu.sqlite", 4, crowded)
        settings = (
            *CHEAP, f"world.zones={boundless_zone(folder)}",
            f"rcon.listen=127.0.0.1:{port}", f"rcon.password={PASSWORD}",
        )  # fmt: skip
        with (
            child("tools.bench.hops_server", name, *settings) as server,
            closing(rcon_login(port)) as rcon,
            players_of(server) as players,
        ):
            made = Scene(server, rcon, players)
            made.wait_until_calm()
            yield made


@contextmanager
def players_of(server: Child) -> Iterator[subprocess.Popen[str]]:
    """Run the process of the players, until they stand in the zone."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tools.bench.hops_players", str(server.port)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        if process.stdout.readline() != "ready 0\n":
            raise SystemExit("the players could not enter the world")
        yield process
    finally:
        process.communicate(timeout=30)


def rcon_login(port: int) -> socket.socket:
    """Connect to RCON and log in."""
    made = socket.create_connection(("127.0.0.1", port), 30)
    made.sendall(RconPacket(1, PacketType.AUTH, PASSWORD.encode()).encode())
    made.recv(4096)
    return made


def measure(rounds: int) -> Found:
    """Take each path so many times, after one round that fills the caches."""
    with scene() as made:
        made.round()
        taken = [made.round() for _ in range(rounds)]
    return {path: [one[path] for one in taken] for path in AIMS}


def report(rounds: int) -> list[Figure]:
    """Return files, calls and re-entries of each path; time plays no role, so no yardstick does."""
    sizes: dict[str, Callable[[Hops], int]] = {
        "files": lambda hops: len(hops.files),
        "calls": lambda hops: len(hops.calls),
        "re-entries": lambda hops: hops.reentries,
    }
    return [
        Figure(f"{path}: {unit}", unit, "one", [Round(size(hops), 1) for hops in taken])
        for path, taken in measure(rounds).items()
        for unit, size in sizes.items()
    ]


def page_list(path: str, hops: Hops) -> str:
    """Return a path's heading and its files in order, grouped by folder, as Markdown."""
    groups = groupby(hops.files, key=lambda file: file.rpartition("/")[0])
    chain = " → ".join(
        f"`{folder or 'emu'}`: {', '.join(Path(file).stem for file in files)}"
        for folder, files in groups
    )
    text = fill(f"{len(hops.files)} files. {chain}.", COLUMNS, break_on_hyphens=False)
    return f"### {HEADINGS[path]}\n\n{text}\n"


def write_page(page: Path, leanest: dict[str, Hops]) -> None:
    """Replace the lists of a page by measured ones. Raises `ValueError` without the marks."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{page}: the marks {BEGIN} and {END} are missing")
    lists = "\n".join(page_list(path, hops) for path, hops in leanest.items())
    page.write_text(f"{before}{BEGIN}\n\n{lists}\n{END}{after}", encoding="utf-8")


def show(
    console: Console, rounds: int = ROUNDS, *, files: bool = False, page: Path | None = None
) -> None:
    """Print a table of the paths, and the files of each in order when they are wanted.

    `page`: only write the lists of files into this page, as they are in virtual time.
    """
    if page is not None:
        write_page(page, virtual_paths())
        return
    found = measure(rounds)
    leanest = {path: min(taken, key=lambda hops: len(hops.calls)) for path, taken in found.items()}
    table = Table(title="files and calls of five paths")
    table.add_column("path", no_wrap=True)
    for column in ("files", "aim", "calls", "aim", "all rounds", "re-entries"):
        table.add_column(column, justify="right", no_wrap=True)
    for path, hops in leanest.items():
        calls = sorted(len(one.calls) for one in found[path])
        aims = [str(aim or "") for aim in AIMS[path]]
        table.add_row(
            path, str(len(hops.files)), aims[0], str(len(hops.calls)), aims[1],
            f"{calls[0]}-{calls[-1]}", str(hops.reentries),
        )  # fmt: skip
    console.print(table)
    if files:
        for path, hops in leanest.items():
            console.print(f"\n{path}", style="bold")
            for file in hops.files:
                entered = hops.visits.count(file)
                console.print(f"  {file}" + (f" ({entered} visits)" if entered > 1 else ""))
