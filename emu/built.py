"""The form in which the program runs: pure Python, or with the optional compiled parts.

Looks at files only, so that asking loads nothing. Both forms behave alike; they differ in speed.
"""

from __future__ import annotations

from importlib.machinery import PathFinder
from pathlib import Path
from typing import Final

import emu

PARTS: Final = {"session": "emu.session.session", "datagrams": "emu.net.udp._datagrams"}
"""What can be compiled, each with a module whose file shows it."""


def compiled_parts() -> tuple[str, ...]:
    """Return the names of the parts that are compiled."""
    found = []
    for name, module in PARTS.items():
        # `find_spec` of importlib.util would import the packages above the module.
        folders = [str(Path(place, *module.split(".")[1:-1])) for place in emu.__path__]
        spec = PathFinder.find_spec(module, folders)
        # The file of a compiled module is a shared library.
        if spec is not None and spec.origin is not None and not spec.origin.endswith(".py"):
            found.append(name)
    return tuple(found)


def form() -> str:
    """Return which form runs, in words for an operator."""
    parts = compiled_parts()
    return f"compiled ({', '.join(parts)})" if parts else "pure Python"
