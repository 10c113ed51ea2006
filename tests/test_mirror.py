"""The tests mirror the tree: each module has its own test file, and no test file is an orphan."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PLAIN = {
    "emu/admin/ggmp/acting.py": "protocols",
    "emu/admin/ogp/rules.py": "plain values",
    "emu/admin/ports.py": "plain values",
    "emu/client/evening/errands.py": "plain values",
    "emu/cluster/ports.py": "protocols",
    "emu/database/database.py": "abstract; tested with each engine",
    "emu/correspondence.py": "plain values",
    "emu/houses.py": "plain values",
    "emu/dialects/dialect.py": "names for numbers",
    "emu/config/administration.py": "plain values",
    "emu/config/login.py": "plain values",
    "emu/config/bus.py": "plain values",
    "emu/config/node.py": "plain values",
    "emu/config/world.py": "plain values",
    "emu/config/world_game.py": "plain values",
    "emu/config/world_players.py": "plain values",
    "emu/config/world_server.py": "plain values",
    "emu/items/held.py": "plain values",
    "emu/items/kinds.py": "plain values",
    "emu/items/refusals.py": "plain values",
    "emu/link/settings.py": "plain values",
    "emu/spells/kinds.py": "plain values",
    "emu/spells/opportunities.py": "plain values",
    "emu/world/spells/core.py": "plain values",
    "emu/world/spells/living.py": "plain values",
    "emu/world/spells/ports.py": "protocols",
    "emu/login/passwords.py": "plain values",
    "emu/world/actors/dealings.py": "plain values",
    "emu/world/ports.py": "plain values",
    "emu/world/rules.py": "plain values",
    "emu/worlds.py": "plain values",
    "emu/login/ports.py": "protocols",
    "emu/model.py": "plain values",
    "emu/world/quests/component.py": "makes the others; tested with each of them",
    "emu/world/quests/engines.py": "protocols",
    "emu/reply_codes.py": "names for numbers",
    "emu/processes/claiming.py": "protocols",
    "emu/processes/house_store.py": "protocols",
    "emu/processes/ports.py": "protocols",
    "emu/world/behaviors/running.py": "plain values",
    "emu/world/item_events.py": "plain values",
    "emu/world/quest_events.py": "plain values",
    "emu/world/zones/definitions.py": "plain values",
    "emu/versions.py": "names for numbers",
}
"""Modules without behavior of their own, with the reason why they need no test file."""

PROJECT = {
    "architecture", "bench", "changelog", "citations", "commit_message", "costly_tests",
    "decode_recordings", "deploy", "flushing", "forks", "guides", "javascript", "layers", "mirror",
    "packaging", "ports", "reactor", "readme", "recipes", "release", "scratch", "simulation",
    "site", "variables", "where", "words",
}  # fmt: skip
"""Tests of the project as a whole."""

WHOLE = "server"
"""Folder of the tests that run a whole server."""


def modules() -> set[str]:
    paths = (ROOT / "emu").rglob("*.py")
    return {str(path.relative_to(ROOT)) for path in paths if path.name != "__init__.py"}


def test_files() -> dict[str, Path]:
    return {
        str(path.relative_to(ROOT / "tests")): path
        for path in (ROOT / "tests").rglob("test_*.py")
        if "support" not in path.parts
    }


test_files.__test__ = False  # type: ignore[attr-defined]


def stem_of(module: str) -> str:
    """The test file's name without ``test_``; helpers of one subject may share one."""
    return Path(module).stem.lstrip("_")


def by_folder(files: Iterable[str]) -> defaultdict[Path, list[str]]:
    """Return the names of files, without their ending, by the folder they stand in."""
    found = defaultdict(list)
    for path in map(Path, files):
        found[path.parent].append(path.stem)
    return found


def test_every_module_has_a_test_file() -> None:
    names_in = by_folder(test_files())
    missing = []
    for module in sorted(modules() - set(PLAIN)):
        folder = Path(module).relative_to("emu").parent
        stem = stem_of(module)
        if not any(
            name == f"test_{stem}" or name.startswith(f"test_{stem}_") for name in names_in[folder]
        ):
            missing.append(module)
    assert not missing, f"modules without tests/<folder>/test_<module>.py: {missing}"


def test_no_test_file_is_an_orphan() -> None:
    modules_in = by_folder(modules())
    orphans = []
    for name in sorted(test_files()):
        path = Path(name)
        stem = path.stem.removeprefix("test_")
        if path.parts[0] == WHOLE or (path.parent == Path() and stem in PROJECT):
            continue
        folder = Path("emu") / path.parent
        stems = [name.lstrip("_") for name in modules_in[folder]]
        package = (ROOT / folder / "__init__.py").exists() and path.parent.name == stem
        if not package and not any(stem == s or stem.startswith(f"{s}_") for s in stems):
            orphans.append(name)
    assert not orphans, f"test files of no module: {orphans}"


@pytest.mark.slow
def test_files_stay_small_enough_to_read() -> None:
    long = {}
    for folder in ("emu", "tools", "tests", "twistd-plugins"):
        for path in (ROOT / folder).rglob("*.py"):
            lines = len(path.read_text(encoding="utf-8").splitlines())
            if lines > 600:
                long[str(path.relative_to(ROOT))] = lines
    assert not long, f"files of more than 600 lines: {long}"
