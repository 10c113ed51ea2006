"""Debian's tshark for tests."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from tests.support.foreign.programs import debian_program


def run_tshark(*arguments: str, script: Path | None = None) -> str:
    """Run tshark and return what it printed; fail when it complains about the Lua `script`."""
    program = debian_program("tshark", "tshark")
    if script is not None:
        arguments = ("-X", f"lua_script:{script}", *arguments)
    with tempfile.TemporaryDirectory(prefix="tshark-home-") as home:
        # A home of its own keeps the tester's preferences and plugins out.
        done = subprocess.run(
            [program, *arguments],
            check=False, capture_output=True, text=True, timeout=60,
            env={"PATH": os.environ.get("PATH", ""), "HOME": home, "LC_ALL": "C.UTF-8"},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    complaints = [line for line in done.stderr.splitlines() if "lua" in line.lower()]
    assert not complaints, complaints
    return done.stdout
