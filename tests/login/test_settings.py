"""Defaults of the login service are those of the spec.

Sources: docs/protocol/login.md#accepted, docs/protocol/login.md#timers.
"""

from __future__ import annotations

from emu.login.settings import LoginServiceConfig


def test_flags_and_times_are_the_peer_s() -> None:
    config = LoginServiceConfig()
    assert (config.expansion_flag, config.cities_flag) == (0x7CFF, 0xFF)
    assert (config.subscription_level, config.enabled_races) == (0xFFFFFFFF, 0xFFFF)
    assert (config.denial_linger, config.play_timeout, config.create_timeout) == (1.0, 5.0, 15.0)
    assert config.list_lifetime == 180 * 10
    assert config.account_name_size == 31


def test_list_counts_fit_a_byte() -> None:
    assert LoginServiceConfig().character_limit < 255
