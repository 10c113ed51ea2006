"""What handlers share."""

from __future__ import annotations

from emu.dialects import MOST_DIALECTS
from tests.support.login_harness import NORRATH, Harness


def test_lists_kept_for_many_versions_are_bounded() -> None:
    harness = Harness()
    service = harness.service
    for version in range(57121, 57121 + MOST_DIALECTS + 10):
        assert service.world_list(service.dialects.for_version(version), [NORRATH])[0] == 1
        assert len(service._lists) <= MOST_DIALECTS


def test_a_world_list_is_made_once_for_each_state_of_the_worlds() -> None:
    service = Harness().service
    dialect = service.dialects.for_version(546)
    first = service.world_list(dialect, [NORRATH])
    assert service.world_list(dialect, [NORRATH]) is first
    assert service.world_list(dialect, []) == b"\0"
    assert service.world_list(dialect, [NORRATH]) == first
