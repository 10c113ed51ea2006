"""The root of the `emu` command, which imports a noun's module when it is used.

So `emu --help` is fast, and a missing optional dependency affects only its noun. An error is one
line on standard error with exit status 1, or 2 for a malformed command line.
"""

from __future__ import annotations

import importlib
import io
import os
import sys

import click

import emu
from emu.built import form
from emu.cli.root_options import share_options, shared_options
from emu.cli.words import SAME, wrong_noun
from emu.errors import ConfigError, EmuError, unusable

NOUNS = {
    "account": ("accounts", "Manage players' accounts: add, list, password, disable, import."),
    "admin": ("consoles.admin", "Run a command on the running server, as on its console."),
    "audit": ("audit", "List what operators have changed: who, what, to whom, and why."),
    "backup": ("backup", "Copy the database, also while the server is running."),
    "capture": ("capture", "Decode captures, follow a running server, make a dissector."),
    "character": (
        "characters",
        "Manage characters of all worlds: list, rank, rename, delete, restore.",
    ),
    "client": (
        "client.commands",
        "Run a client that plays: scripted, by hand, or many.",
    ),
    "config": ("config", "Show or check the configuration."),
    "database": ("database", "Copy the database to another engine, upgrade it, check it."),
    "content": ("content", "Make and read a content file: a whole world from EQ2Emulator."),
    "doctor": ("doctor.commands", "Check a server for faults and print their fixes."),
    "ggmp": ("consoles.ggmp", "Watch and control actors of a world, by GGMP."),
    "item": ("items", "Look at the kinds of things of the world: show, search."),
    "guild": ("guilds", "Manage the guilds of the world: list, show, rename, delete."),
    "logs": ("running", "Print the last lines of the server's log."),
    "node": ("nodes", "Manage the nodes of a cluster: list, show, drain, resume, forget."),
    "opcodes": ("opcodes.commands", "Manage opcode tables: list, edit, compare, check, import."),
    "query": ("query", "Query a server's status, by the protocols of server lists."),
    "rcon": ("consoles.rcon", "Run commands on any server with Source RCON."),
    "replay": ("replay", "Play a recording of a zone without a network."),
    "restore": ("backup", "Return to a backup; keeps a copy of the present database."),
    "run": ("running", "Run the server in the foreground."),
    "start": ("running", "Start the server as a daemon."),
    "status": ("watch.status", "Show the state of the running server on one screen."),
    "stop": ("running", "Stop the running server."),
    "structs": ("structs", "Show packet structs: list, show, decode, encode, check."),
    "top": ("watch.top", "Watch the running server live, on the full screen."),
    "world": ("world", "Manage the worlds that may register: add, list, disable."),
    "zone": ("nodes", "Manage the zones of a cluster: list, move; record a running zone."),
}
"""By noun: the module below `emu.cli` with a click command of that name, and one line of help."""


_STREAMS = ("stdin", "stdout", "stderr")


class NounGroup(click.Group):
    """A click group that imports a noun's module when the noun is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the nouns in alphabetical order."""
        return sorted(NOUNS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return the command of a noun."""
        if cmd_name not in NOUNS:
            return None
        module = importlib.import_module(f"emu.cli.{NOUNS[cmd_name][0]}")
        command = getattr(module, cmd_name)
        assert isinstance(command, click.Command)  # noqa: S101
        # Done here, because the noun's module is imported only now.
        share_options(command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the noun, also by another word for it; the error names the right command."""
        if args[:1] == ["help"]:
            args = [*args[1:], "--help"]
        # A loop, because one of these words may stand for another.
        while args[0] in SAME:
            args = [*SAME[args[0]], *args[1:]]
        if args[0] in ("--help", "--version"):
            self.parse_args(ctx, args)  # prints it and ends
        if args[0] not in NOUNS:
            raise wrong_noun(self, ctx, args[0])
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of nouns without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(noun, NOUNS[noun][1]) for noun in sorted(NOUNS)])


@click.group(cls=NounGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(emu.__version__, prog_name="emu", message=f"%(prog)s %(version)s, {form()}")
def root() -> None:
    """Manage an EverQuest II login and world server.

    `emu run` runs the server. The commands kick, who, players, zones, broadcast, mute, lock and
    reload work on the running server, as in `emu admin kick`.

    Example: emu account add alice
    """


root.params += shared_options()


def main() -> None:
    """Run the command line; an `EmuError` becomes one line and exit status 1.

    A wrong configuration gets one line for each problem. Characters that the terminal's encoding
    lacks are escaped. Colors are off if $NO_COLOR is set (https://no-color.org).
    """
    open_streams()
    # Players' names may have letters that the terminal's encoding lacks.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        root(prog_name="emu", color=False if os.environ.get("NO_COLOR") else None)
    except ConfigError as error:
        for problem in error.problems:
            click.echo(f"emu: {problem}", err=True)
        sys.exit(1)
    except EmuError as error:
        from emu.cli.tables import printable  # noqa: PLC0415  # `emu --help` stays quick

        click.echo(f"emu: {printable(str(error))}", err=True)
        sys.exit(1)
    except OSError as error:
        click.echo(f"emu: {unusable(error)}", err=True)
        sys.exit(1)


def open_streams() -> None:
    """Open the standard streams that the caller has closed, for instance by ``>&-``.

    Python has None for them, and the next file that is opened would take their place.
    """
    for number, mode in enumerate("rww"):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is the missing stream's: those below it are open.
            os.open(os.devnull, os.O_RDWR)
        name = _STREAMS[number]
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
