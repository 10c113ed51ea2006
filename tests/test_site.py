"""The generated pages of the site: nothing is missing, and links to code lead to copies of it."""

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest

from emu.cli.main import NOUNS, root
from emu.commands import Command, CommandSet, Registry
from emu.commands.registry import read_arguments
from emu.config import Config
from emu.config.setting import settings_of
from emu.opcodes import OpcodeRow, shipped_tables
from emu.structs import shipped_catalog
from emu.world.behaviors.hooks import Hook
from emu.world.behaviors.options import option_rows
from emu.world.commands.client_table import read_client_commands
from tools.site import pages
from tools.site.behaviors import OBJECTS, behaviors_page, public_members, shipped_behaviors
from tools.site.build import build_site
from tools.site.commands import commands_page
from tools.site.game_commands import client_commands, game_commands_page, subjects
from tools.site.markdown import cell, page, table
from tools.site.messages import cited, rows_by_message, spans
from tools.site.python_api import PAGES, api_pages, public_names, shown_names
from tools.site.settings import settings_page
from tools.site.structs import merged


@pytest.fixture(scope="module")
def generated() -> dict[str, str]:
    return dict(pages.generated())


def test_every_command_is_reported_with_its_options() -> None:
    text = commands_page()

    def look(command: click.Command, path: str) -> None:
        assert re.search(rf"^###? {path} ", text, flags=re.MULTILINE), path
        for option in command.params:
            if isinstance(option, click.Option) and option.opts[0] not in ("--config", "--db"):
                assert option.opts[0] in text, (path, option.opts)
        if isinstance(command, click.Group):
            for name, inner in command.commands.items():
                look(inner, f"{path} {name}")

    assert isinstance(root, click.Group)
    for noun in NOUNS:
        command = root.get_command(click.Context(root), noun)
        assert command is not None
        look(command, f"emu {noun}")


def every_command() -> list[Command]:
    """Return all commands that are declared anywhere in the program."""
    files = [
        path for path in (pages.ROOT / "emu").rglob("*.py") if "CommandSet" in path.read_text()
    ]
    modules = {".".join(path.relative_to(pages.ROOT).with_suffix("").parts) for path in files}
    modules -= {"emu.commands.__init__", "emu.commands.registry", "emu.world.commands.context"}
    sets = [
        one
        for module in modules
        for one in vars(import_module(module)).values()
        if isinstance(one, CommandSet)
    ]
    assert len(sets) >= 8
    return [command for one in sets for command in one.declarations()]


def test_the_page_of_commands_has_all_declarations() -> None:
    text = game_commands_page()
    shown = [command.name for commands in subjects().values() for command in commands]
    assert sorted(shown) == sorted(command.name for command in every_command())
    for one in every_command():
        assert f"### {one.name} {{#{one.name.replace(' ', '-')}}}" in text
        assert f"\n{one.usage}\n" in text
        assert all(argument.help in text for argument in one.arguments)


def test_the_page_of_commands_counts_those_of_the_client() -> None:
    states = client_commands(subjects())
    assert {"mail", "start_mail", "follow", "tell"} - {*states["works"]} == {"mail"}
    assert "equip" in states["answered"]
    assert sum(map(len, states.values())) == len(read_client_commands().players) + len(
        read_client_commands().staff
    )
    text = game_commands_page()
    for state, names in states.items():
        assert f"| {state} | {len(names)} |" in text


def test_commands_with_arguments_have_an_example_that_fits() -> None:
    registry = Registry()
    registry.extend(every_command())
    for command in registry:
        assert all(one.help for one in command.arguments), command.name
        assert bool(command.example) == bool(command.arguments), command.name
        if command.example:
            found, rest = registry.resolve(command.example)
            assert found is command
            assert read_arguments(command.arguments, rest)


def test_ranks_and_places_of_commands_are_shown() -> None:
    text = game_commands_page()
    assert (
        "| [account ban](#account-ban) | 100 (game master) | everywhere | ban an account |" in text
    )
    assert "| [goto](#goto) | 10 (guide) | in the game | go to a player |" in text
    assert "Other names: `location`." in text


