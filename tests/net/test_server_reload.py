from emu.errors import ConfigError, StoreError
from emu.net.server import reread_all
from tests.support.running.whole_server import captured_log


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
        await reread_all(reads)
    assert read == ["good"]
    assert "the zones are as before: /zones: cannot be used (Permission denied)" in log.text
    for text in ("configuration is as before: a.b: one", "c.d: two", "opcodes are as before: it"):
        assert text in log.text
