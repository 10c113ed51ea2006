"""Where to: addresses of a command line."""

import pytest
from click import BadParameter, Command, Context, Option

from emu.cli.client.common import server_address
from emu.config import Address

CONTEXT, PARAMETER = Context(Command("x")), Option(["--x"])


def test_an_address_is_read() -> None:
    assert server_address(CONTEXT, PARAMETER, "127.0.0.1:9100") == Address("127.0.0.1", 9100)


@pytest.mark.parametrize("text", ["", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:x"])
def test_another_text_is_wrong_usage(text: str) -> None:
    with pytest.raises(BadParameter):
        server_address(CONTEXT, PARAMETER, text)
