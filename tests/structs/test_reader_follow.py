"""FollowSubstructs: a struct has another layout wherever one that it copies has one."""

from __future__ import annotations

from tests.support.files.struct_texts import array, catalog_of, data, struct_of

INNER = struct_of(
    data("a", "int8") + data("b", "int8", 'FirstVersion="20"')
    + data("c", "int8", 'FirstVersion="40"'),
    name="Inner",
)  # fmt: skip
FOLLOW = 'FollowSubstructs="true"'
COPY = '<Data ElementName="x" Substruct="Inner"/>'


def test_a_struct_follows_the_versions_of_what_it_copies() -> None:
    catalog = catalog_of(INNER, struct_of(COPY, version=10, more=FOLLOW))
    assert catalog.versions("S") == [10, 20, 40]
    assert [len(catalog.layout("S", at).encode({})) for at in (19, 20, 39, 40)] == [1, 2, 2, 3]


def test_without_the_attribute_it_keeps_the_copy_of_its_own_version() -> None:
    catalog = catalog_of(INNER, struct_of(COPY, version=10))
    assert catalog.versions("S") == [10]
    assert len(catalog.layout("S", 50).encode({})) == 1


def test_copies_in_arrays_and_in_copies_are_followed() -> None:
    middle = struct_of(COPY, name="Middle", more=FOLLOW)
    rows = data("n", "int8") + array("rows", "n", '<Data ElementName="m" Substruct="Middle"/>')
    catalog = catalog_of(INNER, middle, struct_of(rows, more=FOLLOW))
    sizes = [len(catalog.layout("S", at).encode({"rows": [{}, {}]})) for at in (1, 20, 40)]
    assert sizes == [3, 5, 7]


def test_the_next_struct_of_the_name_ends_the_layouts_that_follow() -> None:
    later = struct_of("last int32", version=30)
    catalog = catalog_of(INNER, struct_of(COPY, version=10, more=FOLLOW), later)
    assert catalog.versions("S") == [10, 20, 30]
    assert [len(catalog.layout("S", at).encode({})) for at in (29, 30, 40)] == [2, 4, 4]


def test_a_copy_that_begins_later_needs_no_older_layout() -> None:
    late = struct_of("a int16", name="Inner", version=20)
    copy = '<Data ElementName="x" Substruct="Inner" FirstVersion="20"/>'
    catalog = catalog_of(late, struct_of(data("one", "int8") + copy))
    assert [len(catalog.layout("S", at).encode({})) for at in (1, 20)] == [1, 3]
