"""The whole server for measuring, with the time of its longest turn.

Run as `tools.bench.login_server`. At SIGUSR2 it prints one line of JSON, the longest turn since the
last SIGUSR2 in seconds of the wall clock and of the CPU and what it did, and begins anew. Empty
zones end after `EMPTY` seconds.
"""

from __future__ import annotations

import json
import signal
from typing import Final

from emu.world.zones.directory import Zones
from tools.bench import login_server
from tools.bench.turns import Turns

EMPTY: Final = 3.0


def main() -> None:
    """Serve until terminated."""
    inner = vars(login_server.reactor)
    inner["_poller"] = turns = Turns(inner["_poller"])
    signal.signal(signal.SIGUSR2, lambda *_: print(json.dumps(turns.taken()), flush=True))
    setattr(Zones, "_lingers", lambda _zones, _zone: EMPTY)  # noqa: B010  # five minutes are long
    login_server.main()


if __name__ == "__main__":
    main()
