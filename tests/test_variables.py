"""Every environment variable of ours is documented where its readers look for it."""

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
VARIABLE = re.compile(r"\bEMU_[A-Z][A-Z_]*[A-Z]\b")
RECORDED = re.compile(r"_recordings\b|recorded_rows|RECORDINGS|DUMPS|STRUCT_FILES")
PAGE = ROOT / "docs" / "contributing" / "tests.md"


def variables(paths: Iterable[Path]) -> set[str]:
    texts = (path.read_text(encoding="utf-8") for path in paths if path.is_file())
    return {name for text in texts for name in VARIABLE.findall(text)}


def sources(*folders: str) -> list[Path]:
    return [path for folder in folders for path in (ROOT / folder).rglob("*.py")]


def of_operators() -> set[str]:
    return variables(sources("emu"))


def of_developers() -> set[str]:
    used = variables([*sources("tests", "tools"), ROOT / ".ci" / "run", ROOT / "Makefile"])
    return used - of_operators()


@pytest.mark.slow
def test_variables_of_tests_and_tools_are_documented_for_contributors() -> None:
    rows = re.findall(r"^\| `(EMU_\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted(of_developers())


@pytest.mark.slow
def test_variables_of_the_program_are_documented_for_operators() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs" / "guides").glob("*.md")]
    settings = [ROOT / "emu" / "config" / name for name in ("administration.py", "login.py")]
    assert of_operators() <= variables([*pages, *settings]), "settings.md shows those of settings"


@pytest.mark.slow
@pytest.mark.nightly
def test_tests_that_need_files_of_eq2emulator_are_skipped_without_them(tmp_path: Path) -> None:
    names = ("EMU_RECORDINGS", "EMU_DUMPS", "EMU_STRUCT_FILES")
    files = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "tests").glob("**/test_*.py"))
        if path.name != Path(__file__).name and RECORDED.search(path.read_text(encoding="utf-8"))
    ]
    assert len(files) > 30
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--tb=line", "-p", "no:cacheprovider", *files],
        cwd=ROOT, env=os.environ | dict.fromkeys(names, str(tmp_path / "missing")),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-5000:]
    assert " skipped" in done.stdout
