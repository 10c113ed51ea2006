"""Tests keep their temporary files in memory where they can."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.scratch import is_fit

ROOT = Path(__file__).parent.parent

PROGRAM = """
import subprocess, sys, tempfile
from pathlib import Path
from tests.support.scratch import keep_in_memory

tempfile.gettempdir()
print(keep_in_memory(Path(sys.argv[1])), tempfile.gettempdir(), flush=True)
words = "import tempfile; print(tempfile.gettempdir())"
subprocess.run([sys.executable, "-c", words], check=True)
"""


def shown(folder: Path, **variables: str) -> list[str]:
    words = [sys.executable, "-c", PROGRAM, str(folder)]
    environment = {"PYTHONPATH": str(ROOT), **variables}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.slow
def test_this_process_and_what_it_starts_use_the_folder(tmp_path: Path) -> None:
    if not is_fit(tmp_path):
        pytest.skip("too little space")
    assert shown(tmp_path) == [f"True {tmp_path}", str(tmp_path)]


@pytest.mark.slow
def test_a_folder_that_the_user_names_stays(tmp_path: Path) -> None:
    kept = shown(tmp_path / "memory", TMPDIR=str(tmp_path))
    assert kept == [f"False {tmp_path}", str(tmp_path)]


@pytest.mark.slow
def test_the_test_of_the_container_needs_a_disk(tmp_path: Path) -> None:
    result, used = shown(tmp_path, EMU_CONTAINER="1")
    assert result == f"False {used}"
    assert used != str(tmp_path)


def test_a_folder_needs_space_and_must_be_there(tmp_path: Path) -> None:
    assert is_fit(tmp_path, least=1)
    assert not is_fit(tmp_path, least=1 << 62)
    assert not is_fit(tmp_path / "missing", least=1)
