"""Programs of the npm registry for tests: fetched once, in pinned versions, into a cache."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "eq2emu-tests" / "npm"
PATIENCE = 120
"""Seconds that the registry may take."""


def npm_package(name: str, version: str) -> Path:
    """Return the folder that holds a package in `node_modules`, fetched if it is not there yet.

    Skips the test, and says why, where there is no node or the registry is not reached.
    """
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("node and npm are not installed")
    folder = CACHE / f"{name}-{version}"
    if not _has(folder, name, version):
        fresh = CACHE / f"{name}-{version}.{os.getpid()}"
        fresh.mkdir(parents=True, exist_ok=True)
        words = [
            npm,
            "install",
            "--prefix",
            str(fresh),
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
        ]
        try:
            subprocess.run(
                [*words, f"{name}@{version}"], check=True, capture_output=True, timeout=PATIENCE
            )
        except (subprocess.SubprocessError, OSError) as error:
            shutil.rmtree(fresh, ignore_errors=True)
            pytest.skip(f"npm's registry does not give {name} {version}: {error}")
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    return folder


def _has(folder: Path, name: str, version: str) -> bool:
    try:
        text = (folder / "node_modules" / name / "package.json").read_text(encoding="utf-8")
        return bool(json.loads(text)["version"] == version)
    except (OSError, ValueError, KeyError):
        return False
