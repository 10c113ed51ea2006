"""The pages and the sources hold together: what one names, the other has.

Sources cite rules as ``docs/protocol/PAGE.md#ANCHOR``; each rule names the code that does it. They
cite the guides in the same way.
"""

import ast
import os
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs" / "protocol").rglob("*.md"))
GUIDES = sorted((ROOT / "docs" / "guides").rglob("*.md"))
CITING = ("emu", "data", "opcodes", "tests", "tools", "twistd-plugins")
TEXTS = {".py", ".csv", ".xml", ".toml", ".json", ".lua", ".sql", ".md", ".sh", ".yml"}

CITATION = re.compile(r"docs/(?:protocol|guides)/[\w/.-]*\w(?:#[\w-]+)?")
HEADING = re.compile(r"^#+ .*?(?:\{#([\w-]+)\})?$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)]+)\)")
NOT_OURS = {"__pycache__", "node_modules"}
UNBUILT = "Not in the code."
FORMER = re.compile(r"\b(?:eq2-(?:login|world|transport)|client-546-notes|opcode-data)\b")
"""Pages that the facts once stood on; nobody has them."""
MENTION = re.compile(r"`(emu(?:\.\w+)+)")
NO_MODULES = {"toml", "sqlite", "log", "pid", "behaviors"}
"""What follows ``emu.`` in names of files and of plugins' groups."""


def sources() -> list[Path]:
    kept = []
    for top in CITING:
        for folder, below, names in os.walk(ROOT / top):
            below[:] = [name for name in below if name not in NOT_OURS]
            kept += [Path(folder, name) for name in names if Path(name).suffix in TEXTS]
    return [*sorted(kept), ROOT / "README.md", ROOT / "CHANGELOG.md"]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def anchors_of(page: Path) -> list[str]:
    return [anchor for anchor in HEADING.findall(page.read_text(encoding="utf-8")) if anchor]


def rules_of(page: Path) -> dict[str, str]:
    """Return the text under each heading that has an anchor."""
    parts = HEADING.split(page.read_text(encoding="utf-8"))
    return {anchor: text for anchor, text in zip(parts[1::2], parts[2::2], strict=True) if anchor}


def known() -> set[str]:
    return {
        f"{name_of(page)}{end}"
        for page in [*PAGES, *GUIDES]
        for end in ["", *(f"#{anchor}" for anchor in anchors_of(page))]
    }


def citations_in(text: str) -> list[str]:
    return [match.group() for match in CITATION.finditer(text)]


def test_citations_are_found_where_they_stand() -> None:
    text = '"""As recorded (docs/protocol/a.md#b-c). See docs/guides/d.md."""'
    assert citations_in(text) == ["docs/protocol/a.md#b-c", "docs/guides/d.md"]


@pytest.mark.slow
def test_every_citation_leads_to_a_page_and_its_anchor() -> None:
    rules = known()
    lost = [
        f"{path.relative_to(ROOT)}: {citation}"
        for path in sources()
        if path != Path(__file__)
        for citation in citations_in(path.read_text(encoding="utf-8"))
        if citation not in rules
    ]
    assert not lost, "\n".join(lost)


@pytest.mark.slow
def test_nothing_cites_pages_that_nobody_has() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in [*sources(), *(ROOT / "docs").rglob("*.md")]
        if path != Path(__file__)
        for match in FORMER.finditer(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_anchors_are_single(page: Path) -> None:
    twice = [anchor for anchor, times in Counter(anchors_of(page)).items() if times > 1]
    assert not twice


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_rule_names_the_code_that_does_it(page: Path) -> None:
    for anchor, text in rules_of(page).items():
        targets = [(page.parent / link.partition("#")[0]).resolve() for link in LINK.findall(text)]
        code = [target for target in targets if not target.is_relative_to(ROOT / "docs")]
        named = "Code:" in text and bool(code)
        assert named != (UNBUILT in text), f"{name_of(page)}#{anchor}: code, or {UNBUILT!r}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    rules = known()
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name_of(page)}: {link}"
        if anchor:
            assert f"{name_of(target)}#{anchor}" in rules, f"{name_of(page)}: {link}"


def names_by_module() -> dict[str, set[str]]:
    """Return what each module of ours defines or imports."""
    found = {}
    for path in (ROOT / "emu").rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        names = {getattr(node, "name", getattr(node, "id", "")) for node in tree}
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = names
    return found


@pytest.mark.slow
def test_modules_and_names_that_texts_mention_are_there() -> None:
    modules = names_by_module()
    lost = []
    for path in [*sources(), *(ROOT / "docs").rglob("*.md")]:
        for mention in MENTION.findall(path.read_text(encoding="utf-8")):
            parts = mention.split(".")
            home = next(
                size for size in range(len(parts), 0, -1) if ".".join(parts[:size]) in modules
            )
            names = modules[".".join(parts[:home])] | NO_MODULES
            if home < len(parts) and parts[home] not in names:
                lost.append(f"{path.relative_to(ROOT)}: {mention}")
    assert not lost, "\n".join(lost)
