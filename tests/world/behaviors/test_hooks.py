"""The list of hooks, and the page that shows it."""

from __future__ import annotations

import inspect
from pathlib import Path

from emu.world.behaviors.hooks import VISITS, Hook, hook_table
from emu.world.behaviors.shipped import greeter, teleporter, wanderer

GUIDE = Path(__file__).parents[3] / "docs/guides/zones.md"


def test_the_guide_shows_the_table() -> None:
    table = "\n".join(hook_table())
    assert table in GUIDE.read_text(), f"docs/guides/zones.md must contain:\n{table}"


def test_shipped_behaviors_take_the_parameters_of_their_hooks() -> None:
    methods = {hook.method: hook.parameters for hook in Hook}
    for behavior in (greeter.Greeter, teleporter.Teleporter, wanderer.Wanderer):
        for name, method in vars(behavior).items():
            if name.startswith("on_"):
                _, *parameters = inspect.signature(method).parameters
                assert ", ".join(one.lstrip("_") for one in parameters) == methods[name]


def test_hooks_are_methods_and_some_need_a_tick() -> None:
    assert Hook.SAY.signature == "on_say(visitor, text)"
    assert all(hook.method == f"on_{hook.name.lower()}" for hook in Hook)
    assert Hook.HAIL not in VISITS
