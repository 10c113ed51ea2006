import pytest

from emu.config import Address, Config, doubts, parse
from emu.config.rules import contradictions
from emu.config.world import WorldConfig
from emu.errors import ConfigError


def test_the_defaults_do_not_contradict_each_other() -> None:
    assert list(contradictions(Config())) == []


def test_a_login_server_has_a_port_of_its_own() -> None:
    world = WorldConfig(login_servers=(Address("a", 9100), Address("b", 0)), account="a",
                        password="b")  # fmt: skip
    assert list(contradictions(Config(world=world))) == [
        "world.login_servers: each needs the port that it listens on, not 0"
    ]


@pytest.mark.parametrize(
    ("login", "world", "more", "doubted"),
    [
        ("0.0.0.0", "127.0.0.1", [], True),
        ("[::]", "localhost", [], True),
        ("192.0.2.7", "[::1]", [], True),
        ("0.0.0.0", "0.0.0.0", [], True),
        ("[::]", "[::]", [], True),
        ("192.0.2.7", "0.0.0.0", ["world.advertise=127.0.0.1"], True),
        ("0.0.0.0", "0.0.0.0", ["world.advertise=192.0.2.7"], False),
        ("192.0.2.7", "192.0.2.7", [], False),
        ("127.0.0.1", "0.0.0.0", [], False),
        ("127.0.0.1", "127.0.0.1", [], False),
        ("localhost", "127.0.0.1", [], False),
        ("0.0.0.0", "127.0.0.1", ["world.enabled=no"], False),
    ],
)
def test_a_login_that_others_reach_beside_a_world_that_they_do_not_is_doubtful(
    login: str, world: str, more: list[str], doubted: bool
) -> None:
    config = parse({}, [f"login.listen={login}:9100", f"world.listen={world}:9001", *more])
    lines = list(doubts(config))
    assert len(lines) == doubted
    key = "world.advertise" if world in ("0.0.0.0", "[::]") else "world.listen"
    assert all(line.startswith(f"{key}: ") for line in lines)


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        (["web.listen=127.0.0.1:1"], ""),
        (["web.listen=localhost:1"], ""),
        (["web.listen=[::1]:1"], ""),
        (["web.listen=127.0.0.1:1", "web.url=https://emu.example.org"], ""),
        (["web.listen=0.0.0.0:1", "web.url=https://a.example", "web.proxies=192.0.2.1"], ""),
        ([], "web.admin: needs web.listen, the address of the page"),
        (["web.listen=0.0.0.0:1"], "web.admin: passwords would cross the network in the clear at"),
        (["web.listen=[::]:1"], "web.admin: passwords would cross the network in the clear at"),
        (["web.listen=0.0.0.0:1", "web.url=https://a.example"],
         "web.proxies: must name the proxies that reach 0.0.0.0:1; others are refused"),
        (["web.listen=127.0.0.1:1", "web.proxies=192.0.2.1"], "web.proxies: needs web.url"),
        (["web.listen=127.0.0.1:1", "world.enabled=no"], "web.admin: needs login.enabled and"),
    ],
)  # fmt: skip
def test_signing_in_needs_a_safe_way_for_passwords(settings: list[str], line: str) -> None:
    try:
        parse({}, ["web.admin=yes", *settings])
    except ConfigError as error:
        (problem,) = error.problems
        assert line
        assert problem.startswith(line)
    else:
        assert not line


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        (["web.listen=127.0.0.1:1"], ""),
        (["web.listen=127.0.0.1:1", "login.invite_code=eight888"], ""),
        (["web.listen=0.0.0.0:1", "web.url=https://a.example", "web.proxies=192.0.2.1"], ""),
        ([], "login.registration: needs web.listen, the address of the page"),
        (["web.listen=0.0.0.0:1"], "login.registration: passwords would cross the network"),
        (["web.listen=0.0.0.0:1", "web.url=https://a.example"], "web.proxies: must name"),
        (["web.listen=0.0.0.0:1", "web.url=https://a.example", "web.admin=yes"], "web.proxies: "),
        (["web.listen=127.0.0.1:1", "login.invite_code=seven77"],
         "login.invite_code: must have at least 8 characters"),
        (["web.listen=127.0.0.1:1", "login.enabled=no", "world.login_servers=a:1",
          "world.account=a", "world.password=b"], "login.registration: needs login.enabled"),
    ],
)  # fmt: skip
def test_registering_needs_a_safe_way_for_passwords(settings: list[str], line: str) -> None:
    problems: tuple[str, ...] = ()
    try:
        parse({}, ["login.registration=yes", *settings])
    except ConfigError as error:
        problems = error.problems
    assert len(problems) == bool(line)
    assert not line or problems[0].startswith(line)


@pytest.mark.parametrize(
    ("settings", "doubted"),
    [([], 0), (["login.registration=yes"], 1),
     (["login.registration=yes", "web.url=https://emu.example.org"], 0)],
)  # fmt: skip
def test_a_page_for_registering_that_nobody_else_reaches_is_doubtful(
    settings: list[str], doubted: int
) -> None:
    lines = list(doubts(parse({}, ["web.listen=127.0.0.1:1", *settings])))
    assert len(lines) == doubted
    assert all(line.startswith("login.registration: only this machine") for line in lines)


SQLITE = "login.workers: several processes cannot share a SQLite file; set database.url to "


@pytest.mark.parametrize(
    ("settings", "beginnings"),
    [
        (["world.enabled=no"], [SQLITE]),
        ([], [SQLITE, "login.workers: needs world.enabled = false"]),
        (["login.enabled=no"], ["login.workers: needs login.enabled", SQLITE, "login.workers: ne"]),
        (["world.enabled=no", "web.listen=[::1]:65535"], [SQLITE, "login.workers, web.listen: ea"]),
    ],
)
def test_several_workers_need_a_database_server_and_only_a_login_service(
    settings: list[str], beginnings: list[str]
) -> None:
    with pytest.raises(ConfigError) as raised:
        parse({}, ["login.workers=2", *settings])
    found = [one for one in raised.value.problems if one.startswith("login.workers")]
    assert [one[: len(start)] for one, start in zip(found, beginnings, strict=True)] == beginnings
