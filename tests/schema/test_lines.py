"""The lines of keys in TOML files."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.files import data_folder
from emu.schema import TomlSource, key_lines

TEXT = '''# A comment with [brackets] and "quotes

[zone]
id = 33   # the number
name.short = "a # b"
motd = """
One [line]
and = another"""

[[spawn]]
place = [1.5,
    # between
    -2, 3e5]
verbs = [{ name = "Hail", command = "x,y" }, { name = 'Use' }]

[spawn.behavior_options]
"quoted key" = 1979-05-27T07:32:00Z
path = [[1, 2], [
    3]]
[[spawn]]
  name = 'second'
  [[spawn.inner]]
  a = 1
  [[spawn.inner]]
  a = 2
'''


def test_each_key_has_its_line() -> None:
    lines = key_lines(TEXT)
    wanted = {
        ("zone",): 3,
        ("zone", "id"): 4,
        ("zone", "name", "short"): 5,
        ("zone", "motd"): 6,
        ("spawn",): 10,
        ("spawn", 0): 10,
        ("spawn", 0, "place", 1): 13,
        ("spawn", 0, "place", 2): 13,
        ("spawn", 0, "verbs", 0, "command"): 14,
        ("spawn", 0, "verbs", 1, "name"): 14,
        ("spawn", 0, "behavior_options"): 16,
        ("spawn", 0, "behavior_options", "quoted key"): 17,
        ("spawn", 0, "behavior_options", "path", 1, 0): 19,
        ("spawn", 1, "name"): 21,
        ("spawn", 1, "inner", 0, "a"): 23,
        ("spawn", 1, "inner", 1, "a"): 25,
    }
    assert {keys: lines[keys] for keys in wanted} == wanted
    assert key_lines(TEXT.replace("\n", "\r\n")) == lines


def paths(value: Any, keys: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if keys:
        yield keys
    if isinstance(value, (dict, list)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in items:
            yield from paths(inner, (*keys, key))


FILES = sorted(data_folder().rglob("*.toml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_value_of_every_shipped_file_has_a_line(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert set(key_lines(text)) == set(paths(tomllib.loads(text)))


@given(st.text(alphabet="[]{}=.,#'\"\\\n\r a1-", max_size=60))
def test_no_text_makes_it_fail(text: str) -> None:
    lines = key_lines(text)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    assert set(paths(document)) <= set(lines)
    assert all(1 <= line <= text.count("\n") + 1 for line in lines.values())


def test_a_place_is_the_nearest_table_that_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(TEXT)
    source = TomlSource(path)
    assert source.at(("spawn", 1, "model")) == f"{path}, line 20"
    assert source.at(("nothing",)) == str(path)
    assert source.at(()) == str(source) == str(path)
    path.unlink()
    assert TomlSource(path).at(("zone", "id")) == str(path)
