"""What `make run` does before it starts the server: a configuration and an example account.

Both are made only when the state folder has none, so a second `make run` changes nothing.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

ACCOUNT, PASSWORD = "testlabs", "testpass"  # documented, on loopback only
EXAMPLE = Path(__file__).resolve().parent.parent / "data" / "emu.toml"


def main() -> int:
    """Make what is missing; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--state", type=Path, required=True, help="folder for what is kept")
    state = parser.parse_args().state
    state.mkdir(parents=True, exist_ok=True)
    config = state / "emu.toml"
    if not config.exists():
        config.write_bytes(EXAMPLE.read_bytes())
        print(f"made {config}: every setting is explained by `emu config show`")
    if (state / "emu.sqlite").exists():
        return 0
    emu = [str(Path(sys.executable).parent / "emu"), "--config", str(config)]
    done = subprocess.run(
        [*emu, "account", "add", ACCOUNT, "--password", PASSWORD], check=False
    )  # fmt: skip
    if done.returncode == 0:
        print(f"made the example account {ACCOUNT} with the password {PASSWORD}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
