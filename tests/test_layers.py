"""What the layering contract cannot say: which rooms may know the outside world at all."""

import ast
from pathlib import Path

import pytest

EMU = Path(__file__).parent.parent / "emu"
OUTSIDE = {"twisted", "asyncio", "socket", "sqlite3", "sqlite_utils", "time", "random", "secrets",
           "threading", "select", "subprocess"}  # fmt: skip
PURE = ("limits", "wire", "session", "structs", "link", "login", "world")
ALLOWED = {
    "client/shell.py": {"twisted"},
    "opcodes/store.py": {"sqlite3", "sqlite_utils"},
}


def imports_of(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("room", PURE)
def test_pure_rooms_know_no_clock_socket_or_reactor(room: str) -> None:
    for path in (EMU / room).rglob("*.py"):
        found = imports_of(path) & OUTSIDE
        assert not found, f"{path}: imports {found}"


def test_only_the_shell_of_the_client_knows_the_reactor() -> None:
    for path in (EMU / "client").rglob("*.py"):
        allowed = ALLOWED.get(str(path.relative_to(EMU)), set())
        assert not (imports_of(path) & OUTSIDE) - allowed, path


def test_twisted_is_known_only_to_the_shells() -> None:
    for path in EMU.rglob("*.py"):
        relative = str(path.relative_to(EMU))
        if relative.startswith(("net/", "cli/")) or relative in ("tap.py", "client/shell.py"):
            continue
        assert "twisted" not in imports_of(path), relative
