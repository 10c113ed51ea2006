"""The documented choices and their settings."""

from __future__ import annotations

from emu.login import settings
from emu.login.settings import CompatibilityChoices


def test_eq2emulator_is_followed_by_default() -> None:
    assert CompatibilityChoices() == CompatibilityChoices(
        long_status_only=False, swap_equipment_green_blue=False
    )


def test_every_setting_is_explained() -> None:
    assert settings.__doc__ is not None
    assert all(
        f"`{name}`" in settings.__doc__ for name in CompatibilityChoices.__dataclass_fields__
    )
