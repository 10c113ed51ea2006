"""Build hook: put `data/` and `opcodes/` into the wheel as `emu/_data/`.

An editable install reads the top folders themselves, and an sdist carries them as they are, so
the hook is for wheels only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ShippedData(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the data folders to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files to take in; `version` is ``editable`` for an editable install."""
        if version == "editable":
            return
        for folder, target in (("data", "emu/_data"), ("opcodes", "emu/_data/opcodes")):
            build_data["force_include"][str(Path(self.root) / folder)] = target
