"""What the benchmark says of figures; what it measures is not for tests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from emu.cluster.ports import LEASE
from tools.bench import hops, hops_paths, structs
from tools.bench.__main__ import main
from tools.bench.cluster import Simulation, measure, reckoned
from tools.bench.content_dump import shares
from tools.bench.figures import Figure, Round, change, read_past, to_json
from tools.bench.hops_server import Turn
from tools.bench.tree import Tree, figures_of
from tools.bench.yardsticks import rc4_loop
from tools.soak import GROWTH, Figures, problems


def figure(*ratios: float, more_is_better: bool = False) -> Figure:
    rounds = [Round(ratio * 7.0, 7.0) for ratio in ratios]
    return Figure("logins", "ms", "echo", rounds, more_is_better=more_is_better)


def past_of(one: Figure, path: Path):
    path.write_text(to_json({"section": [one]}))
    return read_past(path)[("section", "logins")]


def test_a_figure_is_the_median_of_its_rounds_ratios() -> None:
    noisy = Figure("x", "us", "echo", [Round(2, 1), Round(40, 10), Round(300, 100)])
    assert (noisy.ratio, noisy.ratios, noisy.figure) == (3.0, [2.0, 3.0, 4.0], 40)


@pytest.mark.parametrize(
    ("before", "after", "more_is_better", "said"),
    [
        ((1.0, 1.1, 1.2), (1.1, 1.2, 1.3), False, "+9%, within the spread"),
        ((1.0, 1.1, 1.2), (2.1, 2.2, 2.3), False, "+100%, WORSE"),
        ((2.1, 2.2, 2.3), (1.0, 1.1, 1.2), False, "-50%, better"),
        ((1.0, 1.1, 1.2), (2.1, 2.2, 2.3), True, "+100%, better"),
        ((2.1, 2.2, 2.3), (1.0, 1.1, 1.2), True, "-50%, WORSE"),
    ],
)
def test_only_what_lies_outside_of_both_spreads_is_better_or_worse(
    before, after, more_is_better, said, tmp_path
) -> None:
    past = past_of(figure(*before), tmp_path / "past.json")
    assert change(figure(*after, more_is_better=more_is_better), past) == said


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"figures": [{"section": 1}]}', "\xff"])
def test_a_file_of_something_else_is_refused_by_its_name(text: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(ValueError, match=r"other\.json: not written by --json"):
        read_past(path)
    done = CliRunner().invoke(main, ["structs", "--against", str(path)])
    assert (done.exit_code, "other.json" in done.output) == (2, True)


def test_fewer_than_five_rounds_are_refused() -> None:
    assert CliRunner().invoke(main, ["structs", "--rounds", "4"]).exit_code == 2


@pytest.mark.slow
def test_a_section_is_measured_printed_and_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Short loops: the figures themselves are not looked at.
    monkeypatch.setattr(structs, "SECONDS_A_ROUND", 0.001)
    monkeypatch.setattr(structs, "rc4_loop", lambda: rc4_loop(1000))
    done = CliRunner().invoke(main, ["structs", "--json"])
    assert done.exit_code == 0, done.output
    run = json.loads(done.stdout)
    assert all(len(one["rounds"]) == 5 for one in run["figures"])
    assert all(one["low"] <= one["ratio"] <= one["high"] for one in run["figures"])
    path = tmp_path / "before.json"
    path.write_text(done.stdout)
    again = CliRunner().invoke(main, ["structs", "--against", str(path)], env={"COLUMNS": "200"})
    assert "LS_LoginRequest, decode" in again.output
    assert "against" in again.output
    assert "new" not in again.output


@pytest.mark.slow
@pytest.mark.nightly
def test_a_small_world_of_content_is_measured_and_has_every_row() -> None:
    done = CliRunner().invoke(main, ["content", "--quick", "--json"])
    assert done.exit_code == 0, (done.output, done.exception)
    found = {one["what"]: one["rounds"][0][0] for one in json.loads(done.stdout)["figures"]}
    for key in (
        "a newcomer in the most crowded place: entities received",
        "2 largest zones: resident memory with all open",
        "import of the generated dumps: CPU",
    ):
        assert found[key] > 0, found
    assert found["a newcomer in the most crowded place: time until the last of them"] < 60.0
    for what in ("stand", "walk by a script"):
        assert found[f"10 creatures: {what} before players: CPU of a second"] > 0, found


def test_the_two_folders_of_a_content_belong_together(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["content", "--scripts", str(tmp_path)])
    assert (done.exit_code, "belong together" in done.output) == (2, True)


def test_generated_zones_have_the_sizes_of_a_real_world() -> None:
    sizes = shares(186_726, 835)
    assert sum(sizes) == 186_726
    assert sizes == sorted(sizes, reverse=True)
    assert 75_000 < sum(sizes[:20]) < 85_000


def test_the_loop_takes_time() -> None:
    loop = rc4_loop(1000)
    assert loop.cpu > 0
    assert loop.wall > 0


def turn(*files: str, received: int = 0, sent: int = 0) -> Turn:
    """Return a turn that reads and writes so many times at port 9000."""
    calls = [(file, "f") for file in files]
    return Turn(calls=calls, received=[9000] * received, sent=[9000] * sent)


def test_files_are_counted_once_and_reentries_by_the_visits_after_the_first() -> None:
    one = hops_paths.hops_of([turn("a", "a", "b"), turn("a", "c"), turn("c", "a")])
    assert one.visits == ["a", "b", "a", "c", "a"]
    assert one.files == ["a", "b", "c"]
    assert one.reentries == 2


def test_a_step_is_divided_where_its_datagram_has_been_handled() -> None:
    turns = [turn("read", received=1), turn("tick"), turn("send", sent=2), turn("ack", received=1)]
    assert hops_paths.step_in(turns).files == ["read"]
    assert hops_paths.step_out(turns).files == ["tick", "send"]
    assert hops_paths.until_sent(turns).files == ["read", "tick", "send"]


def test_a_step_that_nobody_was_sent_is_an_error() -> None:
    with pytest.raises(SystemExit, match="no datagram went to the observer"):
        hops_paths.step_out([turn("read", received=1)])
    with pytest.raises(SystemExit, match="the server read no datagram"):
        hops_paths.step_in([turn("tick")])


def test_the_lists_of_files_are_written_into_the_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{hops.BEGIN}\nold\n{hops.END}\nafter\n", encoding="utf-8")
    one = hops_paths.hops_of([turn("net/udp/sockets.py", "net/udp/dispatcher.py", "mailbox.py")])
    hops.write_page(page, {hops_paths.SAY: one})
    assert page.read_text(encoding="utf-8") == (
        f"before\n{hops.BEGIN}\n\n### A `say`, from the speaker's datagram to the hearer's\n\n"
        f"3 files. `net/udp`: sockets, dispatcher → `emu`: mailbox.\n\n{hops.END}\nafter\n"
    )
    page.write_text("no marks", encoding="utf-8")
    with pytest.raises(ValueError, match="are missing"):
        hops.write_page(page, {hops_paths.SAY: one})


@pytest.mark.slow
@pytest.mark.nightly  # the architecture page's test counts the same paths in virtual time
def test_five_paths_are_counted_by_file_and_function() -> None:
    with hops.scene() as scene:
        found = scene.round()
    assert list(found) == list(hops_paths.AIMS)
    for path, taken in found.items():
        assert 10 < len(taken.files) < len(taken.calls), path
    assert any(name.endswith(".authenticate") for _, name in found[hops_paths.LOGIN].calls)
    steps = [found[path].calls for path in (hops_paths.STEP_IN, hops_paths.STEP_OUT)]
    assert all(any(file.startswith("world/") for file, _ in calls) for calls in steps)


SOURCES = {
    "__init__.py": "",
    "first.py": "from pkg.second import Same\nimport pkg.third  # why\n\n\nclass First: ...\n",
    "second.py": '"""# no comment."""\n# one\nfrom . import third\n\n\nclass Same: ...\n',
    "third.py": "class Same: ...\n\n\nclass _Own: ...\n",
    "fourth.py": "class _Own: ...\n" + "x = 1\n" * 40,
}


