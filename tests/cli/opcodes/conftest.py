"""A database with the opcode tables that ship."""

from pathlib import Path

import pytest

from emu.opcodes import OpcodeStore


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "emu.sqlite"
    OpcodeStore.ensure(path).close()
    return path
