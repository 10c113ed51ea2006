"""The reference of the Python packages for tool authors, which mkdocstrings reads from the code."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from itertools import pairwise
from typing import Final, NamedTuple

from tools.site.markdown import page


class ApiPage(NamedTuple):
    """One page: its title, an introduction, and the modules whose public names it shows.

    `only` are the names to show; empty for all.
    """

    title: str
    about: str
    modules: tuple[str, ...]
    only: frozenset[str] = frozenset()


PAGES: Final[Mapping[str, ApiPage]] = {
    "session": ApiPage(
        "Sessions",
        "One UDP session of either side. [Sessions](../../library/session.md) has examples.",
        ("emu.session",),
    ),
    "client": ApiPage(
        "Client",
        "A client of a login server and of a world. The [guide for bots](../../guides/bots.md) and"
        " [clients and versions](../../library/clients.md) have examples.",
        (
            "emu.net.client.world_connection",
            "emu.net.client.connection",
            "emu.client",
            "emu.client.flow",
            "emu.client.world",
            "emu.client.world.events",
        ),
    ),
    "structs": ApiPage(
        "Structs",
        "Layouts of messages. [Structs](../../library/structs.md) has examples.",
        ("emu.structs",),
    ),
    "opcodes": ApiPage(
        "Opcodes",
        "Numbers and names of messages. [Opcodes](../../library/opcodes.md) has examples.",
        ("emu.opcodes",),
    ),
    "capture": ApiPage(
        "Captures",
        "From capture files to messages. [Captures](../../library/captures.md) has examples.",
        ("emu.capture", "emu.capture.select", "emu.capture.statistics"),
    ),
    "behaviors": ApiPage(
        "Behaviors",
        "What a behavior imports. [Behaviors](../behaviors.md) describes hooks and options.",
        ("emu.world.behaviors.api", "emu.world.behaviors.options", "emu.world.behaviors.hooks"),
        frozenset(
            ("Actor", "ZoneActor", "Visitor", "Place", "Hook", "option", "NAME", "POINT", "ZONE")
        ),
    ),
    "shared": ApiPage(
        "Times and errors",
        "Kinds of time, and the exceptions of all packages.",
        ("emu.times", "emu.errors"),
    ),
}
"""The pages by file name."""

INTRODUCTION: Final = """\
The packages that tools use. They work without the server. Only `emu.net` uses a reactor; the others
take bytes and times, and return bytes and events. The [library](../library/index.md) explains them
with examples that run as shown.

All times are seconds. `now` is the time of a steady clock (`Monotonic`), such as
`time.monotonic()` returns; dates are seconds since 1970 (`Moment`). Numbers on the wire are
little-endian unless a page says otherwise. The packages raise subclasses of `EmuError`. Names that
are not on these pages may change without notice.
"""


def api_pages() -> Iterator[tuple[str, str]]:
    """Yield the name and text of the index and of every page."""
    rows = [f"- [{one.title}](python/{name}.md): {_modules(one)}" for name, one in PAGES.items()]
    yield "reference/python.md", page("Python API", [*INTRODUCTION.splitlines(), "", *rows])
    for name, one in PAGES.items():
        blocks = [list(_block(module, shown_names(one, module))) for module in one.modules]
        yield f"reference/python/{name}.md", page(one.title, [one.about, ""], *blocks)


def public_names(module: str) -> list[str]:
    """Return the public names of a module: those of `__all__`, or those that it defines itself.

    Without `__all__`, a value counts only if it has a docstring.
    """
    loaded = import_module(module)
    listed = getattr(loaded, "__all__", None)
    if listed is not None:
        return list(listed)
    body = ast.parse(inspect.getsource(loaded)).body
    found = [name for pair in pairwise([*body, ast.Pass()]) for name in _names(*pair)]
    return [name for name in found if not name.startswith("_")]


def _names(node: ast.stmt, following: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of a module defines; `following` may be its docstring."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name
    elif not isinstance(following, ast.Expr):
        return
    elif isinstance(node, ast.Assign):
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id


def shown_names(one: ApiPage, module: str) -> list[str]:
    """Return the names of a module that a page shows."""
    return [name for name in public_names(module) if not one.only or name in one.only]


def _modules(one: ApiPage) -> str:
    return ", ".join(f"`{module}`" for module in one.modules)


def _block(module: str, names: Iterable[str]) -> Iterator[str]:
    """Yield what mkdocstrings replaces by a module's description."""
    yield f"::: {module}"
    yield "    options:"
    yield f"      members: [{', '.join(names)}]"
    yield ""
