"""Copies the tree and compiles the copy where it stands: what the tests of that form run on.

`python tools/compiled_copy.py FOLDER` makes FOLDER anew. It holds what git knows and what it would
take in, so an unfinished change is tried as it is.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.compiled import build

ROOT = Path(__file__).resolve().parent.parent


def copy(target: Path) -> None:
    """Copy the tree's files."""
    shutil.rmtree(target, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, check=True, text=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        source = ROOT / name
        if source.is_file():
            place = target / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, place)


if __name__ == "__main__":
    folder = Path(sys.argv[1]).resolve()
    copy(folder)
    made = build(folder, folder)
    print(f"{len(made)} compiled modules in {folder}")
