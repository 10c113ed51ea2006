"""The reference of the `emu` command, generated from click: the same texts as `--help`."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from emu.cli.main import NOUNS, root
from tools.site.markdown import code, page, table

SHARED = frozenset({"--config", "--db", "--help", "-h"})
"""Options that every command has; the page describes them once."""


def commands_page() -> str:
    """Return the page of all nouns and their verbs; a noun may be a command itself."""
    context = click.Context(root, info_name="emu")
    assert isinstance(root, click.Group)
    parts = [list(_about(root, context, 1))]
    for noun in root.list_commands(context):
        command = root.get_command(context, noun)
        assert command is not None, noun
        parts.append([f"## emu {noun} {{#{noun}}}", "", NOUNS[noun][1], ""])
        inner = click.Context(command, info_name=noun, parent=context)
        if isinstance(command, click.Group):
            parts.extend(_verbs(command, inner))
        else:
            parts.append(list(_about(command, inner, 2)))
    return page("Commands", *parts)


def _verbs(group: click.Group, parent: click.Context) -> Iterator[list[str]]:
    """Yield the part of each verb, and those of groups inside the group."""
    for name in group.list_commands(parent):
        command = group.commands[name]
        context = click.Context(command, info_name=name, parent=parent)
        path = context.command_path
        yield [f"### {path} {{#{path.replace(' ', '-')}}}", "", *_about(command, context, 3)]
        if isinstance(command, click.Group):
            yield from _verbs(command, context)


def _about(command: click.Command, context: click.Context, depth: int) -> Iterator[str]:
    """Yield usage, description and options; the shared options only at the root."""
    usage = " ".join(command.collect_usage_pieces(context))
    yield from ("```text", f"{context.command_path} {usage}", "```", "")
    yield from _prose(f"{command.help or ''}\n\n{command.epilog or ''}")
    shown = [option for option in command.params if depth == 1 or not SHARED & {*option.opts}]
    records = [record for one in shown if (record := one.get_help_record(context)) and record[1]]
    if records:
        yield from table(["option", "meaning"], [(code(name), text) for name, text in records])


def _prose(text: str) -> Iterator[str]:
    """Yield click's help as Markdown: paragraphs, and examples as code."""
    for paragraph in re.split(r"\n\s*\n", text.replace("\b", "").replace("\f", "").strip()):
        words = " ".join(paragraph.split())
        if example := re.fullmatch(r"Examples?: (.*)", words):
            yield from ("For example:", "", "```sh", example[1], "```", "")
        elif words:
            yield from (words.replace("<", "&lt;"), "")
