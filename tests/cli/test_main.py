import errno
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import emu
from emu.cli import main as cli
from emu.errors import CommandError, ConfigError
from emu.store import Store
from tests.support.running import forked
from tests.support.running.whole_server import PROGRAMS


def test_help_lists_every_noun_without_importing_one() -> None:
    result = CliRunner().invoke(cli.root, ["--help"])
    assert result.exit_code == 0
    for noun in cli.NOUNS:
        assert noun in result.output


def test_the_version_is_the_packages() -> None:
    assert emu.__version__ in CliRunner().invoke(cli.root, ["--version"]).output


def test_an_unknown_noun_is_a_usage_error() -> None:
    assert CliRunner().invoke(cli.root, ["nonsense"]).exit_code == 2


@pytest.mark.parametrize(
    ("words", "meant"), [("acount list", "account"), ("account lst", "list"), ("query sqs", "ssq")]
)
def test_a_mistyped_word_is_answered_with_what_may_be_meant(words: str, meant: str) -> None:
    result = CliRunner().invoke(cli.root, words.split())
    assert result.exit_code == 2
    assert re.search(f"Did you mean .*'{meant}'", result.output)


def test_an_error_of_ours_is_one_line_and_exit_status_1(monkeypatch, capsys) -> None:
    def fail(**_: object) -> None:
        raise CommandError("there is no such thing; try another")

    monkeypatch.setattr(cli, "root", fail)
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 1
    assert capsys.readouterr().err == "emu: there is no such thing; try another\n"


def test_what_an_unknown_peer_wrote_does_not_steer_the_terminal(monkeypatch, capsys) -> None:
    def fail(**_: object) -> None:
        raise CommandError("there is no \x1b[2J such\nthing")

    monkeypatch.setattr(cli, "root", fail)
    with pytest.raises(SystemExit):
        cli.main()
    assert capsys.readouterr().err == "emu: there is no \ufffd[2J such\ufffdthing\n"


def test_what_the_system_refuses_is_one_line(monkeypatch, capsys) -> None:
    def fail(**_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "/var/lib/emu.sqlite")

    monkeypatch.setattr(cli, "root", fail)
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 1
    assert capsys.readouterr().err == (
        "emu: /var/lib/emu.sqlite: cannot be used (Permission denied); run this as its owner\n"
    )


def test_a_full_disk_behind_the_output_is_one_line(monkeypatch, capsys) -> None:
    def fail(**_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(cli, "root", fail)
    with pytest.raises(SystemExit):
        cli.main()
    assert capsys.readouterr().err == (
        "emu: the output or an open file: cannot be used (No space left on device)\n"
    )


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_standard_stream_is_one_that_leads_nowhere(tmp_path: Path, closed: str) -> None:
    code = "from emu.cli.main import main; main()"
    words = f'"$0" -c "{code}" --db a.sqlite account add bob --password long-enough {closed}'
    done = subprocess.run(
        ["sh", "-c", words, sys.executable], cwd=tmp_path, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done
    assert "Traceback" not in done.stderr
    with Store.open_for_reading(tmp_path / "a.sqlite") as store:
        assert store.login.accounts.find("bob") is not None


def test_a_wrong_configuration_is_one_line_for_each_problem(monkeypatch, capsys) -> None:
    def fail(**_: object) -> None:
        raise ConfigError(["login.listen: must be so", "[wrld]: unknown table"])

    monkeypatch.setattr(cli, "root", fail)
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["emu: login.listen: must be so", "emu: [wrld]: unknown table"]


def commands(group: click.Group, path: tuple[str, ...]):
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


def test_every_command_has_help_and_an_example() -> None:
    assert isinstance(cli.root, click.Group)
    for path, command in commands(cli.root, ("emu",)):
        assert command.help, f"{' '.join(path)} has no help"
        text = f"{command.help}{command.epilog or ''}"
        assert "Example: emu " in text, f"{' '.join(path)} has no example"


@pytest.mark.parametrize("noun", sorted(cli.NOUNS))
def test_help_of_each_noun_works(noun: str) -> None:
    result = CliRunner().invoke(cli.root, [noun, "--help"])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("noun", sorted(cli.NOUNS))
def test_the_verbs_of_a_noun_are_reported_in_whole_sentences(noun: str) -> None:
    shown = CliRunner().invoke(cli.root, [noun, "--help"], terminal_width=60).output
    assert "..." not in shown.partition("\nCommands:\n")[2]


@pytest.mark.parametrize(("variable", "color"), [("", None), ("1", False)])
def test_who_wants_no_color_gets_none(
    monkeypatch: pytest.MonkeyPatch, variable: str, *, color: bool | None
) -> None:
    wanted: list[object] = []
    monkeypatch.setenv("NO_COLOR", variable)
    monkeypatch.setattr(cli, "root", lambda **options: wanted.append(options["color"]))
    cli.main()
    assert wanted == [color]


@pytest.mark.slow
def test_importing_the_root_is_light() -> None:
    code = "import sys, emu.cli.main; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = {name for name in done.stdout.split() if name.startswith(("emu", "twisted", "attr"))}
    assert ours == {
        "emu", "emu.built", "emu.errors", "emu.cli", "emu.cli.main", "emu.cli.paths",
        "emu.cli.root_options", "emu.cli.words",
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "typed", "status"),
    [
        (("--version",), "", 0),
        (("account", "list"), "", 1),
        (("no-noun",), "", 2),
        (("--db", "a.sqlite", "account", "add", "bob"), "long secret\n", 0),
    ],
)
def test_the_forked_command_of_the_tests_does_what_the_installed_one_does(
    tmp_path: Path, words: tuple[str, ...], typed: str, status: int
) -> None:
    found = []
    for name, program in (("real", [str(PROGRAMS / "emu")]), ("fork", forked.forked_words("emu"))):
        folder = tmp_path / name
        folder.mkdir()
        done = subprocess.run(
            [*program, *words], cwd=folder, input=typed, capture_output=True, text=True, check=False
        )
        printed = [text.replace(str(folder), "FOLDER") for text in (done.stdout, done.stderr)]
        found.append((done.returncode, *printed, sorted(path.name for path in folder.iterdir())))
    real, fork = found
    assert real[0] == status, real
    assert fork == real


@pytest.mark.slow
def test_commands_of_accounts_import_nothing_of_a_server() -> None:
    heavy = ("twisted", "numpy", "sqlite_utils", "emu.world.assembly", "emu.link", "emu.structs")
    code = "import sys, emu.cli.accounts; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {name for name in done.stdout.split() if name.startswith(heavy)} == {
        "emu.link", "emu.link.codec", "emu.link.settings",
    }  # fmt: skip
