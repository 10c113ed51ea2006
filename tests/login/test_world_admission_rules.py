from __future__ import annotations

import pytest

from emu.errors import UnknownStruct
from emu.link.messages import LSInfo
from emu.link.settings import hash_link_password
from emu.login.settings import DirectoryConfig
from emu.login.world_admission import (
    WorldRefusal,
    account_id_offset,
    account_of,
    check_introduction,
)
from emu.structs import StructCatalog, shipped_catalog

HASH = hash_link_password("secret")


def judged(config: DirectoryConfig | None = None, **changes) -> WorldRefusal | None:
    values = {"name": "World", "address": "host", "account": "me", "password": HASH, **changes}
    return check_introduction(LSInfo(**values), config or DirectoryConfig())


@pytest.mark.parametrize("server_type", [0, 4])
def test_worlds_and_development_worlds_may_ask(server_type: int) -> None:
    assert judged(server_type=server_type) is None


@pytest.mark.parametrize("server_type", [1, 2, 3, 5, 255])
def test_other_servers_may_not(server_type: int) -> None:
    assert judged(server_type=server_type).text == "Possible Hacking Attempt"


def test_the_protocol_is_one_and_the_server_versions_are_a_list() -> None:
    assert judged(protocol_version="0.5.1").text == "Incorrect version"
    only = DirectoryConfig(server_versions=("0.9.9-Nebula", "1.0"))
    assert judged(only) is None
    assert judged(only, server_version="1.0") is None
    assert judged(only, server_version="*").reason == "server version not allowed"
    assert judged(server_version="anything") is None


@pytest.mark.parametrize("name", ["", "abc", "ab\x07cd"])
def test_names_of_under_four_characters_or_with_control_characters(name: str) -> None:
    assert judged(name=name).reason == "world name not allowed"


@pytest.mark.parametrize("changes", [{"account": ""}, {"password": ""}, {"password": "abc"}])
def test_no_account_or_no_hash_is_a_bad_password(changes: dict) -> None:
    assert judged(**changes) == WorldRefusal("Bad password", "bad password")


def test_accounts_are_cut_as_the_peer_does() -> None:
    assert account_of(LSInfo("World", "", "b" * 30, "")) == "b" * 29


def test_a_version_that_no_layout_covers_has_no_place_for_the_account() -> None:
    with pytest.raises(UnknownStruct):
        account_id_offset(StructCatalog(), 546)
    assert account_id_offset(shipped_catalog(), 0) == 0
    assert account_id_offset(shipped_catalog(), 561) == 5
