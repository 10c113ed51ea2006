"""A folder of scripts, and the names of its files in the community's rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from emu.errors import ScriptError
from emu.scripts.folder import LARGEST_SOURCE, ScriptFolder


@pytest.fixture
def folder(tmp_path: Path) -> ScriptFolder:
    return ScriptFolder(tmp_path)


def write(folder: ScriptFolder, name: str, data: bytes = b"") -> None:
    path = folder.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def test_a_file_is_found_as_the_rows_of_the_community_name_it(folder: ScriptFolder) -> None:
    exact = "SpawnScripts/Qeynos/Guard.lua"
    write(folder, exact)
    for name in (exact, f"'{exact}'", f" {exact} ", exact.lower(), exact.replace("/", "\\")):
        assert folder.find(name) == exact
    assert folder.find("SpawnScripts/Qeynos/Nobody.lua") is None
    assert folder.find("spawnscripts/qeynos") is None
    assert folder.find("../spawnscripts/qeynos/guard.lua") is None
    assert folder.has(exact)
    for name in (exact.lower(), f"{exact} ", "SpawnScripts/Qeynos", "", "../x.lua"):
        assert not folder.has(name)


def test_a_new_file_is_found_after_the_folder_was_forgotten(folder: ScriptFolder) -> None:
    write(folder, "A/One.lua")
    assert folder.find("a/two.lua") is None
    write(folder, "A/Two.lua")
    assert folder.find("a/two.lua") is None
    folder.forget()
    assert folder.find("a/two.lua") == "A/Two.lua"


def test_a_file_has_a_longest_size_and_a_stamp(folder: ScriptFolder) -> None:
    write(folder, "one.lua", bytes(LARGEST_SOURCE))
    assert len(folder.read_file("one.lua")) == LARGEST_SOURCE
    before = folder.stamp("one.lua")
    write(folder, "one.lua", bytes(LARGEST_SOURCE + 1))
    assert folder.stamp("one.lua") != before
    assert folder.stamp("gone.lua") is None
    with pytest.raises(ScriptError, match=f"is larger than {LARGEST_SOURCE} bytes"):
        folder.read_file("one.lua")
    with pytest.raises(ScriptError, match="cannot be read"):
        folder.read_file("gone.lua")
