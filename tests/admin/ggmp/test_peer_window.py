from hypothesis import given
from hypothesis import strategies as st

from emu.admin.ggmp.peer import WIDTH, GgmpWindow


@given(
    st.sampled_from([16, 32]),
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(0, 900), max_size=50),
)
def test_every_message_is_new_once(bits: int, start: int, steps: list[int]) -> None:
    """Beside a set that remembers all; no message comes later than the window is wide."""
    window = GgmpWindow(bits)
    seen: set[int] = set()
    for step in steps:
        assert window.mark_received((start + step) & (1 << bits) - 1) is (step not in seen)
        seen.add(step)


def test_what_is_older_than_the_window_has_come() -> None:
    window = GgmpWindow(32)
    assert window.mark_received(5)
    assert window.mark_received(5 + WIDTH)
    assert window.mark_received(6)
    assert not window.mark_received(5)
    assert not window.mark_received(4)
    assert window.mark_received(5 + 10 * WIDTH)
    assert not window.mark_received(5 + WIDTH)


def test_whether_all_have_come() -> None:
    window = GgmpWindow(32)
    assert not window.has_all(1, 1)
    for number in (0xFFFFFFFE, 0, 1, 3):
        window.mark_received(number)
    assert window.has_all(0, 1)
    assert not window.has_all(0xFFFFFFFE, 1)
    assert not window.has_all(1, 3)
    window.mark_received(0xFFFFFFFF)
    window.mark_received(2)
    assert window.has_all(0xFFFFFFFE, 3)
    assert not window.has_all(0xFFFFFFFD, 3)
    assert not window.has_all(3, 4)
    assert not window.has_all(4, 3)
