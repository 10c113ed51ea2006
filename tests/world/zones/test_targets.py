"""Players keep their target when a spawn is replaced by another form of itself."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from emu.world.zones.targets import Targets


def player(zone: Any, target: Any) -> Any:
    made = SimpleNamespace(zone=zone, target=target)
    made.aim = lambda spawn: setattr(made, "target", spawn)
    return made


def test_who_has_not_chosen_anew_gets_the_new_form() -> None:
    zone, elsewhere, old, new, other = (object() for _ in range(5))
    keeps, lost, chose, went, never = (
        player(zone, old), player(zone, old), player(zone, old), player(zone, old),
        player(zone, None),
    )  # fmt: skip
    targets = Targets(lambda: [keeps, lost, chose, went, never])
    holders = targets.holders(old)  # type: ignore[arg-type]
    assert holders == [keeps, lost, chose, went]
    lost.target, chose.target, went.zone = None, other, elsewhere
    targets.hand_over(zone, holders, old, new)  # type: ignore[arg-type]
    assert [one.target for one in (keeps, lost, chose, went, never)] == [
        new, new, other, old, None,
    ]  # fmt: skip
