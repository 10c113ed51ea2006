from __future__ import annotations

from emu.config import Config, parse
from emu.limits.addresses import is_loopback


def test_every_listener_is_closed_or_on_the_loopback_by_default() -> None:
    config = Config()
    for table in (config.rcon, config.ogp, config.a2s, config.ssq, config.ggmp, config.web):
        assert table.listen is None or is_loopback(table.listen.host), table
    assert not config.web.admin


def test_the_page_behind_a_proxy() -> None:
    web = parse({"web": {"listen": "127.0.0.1:8080", "admin": True, "proxies": ["::ffff:192.0.2.1"],
                         "url": "https://Emu.Example.org/"}}).web  # fmt: skip
    assert (web.url, web.proxies) == ("https://emu.example.org", ("192.0.2.1",))
