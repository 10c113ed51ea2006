"""Pieces of Markdown for generated pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def cell(text: object) -> str:
    """Return text for a table cell: on one line, its bars escaped."""
    return " ".join(str(text).split()).replace("|", "\\|")


def code(text: object) -> str:
    """Return text in the type of code, or nothing for nothing."""
    return f"`{text}`" if str(text) else ""


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return the lines of a table, an empty one behind it."""
    lines = [columns, ["---"] * len(columns), *rows]
    return [f"| {' | '.join(cell(one) for one in line)} |" for line in lines] + [""]


def page(title: str, *parts: Iterable[str]) -> str:
    """Return a whole page of a title and groups of lines."""
    return "\n".join([f"# {title}", "", *(line for part in parts for line in part)]) + "\n"
