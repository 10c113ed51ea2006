"""What the log says of a link that does not come to be."""

from __future__ import annotations

import pytest

from emu.link.settings import LoginServerAddress
from emu.net.link.client import LinkTroubles
from tests.support.running.whole_server import captured_log

SERVER = LoginServerAddress("login.example", 9100)
OTHER = LoginServerAddress("other.example", 9100)


def test_a_lasting_trouble_is_logged_once_until_it_is_over() -> None:
    troubles = LinkTroubles()
    with captured_log("text") as log:
        for report in (
            lambda: troubles.unreachable(SERVER, "refused"),
            lambda: troubles.speaks_tls(SERVER),
        ):
            report()
            report()
        troubles.unreachable(OTHER, "refused")
    assert log.text.count("cannot reach login server login.example:9100 (refused)") == 1
    assert log.text.count("login.example:9100 speaks TLS on this port") == 1
    assert log.text.count("other.example") == 1

    troubles.reached(SERVER)
    troubles.settled(SERVER)
    with captured_log("text") as log:
        troubles.unreachable(SERVER, "timed out")
        troubles.speaks_tls(SERVER)
    assert log.text.count("login.example:9100") == 2


@pytest.mark.parametrize(
    ("text", "hint"), [("Bad password", "emu world list"), ("Incorrect version", "server_versions")]
)
def test_a_refusal_comes_with_what_to_do(text: str, hint: str) -> None:
    with captured_log("text") as log:
        LinkTroubles().refused(SERVER, text)
    assert f"refuses this world: '{text}'" in log.text
    assert hint in log.text


def test_an_unknown_refusal_is_logged_unchanged() -> None:
    with captured_log("text") as log:
        LinkTroubles().refused(SERVER, "no\nway")
    assert "refuses this world: 'no\\nway'" in log.text
