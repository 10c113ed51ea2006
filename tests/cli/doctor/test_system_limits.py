"""Limits, some of them really low."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from emu.cli.doctor.findings import Level
from emu.cli.doctor.system import (
    check_limits,
    judge_files,
    judge_memory,
    wanted_files,
    wanted_memory,
)
from tests.support.running.configs import small_config

LOW = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
from pathlib import Path
from emu.cli.doctor.system import check_limits
from emu.config import Config
print(next(check_limits(Config(), None)).level)
"""


@pytest.mark.slow
def test_few_open_files_are_found_where_they_are_few() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOW], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    assert done.stdout == "fail\n"


def test_a_running_server_s_own_limits_count(tmp_path: Path) -> None:
    files, memory = check_limits(small_config(tmp_path), os.getpid())
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert files.what.startswith(f"{'any number of' if hard < 0 else hard} open files")
    assert "MB of memory left" in memory.what
    assert len(list(check_limits(small_config(tmp_path), 2**30))) == 2, "a process that is gone"


def test_connections_are_files_and_players_are_none(tmp_path: Path) -> None:
    without = wanted_files(small_config(tmp_path, "network.max_sessions=1000000"))
    assert without < 1000
    rcon = small_config(tmp_path, "rcon.password=x", "rcon.max_connections=5000")
    assert wanted_files(rcon) == without + 5000


def test_files_and_memory_are_judged_by_what_may_be_wanted(tmp_path: Path) -> None:
    assert judge_files(None, 5000).level is Level.OK
    assert judge_files(5000, 5000).level is Level.OK
    assert judge_files(1024, 5000).level is Level.WARN
    assert judge_memory(wanted_memory(small_config(tmp_path)), 1).level is Level.OK
    assert judge_memory(1, wanted_memory(small_config(tmp_path))).level is Level.WARN
