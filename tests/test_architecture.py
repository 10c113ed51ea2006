"""The architecture page is true, and mermaid's own parser finds no fault in any diagram."""

import configparser
import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.foreign.npm import FOLDER, npm_modules
from tests.support.running.guides import blocks
from tools.bench.hops import write_page
from tools.bench.hops_virtual import virtual_paths

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGE = DOCS / "contributing" / "architecture.md"
TEXT = PAGE.read_text(encoding="utf-8")


def diagrams(page: Path) -> list[str]:
    return [block.text for block in blocks(page) if block.language == "mermaid"]


def faults(texts: list[str]) -> list[str]:
    """Return the parser's message for each diagram, empty for one without a fault."""
    npm_modules()
    done = subprocess.run(
        ["node", "mermaid.mjs"], cwd=FOLDER, input=json.dumps(texts), text=True, check=True,
        capture_output=True,
    )  # fmt: skip
    found: list[str] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_all_diagrams_are_right() -> None:
    drawn = [(page, text) for page in sorted(DOCS.rglob("*.md")) for text in diagrams(page)]
    assert len(drawn) >= 2
    messages = faults([text for _, text in drawn])
    wrong = [
        f"{page.relative_to(DOCS)}: {message}"
        for (page, _), message in zip(drawn, messages, strict=True)
        if message
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_a_wrong_diagram_is_noticed() -> None:
    right, wrong = faults(["flowchart LR\n  a --> b\n", "flowchart LR\n  a[b --> c\n"])
    assert not right
    assert "Parse error" in wrong


def test_the_page_shows_the_path_of_a_datagram_and_saving() -> None:
    assert len(diagrams(PAGE)) >= 2


def test_the_table_of_layers_is_the_one_that_is_checked() -> None:
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    layers = contracts["importlinter:contract:layers"]["layers"].split("\n")
    table = TEXT.partition("| layer |")[2].partition("\n\n")[0]
    shown = [re.findall(r"`(\w+)`", line.split("|")[2]) for line in table.splitlines()[2:]]
    checked = [re.findall(r"\w+", layer) for layer in layers if layer]
    assert [sorted(row) for row in shown] == [sorted(row) for row in checked]


def test_every_package_of_the_world_is_described() -> None:
    shown = set(re.findall(r"^\|[^|]*\| `world/(\w+)` \|", TEXT, re.MULTILINE))
    assert shown == {path.parent.name for path in (ROOT / "emu" / "world").glob("*/__init__.py")}


@pytest.mark.slow
def test_the_lists_of_the_five_paths_are_those_of_the_server(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(TEXT, encoding="utf-8")
    write_page(page, virtual_paths())
    written = page.read_text(encoding="utf-8")
    cure = "python -m tools.bench hops --page docs/contributing/architecture.md"
    assert written == TEXT, f"the lists of files are old; run `{cure}`"
