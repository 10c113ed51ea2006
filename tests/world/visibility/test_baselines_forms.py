"""Forms of ghosts: which versions have one, and what words mean there."""

from __future__ import annotations

from pathlib import Path

import pytest

from emu.errors import FileFormatError, UnknownVersion
from emu.world.visibility.baselines import read_rules
from tests.support.world.ghost_views import form


@pytest.mark.parametrize(("version", "sizes"), [(546, (88, 78, 1089)), (561, (88, 72, 1070))])
def test_sizes_are_those_of_the_wire(version: int, sizes: tuple[int, ...]) -> None:
    """docs/protocol/world/spawns.md#create-ghost: 1255 and 1230 bytes in all."""
    assert form(version).sizes == sizes


def test_a_version_between_two_forms_has_none() -> None:
    with pytest.raises(UnknownVersion):
        read_rules().for_version(550)


def test_bits_of_several_words_join() -> None:
    assert form(561).status(frozenset(("npc", "merchant", "no such word"))) == {
        "activity_status": 0x12
    }


@pytest.mark.parametrize("text", ["form = 3", "[[form]]\nfirst = 1", "[[form]]\nlazt = 1", "x ="])
def test_a_damaged_table_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "ghosts.toml"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=r"ghosts\.toml"):
        read_rules(path)
