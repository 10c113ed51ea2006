"""Count which scripts find all functions that they call, and write the figures into a page.

    python -m tools.script_coverage /srv/eq2/server --page docs/guides/lua.md

The counting rule is that of `emu content check --scripts`. Without --page the table is printed.
"""

from __future__ import annotations

import argparse
import datetime as dt
import sys
from pathlib import Path
from typing import Final

from emu.errors import ScriptError
from emu.scripts.checking import Checker
from emu.scripts.folder import ScriptFolder
from emu.world.reference.functions import signatures, working
from emu.world.reference.trial import Trial

BEGIN, END = "<!-- script coverage -->", "<!-- end of script coverage -->"
SHOWN: Final = 10
"""Functions in the list of those that hinder the most scripts."""


def coverage_table(folder: ScriptFolder, today: dt.date) -> str:
    """Return the coverage of a folder's scripts as Markdown."""
    checker = Checker(folder, signatures(), working())
    lines = [
        f"Measured on {today.isoformat()}, with {len(working())} functions here:",
        "",
        "| scripts | files | complete by their own calls | complete with their modules |",
        "|---|---|---|---|",
    ]
    hindering = []
    for kind, paths in checker.by_kind(_broken(checker)).items():
        coverage = checker.count(paths)
        own, with_modules = coverage.shares()
        lines.append(f"| {kind} | {coverage.files:,} | {own:.1f} % | {with_modules:.1f} % |")
        names = [f"{name} {count:,}" for name, count in coverage.missing.most_common(SHOWN)]
        if names:
            hindering.append(f"- {kind}: {', '.join(names)}")
    if hindering:
        lines += ["", "Missing functions, and how many scripts need them:", "", *hindering]
    else:
        lines += ["", "All functions that they call are here."]
    return "\n".join(lines) + "\n"


def _broken(checker: Checker) -> set[str]:
    """Return the files that do not compile."""
    trial = Trial(checker.folder, is_noted=False)
    broken = set()
    for path in checker.folder.files():
        try:
            trial.runtime.check(path)
        except ScriptError:
            broken.add(path)
    return broken


def write_page(page: Path, table: str) -> None:
    """Replace the figures of a page. Raises `ValueError` without the marks."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{page}: the marks {BEGIN} and {END} are missing")
    page.write_text(f"{before}{BEGIN}\n\n{table}\n{END}{after}", encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Run the tool."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder that has SpawnScripts")
    parser.add_argument("--page", type=Path, help="write the figures into this page")
    options = parser.parse_args(arguments)
    today = dt.datetime.now(tz=dt.UTC).date()
    table = coverage_table(ScriptFolder(options.folder), today)
    if options.page is None:
        sys.stdout.write(table)
    else:
        write_page(options.page, table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
