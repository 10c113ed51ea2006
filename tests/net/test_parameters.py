import dataclasses
from pathlib import Path

import pytest

from emu.config import Config, parse
from emu.errors import StoreError
from emu.link.settings import LinkServerConfig, LoginServerAddress
from emu.login.settings import CompatibilityChoices, DirectoryConfig
from emu.net import parameters
from emu.world.rules import ChatRules


def test_what_a_part_calls_as_the_operator_does_is_taken_over() -> None:
    link = {"max_connections": 3, "connections_per_address": 2, "server_versions": ["1.0"],
            "unregistered_worlds": True}  # fmt: skip
    section = parse({"link": link}).link
    limits = parameters.taken_from(section, LinkServerConfig, silent_per_address=1)
    assert limits == LinkServerConfig(3, 2, silent_per_address=1)
    assert parameters.taken_from(section, DirectoryConfig) == DirectoryConfig(("1.0",), True)


def test_network_settings_reach_the_sessions() -> None:
    network = {"idle_timeout": 10, "compression_level": 9, "compression_memory": 9,
               "compression_threshold": 128, "max_sessions": 5, "half_open_sessions": 6,
               "sessions_per_address": 7, "held_bytes": 4096,
               "session_memory": 1 << 21}  # fmt: skip
    config = parse({"network": network})
    made = parameters.endpoint_config(config, 0x33624702)
    assert made.check_key == 0x33624702
    assert made.session.idle_timeout == 10
    assert made.session.held_bytes_limit == 4096
    assert made.memory_limit == 1 << 21
    assert (made.session.deflate_level, made.session.deflate_memory_level) == (9, 9)
    assert made.session.compression_threshold == 128
    assert parameters.endpoint_config(parse({}), None).session.compression_threshold == 1000
    assert (made.session_limit, made.half_open_limit, made.sessions_per_host_limit) == (5, 6, 7)


def test_login_settings_reach_the_accounts() -> None:
    login = {"auto_create_accounts": True, "password_memory": 0,
             "password_memory_cost": 64, "password_iterations": 2}  # fmt: skip
    config = parse({"login": login})
    made = parameters.account_config(config)
    assert made.auto_create
    assert made.memory == 0
    assert dataclasses.asdict(made.passwords) | {"memory_cost": 64, "iterations": 2} == (
        dataclasses.asdict(made.passwords)
    )


@pytest.mark.parametrize(
    ("key", "choice"),
    [
        ("long_world_status", "long_status_only"),
        ("swap_equipment_green_blue", "swap_equipment_green_blue"),
    ],
)
def test_an_operator_can_turn_the_peers_choices_round(key: str, choice: str) -> None:
    assert parameters.login_config(parse({})).choices == CompatibilityChoices()
    changed = parameters.login_config(parse({"login": {key: True}}))
    assert changed.choices == CompatibilityChoices(**{choice: True})


def test_login_servers_get_their_fingerprints() -> None:
    prints = ["ab" * 32, "cd" * 32]
    config = parse(
        {"world": {"login_servers": ["127.0.0.1:1", "[::1]:2"], "login_tls_fingerprints": prints,
                   "account": "a", "password": "b"}}
    )  # fmt: skip
    assert parameters.login_servers(config) == (
        LoginServerAddress("127.0.0.1", 1, "ab" * 32),
        LoginServerAddress("::1", 2, "cd" * 32),
    )


def test_a_login_server_with_tls_and_one_without_can_be_used_together() -> None:
    keys = ("login_servers=h:1,h:2", "account=a", "password=b",
            f"login_tls_fingerprints={'ab' * 32},")  # fmt: skip
    config = parse({}, [f"world.{key}" for key in keys])
    prints = [server.fingerprint for server in parameters.login_servers(config)]
    assert prints == ["ab" * 32, ""]


def test_a_certificate_that_cannot_be_read_names_its_key(tmp_path: Path) -> None:
    config = parse({"link": {"certificate": str(tmp_path / "gone.pem"),
                             "tls_listen": "127.0.0.1:0"}})  # fmt: skip
    with pytest.raises(StoreError, match=r"gone\.pem.*\[link\] certificate"):
        parameters.read_certificate(config)
    assert parameters.read_certificate(Config()) is None


def test_a_listed_file_may_begin_with_the_mark_of_an_editor(tmp_path: Path) -> None:
    (tmp_path / "users").write_text("\ufeffalice\n", encoding="utf-8")
    assert parameters.read_listed("rcon.users_file", tmp_path / "users", str.split) == ["alice"]


def test_the_world_is_as_its_settings_say() -> None:
    keys = ("name=Antonia", "motd=Hail", "link_dead=30", "camp_seconds=5", "save_seconds=10",
            "update_rate=20", "fastest_move=12", "fastest_fall=60", "chat_rate=2", "chat_burst=3",
            "chat_length=99", "chat_backlog=2048", "say_distance=15", "max_level=70",
            "message_rate=50", "message_burst=200",
            "channels=Trade")  # fmt: skip
    config = parse({}, [f"world.{key}" for key in keys])
    rules = parameters.world_rules(config)
    assert (rules.name, rules.motd, rules.max_level) == ("Antonia", "Hail", 70)
    assert (rules.link_dead, rules.camp, rules.save_interval, rules.hear) == (30, 5, 10, 15)
    assert (rules.movement.fastest, rules.movement.fastest_fall) == (12, 60)
    assert (rules.message_rate, rules.message_burst) == (50, 200)
    assert parameters.zone_rules(config).tick == 0.05
    assert parameters.chat_rules(config) == ChatRules(
        longest=99, burst=3, rate=2, backlog=2048, channels=("Trade",)
    )


def test_a_play_request_waits_longer_than_a_node_holds_a_player() -> None:
    server = {"url": "postgresql://emu@db.example/emu"}
    for lease, patience in ((6, 12.0), (60, 66.0)):
        config = parse({"node": {"lease": lease}, "database": server})
        assert parameters.login_config(config).play_timeout == patience
    assert parameters.login_config(parse({})).play_timeout == 5.0, "EQ2Emulator's"
