"""Copy the tree and compile the copy in place, for the tests of the compiled form.

`python tools/compiled_copy.py FOLDER` creates FOLDER anew. It contains the files that git knows or
would add, so it includes unfinished changes. Outside of a checkout, as in an unpacked source
distribution, it contains the files of that distribution.

`python tools/compiled_copy.py FOLDER VENV` compiles nothing: it takes the modules of the compiled
form that is installed in the virtual environment VENV. Compiling takes most of a minute.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.compiled import build

MADE = {"__pycache__", "node_modules"}
"""Folders that tools make inside of the tree."""
ROOT = Path(__file__).resolve().parent.parent


def names(root: Path) -> list[str]:
    """Return the files of a tree, relative to its root."""
    if (root / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
            cwd=root, capture_output=True, check=True,
        )  # fmt: skip
        return [os.fsdecode(name) for name in listed.stdout.split(b"\0") if name]
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    included = settings["tool"]["hatch"]["build"]["targets"]["sdist"]["only-include"]
    found = [
        path
        for name in included
        for path in ((root / name).rglob("*") if (root / name).is_dir() else [root / name])
    ]
    return [
        str(path.relative_to(root))
        for path in found
        if path.is_file() and not MADE & set(path.parts) and path.suffix not in {".pyc", ".so"}
    ]


def copy(target: Path) -> None:
    """Copy the tree's files."""
    shutil.rmtree(target, ignore_errors=True)
    for name in names(ROOT):
        source = ROOT / name
        if source.is_file():
            place = target / name
            place.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):  # a test that runs has made and removed it
                shutil.copy2(source, place)
    # Bytecode files are valid for the copies, which have the times of their sources. Without them
    # each process would compile the whole project again.
    for folder in {path.parent for path in target.rglob("*.py")}:
        for made in (ROOT / folder.relative_to(target)).glob("__pycache__/*.pyc"):
            (folder / made.parent.name).mkdir(exist_ok=True)
            with suppress(FileNotFoundError):  # another process writes it anew
                shutil.copy2(made, folder / made.parent.name)


def take(venv: Path, target: Path) -> list[Path]:
    """Copy the compiled modules that are installed in a virtual environment, and return them."""
    (packages,) = venv.glob("lib/python*/site-packages")
    installed = [*packages.glob("*__mypyc*.so"), *packages.glob("emu/**/*.so")]
    if not installed:
        sys.exit(f"{venv}: the compiled form is not installed there")
    made = [target / path.relative_to(packages) for path in installed]
    for path, place in zip(installed, made, strict=True):
        shutil.copy2(path, place)
    return made


if __name__ == "__main__":
    folder = Path(sys.argv[1]).resolve()
    copy(folder)
    if len(sys.argv) > 2:
        modules = take(Path(sys.argv[2]).resolve(), folder)
    else:
        modules = build(folder, folder, level="0")  # half the time, and the same code
    print(f"{len(modules)} compiled modules in {folder}")
