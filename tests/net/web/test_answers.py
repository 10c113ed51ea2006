"""Files of the page are those that ship, and name nothing elsewhere."""

from __future__ import annotations

import re

import pytest

from emu.net.web.answers import SECURITY, TYPES
from emu.net.web.part import FILES
from emu.resources import data_file


@pytest.mark.parametrize("name", ["index.html", *FILES])
def test_nothing_is_loaded_from_elsewhere(name: str) -> None:
    text = data_file("web", name).read_text(encoding="utf-8")
    assert f".{name.rpartition('.')[2]}" in TYPES
    links = re.findall(r"https?://[^\s\"']+", text)
    assert set(links) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"innerHTML|eval\(|on(click|load)=|style=", text)


def test_the_page_may_run_its_own_scripts_only() -> None:
    policy = SECURITY["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
