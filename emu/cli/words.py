"""Words that people type although no command has this name: what runs then, or what to type.

An obvious word runs the command that it means: `emu kick` is `emu admin kick`, and `emu account
create` is `emu account add`. If a word can mean several commands, the error names them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import click
from click.exceptions import NoSuchCommand

ON_THE_SERVER: Final = (
    "broadcast", "kick", "lock", "mute", "players", "reload", "shutdown", "unlock", "unmute", "who",
    "zones",
)  # fmt: skip
"""Commands of the running server that need no `admin` before them."""

SAME: Final[Mapping[str, tuple[str, ...]]] = {
    **{word: ("admin", word) for word in ON_THE_SERVER},
    "accounts": ("account",),
    "characters": ("character",),
    "console": ("world", "console"),
    "daemon": ("start",),
    "log": ("logs",),
    "ping": ("client", "ping"),
    "play": ("client", "play"),
    "serve": ("run",),
    "shell": ("client", "shell"),
    "user": ("account",),
    "users": ("account",),
    "version": ("--version",),
    "worlds": ("world",),
}
"""A word in place of a noun -> the words that it stands for."""

SYNONYMS: Final[Mapping[str, tuple[str, ...]]] = {
    "create": ("add",),
    "del": ("remove", "delete"),
    "delete": ("remove",),
    "info": ("show",),
    "ls": ("list",),
    "new": ("add",),
    "passwd": ("password",),
    "register": ("add",),
    "remove": ("delete",),
    "rm": ("remove", "delete"),
    "undelete": ("restore",),
    "validate": ("check",),
    "view": ("show",),
}
"""A word in place of a verb -> verbs of the same meaning; the first that the noun has is run."""

INSTEAD: Final[Mapping[str, str]] = {
    "ban": (
        "`emu account ban NAME` bans an account, `emu admin character ban NAME` the account of a"
        " character, `emu account address ban ADDRESS` an address"
    ),
    "unban": "`emu account unban NAME`, or `emu account address unban ADDRESS`",
    "rank": "`emu character rank NAME gamemaster`",
    "gm": "`emu character rank NAME gamemaster`",
    "promote": "`emu character rank NAME gamemaster`",
    "add": "`emu account add NAME`",
    "create": "`emu account add NAME` adds an account; players create characters in the game",
    "delete": "`emu account remove NAME`, or `emu character delete NAME`",
    "remove": "`emu account remove NAME`, or `emu character delete NAME`",
    "login": "`emu client login HOST:PORT --user NAME`",
    "restart": "`systemctl restart eq2emu`, or `emu stop` and then `emu start`",
    "init": "nothing needs preparation: `emu account add NAME`, then `emu run`",
    "setup": "nothing needs preparation: `emu account add NAME`, then `emu run`",
    "test": "`emu doctor` checks a server, `emu config check` a configuration",
    "check": "`emu doctor` checks a server, `emu config check` a configuration",
    "import": "`emu account import-eq2emu DUMP`, or `emu content import DUMP`",
    "migrate": "`emu account import-eq2emu DUMP`, or `emu content import DUMP`",
    "dump": "`emu backup FILE`",
    "motd": "`emu admin setmotd TEXT`",
    "save": "`emu admin save`",
    "upgrade": "stop the server, run `emu backup` and `{upgrade}`, then start the server",
    "update": "stop the server, run `emu backup` and `{upgrade}`, then start the server",
    "uninstall": "tools/deploy/README.md, section Remove the server, has the steps",
}
"""A word that stands for no single command -> the right ones."""

INSTEAD_OF_VERBS: Final[Mapping[tuple[str, str], str]] = {
    ("character", "add"): (
        "players create characters in the game; `emu client play HOST:PORT --character NAME"
        " --create` does the same"
    ),
    ("character", "create"): (
        "players create characters in the game; `emu client play HOST:PORT --character NAME"
        " --create` does the same"
    ),
    ("character", "ban"): "`emu admin character ban NAME`, or `emu account ban ACCOUNT`",
    ("character", "password"): "`emu account password NAME`",
    ("config", "edit"): "open the file that `emu config check` names in an editor",
    ("config", "init"): "`emu config show > emu.toml` writes a file with all settings",
    ("config", "set"): (
        "edit the file that `emu config check` names, then run `emu reload`; `emu run --set"
        " TABLE.KEY=VALUE` sets a key for one run"
    ),
}
"""A noun and a wrong verb -> the right command."""


def same_verb(group: click.Group, word: str) -> str | None:
    """Return the verb of a noun that has the meaning of a word, None if it has none."""
    return next((one for one in SYNONYMS.get(word, ()) if one in group.commands), None)


def wrong_noun(root: click.Group, ctx: click.Context, word: str) -> click.UsageError:
    """Return the error for a word that is not a noun."""
    instead = INSTEAD.get(word)
    if instead is None:
        found = list(_nouns_with(root, ctx, word))
        instead = " or ".join(f"`emu {noun} {verb}`" for noun, verb in found)
    if instead:
        return _advice(f"emu {word}", instead, ctx)
    return NoSuchCommand(word, possibilities=root.list_commands(ctx), ctx=ctx)


def wrong_verb(group: click.Group, ctx: click.Context, word: str) -> click.UsageError:
    """Return the error for a word that is not a verb of a noun."""
    noun, root = group.name or "", ctx.find_root().command
    instead = INSTEAD_OF_VERBS.get((noun, word))
    similar = NoSuchCommand(word, possibilities=group.commands, ctx=ctx)
    instead = instead or INSTEAD.get(word)
    if instead is None and isinstance(root, click.Group):
        if word in root.list_commands(ctx) or word in SAME:
            instead = f"`emu {word}`"
        elif not similar.possibilities:
            found = list(_nouns_with(root, ctx, word))
            instead = " or ".join(f"`emu {noun} {verb}`" for noun, verb in found)
    return _advice(f"emu {noun} {word}", instead, ctx) if instead else similar


def _nouns_with(root: click.Group, ctx: click.Context, word: str) -> Iterator[tuple[str, str]]:
    """Yield the nouns that have a verb of this name or meaning, with that verb."""
    for name in root.list_commands(ctx):
        command = root.get_command(ctx, name)
        if isinstance(command, click.Group):
            verb = word if word in command.commands else same_verb(command, word)
            if verb is not None:
                yield name, verb


def _advice(typed: str, instead: str, ctx: click.Context) -> click.UsageError:
    if "{upgrade}" in instead:
        from emu.cli.installed import upgrade_command  # noqa: PLC0415  # `emu --help` stays quick

        instead = instead.replace("{upgrade}", upgrade_command())
    return click.UsageError(f"there is no command `{typed}`: {instead}", ctx=ctx)
