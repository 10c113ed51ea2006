"""`python -m emu` is the `emu` command."""

import subprocess
import sys

import pytest

import emu
from emu.built import form


@pytest.mark.slow
def test_the_package_runs_as_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "emu", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"emu {emu.__version__}, {form()}\n"


@pytest.mark.slow
def test_its_errors_are_the_commands() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "emu", "--config", "none.toml", "config", "show"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("emu: ")