def test_behaviors_show_hooks_methods_and_options() -> None:
    text = behaviors_page()
    for hook in Hook:
        assert f"| `{hook.signature}` |" in text
    for kind in OBJECTS.values():
        for name, member in public_members(kind).items():
            assert f"#{kind.__name__.lower()}-{name}}}" in text
            first = (inspect.getdoc(member) or "").split("\n")[0].replace("``", "`")
            assert first
            assert first in text
    assert "`walk(*points: (x, y, z), speed: float = 2.5)`" in text
    assert '`after(seconds: float, name: str = "")`' in text.replace("''", '""')
    assert set(shipped_behaviors()) == {"greeter", "teleporter", "wanderer"}
    for kind in shipped_behaviors().values():
        assert option_rows(kind)
        for row in option_rows(kind):
            assert row.about
            assert f"| `{row.key}` | {row.type} |" in text
    assert "up to 4000 bytes, with `{name}`" in text
    assert "| `zone` | zone |" in text


def public_objects() -> Iterator[tuple[str, object]]:
    """Yield every class, method and function that the pages of the Python API show."""
    for one in PAGES.values():
        for module in one.modules:
            loaded = import_module(module)
            for name in shown_names(one, module):
                value = getattr(loaded, name)
                if inspect.isclass(value) or inspect.isroutine(value):
                    yield f"{module}.{name}", value
                if inspect.isclass(value):
                    yield from members_of(f"{module}.{name}", value)


def members_of(path: str, kind: type) -> Iterator[tuple[str, object]]:
    for name, member in vars(kind).items():
        is_shown = isinstance(member, property) or inspect.isroutine(member)
        if is_shown and not name.startswith("_"):
            yield f"{path}.{name}", member


def test_every_public_name_of_the_python_api_is_described() -> None:
    shown = dict(public_objects())
    assert len(shown) > 300
    assert [path for path, one in shown.items() if not inspect.getdoc(one)] == []


def test_the_python_api_is_listed_for_mkdocstrings() -> None:
    pages = dict(api_pages())
    assert set(pages) == {"reference/python.md", *(f"reference/python/{one}.md" for one in PAGES)}
    text = pages["reference/python/capture.md"]
    assert "::: emu.capture\n    options:\n      members: [Capture, CaptureFollower" in text
    behaviors = pages["reference/python/behaviors.md"]
    assert "members: [Place, Visitor, ZoneActor, Actor]" in behaviors
    assert "BehaviorContext" not in behaviors
    assert "MessageSelection" in public_names("emu.capture.select")
    assert "UNKNOWN" in public_names("emu.capture.select")
    assert "DIRECTIONS" not in public_names("emu.capture.select")  # it has no docstring


def test_every_setting_is_reported_with_its_default() -> None:
    text = settings_page()
    for one in settings_of(Config):
        assert f"`{one.key}`" in text
    assert '| `login.listen` | `"127.0.0.1:9100"` |' in text
    assert "`sqlite:/root" not in text


@pytest.mark.slow
def test_every_message_and_struct_has_a_page(generated: dict[str, str]) -> None:
    for name in rows_by_message(shipped_tables()):
        assert f"reference/messages/{name}.md" in generated
    for name in shipped_catalog().names():
        assert f"reference/structs/{name}.md" in generated


@pytest.mark.slow
def test_a_message_has_its_numbers_and_structs(generated: dict[str, str]) -> None:
    text = generated["reference/messages/OP_PlayCharacterReplyMsg.md"]
    assert "[LS_PlayResponse](../structs/LS_PlayResponse.md)" in text
    assert re.search(r"^\| .*60085-60116.* \| 21 \|", text, flags=re.MULTILINE)


def test_ranges_that_say_the_same_stand_together() -> None:
    rows = [
        OpcodeRow(1, 2, "OP_A", 7, "x", ""),
        OpcodeRow(5, 6, "OP_A", 7, "x", ""),
        OpcodeRow(8, 8, "OP_A", 8, "x", ""),
    ]
    assert [text for text, _ in spans(rows)] == ["1-2, 5-6", "8"]


def test_a_source_that_is_a_page_of_ours_is_a_link() -> None:
    link = "[opcodes](../../protocol/opcodes.md#table)"
    assert cited("docs/protocol/opcodes.md#table") == link
    assert cited("a capture") == "a capture"
    assert not cited(None)


