"""The documented choices and their settings."""

from __future__ import annotations

from emu.login import choices
from emu.login.choices import Choices


def test_the_peer_is_followed_unless_told_otherwise() -> None:
    assert Choices() == Choices(long_status_only=False, swap_equipment_green_blue=False)


def test_every_setting_is_explained() -> None:
    assert choices.__doc__ is not None
    assert all(f"`{name}`" in choices.__doc__ for name in Choices.__dataclass_fields__)
