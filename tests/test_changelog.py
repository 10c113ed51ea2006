"""The changelog has one section per release, and each fragment reaches the next one."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TYPES = ["added", "changed", "deprecated", "removed", "fixed", "security"]
OTHER_FILES = {"README.md", "template.md.jinja"}


def fragments() -> list[Path]:
    folder = ROOT / "tools/changes"
    return sorted(path for path in folder.iterdir() if path.name not in OTHER_FILES)


def draft(folder: Path) -> str:
    """Return the section that towncrier makes of a folder's fragments."""
    done = subprocess.run(
        [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "9.9.9",
         "--date", "2030-01-02", "--dir", str(folder), "--config", str(folder / "pyproject.toml")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def with_our_settings(folder: Path) -> Path:
    """Make a folder that has our towncrier settings and no fragments."""
    (folder / "tools/changes").mkdir(parents=True)
    for name in ("pyproject.toml", "CHANGELOG.md", "tools/changes/template.md.jinja"):
        (folder / name).write_bytes((ROOT / name).read_bytes())
    return folder


def test_the_newest_section_is_the_version_of_the_package() -> None:
    released = re.findall(r"^## (\S+) - \d{4}-\d\d-\d\d$", CHANGELOG, re.MULTILINE)
    assert released[0] == PROJECT["project"]["version"]
    assert len(set(released)) == len(released)


def test_sections_have_the_headings_of_keep_a_changelog() -> None:
    headings = re.findall(r"^### (.*)$", CHANGELOG, re.MULTILINE)
    assert {heading.lower() for heading in headings} <= set(TYPES)


def test_fragments_have_a_name_and_a_text_that_can_be_used() -> None:
    for path in fragments():
        assert re.fullmatch(rf"[a-z0-9-]+\.({'|'.join(TYPES)})\.md", path.name), path.name
        assert 0 < len(path.read_text(encoding="utf-8").strip()) < 1000, path.name


@pytest.mark.slow
def test_every_type_of_fragment_reaches_the_next_section(tmp_path: Path) -> None:
    folder = with_our_settings(tmp_path)
    for kind in TYPES:
        text = f"Text about {kind}.\n"
        (folder / "tools/changes" / f"a-slug-{kind}.{kind}.md").write_text(text, encoding="utf-8")
    section = draft(folder)
    assert "## 9.9.9 - 2030-01-02" in section
    expected = "".join(f"### {kind.capitalize()}\n\n- Text about {kind}.\n\n" for kind in TYPES)
    assert expected.strip() in section


@pytest.mark.slow
def test_a_release_goes_above_the_last_one(tmp_path: Path) -> None:
    folder = with_our_settings(tmp_path)
    (folder / "tools/changes" / "one.fixed.md").write_text("One is fixed.\n", encoding="utf-8")
    subprocess.run(
        [sys.executable, "-m", "towncrier", "build", "--yes", "--version", "9.9.9",
         "--dir", str(folder), "--config", str(folder / "pyproject.toml")],
        cwd=folder, capture_output=True, check=True,
    )  # fmt: skip
    text = (folder / "CHANGELOG.md").read_text(encoding="utf-8")
    new, old = text.index("## 9.9.9 - "), text.index(f"## {PROJECT['project']['version']} - ")
    assert text.index("<!-- towncrier") < new < text.index("- One is fixed.") < old
    assert text.endswith(CHANGELOG[CHANGELOG.index("\n## ") + 1 :])
