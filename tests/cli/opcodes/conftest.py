"""A database with the opcode tables that ship."""

from pathlib import Path

import pytest

from tests.support.files.opcode_rows import shipped_database


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return shipped_database(tmp_path)
