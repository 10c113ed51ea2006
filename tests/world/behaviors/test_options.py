"""The options that behaviors declare."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from emu.schema import TableFaults
from emu.world.behaviors import NAME, POINT, ZONE, Library, option
from emu.world.behaviors.options import option_faults, option_rows, read_options, zones_named
from tests.support.world.worlds import WorldHarness


class Loudness(StrEnum):
    QUIET = "quiet"
    LOUD = "loud"


@frozen
class CrierOptions:
    news: tuple[str, ...] = option(("None, {name}!",), "What it cries.", placeholders=NAME, most=3)
    pause: float = option(60.0, "Time between two texts.", unit="seconds", limits=(1, 600))
    times: int = option(0, "How often it cries.")
    voice: Loudness = option(Loudness.LOUD, "How it cries.")
    is_proud: bool = option(True, "Whether it stands straight.")
    home: tuple[float, float, float] | None = option(None, "Where it stands.", form=POINT)
    town: str = option("", "Its town.", among=ZONE)


class Crier:
    Options = CrierOptions

    def on_start(self) -> None: ...


class Plain:
    def on_start(self) -> None: ...


def test_options_become_an_object_with_defaults() -> None:
    made = read_options(Crier, {"news": ["Fire!"], "home": [1, 2, 3.5], "voice": "quiet"})
    assert made == CrierOptions(news=("Fire!",), home=(1.0, 2.0, 3.5), voice=Loudness.QUIET)


def test_a_behavior_without_declarations_gets_the_table() -> None:
    values = {"anything": [1]}
    made = read_options(Plain, values)
    assert made == values
    assert made is not values
    assert option_rows(Plain) == []
    assert zones_named(Plain, made) == {}


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"nwes": []}, "nwes: unknown key; did you mean news?"),
        ({"pause": 0}, "pause: must be a number from 1 to 600, not 0"),
        ({"pause": "1"}, "pause: must be a number from 1 to 600, not '1'"),
        ({"news": "Fire!"}, "news: must be a list, not 'Fire!'"),
        ({"news": ["Fire, {nmae}!"]}, "news: unknown placeholder {nmae}; did you mean name?"),
        ({"voice": "loudd"}, """voice: must be one of "quiet", "loud", not 'loudd'"""),
        ({"home": [1, 2]}, "home: must be [x, y, z], not [1, 2]"),
    ],
)
def test_every_fault_is_named(values: dict[str, Any], fault: str) -> None:
    assert [str(one) for one in option_faults(Crier, values)] == [fault]
    both = option_faults(Crier, values | {"is_proud": 1})
    assert len(both) == 2
    with pytest.raises(TableFaults):
        read_options(Crier, values)


def test_options_are_described_for_people() -> None:
    assert [tuple(row) for row in option_rows(Crier)] == [
        ("news", "list of text", '["None, {name}!"]', "What it cries.", "",
         "at most 3 items, each up to 4000 bytes, with {name}"),
        ("pause", "number", "60.0", "Time between two texts.", "seconds", "1 to 600"),
        ("times", "whole number", "0", "How often it cries.", "", "0 to 4294967295"),
        ("voice", "text", '"loud"', "How it cries.", "", '"quiet", "loud"'),
        ("is_proud", "true or false", "true", "Whether it stands straight.", "", "true or false"),
        ("home", "[x, y, z]", "", "Where it stands.", "", ""),
        ("town", "zone", '""', "Its town.", "", "up to 4000 bytes"),
    ]  # fmt: skip


def test_named_zones_are_listed_for_a_check_with_all_files() -> None:
    assert zones_named(Crier, CrierOptions(town="Antonica")) == {"town": "Antonica"}
    assert zones_named(Crier, CrierOptions()) == {}


@pytest.mark.parametrize("name", ["greeter", "teleporter", "wanderer"])
def test_every_option_of_a_shipped_behavior_is_described(name: str) -> None:
    rows = option_rows(Library().find(name))
    assert rows
    assert all(row.about.endswith(".") for row in rows)


@pytest.mark.parametrize("header", ["", "from __future__ import annotations\n"])
def test_a_file_of_a_folder_declares_options(tmp_path: Path, header: str) -> None:
    (tmp_path / "mine.py").write_text(
        header + "from attrs import frozen\nfrom emu.world.behaviors import option\n"
        "class Mine:\n"
        "    @frozen\n"
        "    class Options:\n"
        "        texts: tuple[str, ...] = option((), 'Texts.')\n"
        "    def __init__(self, me, options): ...\n"
        "    def on_start(self): ...\n"
    )
    library = Library(tmp_path)
    assert library.problems == []
    mine = library.find("mine")
    assert read_options(mine, {"texts": ["a"]}).texts == ("a",)
    assert [str(one) for one in option_faults(mine, {"text": 1})] == [
        "text: unknown key; did you mean texts?"
    ]


def test_a_class_that_declares_nothing_readable_is_refused() -> None:
    class Wrong:
        class Options:
            text = "x"

    class Odd:
        @frozen
        class Options:
            text: object = option("", "A value that nothing reads.")

    for behavior in (Wrong, Odd):
        with pytest.raises(TypeError):
            read_options(behavior, {})


def test_a_wrong_option_switches_the_behavior_off_with_its_name() -> None:
    harness = WorldHarness()
    zone = harness.stand(5).player.zone
    assert not harness.behaviors.start_behavior("greeter", {"greting": "Hello"}, zone, None)
    [line] = harness.behaviors.switched_off()
    assert line.endswith(": behavior_options: greting: unknown key; did you mean greeting?")
