from emu.config import Config, parse
from emu.errors import ConfigError, StoreError
from emu.net.server import LIVE, differences, merged, reread
from tests.support.running.whole_server import captured_log


def test_only_what_may_change_is_taken() -> None:
    old = parse({}, ["world.name=Before", "world.max_players=5"])
    new = parse({}, ["world.name=After", "world.max_players=7", "log.level=warn"])
    assert set(differences(old, new)) == {"world.name", "world.max_players", "log.level"}
    taken = merged(old, new)
    assert (taken.world.name, taken.world.max_players, taken.log.level) == ("Before", 7, "warn")
    assert set(differences(old, taken)) <= LIVE


def test_every_setting_that_may_change_exists() -> None:
    config = Config()
    for key in LIVE:
        table, _, name = key.partition(".")
        assert hasattr(getattr(config, table), name), key


def test_the_same_is_no_difference() -> None:
    assert list(differences(Config(), Config())) == []
    assert merged(Config(), Config()) == Config()


async def test_what_cannot_be_read_leaves_the_rest_to_be_read() -> None:
    read: list[str] = []

    async def good() -> str:
        read.append("good")
        return ""

    async def wrong() -> str:
        raise ConfigError(["a.b: one", "c.d: two"])

    async def broken() -> str:
        raise StoreError("it is damaged")

    async def closed() -> str:
        raise PermissionError(13, "Permission denied", "/zones")

    reads = {"configuration": wrong, "opcodes": broken, "zones": closed, "structs": good}
    with captured_log("text") as log:
        await reread(reads)
    assert read == ["good"]
    assert "the zones are as before: /zones: cannot be used (Permission denied)" in log.text
    for text in ("configuration is as before: a.b: one", "c.d: two", "opcodes are as before: it"):
        assert text in log.text
