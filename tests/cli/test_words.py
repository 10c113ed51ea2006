"""Words that people type: each runs a command, or the error names the right one."""

from __future__ import annotations

import re

import click
import pytest
from click.testing import CliRunner

from emu.cli import main as cli
from emu.cli.words import INSTEAD, INSTEAD_OF_VERBS, ON_THE_SERVER, SAME, SYNONYMS
from tests.support.running.command_line import CommandLine


def answer(*words: str) -> str:
    """Type a command that does not exist, and return the error."""
    result = CliRunner().invoke(cli.root, words)
    assert result.exit_code == 2, result.output
    return " ".join(result.output.split())


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("ban Aldana", "`emu account ban NAME`"),
        ("unban Aldana", "`emu account unban NAME`"),
        ("restart", "`emu stop` and then `emu start`"),
        ("password alice", "`emu account password`"),
        ("disable alice", "`emu account disable`"),
        ("rename Aldana Mira", "`emu character rename`"),
        ("edit", "`emu opcodes edit`"),
        ("rank Aldana 100", "`emu character rank NAME gamemaster`"),
        ("uninstall", "Remove the server"),
        ("account kick alice", "`emu kick`"),
        ("account rank alice 100", "`emu character rank NAME gamemaster`"),
        ("account backup", "`emu backup`"),
        ("account restart", "`emu stop` and then `emu start`"),
        ("character ban Aldana", "`emu admin character ban NAME`"),
        ("character create Mira", "--create"),
        ("world kick Aldana", "`emu kick`"),
        ("world start", "`emu start`"),
        ("config set a.b=1", "edit the file"),
        ("config reload", "`emu reload`"),
        ("opcodes decode", "`emu structs decode`"),
        ("acount", "Did you mean one of: 'account', 'content', 'rcon'"),
        ("account adress", "Did you mean 'address'"),
        ("nonsense", "No such command 'nonsense'"),
        ("account nonsense", "No such command 'nonsense'"),
    ],
)
def test_the_error_names_the_right_command(words: str, named: str) -> None:
    assert named in answer(*words.split())


@pytest.mark.parametrize("word", ["upgrade", "update"])
def test_an_upgrade_is_described_for_this_installation(word: str) -> None:
    assert "pip install" in answer(word)
    assert "{" not in answer(word)


def test_a_synonym_of_a_verb_runs_it(tmp_path) -> None:
    emu = CommandLine(tmp_path)
    emu.good("account", "create", "alice", "--password", "secret-pass")
    assert [row["name"] for row in emu.rows("users", "ls")] == ["alice"]
    assert emu.rows("account", "info", "alice")["name"] == "alice"
    emu.good("account", "delete", "alice")
    assert emu.rows("accounts", "list") == []


@pytest.mark.parametrize("word", [*ON_THE_SERVER, "console", "logs", "stop"])
def test_commands_of_the_running_server_are_refused_without_one(tmp_path, word: str) -> None:
    assert "is it running" in CommandLine(tmp_path).refused(word)


def test_help_is_also_a_command() -> None:
    run = CliRunner().invoke
    assert run(cli.root, ["help"]).output == run(cli.root, ["--help"]).output
    account = run(cli.root, ["account", "--help"])
    assert run(cli.root, ["help", "account"]).output == account.output
    assert account.exit_code == 0
    assert "Example: emu account add" in run(cli.root, ["help", "account", "add"]).output
    assert run(cli.root, ["version"]).output == run(cli.root, ["--version"]).output


def groups() -> dict[str, click.Group]:
    context = click.Context(cli.root)
    made = {name: cli.root.get_command(context, name) for name in cli.NOUNS}
    return {name: one for name, one in made.items() if isinstance(one, click.Group)}


def test_no_word_hides_a_command() -> None:
    assert not cli.NOUNS.keys() & (SAME.keys() | INSTEAD.keys())
    assert not SAME.keys() & INSTEAD.keys()
    for noun, verb in INSTEAD_OF_VERBS:
        assert verb not in groups()[noun].commands


def test_every_word_leads_to_a_command() -> None:
    context = click.Context(cli.root)
    for words in SAME.values():
        assert words[0] in cli.NOUNS or words[0].startswith("--") or words[0] in SAME
    verbs = {verb for group in groups().values() for verb in group.commands}
    for meant in SYNONYMS.values():
        assert verbs.issuperset(meant)
    for text in (*INSTEAD.values(), *INSTEAD_OF_VERBS.values()):
        for noun, verb in re.findall(r"`emu ([a-z-]+) ?([a-z0-9-]*)", text):
            command = cli.root.get_command(context, SAME.get(noun, (noun,))[0])
            assert command is not None, noun
            if isinstance(command, click.Group):
                assert verb in command.commands, (noun, verb)