def test_a_tree_is_counted(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    branches = "".join(f"    if x == {number}:\n        return {number}\n" for number in range(13))
    for name, text in SOURCES.items():
        (tmp_path / "pkg" / name).write_text(text)
    (tmp_path / "pkg" / "fifth.py").write_text(f"def branchy(x):\n{branches}")
    tree = Tree(tmp_path, "pkg")
    assert tree.repeated_classes() == {"Same": ["pkg/second.py", "pkg/third.py"]}
    importers = tree.importers()
    assert importers["pkg/second.py"] == {"pkg/first.py"}
    assert importers["pkg/third.py"] == {"pkg/first.py", "pkg/second.py"}
    assert importers["pkg/fourth.py"] == set()
    figures = figures_of(tree)
    assert figures["files"] == 6
    assert figures["lines of the longest file"] == 41
    assert figures["files under 30 lines"] == 5
    assert figures["files with one importer"] == 1
    assert figures["comments per 100 lines"] == round(100 * 2 / figures["lines"], 2)
    assert figures["functions above 10 (C901)"] == 1
    assert figures["functions above 6 (PLR0911)"] == 1
    assert figures["functions above 12 (PLR0912)"] == 1
    assert figures["public class names used more than once"] == 1


CLASSES = """\
class Spawn:
    __slots__ = ("level", "name")


class World:
    players: int
    shared: "ClassVar[int]" = 0

    def __init__(self) -> None:
        self.players, self.zones = 0, []
        self.zones.least = 1
"""


def test_fields_of_classes_and_lines_of_folders_are_counted(tmp_path: Path) -> None:
    folder = tmp_path / "pkg" / "content"
    folder.mkdir(parents=True)
    (folder / "classes.py").write_text(CLASSES)
    figures = figures_of(Tree(tmp_path, "pkg"))
    assert (figures["fields of Spawn"], figures["fields of World"]) == (2, 2)
    assert figures["lines of content files and what stands in zones"] == CLASSES.count("\n")
    assert figures["lines of Lua scripts and behaviors"] == 0


def minutes(*megabytes: float) -> Figures:
    return Figures(resident=[round(one * 1e6) for one in megabytes])


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (minutes(70, 80, 80, 80, 80, 80, 80, 80.0 * GROWTH), 0),
        (minutes(70, 80, 80, 80, 80, 80, 90, 90), 1),
        (minutes(70, 90, 90), 0),
        (minutes(), 0),
    ],
)
def test_memory_that_grows_is_a_problem(found: Figures, said: int) -> None:
    assert len(problems(found)) == said


