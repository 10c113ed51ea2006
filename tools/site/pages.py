"""Write the pages of the site into a folder: those of docs/, and those made from the program.

`python -m tools.site.pages` writes them into build/docs, from which MkDocs and Zensical can build
the site; `--check` refuses a finished site that fetches from elsewhere. Pages link to sources as
``../../emu/...``, which works in a checkout and on a forge. The folder has a copy of each linked
source as text, and the links lead there.
"""

from __future__ import annotations

import argparse
import gc
import posixpath
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from emu.opcodes import shipped_tables
from emu.structs import shipped_catalog
from tools.site.behaviors import behaviors_page
from tools.site.commands import commands_page
from tools.site.game_commands import game_commands_page
from tools.site.messages import message_pages, rows_by_message
from tools.site.python_api import api_pages
from tools.site.script_functions import script_functions_page
from tools.site.settings import settings_page
from tools.site.structs import struct_pages

ROOT: Final = Path(__file__).resolve().parent.parent.parent
DOCS: Final = ROOT / "docs"
TARGET: Final = ROOT / "build" / "docs"
STYLE: Final = "assets/site.css"
FOREIGN: Final = re.compile(r"<(?:script|link|img)[^>]*(?:src|href)=[\"']?(?:https?:)?//[^ >]*")
"""What a page would fetch from elsewhere."""
CODE: Final = re.compile(
    r"\]\((?:\.\./)+((?:emu|data|opcodes|tests|tools|twistd-plugins)/[^)#]+)\)"
)


def main() -> int:
    """Write the pages; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=TARGET, help="replaced as a whole")
    parser.add_argument("--check", type=Path, help="write nothing; check a finished site instead")
    chosen = parser.parse_args()
    if chosen.check is None:
        gc.disable()  # the layouts of all structs stay until the end
        write_pages(chosen.folder)
        return 0
    found = list(fetches(chosen.check))
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


def fetches(site: Path) -> Iterator[str]:
    """Yield a line for each page of a site that would fetch something from elsewhere."""
    for path in sorted(site.rglob("*.html")):
        if found := FOREIGN.search(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(site)} fetches {found.group()}"


def write_pages(folder: Path, made: Mapping[str, str] | None = None) -> None:
    """Write all files of the site into a folder, in place of what it has.

    `made` has the pages that come from the program, if they are at hand already.
    """
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS, folder)
    style = (Path(__file__).parent / "site.css").read_text(encoding="utf-8")
    texts = {STYLE: style} | dict(generated() if made is None else made)
    texts |= {
        path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8")
        for path in DOCS.rglob("*.md")
    }
    sources = set[str]()
    for name, text in texts.items():
        sources |= set(CODE.findall(text))
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(with_copies(name, text), encoding="utf-8")
    for source in sorted(sources):
        path = folder / copy_of(source)
        path.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / source).is_file():
            shutil.copy(ROOT / source, path)
        elif (ROOT / source).is_dir():
            names = sorted(inner.name for inner in (ROOT / source).iterdir())
            path.write_text("\n".join(names), encoding="utf-8")
        # A link that leads nowhere is reported by the generator of the site.


def generated() -> Iterator[tuple[str, str]]:
    """Yield the name and text of every page that is made from the program."""
    catalog = shipped_catalog()
    rows = rows_by_message(shipped_tables())
    yield "reference/commands.md", commands_page()
    yield "reference/game-commands.md", game_commands_page()
    yield "reference/script-functions.md", script_functions_page()
    yield "reference/behaviors.md", behaviors_page()
    yield "reference/settings.md", settings_page()
    yield from api_pages()
    yield from message_pages(rows, catalog)
    yield from struct_pages(catalog, frozenset(rows))


def copy_of(path: str) -> str:
    """Return where in the site a source's copy is; as text, so that browsers show it."""
    return f"code/{path}.txt"


def with_copies(name: str, text: str) -> str:
    """Return a page with its links to sources as links to their copies."""
    folder = posixpath.dirname(name)

    def link(match: re.Match[str]) -> str:
        return f"]({posixpath.relpath(copy_of(match[1]), folder or '.')})"

    return CODE.sub(link, text)


if __name__ == "__main__":
    sys.exit(main())
