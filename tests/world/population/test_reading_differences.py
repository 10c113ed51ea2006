"""How two contents of one zone differ."""

from dataclasses import replace

import pytest

from emu.content.importing import import_content
from emu.content.layers import lay_over, read_edits
from emu.content.sources import dump_parts
from emu.world.population.reading import ServedZone, difference, emptied, read_zone_content
from tests.support.content.dumps import meadow, write_dumps


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> ServedZone:
    folder = tmp_path_factory.mktemp("differences")
    target = folder / "content.sqlite"
    import_content(dump_parts([write_dumps(folder / "dumps", meadow())]), target)
    found = read_zone_content(target, 9)
    assert found is not None
    return found


def changed(served: ServedZone, subject: str, number: int, **values: object) -> ServedZone:
    content = lay_over(served.content, read_edits(subject, number, values))
    return replace(served, content=content)


def test_the_same_content_has_no_difference(served: ServedZone) -> None:
    assert difference(served, served) == (frozenset(), frozenset())


def test_a_changed_placement_differs_alone(served: ServedZone) -> None:
    assert difference(served, changed(served, "placement", 11, x=5.0)).places == {11}


def test_a_placement_of_a_group_differs_with_its_whole_set(served: ServedZone) -> None:
    assert difference(served, changed(served, "placement", 13, x=5.0)).places == {13, 14}
    assert difference(served, changed(served, "group", 31, weight=5)).places == {13, 14}


def test_changed_templates_are_listed_by_number(served: ServedZone) -> None:
    found = difference(served, changed(served, "spawn", 90001, name="a watchman"))
    assert found == (frozenset(), {90001})
    templates = {**served.templates, 90003: replace(served.templates[90003], name="another sign")}
    assert difference(served, replace(served, templates=templates)).spawns == {90003}


def test_an_emptied_zone_has_no_places(served: ServedZone) -> None:
    assert difference(served, emptied(served)).places == {11, 12, 13, 14, 15}