def test_every_failed_entry_and_lost_session_is_a_problem() -> None:
    figures = Figures()
    figures.failures["refused"] += 2
    figures.lost["walking: silence"] += 1
    assert problems(figures) == [
        "2 entries failed: refused",
        "1 disconnected while walking: silence",
    ]


def test_a_small_cluster_has_the_traffic_that_was_reckoned() -> None:
    result = measure(1000, 4, seconds=10.0)
    assert result.wrong == []
    assert result.balance < 2.0
    # What the design reckons for 50,000 players on 100 nodes.
    table = reckoned(50_000, 100)
    assert 180 < table["presence"] < 210
    assert (table["channel notes"], table["private messages"]) == (500, 250)
    assert 680 < table["heard by a node"] < 720
    assert 1900 < table["rows saved"] < 1970


def test_players_of_a_killed_node_stand_on_others_after_its_lease() -> None:
    one = Simulation(400, 4)
    one.fill()
    one.run(2.0)
    lost = one.kill(max(one.alive, key=lambda node: node.players))
    assert len(lost) > 50
    one.run(LEASE + 1.0)
    one.return_lost(lost)
    one.run(3.0)
    assert len(one.where) == 400
    assert not any(node.is_dead for node in one.where.values())
    assert one.doubled == []
    assert {node.presence.players for node in one.observed if not node.is_dead} == {400}


def test_a_drained_node_is_empty_soon_and_nobody_is_lost() -> None:
    one = Simulation(400, 4)
    one.fill()
    one.run(2.0)
    node = one.alive[1]
    players = node.players
    assert one.drain_node(node) < 2.5 + players / 20 * 1.5
    assert len(one.where) == 400
    assert node.players == 0
    one.run(3.0)
    assert one.doubled == []
