"""Settings, their bounds, and the stream types."""

from __future__ import annotations

import dataclasses

import pytest

from emu.errors import ConfigError
from emu.session import EndpointConfig, SessionConfig, StreamType
from emu.wire import Format


def test_defaults_are_the_documented_ones():
    config = SessionConfig()
    assert config.window == 2048
    assert config.round_trip_start * config.timeout_multiplier == 1.5
    assert config.timeout_maximum == 5.0
    assert config.idle_timeout == 45.0
    assert config.unvalidated_lifetime == 5.0
    assert config.message_size_limit == 500_000


def test_settings_cannot_be_changed_afterwards():
    with pytest.raises(dataclasses.FrozenInstanceError):
        SessionConfig().window = 5  # type: ignore[misc]


def test_all_problems_are_reported_at_once():
    with pytest.raises(ConfigError) as caught:
        SessionConfig(window=0x8000, first_sequence=-1, idle_timeout=0.0, deflate_window_bits=14)
    reported = "\n".join(caught.value.problems)
    for name in ("window", "first_sequence", "idle_timeout", "deflate_window_bits"):
        assert f"{name}:" in reported


@pytest.mark.parametrize(
    ("asked", "used"), [(0, 64), (5, 64), (63, 64), (64, 64), (512, 512), (1400, 1400),
                        (1401, 1400), (4294967295, 1400)],
)  # fmt: skip
def test_max_length_is_clamped(asked, used):
    assert SessionConfig().clamp_max_length(asked) == used


@pytest.mark.parametrize(
    ("kind", "width", "form"),
    [
        ("LoginStream", 1, Format.NONE),
        ("EQ2Stream", 2, Format.NONE),
        ("WorldStream", 2, Format.COMPRESSED),
        ("ZoneStream", 2, Format.COMPRESSED),
        ("ChatStream", 1, Format.ENCODED),
    ],
)
def test_the_five_stream_types(kind, width, form):
    (found,) = [member for member in StreamType if member.label == kind]
    assert (found.opcode_width, found.format) == (width, form)
    assert len(StreamType) == 5


def test_invalid_settings_of_an_endpoint_are_reported_at_once():
    with pytest.raises(ConfigError) as caught:
        EndpointConfig(session_limit=0, half_open_limit=0, check_key=2**32, secret_lifetime=1.0)
    assert len(caught.value.problems) == 4
