"""`emu client` as an operator runs it: a process of its own against the reference server."""

import json
import os
import re

import pytest
from click.testing import CliRunner
from twisted.internet.utils import getProcessOutputAndValue

from emu.cli.main import root
from emu.errors import UnknownVersion
from tests.support.running.forked import forked_words
from tests.support.sessions.reference_messages import ReferenceCharacter
from tests.support.sessions.reference_server import Script, serving

pytestmark = pytest.mark.slow


async def emu(*words: object, **environment: str) -> tuple[str, str, int]:
    """Run an `emu` command; return what it printed, what it complained, and its exit status."""
    program, *first = forked_words("emu")
    out, err, code = await getProcessOutputAndValue(
        program, [*first, *(str(word) for word in words)], env={**os.environ, **environment}
    )
    return out.decode(), err.decode(), code


async def test_a_login_prints_each_step_with_its_time() -> None:
    script = Script(version=1208, characters=[ReferenceCharacter(5, 1, "Olda", 7)])
    async with serving(script) as (endpoint, port):
        out, err, code = await emu(
            "client", "login", f"127.0.0.1:{port}", "--user", "tester", "--password", "secret",
            "--version", 1208, "--create", "Testa", "--world", 1, "--delete", "Olda",
            "--play", "Testa",
        )  # fmt: skip
        assert (err, code) == ("", 0)
        lines = out.splitlines()
        assert [line.split()[0] for line in lines] == [
            "session", "key", "login", "worlds", "characters", "create", "characters",
            "delete", "characters", "play", "close",
        ]  # fmt: skip
        assert all(line[18:].split()[1] == "ms" for line in lines)
        assert "1 world: 1 Antonia Bayle (up, 3 players)" in out
        assert "world at 127.0.0.1:9001, access code 305441741" in out
        assert endpoint.only_session().wire.disconnected


async def test_json_is_one_object_a_step_and_the_password_may_come_from_the_environment() -> None:
    async with serving() as (_, port):
        address = f"127.0.0.1:{port}"
        out, err, code = await emu(
            "client", "login", address, "--user", "tester", "--json", EMU_PASSWORD="secret"
        )
        assert (err, code) == ("", 0)
        steps = [json.loads(line) for line in out.splitlines()]
        assert [step["step"] for step in steps][:3] == ["session", "key", "login"]
        assert all(step["ms"] >= 0 for step in steps)
        (worlds,) = (step for step in steps if step["step"] == "worlds")
        assert worlds["worlds"][0]["name"] == "Antonia Bayle"


async def test_a_denied_login_is_one_line_and_status_one() -> None:
    async with serving() as (_, port):
        out, err, code = await emu(
            "client", "login", f"127.0.0.1:{port}", "--user", "tester", "--password", "wrong"
        )
        assert code == 1
        assert err == (f"emu: 127.0.0.1:{port}: login denied: bad user name or password (code 1)\n")
        assert [line.split()[0] for line in out.splitlines()] == ["session", "key"]


async def test_a_server_that_stops_answering_is_one_line_with_the_step() -> None:
    async with serving(Script(silent_from="worlds")) as (_, port):
        _, err, code = await emu(
            "client", "login", f"127.0.0.1:{port}", "--user", "tester", "--password", "secret",
            "--timeout", 0.3,
        )  # fmt: skip
        assert (code, err) == (
            1,
            f"emu: 127.0.0.1:{port}: timed out at step 'worlds' after 0.3 s\n",
        )


async def test_json_names_the_failing_step_too() -> None:
    async with serving(Script(silent_from="worlds")) as (_, port):
        address = f"127.0.0.1:{port}"
        out, err, code = await emu(
            "client", "login", address, "--user", "tester", "--password", "secret",
            "--timeout", 0.3, "--json",
        )  # fmt: skip
        text = f"{address}: timed out at step 'worlds' after 0.3 s"
        assert (code, err) == (1, f"emu: {text}\n")
        assert json.loads(out.splitlines()[-1]) == {"step": "worlds", "error": text}


async def test_worlds_are_printed_as_a_table_of_tabs() -> None:
    async with serving(Script(worlds=[(1, "Antonia Bayle"), (2, "Oggok")])) as (_, port):
        out, err, code = await emu(
            "client", "worlds", f"127.0.0.1:{port}", "--user", "tester", "--password", "secret"
        )
        assert (err, code) == ("", 0)
        assert out == "1\tAntonia Bayle\tup\t3\n2\tOggok\tup\t3\n"


async def test_ping_needs_no_account() -> None:
    async with serving() as (endpoint, port):
        out, err, code = await emu("client", "ping", f"127.0.0.1:{port}")
        assert (err, code) == ("", 0)
        assert [line.split()[0] for line in out.splitlines()] == ["session", "statistics", "close"]
        assert endpoint.only_session().requests == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["login", "nowhere", "--user", "a"], "HOST:PORT"),
        (["login", "127.0.0.1:0", "--user", "a"], "must have a port of 1 or more"),
        (["login", "127.0.0.1:9100"], "--user"),
        (["login", "127.0.0.1:9100", "--user", "a", "--version", "0"], "--version"),
        (["login", "127.0.0.1:9100", "--user", "a", "--timeout", "0"], "--timeout"),
        (
            ["login", "127.0.0.1:9100", "--user", "a", "--password", "b", "--world", "1"],
            "--world needs --create",
        ),
        (["ping"], "HOST:PORT"),
    ],
)
def test_a_command_line_that_makes_no_sense_is_status_two(words: list[str], said: str) -> None:
    result = CliRunner().invoke(root, ["client", *words])
    assert result.exit_code == 2
    assert said in result.output


@pytest.mark.parametrize("verb", ["login", "worlds", "ping", "play", "shell", "swarm"])
def test_the_help_of_every_verb_has_an_example(verb: str) -> None:
    result = CliRunner().invoke(root, ["client", verb, "--help"])
    assert result.exit_code == 0
    assert re.search(rf"Example: emu client {verb} (20 )?127\.0\.0\.1:9100", result.output)


async def test_a_version_nobody_knows_is_one_line() -> None:
    _, err, code = await emu("client", "ping", "127.0.0.1:9100", "--version", 1213)
    assert code == 1
    assert err.startswith(f"emu: {str(UnknownVersion(1213))[:40]}")
    assert err.count("\n") == 1
