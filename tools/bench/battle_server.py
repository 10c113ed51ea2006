"""The whole server for measuring a battle in which nobody dies.

Run as `tools.bench.content_server`, whose report of turns it has. Players and creatures have so
much health that a battle goes on for ever.
"""

from __future__ import annotations

from typing import Any, Final

from emu.world.actors import spawn
from emu.world.actors.sheet import Sheet
from tools.bench import content_server

HEALTH: Final = 2_000_000_000
POWER: Final = 1000


def main() -> None:
    """Serve until terminated."""
    usual = Sheet.count_pools

    def count_pools(sheet: Sheet, *values: Any, **named: Any) -> None:
        usual(sheet, *values, **named)
        if sheet.health.most != HEALTH:
            sheet.health.fill(HEALTH)

    setattr(Sheet, "count_pools", count_pools)  # noqa: B010  # a method
    setattr(spawn, "usual_pools", lambda *_, **__: (HEALTH, POWER))  # noqa: B010  # of another module
    content_server.main()


if __name__ == "__main__":
    main()
