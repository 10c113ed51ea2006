import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.config import Address, Config, default_path, load, parse
from emu.config.reference import as_toml
from emu.config.setting import settings_of
from emu.errors import ConfigError


def problems_of(document: dict, *overrides: str) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        parse(document, overrides)
    return caught.value.problems


def test_defaults_are_those_the_outside_relies_on() -> None:
    config = load(None)
    assert config.login.listen == Address("127.0.0.1", 9100)
    assert config.world.listen == Address("127.0.0.1", 9001)
    assert config.login.crc_seed is None
    assert config.database.path.name == "emu.sqlite"


def test_the_state_folder_follows_the_environment(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert load(None).database.path == tmp_path / "eq2emu" / "emu.sqlite"


def test_every_problem_is_reported_at_once_with_its_key() -> None:
    problems = problems_of(
        {
            "login": {"listen": "nonsense", "crc_seed": -1, "lisen": 1},
            "wrold": {},
            "network": 3,
            "world": {"name": "abc"},
        },
        "login.max_characters=900",
        "nonsense",
    )
    text = "\n".join(problems)
    assert len(problems) == 8
    for key in ("login.listen", "login.crc_seed", "login.lisen", "[wrold]", "network"):
        assert key in text
    assert "did you mean listen?" in text
    assert "did you mean world?" in text
    assert "login.max_characters: must be a whole number from 1 to 255, not '900'" in text


def test_overrides_win_over_the_file() -> None:
    config = parse({"login": {"listen": "127.0.0.1:1"}}, ["login.listen=[::1]:0"])
    assert config.login.listen == Address("::1", 0)
    assert str(config.login.listen) == "[::1]:0"


def test_a_seed_may_be_hexadecimal_text_or_a_number() -> None:
    assert parse({"login": {"crc_seed": 0x33624702}}).login.crc_seed == 0x33624702
    assert parse({}, ["login.crc_seed=0x33624702"]).login.crc_seed == 0x33624702
    assert parse({}, ["login.crc_seed=random"]).login.crc_seed is None


def test_lists_can_be_given_on_the_command_line() -> None:
    config = parse({}, ["link.server_versions=0.9.9-Nebula, 0.9.8"])
    assert config.link.server_versions == ("0.9.9-Nebula", "0.9.8")
    assert parse({}, ["world.name_filter="]).world.name_filter == ()


def test_relative_names_count_from_the_configuration_file(tmp_path: Path) -> None:
    file = tmp_path / "emu.toml"
    file.write_text('[database]\nurl = "sqlite:here.sqlite"\n[trace]\nfile = "t.pcapng"\n')
    config = load(file)
    assert config.database.path == tmp_path / "here.sqlite"
    assert config.trace.file == tmp_path / "t.pcapng"


@pytest.mark.parametrize("url", ["sqlite:/a/b.sqlite", "sqlite:///a/b.sqlite"])
def test_absolute_database_urls(url: str) -> None:
    assert parse({"database": {"url": url}}).database.path == Path("/a/b.sqlite")


@pytest.mark.parametrize("url", ["mysql://root@localhost", "sqlite:", "emu.sqlite", 7])
def test_other_database_urls_are_refused(url: object) -> None:
    assert problems_of({"database": {"url": url}})[0].startswith("database.url: must be")


def test_a_missing_file_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.toml: cannot be read"):
        load(tmp_path / "gone.toml")


def test_a_file_that_is_not_toml_names_the_place(tmp_path: Path) -> None:
    file = tmp_path / "emu.toml"
    file.write_text("[login\n")
    with pytest.raises(ConfigError, match=r"emu\.toml: not a TOML file: .*line 1"):
        load(file)


@pytest.mark.parametrize(
    ("overrides", "key"),
    [
        (["login.enabled=no", "world.enabled=no"], "login.enabled"),
        (["login.enabled=no"], "world.login_servers"),
        (["world.listen=127.0.0.1:9100"], "world.listen"),
        (["world.login_servers=127.0.0.1:5999"], "world.account"),
        (["world.name=" + "\N{DRAGON}" * 51], "world.name: must have at most 200 bytes"),
        (["world.account=" + "ä" * 15], "world.account"),
        (["world.advertise=" + "a." * 40 + "org"], "world.advertise"),
        (["world.internal_address=" + "a." * 40 + "org"], "world.internal_address"),
        (["link.tls_listen=127.0.0.1:9443"], "link.certificate"),
        (
            [
                "world.login_servers=127.0.0.1:5999",
                "world.account=a",
                "world.password=b",
                "world.login_tls_fingerprints=" + ",".join(["ab" * 32] * 2),
            ],
            "world.login_tls_fingerprints",
        ),
    ],
)
def test_settings_that_contradict_each_other(overrides: list[str], key: str) -> None:
    assert problems_of({}, *overrides)[0].startswith(key)


def test_shown_configuration_reads_back_as_itself() -> None:
    config = parse({}, ["login.crc_seed=7", "world.name_filter=a,b", "world.advertise=203.0.113.7"])
    assert parse(tomllib.loads("\n".join(as_toml(config)))) == config


def test_every_setting_says_what_it_is_for() -> None:
    for one in settings_of(Config):
        assert one.rule.about.endswith("."), one.key


def test_default_path_is_the_working_folder(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert default_path() is None
    Path("emu.toml").touch()
    assert default_path() == Path("emu.toml")


@given(
    st.dictionaries(
        st.sampled_from(["login", "world", "database", "x"]),
        st.dictionaries(
            st.sampled_from(["listen", "url", "name", "locked", "max_level", "x"]),
            st.none()
            | st.booleans()
            | st.integers()
            | st.floats()
            | st.text()
            | st.lists(st.text()),
        )
        | st.integers(),
    )
)
def test_any_document_is_a_configuration_or_a_config_error(document: dict) -> None:
    try:
        assert isinstance(parse(document), Config)
    except ConfigError as error:
        assert error.problems  # noqa: PT017


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"a=" + b"[" * 5000 + b"]" * 5000, "not a TOML file: it is nested too deeply"),
        (b"a=" + b"{a=" * 3000 + b"1" + b"}" * 3000, "not a TOML file: it is nested too deeply"),
        (b"[login]\nmax_characters=" + b"9" * 5000, "not a TOML file: Exceeds the limit"),
        (b'[login]\nmax_characters="' + b"9" * 5000 + b'"', "must be a whole number from 1"),
        (b'[trace]\nfile = "~nobody-of-this-name/x"', "trace.file: must not name the home"),
        (b'[database]\nurl = "sqlite:~nobody-of-this-name/x"', "database.url: must not name"),
        (b'[trace]\nfile = "a\\u0000b"', "trace.file: must be the name of a file"),
        (b"[login]\npassword_memory = nan", "must be a number from 0 to 86400, not nan"),
        (b"[network]\nidle_timeout = inf", "must be a number from 1 to 3600, not inf"),
        (b"[network]\nidle_timeout = " + b"9" * 400, "must be a number from 1 to 3600, not 999"),
        (b"[trace]\nfile = '" + b"a/" * 3000 + b"'", "trace.file: must be the name of a file"),
        (b"[trace]\nfile = '" + b"a" * 300 + b"'", "trace.file: must be the name of a file"),
        (b".".join([b"a"] * 20000) + b" = 1", "a key has more than 64 parts"),
        (b"[log]\nlevel = 2026-01-01", "log.level: must be one of"),
        (b"[[log]]\n", "log: must be a table"),
        (b"[login]\nmax_characters = true", "must be a whole number from 1 to 255, not True"),
        (b"[world]\nname_filter = [[1]]", "world.name_filter: must be text"),
        ("[log]\n".encode("utf-16"), "not a TOML file: 'utf-8' codec"),
        (b"[log]\nlevel='\0'", "not a TOML file: Found invalid character"),
        ('[login]\nlisten="127.0.0.1:\u00b2"'.encode(), "login.listen: must be"),
    ],
)
def test_a_malformed_file_is_one_line_that_names_it(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    path = tmp_path / "emu.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load(path)
    (line,) = caught.value.problems
    assert line.startswith(f"{path}: ")
    assert problem in line
    assert "\n" not in line


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "emu.toml"
    path.write_bytes(b"\xef\xbb\xbf[log]\nlevel = 'warn'\n")
    assert load(path).log.level == "warn"


def test_relative_names_of_files_and_folders_count_from_the_files_folder(tmp_path: Path) -> None:
    file = tmp_path / "emu.toml"
    file.write_text(
        '[world]\nzones = "zones"\nbehaviors = "../mine"\nknowledge = "/absolute"\n'
        '[ggmp]\ntokens_file = "tokens"\n[console]\npath = "console"\n',
        encoding="utf-8",
    )
    config = load(file)
    assert config.world.zones == tmp_path / "zones"
    assert config.world.behaviors == tmp_path / ".." / "mine"
    assert config.world.knowledge == Path("/absolute")
    assert config.ggmp.tokens_file == tmp_path / "tokens"
    assert config.console_path == tmp_path / "console"


@pytest.mark.slow
def test_of_very_many_problems_the_first_are_listed() -> None:
    with pytest.raises(ConfigError) as caught:
        parse({f"table{number}": {} for number in range(10_000)})
    problems = caught.value.problems
    assert len(problems) == 51
    assert problems[0].startswith("[table0]: unknown table")
    assert problems[-1] == "and 9950 more problems"


@pytest.mark.parametrize("table", ["[processes]\nhub = 'a:1'\n", "[processes]\n"])
def test_a_table_of_an_earlier_release_is_refused_with_what_replaces_it(table: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(tomllib.loads(table))
    (problem,) = caught.value.problems
    assert problem.startswith("[processes]: is replaced; several processes serve one world by")
    assert all(name in problem for name in ("[database] url", "[bus] url", "[node] name"))
