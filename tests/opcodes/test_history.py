"""The valid rows, and the subject of an undo or redo, from the changes alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import CommandError
from emu.opcodes.history import HistoryStep, entry_of, newest_to_redo, newest_to_undo


def steps(*words: str) -> list[HistoryStep]:
    """Make changes 1, 2, ... of words like `set`, `undo 2`; the newest comes first."""
    made = []
    for number, word in enumerate(words, 1):
        action, _, undoes = word.partition(" ")
        made.append(HistoryStep(number, action, int(undoes) if undoes else None))
    return made[::-1]


def test_undo_walks_back_over_what_stands() -> None:
    assert newest_to_undo(steps("shipped", "set", "import")) == 3
    assert newest_to_undo(steps("shipped", "set", "import", "undo 3")) == 2
    assert newest_to_undo(steps("set", "undo 1", "undo 2")) == 1
    assert newest_to_undo(steps("set", "set", "undo 2", "redo 3")) == 4
    for nothing in ((), ("shipped",), ("shipped", "set", "undo 2")):
        with pytest.raises(CommandError, match="nothing to undo"):
            newest_to_undo(steps(*nothing))


def test_redo_goes_forward_until_something_else_happens() -> None:
    assert newest_to_redo(steps("set", "set", "undo 2", "undo 1")) == 4
    assert newest_to_redo(steps("set", "set", "undo 2", "undo 1", "redo 4")) == 3
    for nothing in (
        (), ("shipped",), ("set",), ("set", "undo 1", "set"), ("set", "undo 1", "redo 2"),
    ):  # fmt: skip
        with pytest.raises(CommandError, match="nothing to redo"):
            newest_to_redo(steps(*nothing))


@given(st.lists(st.sampled_from(["set", "undo", "redo"]), max_size=30))
def test_any_walk_is_that_of_an_editor(keys: list[str]) -> None:
    """Undo and redo behave like two stacks, as in every editor."""
    history: list[HistoryStep] = []
    done: list[int] = []
    undone: list[int] = []
    effect = {}
    for number, key in enumerate(keys, 1):
        if key == "set":
            step, undone = HistoryStep(number, "set", None), []
            effect[number] = number
            done.append(number)
        else:
            stack, other = (done, undone) if key == "undo" else (undone, done)
            find = newest_to_undo if key == "undo" else newest_to_redo
            if not stack:
                with pytest.raises(CommandError):
                    find(history)
                continue
            taken = find(history)
            assert effect[taken] == stack[-1]
            effect[number] = stack[-1]
            other.append(stack.pop())
            step = HistoryStep(number, key, taken)
        history.insert(0, step)


def test_an_entry_is_made_of_columns() -> None:
    row = (7, 3, "2026-01-01 00:00:00", "alice", "set", None, 540, 546, "OP_A", None, None, None)
    entry = entry_of((*row, 5, "s", "n"))
    assert entry.at == "2026-01-01T00:00:00Z"
    assert (entry.old, entry.row.opcode, entry.row.name, entry.change) == (None, 5, "OP_A", 3)
