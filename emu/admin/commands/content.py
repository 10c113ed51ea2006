"""Commands that search and show the content file, and the sources of scripts with their errors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from emu.commands import Argument, ArgumentKind, Call, CommandSet, Cost, Reply
from emu.commands.registry import GUIDE
from emu.content.file import ContentFile
from emu.content.links import record_of, search
from emu.content.subjects import SUBJECTS
from emu.errors import CommandError
from emu.scripts.folder import ENCODING, ScriptFolder
from emu.texts import counted

MOST_LINES: Final = 20_000
"""Lines of a script that are shown."""
ALL: Final = "all"
T = TypeVar("T")
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ContentCommandContext:
    """The context of these commands.

    `run` carries out a call in a thread, because files are read. `file` is the content file,
    `scripts` the folder of Lua scripts, `behaviors` that of behaviors; None without one. `errors`
    returns the errors of scripts and behaviors as rows with file, line and text.
    """

    run: Callable[[Callable[[], Any]], Awaitable[Any]]
    file: Path | None
    scripts: Path | None
    errors: Callable[[], Sequence[Row]]
    behaviors: Path | None = None

    async def ask_content(self, call: Callable[[ContentFile], T]) -> T:
        """Return what a call makes of the file. Raises `CommandError` or `FileFormatError`."""
        path = self.file
        if path is None:
            raise CommandError("this world has no content file; set world.content")

        def read() -> T:
            with ContentFile(path) as file:
                return call(file)

        found: T = await self.run(read)
        return found


SUBJECT = Argument(
    "subject", help="what is searched", optional=True, default=ALL, choices=(ALL, *SUBJECTS)
)
WORD = Argument("word", help="a part of the name, or the number")
KIND = Argument("subject", help="what it is", choices=tuple(SUBJECTS))
NUMBER = Argument("number", ArgumentKind.NUMBER, "its number")
FILE = Argument("file", ArgumentKind.TEXT, "the script, as the content file names it")

COMMANDS = CommandSet[ContentCommandContext]()


@COMMANDS.command(
    "content find", "find spawns, zones, items and all else of the content file by name", SUBJECT,
    Argument("word", ArgumentKind.TEXT, "a part of the name, or the number"), rank=GUIDE,
    is_quiet=True, without_database=True, cost=Cost.LISTING, example="content find spawn gnoll",
)  # fmt: skip
async def _find(content: ContentCommandContext, call: Call) -> Reply:
    subject = "" if call["subject"] == ALL else call["subject"]
    rows = await content.ask_content(lambda file: search(file, call["word"], subject))
    lines = [f"{row['subject']} {row['number']}: {row['name']}" for row in rows]
    return Reply((f"{len(rows)} found", *lines), rows)


@COMMANDS.command(
    "content show", "show what the content file has about one number", KIND, NUMBER, rank=GUIDE,
    is_quiet=True, without_database=True, cost=Cost.LISTING, example="content show item 1001",
)  # fmt: skip
async def _show(content: ContentCommandContext, call: Call) -> Reply:
    subject, number = call["subject"], call["number"]
    found = await content.ask_content(lambda file: record_of(file, subject, number))
    if found is None:
        raise CommandError(f"there is no {subject} {number}; content find searches names")
    # Rows may name a file in another case (docs/guides/lua.md#names).
    scripts = {one["script"].casefold() for one in found["scripts"]}
    found["errors"] = [one for one in content.errors() if one["file"].casefold() in scripts]
    lines = [f"{subject} {number}: {found['name']}"]
    for section in found["sections"]:
        for row in section["rows"]:
            cells = ", ".join(f"{one['column']} {_text(one)}" for one in row)
            lines.append(f"{section['table']}: {cells}")
    return Reply(tuple(lines), found)


@COMMANDS.command(
    "content source", "show the source of a script, with its errors", FILE, rank=GUIDE,
    is_quiet=True, without_database=True, cost=Cost.LISTING,
    example="content source SpawnScripts/Antonica/agnoll.lua",
)  # fmt: skip
async def _source(content: ContentCommandContext, call: Call) -> Reply:
    path, text = await content.run(lambda: _source_of(content, call["file"]))
    source = text.splitlines()
    errors = [one for one in content.errors() if one["file"] == path]
    found = {"file": path, "lines": source[:MOST_LINES], "total": len(source), "errors": errors}
    shown = [f"{at}: {line}" for at, line in enumerate(source[:MOST_LINES], 1)]
    head = f"{path}: {counted(len(source), 'line')}, {counted(len(errors), 'error')}"
    return Reply((head, *shown), found)


def _source_of(content: ContentCommandContext, name: str) -> tuple[str, str]:
    """Return the name and the text of a script, or of a file of behaviors by its whole path.

    Raises `CommandError`, `ScriptError`.
    """
    # Errors of behaviors have the whole path, as Python knows it.
    if content.behaviors is not None and name.endswith(".py"):
        folder, path = content.behaviors.resolve(), Path(name)
        if path.resolve().is_relative_to(folder) and path.is_file():
            return name, path.read_text(encoding="utf-8", errors="replace")
    if content.scripts is None:
        raise CommandError("this world has no folder of scripts; set world.scripts")
    scripts = ScriptFolder(content.scripts)
    found = scripts.find(name)
    if found is None:
        raise CommandError(f"the folder of scripts has no {name}")
    return found, scripts.read_file(found).decode(ENCODING)


def _text(cell: Row) -> str:
    return f"{cell['text']} ({cell['name']})" if cell.get("name") else str(cell["text"])
