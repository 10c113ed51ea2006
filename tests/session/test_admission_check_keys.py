"""Check keys that nobody has to remember."""

import random

from hypothesis import given
from hypothesis import strategies as st

from emu.session.admission import FixedCheckKey, KeyedCheckKeys

HOME = ("192.0.2.1", 1000)


def keyed(seed=1, lifetime=60.0):
    return KeyedCheckKeys(random.Random(seed).randbytes, lifetime)


@given(st.integers(0, 2**32 - 1))
def test_a_fixed_key_is_everybodys(key):
    keys = FixedCheckKey(key)
    assert keys.are_public
    assert keys.current(HOME, 512, 0, 0.0) == keys.current("other", 64, key, 9.0) == key
    assert list(keys.accepted(HOME, 512, 0, 0.0)) == [key]


def test_the_same_question_has_the_same_answer_while_the_secret_lasts():
    keys = keyed()
    assert not keys.are_public
    first = keys.current(HOME, 512, 0, 10.0)
    assert keys.current(HOME, 512, 0, 69.9) == first
    assert keys.current(HOME, 512, 0, 70.0) != first


def test_every_argument_changes_the_key_and_so_does_the_secret():
    keys = keyed()
    questions = [(HOME, 512, 0), (("192.0.2.1", 1001), 512, 0), (("192.0.2.2", 1000), 512, 0),
                 (HOME, 513, 0), (HOME, 512, 1), ("192.0.2.1", 512, 0)]  # fmt: skip
    answers = {keys.current(*question, 0.0) for question in questions}
    assert len(answers) == len(questions)
    assert keyed(2).current(HOME, 512, 0, 0.0) not in answers


def test_the_secret_before_is_accepted_and_none_older():
    keys = keyed()
    first = keys.current(HOME, 512, 0, 0.0)
    second = keys.current(HOME, 512, 0, 60.0)
    assert list(keys.accepted(HOME, 512, 0, 119.0)) == [second, first]
    assert first not in keys.accepted(HOME, 512, 0, 120.0)


def test_after_a_long_rest_no_old_secret_is_left():
    keys = keyed()
    first = keys.current(HOME, 512, 0, 0.0)
    assert first not in keys.accepted(HOME, 512, 0, 120.0)
    assert len(set(keys.accepted(HOME, 512, 0, 120.0))) == 1


def test_keys_are_accepted_before_one_was_handed_out():
    assert len(list(keyed().accepted(HOME, 512, 0, 0.0))) == 2
