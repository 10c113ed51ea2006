"""Programs of the npm registry for tests, in the versions of `npm/package-lock.json`.

They are installed beside it when the first test wants one. The scripts there drive the clients
among them, each as its documentation shows.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
from pathlib import Path

from tests.support.foreign.programs import lacking
from tests.support.patience import patience

FOLDER = Path(__file__).parent / "npm"
INSTALLED = FOLDER / "node_modules"
INSTALL = ("ci", "--ignore-scripts", "--no-audit", "--no-fund")
LONGEST_INSTALL = 120.0
"""Seconds that the registry may take."""


def npm_clients(kind: str) -> list[str]:
    """Return the names of the clients that the script of a kind, ``rcon`` or ``a2s``, can drive."""
    return sorted(path.stem for path in (FOLDER / kind).glob("*.js"))


def npm_client(kind: str, name: str) -> list[str]:
    """Return the words that start a client; what else its script wants to know goes behind them."""
    npm_modules()
    return ["node", str(FOLDER / f"{kind}.js"), name]


def npm_modules() -> Path:
    """Return the folder of all packages, installed if they are not there yet.

    Skips the test, and says why, where there is no node or the registry is not reached.
    """
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        lacking("node and npm are not installed (Debian: apt-get install nodejs npm)")
    with (FOLDER / ".lock").open("w") as lock:  # other processes run tests, too
        fcntl.flock(lock, fcntl.LOCK_EX)
        _install(npm)
    return INSTALLED


def _install(npm: str) -> None:
    """Install what the lock file names, unless it is there."""
    wanted = hashlib.sha256((FOLDER / "package-lock.json").read_bytes()).hexdigest()
    mark = INSTALLED / ".installed-for"
    if mark.is_file() and mark.read_text() == wanted:
        return
    try:
        subprocess.run(
            [npm, *INSTALL],
            cwd=FOLDER,
            check=True,
            capture_output=True,
            timeout=patience(LONGEST_INSTALL),
        )
    except (subprocess.SubprocessError, OSError) as error:
        lacking(f"npm's registry does not give the packages: {error}")
    mark.write_text(wanted)
