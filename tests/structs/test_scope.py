from __future__ import annotations

from typing import Any

import pytest

from emu.structs.definitions import Conditions, NumbersOf
from emu.structs.scope import Scope, compile_conditions, is_set

NO_FLAGS: frozenset[str] = frozenset()


def scope_of(*names: str, size: int = 1) -> Scope:
    return filled(Scope(), *names, size=size)


def filled(scope: Scope, *names: str, size: int = 1) -> Scope:
    for name in names:
        scope.add_field(name, name, size)
    return scope


def holds(conditions: Conditions, fields: dict[str, Any], *flags: str) -> bool:
    test = compile_conditions(conditions, scope_of("a", "b"))
    assert test is not None
    return test(fields, (), frozenset(flags))


@pytest.mark.parametrize(
    "value", [1, 0.5, "x", [0, 1], {"type": 0, "color": [0, 0, 1]}, [[0, 0], [1, 0]]]
)
def test_what_counts_as_set(value: object) -> None:
    assert is_set(value)


@pytest.mark.parametrize(
    "value", [None, 0, -1, -5, 0.0, -0.5, "", [], [0, 0], {}, {"type": 0, "color": [0, 0, 0]}]
)
def test_what_does_not_count_as_set(value: object) -> None:
    assert not is_set(value)


def test_no_conditions_need_no_test() -> None:
    assert compile_conditions(Conditions(), Scope()) is None


def test_one_set_variable_of_a_list_is_enough() -> None:
    conditions = Conditions(variable_set=("a", "b"))
    assert holds(conditions, {"a": 1, "b": 0})
    assert holds(conditions, {"a": 0, "b": 1})
    assert not holds(conditions, {"a": 0, "b": 0})
    assert not holds(conditions, {})


def test_not_set_wants_all_of_a_list_unset() -> None:
    conditions = Conditions(variable_not_set=("a", "b"))
    assert holds(conditions, {"a": 0, "b": 0})
    assert holds(conditions, {})
    assert not holds(conditions, {"a": 0, "b": 1})


def test_a_variable_that_does_not_exist_is_not_set() -> None:
    assert not holds(Conditions(variable_set=("nowhere",)), {"a": 1})
    assert holds(Conditions(variable_not_set=("nowhere",)), {"a": 1})
    assert not holds(Conditions(variable_equals="nowhere"), {})
    assert holds(Conditions(variable_not_equals="nowhere"), {})


def test_equals_compares_with_one() -> None:
    assert holds(Conditions(variable_equals="a"), {"a": 1})
    assert not holds(Conditions(variable_equals="a"), {"a": 2})
    assert holds(Conditions(variable_not_equals="a"), {"a": 2})
    assert not holds(Conditions(variable_not_equals="a"), {"a": 1})


def test_numbers_are_compared_with_those_that_are_named() -> None:
    among = Conditions(variable_in=NumbersOf("a", (0, 7)))
    assert [holds(among, {"a": number}) for number in (0, 1, 7)] == [True, False, True]
    assert holds(among, {}), "a missing number is written as 0"
    assert not holds(Conditions(variable_in=NumbersOf("nowhere", (0,))), {"a": 0})
    other = Conditions(variable_not_in=NumbersOf("a", (0, 7)))
    assert [holds(other, {"a": number}) for number in (0, 1, 7)] == [False, True, False]


def test_flags_are_those_that_are_given() -> None:
    assert holds(Conditions(flag_set="loot"), {}, "loot")
    assert not holds(Conditions(flag_set="loot"), {}, "other")
    assert holds(Conditions(flag_not_set="loot"), {})
    assert not holds(Conditions(flag_not_set="loot"), {}, "loot")


def test_all_conditions_must_hold() -> None:
    conditions = Conditions(variable_set=("a",), flag_set="loot")
    assert holds(conditions, {"a": 1}, "loot")
    assert not holds(conditions, {"a": 1})
    assert not holds(conditions, {"a": 0}, "loot")


