from emu.config import Address, Config, WorldConfig
from emu.config.rules import contradictions


def test_the_defaults_do_not_contradict_each_other() -> None:
    assert list(contradictions(Config())) == []


def test_a_login_server_has_a_port_of_its_own() -> None:
    world = WorldConfig(login_servers=(Address("a", 9100), Address("b", 0)), account="a",
                        password="b")  # fmt: skip
    assert list(contradictions(Config(world=world))) == [
        "world.login_servers: each needs the port that it listens on, not 0"
    ]
