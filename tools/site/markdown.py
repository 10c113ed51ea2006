"""Pieces of Markdown for generated pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


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


def plain_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table whose first column is code and whose cells have no Markdown.

    It is HTML already. Large tables of Markdown take most of the time in which a site is built.
    """
    head = "".join(f"<th>{escape(one)}</th>" for one in columns)
    body = [
        f"<tr><td><code>{escape(name)}</code></td>"
        + "".join(f"<td>{escape(one)}</td>" for one in rest)
        + "</tr>"
        for name, *rest in rows
    ]
    return [f"<table><thead><tr>{head}</tr></thead><tbody>", *body, "</tbody></table>", ""]


def page(title: str, *parts: Iterable[str]) -> str:
    """Return a whole page of a title and groups of lines."""
    return "\n".join([f"# {title}", "", *(line for part in parts for line in part)]) + "\n"
