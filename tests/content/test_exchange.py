"""The content file in use keeps its name, whenever a program that exchanges it is killed."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from emu.content.exchange import exchange, previous_path, settle, step_back
from emu.errors import FileFormatError
from tests.support.killing import MOST, is_killed


def state(folder: Path) -> dict[str, str]:
    """Return the contents of the files by name."""
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}


def put(folder: Path, **files: str) -> Path:
    """Begin with these files alone: `now`, `before` and `fresh`."""
    for path in folder.iterdir():
        path.unlink()
    for name, text in files.items():
        (folder / {"now": "world", "before": "world.previous"}.get(name, name)).write_text(text)
    return folder / "world"


def back(target: Path) -> None:
    step_back(target)


def imported(target: Path) -> None:
    exchange(target.with_name("fresh"), target)


@pytest.mark.parametrize(
    ("work", "done"),
    [
        (imported, {"world": "new", "world.previous": "old"}),
        (back, {"world": "older", "world.previous": "old"}),
    ],
)
def test_a_kill_between_the_steps_leaves_the_old_or_the_new_pair(
    tmp_path: Path, work: Callable[[Path], None], done: dict[str, str]
) -> None:
    outcomes = []
    for step in range(MOST):
        target = put(tmp_path, now="old", before="older", fresh="new")
        was_killed = is_killed(lambda: work(target), step)  # noqa: B023
        assert target.exists()
        settle(target)
        pair = {name: text for name, text in state(tmp_path).items() if name != "fresh"}
        assert pair in ({"world": "old", "world.previous": "older"}, done)
        outcomes.append(pair)
        # The command that was killed can be given again.
        step_back(target)
        if not was_killed:
            break
    assert outcomes[0] != done
    assert outcomes[-1] == done
    assert len(outcomes) > 2


def test_an_earlier_program_that_was_killed_is_settled(tmp_path: Path) -> None:
    """Programs up to 0.1 renamed the file in use to `world.aside` while they stepped back."""
    target = put(tmp_path, before="older")
    (tmp_path / "world.aside").write_text("old")
    step_back(target)
    assert state(tmp_path) == {"world": "older", "world.previous": "old"}
    target = put(tmp_path, now="older")
    (tmp_path / "world.aside").write_text("old")
    step_back(target)
    assert state(tmp_path) == {"world": "old", "world.previous": "older"}


def test_without_hard_links_the_old_file_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_values: object, **_named: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    for step in range(MOST):
        target = put(tmp_path, now="old", before="older", fresh="new")
        if not is_killed(lambda: imported(target), step):  # noqa: B023
            break
        settle(target)
        assert target.read_text() in ("old", "new")
    assert state(tmp_path) == {"world": "new", "world.previous": "old"}


def test_the_first_file_has_none_before_it(tmp_path: Path) -> None:
    target = put(tmp_path, fresh="new")
    imported(target)
    assert state(tmp_path) == {"world": "new"}
    with pytest.raises(FileFormatError, match="no earlier content file"):
        step_back(target)
    assert previous_path(target) == tmp_path / "world.previous"
