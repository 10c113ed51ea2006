"""The release: versions agree, notes are there, and all libraries are pinned.

`make release` itself takes minutes; the workflow of a tag runs it.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import emu
from tools.release import (
    ROOT,
    ReleaseFault,
    artifacts,
    check_tag,
    notes,
    one,
    project_version,
    write_sums,
)


def project() -> dict[str, object]:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found: dict[str, object] = tomllib.loads(text)["project"]
    return found


def test_the_program_and_the_package_have_one_version() -> None:
    assert emu.__version__ == project_version()


def test_the_command_of_make_starts_where_only_python_is_installed() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (words,) = re.findall(r"\$\(RELEASE\)/bin/python (.+) \$\(ARGS\)", makefile)
    # Without `site`, Python finds neither installed packages nor this checkout's own .pth file.
    done = subprocess.run(
        [sys.executable, "-S", *words.split(), "--help"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "--pure" in done.stdout


def test_a_tag_is_the_version() -> None:
    check_tag("", "1.2.3")
    check_tag("v1.2.3", "1.2.3")
    with pytest.raises(ReleaseFault, match="the tag"):
        check_tag("v1.2.4", "1.2.3")


@pytest.mark.slow
def test_the_notes_have_the_changes_of_the_release() -> None:
    assert notes("0.1.0").startswith("## 0.1.0")


@pytest.mark.slow
def test_every_library_is_pinned_with_a_hash() -> None:
    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))["package"]
    pinned = {package["name"]: package for package in lock}
    wanted = [
        re.split(r"[^A-Za-z0-9_.-]", str(line))[0].lower().replace("_", "-")
        for line in project()["dependencies"]  # type: ignore[attr-defined]
    ]
    assert len(wanted) > 8
    for name in wanted:
        files = [*pinned[name].get("wheels", ()), pinned[name].get("sdist", {})]
        assert all(file["hash"].startswith("sha256:") for file in files if file), name


def test_the_lock_was_made_for_these_dependencies() -> None:
    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))["package"]
    (own,) = (package for package in lock if package["name"] == "eq2emu")
    stated = {
        entry["name"] + entry.get("specifier", "") for entry in own["metadata"]["requires-dist"]
    }
    for line in project()["dependencies"]:  # type: ignore[attr-defined]
        name, bounds = re.fullmatch(r"([\w-]+)(?:\[\w+\])?(.*)", str(line)).groups()  # type: ignore[union-attr]
        assert f"{name.lower().replace('_', '-')}{bounds}" in stated


def test_artifacts_and_their_sums(tmp_path: Path) -> None:
    for name in ("eq2emu-1.tar.gz", "eq2emu-1-py3-none-any.whl", "notes.md"):
        (tmp_path / name).write_bytes(name.encode())
    assert [path.name for path in artifacts(tmp_path)] == [
        "eq2emu-1-py3-none-any.whl", "eq2emu-1.tar.gz",
    ]  # fmt: skip
    write_sums(tmp_path)
    sums = (tmp_path / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    assert f"{hashlib.sha256(b'notes.md').hexdigest()}  notes.md" in sums
    assert len(sums) == 3
    with pytest.raises(ReleaseFault, match="2 files match"):
        one(tmp_path, "eq2emu*")
