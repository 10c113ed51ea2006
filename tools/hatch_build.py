"""Build hook: put `data/` and `opcodes/` into the wheel as `emu/_data/`; compile on request.

An editable install reads the top folders, and an sdist contains them, so the hook is for wheels
only. With EMU_COMPILE=1 in the environment the wheel contains the compiled form of the hot path in
addition to the sources (`tools/compiled.py`) and is named for its platform.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WANTED = "EMU_COMPILE"
LEVEL = "EMU_COMPILE_LEVEL"
"""How much the C compiler optimizes; without the variable as much as it can."""


class ShippedData(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the data folders, and the compiled parts when they are wanted, to a wheel."""

    _folder: tempfile.TemporaryDirectory[str] | None = None

    def dependencies(self) -> list[str]:
        """Return what building needs besides hatchling."""
        return self._compiler().required(Path(self.root)) if _is_wanted() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files to take in; `version` is ``editable`` for an editable install."""
        if version == "editable":
            return
        for folder, target in (("data", "emu/_data"), ("opcodes", "emu/_data/opcodes")):
            build_data["force_include"][str(Path(self.root) / folder)] = target
        if _is_wanted():
            self._compile(build_data)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was compiled; the wheel has it."""
        del version, build_data, artifact_path
        if self._folder is not None:
            self._folder.cleanup()

    def _compile(self, build_data: dict[str, Any]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="emu-compiled-")
        target = Path(self._folder.name)
        level = os.environ.get(LEVEL, "3")
        for path in self._compiler().build(Path(self.root), target, level=level):
            build_data["force_include"][str(path)] = path.relative_to(target).as_posix()
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def _compiler(self) -> ModuleType:
        """Return `tools/compiled.py`, which is no package's."""
        spec = importlib.util.spec_from_file_location(
            "emu_compiled", Path(self.root) / "tools" / "compiled.py"
        )
        if spec is None or spec.loader is None:
            raise RuntimeError("tools/compiled.py is missing")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


def _is_wanted() -> bool:
    return os.environ.get(WANTED) == "1"
