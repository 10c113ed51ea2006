"""Hooks for mkdocs: generated pages, links to code, and a check that nothing is fetched.

Pages link to sources as ``../../emu/...``, which works in a checkout and on a forge. The site has a
copy of each linked source as text.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

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

STYLE = "assets/site.css"
ROOT = Path(__file__).resolve().parent.parent.parent
CODE = re.compile(r"\]\((?:\.\./)+((?:emu|data|opcodes|tests|tools|twistd-plugins)/[^)#]+)\)")
FOREIGN = re.compile(r"<(?:script|link|img)[^>]*(?:src|href)=[\"']?(?:https?:)?//[^ >]*")


def generated() -> Iterator[tuple[str, str]]:
    """Yield the name and text of every page that is made here."""
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


def linked_sources(files: Files) -> set[str]:
    """Return the sources that pages link to."""
    pages = [file.content_string for file in files.documentation_pages()]
    return {path for text in pages for path in CODE.findall(text)}


def copy_of(path: str) -> str:
    """Return where in the site a source's copy is; as text, so that browsers show it."""
    return f"code/{path}.txt"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages, the style and the copies of sources."""
    style = (Path(__file__).parent / "site.css").read_text(encoding="utf-8")
    files.append(File.generated(config, STYLE, content=style))
    for name, text in generated():
        files.append(File.generated(config, name, content=text))
    for path in sorted(linked_sources(files)):
        if (ROOT / path).is_file():  # mkdocs reports a link that leads nowhere
            source = (ROOT / path).read_bytes()
            files.append(File.generated(config, copy_of(path), content=source))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Turn links to sources into links to their copies."""
    folder = posixpath.dirname(page.file.src_uri)

    def link(match: re.Match[str]) -> str:
        return f"]({posixpath.relpath(copy_of(match[1]), folder or '.')})"

    return CODE.sub(link, markdown)


def on_post_page(output: str, page: Page, **_: object) -> str:
    """Refuse a page that would fetch something from elsewhere."""
    if found := FOREIGN.search(output):
        raise PluginError(f"{page.file.src_uri} fetches {found.group()}")
    return output
