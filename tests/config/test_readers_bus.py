"""Addresses of brokers and prefixes of subjects."""

from __future__ import annotations

import pytest

from emu.config import parse
from emu.errors import ConfigError


def test_addresses_of_brokers() -> None:
    for url in ("", "nats://127.0.0.1:4222", "nats://a,tls://[::1]:1"):
        assert parse({"bus": {"url": url}}).bus.url == url
    assert parse({"bus": {"prefix": "emu.norrath-2"}}).bus.prefix == "emu.norrath-2"


@pytest.mark.parametrize(
    "url", ["redis://a", "nats://", "nats://emu:hidden@a", "nats://a b", "a:1"]
)
def test_a_password_belongs_into_a_file_and_is_never_shown(url: str) -> None:
    with pytest.raises(ConfigError, match=r"bus.credentials_file") as caught:
        parse({"bus": {"url": url}})
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("prefix", ["", "Emu", "a..b", "a.*", "a b", "a.b.c.d.e"])
def test_prefixes_that_nats_would_take_for_something_else(prefix: str) -> None:
    with pytest.raises(ConfigError, match=r"bus.prefix"):
        parse({"bus": {"prefix": prefix}})
