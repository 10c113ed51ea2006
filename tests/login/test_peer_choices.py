"""The documented choices and their settings."""

from __future__ import annotations

from emu.login import peer_choices
from emu.login.peer_choices import PeerChoices


def test_the_peer_is_followed_unless_told_otherwise() -> None:
    assert PeerChoices() == PeerChoices(long_status_only=False, swap_equipment_green_blue=False)


def test_every_setting_is_explained() -> None:
    assert peer_choices.__doc__ is not None
    assert all(f"`{name}`" in peer_choices.__doc__ for name in PeerChoices.__dataclass_fields__)