@pytest.mark.slow
def test_a_struct_shows_its_versions_side_by_side(generated: dict[str, str]) -> None:
    text = generated["reference/structs/LS_PlayResponse.md"]
    columns = ("field", "from 1", "from 1096", "from 60085", "from 60099")
    assert "".join(f"<th>{one}</th>" for one in columns) in text
    types = ("–", "1: int16", "1: int16[3]", "1: int16[3]")  # noqa: RUF001
    cells = "".join(f"<td>{one}</td>" for one in types)
    assert f"<tr><td><code>unknown1</code></td>{cells}</tr>" in text
    assert "| 1-1095 | 12 |" in text


def test_fields_keep_the_order_in_which_they_came_up() -> None:
    assert merged([["a", "b", "c"], ["a", "x", "b"], ["c", "y"]]) == ["a", "x", "b", "c", "y"]


def test_tables_keep_their_bars_apart() -> None:
    assert cell("a | b\nc") == "a \\| b c"
    assert table(["x"], [[1]]) == ["| x |", "| --- |", "| 1 |", ""]
    assert page("T", ["a"], ["b"]) == "# T\n\na\nb\n"


def test_links_to_code_lead_to_its_copy() -> None:
    text = "Code: [a](../../emu/errors.py), [b](../../emu/tap.py)."
    shown = pages.with_copies("protocol/one.md", text)
    assert shown == "Code: [a](../code/emu/errors.py.txt), [b](../code/emu/tap.py.txt)."


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory, generated: dict[str, str]) -> Path:
    """The folder of the pages; see `tools.site.pages`."""
    folder = tmp_path_factory.mktemp("site") / "docs"
    pages.write_pages(folder, generated)
    return folder


@pytest.mark.slow
def test_the_folder_has_the_pages_of_docs_and_of_the_program_and_linked_sources(
    written: Path,
) -> None:
    assert (written / "guides" / "operating.md").is_file()
    assert (written / "reference" / "commands.md").is_file()
    links = [
        path.parent / link
        for path in written.rglob("*.md")
        for link in re.findall(r"\]\(([./]*code/[^)#]+\.txt)\)", path.read_text())
    ]
    assert len(links) > 20
    assert [link for link in links if not link.resolve().is_file()] == []


@pytest.mark.slow
def test_zensical_builds_pages_of_every_kind_with_the_same_settings(
    written: Path, tmp_path: Path
) -> None:
    names = ("index.md", "guides/tools.md", "protocol/session.md", "reference/commands.md")
    for name in [name for name in names if (written / name).is_file()]:
        (tmp_path / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", (written / name).read_text())
        (tmp_path / "docs" / name).write_text(text)
    settings = (pages.ROOT / "tools" / "site" / "mkdocs.yml").read_text()
    head, _, _ = settings.partition("\nnav:")
    head = head.replace("../../build/docs", "docs").replace("../../build/site", "site")
    (tmp_path / "mkdocs.yml").write_text(head.replace("../..", str(pages.ROOT)))
    done = subprocess.run(
        [Path(sys.executable).parent / "zensical", "build", "--config-file", "mkdocs.yml"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "First steps" in (tmp_path / "site" / "index.html").read_text()
    assert (tmp_path / "site" / "reference" / "commands.html").is_file()


@pytest.mark.slow
@pytest.mark.parametrize(("anchor", "status"), [("there", 0), ("missing", 1)])
def test_a_link_to_a_heading_that_is_missing_fails_the_build(
    tmp_path: Path, anchor: str, status: int
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(f"# One\n\n[two](two.md#{anchor})\n")
    (tmp_path / "docs" / "two.md").write_text("# Two\n\n## There\n")
    settings = tmp_path / "mkdocs.yml"
    rules = "validation: {links: {anchors: warn}}"
    settings.write_text(f"site_name: one\nplugins: [material/search]\n{rules}\n")
    assert build_site(settings, checks=True) == status
    assert (tmp_path / "site" / "two" / "index.html").is_file()


def test_a_page_that_fetches_from_elsewhere_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "one.html"
    page.write_text('<script src="assets/a.js"></script><a href="https://example.org">link</a>')
    assert list(pages.fetches(tmp_path)) == []
    for foreign in (
        '<script src="https://example.org/a.js">',
        "<link rel=stylesheet href=//fonts.example.org/a.css>",
        "<img alt='' src='http://example.org/a.png'>",
    ):
        page.write_text(foreign)
        assert [line.partition(" ")[0] for line in pages.fetches(tmp_path)] == ["one.html"]
