"""Checks a commit message by the rules of CONTRIBUTING.md; git runs it as the hook `commit-msg`.

Example: ``python3 tools/commit_message.py .git/COMMIT_EDITMSG``. It needs no installed package,
because the hook runs with the Python of the system. The exit status is 1 for a message that breaks
a rule.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

LONGEST_SUBJECT: Final = 72
"""Characters of a first line that `git log --oneline` shows whole in 80 columns."""
MADE_BY_GIT: Final = ("Merge ", "Revert ", "fixup! ", "squash! ", "amend! ")
"""Beginnings of messages that git writes itself."""
SCISSORS: Final = "# ------------------------ >8 ------------------------"
"""The line below which ``git commit --verbose`` shows the change."""
HOOK: Final = Path(__file__).parent / "hooks" / "commit-msg"


def faults(message: str) -> list[str]:
    """Return one sentence for each rule that a commit message breaks."""
    text = message.partition(SCISSORS)[0]
    lines = [line.rstrip() for line in text.splitlines() if not line.startswith("#")]
    while lines and not lines[0]:
        lines.pop(0)
    if not lines:
        return ["The message is empty."]
    subject, body = lines[0], lines[1:]
    if subject.startswith(MADE_BY_GIT):
        return []
    found = []
    if len(subject) > LONGEST_SUBJECT:
        found.append(
            f"The first line has {len(subject)} characters; {LONGEST_SUBJECT} are allowed."
        )
    if subject.endswith("."):
        found.append("The first line ends with a full stop.")
    if body and body[0]:
        found.append("The second line is not empty.")
    if not any(body):
        found.append("The text below the first line is missing: say why the change is made.")
    return found


def install(root: Path) -> str:
    """Copy the hook into the checkout at `root`; return a line for the user, empty if all is well.

    A tree without git, such as an unpacked source distribution, needs no hook. A hook of the
    user's own stays.
    """
    git = shutil.which("git")
    if git is None or not (root / ".git").exists():
        return ""
    asked = subprocess.run(
        [git, "rev-parse", "--git-path", "hooks/commit-msg"],
        cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if asked.returncode:
        return ""
    place = root / asked.stdout.strip()
    # An older form of this hook names the same program and is replaced.
    if place.exists() and Path(__file__).name.encode() not in place.read_bytes():
        return f"{place} is your own hook and stays; tools/hooks/commit-msg is not installed"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(HOOK.read_bytes())
    place.chmod(0o755)
    return ""


def main(arguments: list[str]) -> int:
    """Check the message in a file, or install the hook; return the exit status."""
    if arguments == ["--install"]:
        line = install(Path(__file__).parent.parent)
        if line:
            print(line, file=sys.stderr)
        return 0
    if len(arguments) != 1:
        print("usage: commit_message.py FILE | --install", file=sys.stderr)
        return 2
    found = faults(Path(arguments[0]).read_text(encoding="utf-8", errors="replace"))
    for line in found:
        print(f"commit-msg: {line}", file=sys.stderr)
    if found:
        print("commit-msg: CONTRIBUTING.md has the rules.", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