def test_one_of_several_values_has_its_number() -> None:
    get = scope_of("a", size=3).find("a_2")
    assert get is not None
    assert get({"a": [7, 8, 9]}, ()) == 9
    assert get({"a": [7]}, ()) is None
    assert get({}, ()) is None


def test_index_places_stand_for_the_element_at_hand() -> None:
    inner = filled(scope_of("outer").element("list"), "kind")
    for name in ("kind", "kind_%i", "kind_%i_%i"):
        get = inner.find(name)
        assert get is not None
        assert get({"kind": 4}, ({"outer": 1},)) == 4


def test_names_in_a_substruct_are_looked_for_from_the_inside_out() -> None:
    middle = filled(scope_of("a", "c").substruct("m", "m", 1), "c")
    inner = filled(middle.substruct("i", "i", 1), "b")
    scopes = ({"a": 1, "c": 2}, {"c": 3})
    for name, value in (("a", 1), ("c", 3), ("b", 4)):
        get = inner.find(name)
        assert get is not None
        assert get({"b": 4}, scopes) == value
    assert inner.find("d") is None


def test_fields_of_a_substruct_have_their_flat_names_while_it_is_read() -> None:
    once, twice = Scope(), Scope()
    in_once = filled(once.substruct("sub", "sub", 1), "x")
    in_twice = filled(twice.substruct("sub", "sub", 2), "x")
    for holder, inner, name, fields in (
        (once, in_once, "sub_x", {"sub": {"x": 5}}),
        (once, in_once, "sub_x_0", {"sub": {"x": 5}}),
        (twice, in_twice, "sub_x_1", {"sub": [{"x": 4}, {"x": 5}]}),
        (twice, in_twice, "sub_x", {"sub": [{"x": 5}, {"x": 4}]}),
    ):
        outside, inside = holder.find(name), inner.find(name)
        assert outside is not None
        assert inside is not None
        assert outside(fields, ()) == 5
        assert inside({}, (fields,)) == 5


def test_an_element_is_numbered_among_those_of_its_array() -> None:
    element = filled(scope_of("n").element("list"), "flag")
    get = element.find("flag_1")
    assert get is not None
    assert get({"flag": 1}, ({"list": [{"flag": 7}, {"flag": 8}]},)) == 8
    assert get({"flag": 1}, ({"list": [{"flag": 7}]},)) is None
    assert get({"flag": 1}, ({},)) is None
    assert element.find("other_1") is None


def test_an_element_knows_nothing_of_what_is_around_its_array() -> None:
    element = filled(scope_of("n").element("list"), "flag")
    assert element.find("n") is None
    assert filled(element.substruct("sub", "sub", 1), "x").find("n") is None


def test_the_last_name_with_an_ending_may_be_a_substructs() -> None:
    scope = scope_of("stat_type", "other")
    assert scope.last_ending("stat_type") == "stat_type"
    inner = filled(scope.substruct("sub", "sub", 1), "stat_type")
    assert scope.last_ending("stat_type") == "sub_stat_type"
    assert inner.last_ending("stat_type") == "stat_type"
    assert scope.last_ending("kind") is None


def test_a_name_of_two_fields_is_the_later_one_s_but_for_a_substruct_s_plain_name() -> None:
    scope = scope_of("sub_x", "sub_y_0")
    filled(scope.substruct("sub", "sub", 1), "x", "y")
    filled(scope.substruct("sub", "sub_2", 1), "y")
    for name, fields in (
        ("sub_x", {"sub_x": 5, "sub": {"x": 4}}),
        ("sub_x_0", {"sub_x": 4, "sub": {"x": 5}}),
        ("sub_y_0", {"sub_y_0": 4, "sub": {"y": 4}, "sub_2": {"y": 5}}),
        ("sub_y", {"sub": {"y": 5}, "sub_2": {"y": 4}}),
    ):
        get = scope.find(name)
        assert get is not None
        assert get(fields, ()) == 5
