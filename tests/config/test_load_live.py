from emu.config import Config, parse
from emu.config.load import LIVE, differences, merged


def keys(old: Config, new: Config) -> list[str]:
    return [one.key for one in differences(old, new)]


def test_only_live_settings_are_taken_over() -> None:
    old = parse({}, ["world.name=Before", "world.max_players=5"])
    new = parse({}, ["world.name=After", "world.max_players=7", "log.level=warn"])
    assert keys(old, new) == ["log.level", "world.max_players", "world.name"]
    taken = merged(old, new)
    assert (taken.world.name, taken.world.max_players, taken.log.level) == ("Before", 7, "warn")
    assert set(keys(old, taken)) <= LIVE


def test_a_secret_and_its_file_are_live_together() -> None:
    assert {"rcon.password", "rcon.password_file"} <= LIVE
    assert "world.password" not in LIVE


def test_equal_configurations_do_not_differ() -> None:
    assert keys(Config(), Config()) == []
    assert merged(Config(), Config()) == Config()
