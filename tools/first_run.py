"""The preparation for `make run`: a configuration, a database and an example account.

It creates them only if the state folder has none, and then prints three short lines: what it made
and a command to try. A later `make run` changes and prints nothing.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from pathlib import Path

from emu.config import Address, default_path, load
from emu.limits.addresses import reachable

ACCOUNT, PASSWORD = "testlabs", "testpass"  # documented, on loopback only
EXAMPLE = Path(__file__).resolve().parent.parent / "data" / "emu.toml"
EMU = Path(sys.executable).parent / "emu"


def main() -> int:
    """Make what is missing; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--state", type=Path, required=True, help="folder for what is kept")
    config = parser.parse_args().state.absolute() / "emu.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    if not config.exists():
        config.write_bytes(EXAMPLE.read_bytes())
    settings = load(config)
    if settings.database.path.exists():
        return 0
    added = subprocess.run(
        [EMU, "--config", config, "account", "add", ACCOUNT, "--password", PASSWORD],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    if added.returncode:
        print(added.stdout, added.stderr, sep="", end="", file=sys.stderr)
        return added.returncode
    print(f"made {shown(config)}, {shown(settings.database.path)} and the account {ACCOUNT}")
    print("try in another terminal (`emu --help` lists the other commands):")
    print(f"  {first_command(config, settings.login.listen)}", flush=True)
    return 0


def shown(path: Path) -> str:
    """Return ``path`` as it is typed in this folder."""
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)


def first_command(config: Path, listen: Address) -> str:
    """Return a command line that logs the example account in, ready to be typed in this folder."""
    found = default_path()
    named = [] if found and found.absolute() == config else ["--config", shown(config)]
    at = str(Address(reachable(listen.host), listen.port))
    player = ["--user", ACCOUNT, "--password", PASSWORD]
    return shlex.join([shown(EMU), *named, "client", "login", at, *player])


if __name__ == "__main__":
    sys.exit(main())
