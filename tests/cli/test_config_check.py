"""What `emu config check` finds on the machine, for one wrong thing after the other."""

import socket
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner, Result

from emu.admin.status import OpenPort
from emu.cli.main import root
from emu.errors import ConfigError
from emu.store import Store
from tests.support.database.released import released_database
from tests.support.running.names import know_no_invalid_names
from tests.support.world.zone_files import write_zones, zone_text


@pytest.fixture(autouse=True)
def no_name_server(monkeypatch: pytest.MonkeyPatch) -> None:
    know_no_invalid_names(monkeypatch)


QUIET = "[login]\nlisten = '127.0.0.1:0'\n[world]\nlisten = '127.0.0.1:0'\n"


def check(tmp_path: Path, text: str) -> Result:
    file = tmp_path / "emu.toml"
    file.write_text(text)
    return CliRunner().invoke(root, ["--config", str(file), "config", "check"])


def problems(tmp_path: Path, text: str) -> list[str]:
    result = check(tmp_path, text)
    assert isinstance(result.exception, ConfigError), result.output
    return list(result.exception.problems)


def database(tmp_path: Path, name: str = "emu.sqlite") -> str:
    return f"[database]\nurl = 'sqlite:{tmp_path / name}'\n"


def test_a_good_configuration_is_good_and_nothing_is_made(tmp_path: Path) -> None:
    result = check(tmp_path, database(tmp_path, "deep/er/emu.sqlite") + QUIET)
    assert result.exit_code == 0
    assert result.stderr == (
        f"configuration file: {tmp_path / 'emu.toml'}\nthe configuration is good\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["emu.toml"]


def test_it_says_that_it_read_none() -> None:
    result = CliRunner().invoke(root, ["config", "check"])
    assert result.stderr.splitlines()[0] == (
        "no configuration file (neither $EMU_CONFIG nor ./emu.toml nor ./state/emu.toml):"
        " all defaults"
    )


def test_a_folder_that_cannot_be_written_to_is_found(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (line,) = problems(tmp_path, database(tmp_path, "file/emu.sqlite") + QUIET)
    assert line.startswith(f"database.url: {tmp_path / 'file' / 'emu.sqlite'} cannot be written")
    (line,) = problems(tmp_path, database(Path("/proc"), "emu.sqlite") + QUIET)
    assert line.startswith("database.url: /proc/emu.sqlite cannot be written")
    (line,) = problems(tmp_path, database(tmp_path, ".") + QUIET)
    assert "is a folder; name a file in it" in line
    trace = f"[trace]\nfile = '{tmp_path / 'missing' / 'trace.pcapng'}'\n"
    (line,) = problems(tmp_path, database(tmp_path) + QUIET + trace)
    assert line.startswith("trace.file: ")


def test_a_file_that_is_no_database_is_found(tmp_path: Path) -> None:
    (tmp_path / "emu.sqlite").write_bytes(b"no database at all" * 100)
    (line,) = problems(tmp_path, database(tmp_path) + QUIET)
    assert line.startswith("database.url: ")
    Store.create(tmp_path / "good.sqlite").close()
    assert check(tmp_path, database(tmp_path, "good.sqlite") + QUIET).exit_code == 0


def test_a_missing_or_useless_certificate_is_found(tmp_path: Path) -> None:
    link = "[link]\ncertificate = 'link.pem'\ntls_listen = '127.0.0.1:0'\n"
    text = database(tmp_path) + QUIET + link
    (line,) = problems(tmp_path, text)
    assert line.startswith(f"link.certificate: {tmp_path / 'link.pem'}: cannot be read")
    (tmp_path / "link.pem").write_text("no certificate")
    (line,) = problems(tmp_path, text)
    assert line.startswith("link.certificate: ")
    assert "needs a private key and a certificate" in line


@pytest.mark.parametrize(
    ("table", "setting", "reported"),
    [
        ("login", "listen = '192.0.2.1:0'", "login.listen: 192.0.2.1 is no address of this"),
        ("world", "listen = '192.0.2.1:0'", "world.listen: 192.0.2.1 is no address of this"),
        ("login", "listen = 'none.invalid:0'", "login.listen: the host name none.invalid cannot"),
        ("login", "listen = '10.0.0.300:9100'", "login.listen: must be"),
        ("world", "advertise = '0.0.0.0'", "world.advertise: 0.0.0.0 is no address that a client"),
        ("world", "advertise = '10.0.0.300'", "world.advertise: must be an IP address"),
        ("world", "internal_address = '::'", "world.internal_address: :: is no address"),
        ("world", "login_servers = ['0.0.0.0:9100']\naccount = 'a'\npassword = 'b'",
         "world.login_servers: 0.0.0.0 is no address"),
    ],
)  # fmt: skip
def test_impossible_addresses_are_found(
    tmp_path: Path, table: str, setting: str, reported: str
) -> None:
    tables = {"login": "listen = '127.0.0.1:0'", "world": "listen = '127.0.0.1:0'"}
    tables[table] = setting if setting.startswith("listen") else f"{tables[table]}\n{setting}"
    text = "".join(f"[{name}]\n{lines}\n" for name, lines in tables.items())
    lines = problems(tmp_path, database(tmp_path) + text)
    assert all(
        line.removeprefix(f"{tmp_path / 'emu.toml'}: ").startswith(reported) for line in lines
    )
    assert lines


def test_what_may_be_well_is_only_a_warning(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        result = check(
            tmp_path,
            database(tmp_path) + QUIET.replace("[world]\nlisten = '127.0.0.1:0'",
            f"[world]\nlisten = 'localhost:{port}'\nadvertise = 'none.invalid'\n"
            "account = 'a'\npassword = 'b'\nlogin_servers = ['none.invalid:9100']"),
        )  # fmt: skip
    assert result.exit_code == 0, result.exception
    reported = [line for line in result.stderr.splitlines() if line.startswith("warning: ")]
    assert (
        f"warning: world.listen: UDP 127.0.0.1:{port} is in use; by a running server?" in reported
    )
    for key in ("world.advertise", "world.login_servers"):
        assert any(
            line.startswith(f"warning: {key}: the host name none.invalid cannot")
            for line in reported
        )


def test_the_ports_of_the_running_server_are_no_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ours:
        ours.bind(("127.0.0.1", 0))
        at = f"127.0.0.1:{ours.getsockname()[1]}"
        port = OpenPort("world.listen", "UDP", at, {})
        console = SimpleNamespace(run=lambda _command: SimpleNamespace(data=[port]))
        monkeypatch.setattr(
            "emu.cli.config.ConsoleSocket", lambda _path, **_settings: nullcontext(console)
        )
        monkeypatch.setattr("emu.cli.config.Snapshot.of", lambda data: SimpleNamespace(ports=data))
        login, world = QUIET.split("[world]")
        text = database(tmp_path) + login + "[world]" + world.replace("127.0.0.1:0", at)
        result = check(tmp_path, text)
    assert result.exit_code == 0
    assert "is in use" not in result.stderr


def test_files_of_users_and_tokens_are_read(tmp_path: Path) -> None:
    (tmp_path / "users").write_text("somebody\n")
    (tmp_path / "tokens").write_bytes(b"\xff")
    text = (
        "[rcon]\nusers_file = 'users'\nlisten = '127.0.0.1:0'\n"
        "[ggmp]\ntokens_file = 'tokens'\nlisten = '127.0.0.1:0'\n"
    )
    found = problems(tmp_path, database(tmp_path) + QUIET + text)
    assert [line.partition(": ")[0] for line in found] == ["rcon.users_file", "ggmp.tokens_file"]
    assert "line 1: must be a name, a role and a password" in found[0]


def test_a_folder_of_behaviors_that_is_not_there_is_found(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, database(tmp_path) + QUIET + "behaviors = 'none'\n")
    assert found.startswith("world.behaviors: ")
    assert "none: cannot be listed (No such file or directory)" in found


def test_a_database_of_an_older_program_is_left_as_it_is(tmp_path: Path) -> None:
    file = released_database(tmp_path / "emu.sqlite")
    before = file.read_bytes()
    assert check(tmp_path, database(tmp_path) + QUIET).exit_code == 0
    assert file.read_bytes() == before
    assert not list(tmp_path.glob("*.bak"))


def test_faults_of_zones_and_behaviors_are_found_with_file_and_line(tmp_path: Path) -> None:
    zones = write_zones(
        tmp_path / "zones",
        a=zone_text(325, "Mine", '[[spawn]]\nkind = "npc"\nname = "Ann"\nplace = [0, 0, 0]\n')
        + 'behavior = "crier"\nbehavior_options = { newz = [] }\nverbs = [{ name = "Hial" }]\n',
    )
    behaviors = tmp_path / "behaviors"
    behaviors.mkdir()
    crier = behaviors / "crier.py"
    crier.write_text(
        "from attrs import frozen\nfrom emu.world.behaviors import option\n\n\nclass Crier:\n"
        "    @frozen\n    class Options:\n"
        "        news: tuple[str, ...] = option((), 'What it cries.')\n"
        "    def __init__(self, me, options): ...\n    def on_start(self): ...\n"
    )
    (behaviors / "broken.py").write_text("\nclass Broken\n")
    text = database(tmp_path) + QUIET + "zones = 'zones'\nbehaviors = 'behaviors'\n"
    at = f"world.zones: {zones / 'a.toml'}"
    assert problems(tmp_path, text) == [
        f"world.behaviors: {behaviors / 'broken.py'}, line 2: expected ':'",
        (
            f"{at}, line 3: zone 325 is a shipped zone; set replaces = true to replace it, or"
            " extends = true to add to it"
        ),
        f"{at}, line 13: spawn 1 (Ann): behavior_options.newz: unknown key; did you mean news?",
        f"{at}, line 14: spawn 1 (Ann): verbs[0].name: unknown command 'hial'; did you mean hail?",
    ]
    crier.write_text(crier.read_text().replace("news", "newz"))
    (behaviors / "broken.py").unlink()
    write_zones(zones, a=(zones / "a.toml").read_text().replace("Hial", "Hail")
                .replace("325", "900"))  # fmt: skip
    assert check(tmp_path, text).exit_code == 0


def test_a_content_file_that_is_not_there_is_found(tmp_path: Path) -> None:
    path = tmp_path / "content.sqlite"
    [problem] = problems(tmp_path, f"{database(tmp_path)}[world]\ncontent = '{path}'\n")
    assert problem.startswith(f"world.content: {path}: is no usable content file")
