"""The preparation for `make run`: a configuration and an example account.

It creates both only if the state folder has none, so a second `make run` changes nothing. It ends
with the next commands, each with the real paths, so that they run from any folder.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from pathlib import Path

from emu.config import Address, load
from emu.limits.addresses import reachable

ACCOUNT, PASSWORD = "testlabs", "testpass"  # documented, on loopback only
EXAMPLE = Path(__file__).resolve().parent.parent / "data" / "emu.toml"
EMU = Path(sys.executable).parent / "emu"


def main() -> int:
    """Make what is missing; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--state", type=Path, required=True, help="folder for what is kept")
    state = parser.parse_args().state.absolute()
    state.mkdir(parents=True, exist_ok=True)
    config = state / "emu.toml"
    if not config.exists():
        config.write_bytes(EXAMPLE.read_bytes())
        print(f"made {config}: every setting is explained by `emu config show`", flush=True)
    emu = [str(EMU), "--config", str(config)]
    settings = load(config)
    if not settings.database.path.exists():
        done = subprocess.run(
            [*emu, "account", "add", ACCOUNT, "--password", PASSWORD], check=False
        )  # fmt: skip
        if done.returncode:
            return done.returncode
        print(f"made the example account {ACCOUNT} with the password {PASSWORD}")
    print("next, in another terminal:")
    for command, purpose in next_commands(emu, settings.login.listen):
        print(f"  {command}  # {purpose}")
    return 0


def next_commands(emu: list[str], listen: Address) -> list[tuple[str, str]]:
    """Return command lines ready to be typed, each with what it is for."""
    near = reachable(listen.host)
    at = str(Address(near, listen.port))
    player = [at, "--user", ACCOUNT, "--password", PASSWORD]
    character = ["--character", "Aldana", "--create"]
    words = (
        (["client", "login", *player], "log in without a game"),
        (["client", "play", *player, *character, "--for", "5"], "stand in the world"),
        (["client", "shell", *player, *character], "walk about in the world"),
        (["character", "rank", "Aldana", "gamemaster"], "make a character a game master"),
        (["account", "add", "NAME"], "add an account; asks for its password"),
        (["account", "list"], "see who there is"),
        (["config", "check"], "check the configuration after an edit"),
        (["opcodes", "edit"], "look at the opcode tables"),
    )
    return [(shlex.join([*emu, *one]), purpose) for one, purpose in words]


if __name__ == "__main__":
    sys.exit(main())
