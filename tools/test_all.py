"""Run the tests with every installed Python from 3.11 to 3.13, each in its own venv.

Searches PATH and pyenv's versions, and prints which versions are missing. The exit status is 1 if a
run failed.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

MINORS = (11, 12, 13)
ROOT = Path(__file__).resolve().parent.parent


def find(minor: int) -> Path | None:
    """Return a working interpreter of Python 3.`minor`, or None."""
    candidates = sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python3"), reverse=True)
    on_path = shutil.which(f"python3.{minor}")
    if on_path is not None:
        candidates.append(Path(on_path))
    code = f"import sys, venv; sys.exit(sys.version_info[:2] != (3, {minor}))"
    for candidate in candidates:
        done = subprocess.run([candidate, "-c", code], capture_output=True, check=False)
        if done.returncode == 0:
            return candidate
    return None


def main() -> int:
    """Run what there is; return the exit status."""
    failed = []
    for minor in MINORS:
        python = find(minor)
        if python is None:
            print(f"Python 3.{minor}: not installed")
            continue
        print(f"Python 3.{minor}: {python}", flush=True)
        done = subprocess.run(
            ["make", "unit", f"PYTHON={python}", f"VENV=.venv-3.{minor}"], cwd=ROOT, check=False
        )
        if done.returncode:
            failed.append(f"3.{minor}")
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
