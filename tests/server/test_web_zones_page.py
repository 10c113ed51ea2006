"""Finding out on the page alone why a creature does not stand or does not speak."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from emu.content.importing import import_content
from emu.content.sources import dump_parts
from emu.ground.importing import import_maps
from emu.ground.map_folder import maps_folder
from tests.server.test_web_dashboard import office, player
from tests.server.test_web_dashboard_page import click, sign_in
from tests.support.content.dumps import write_dumps
from tests.support.examples import nightly
from tests.support.foreign.browser import DESKTOP, PHONE, Browser, Page
from tests.support.ground.map_bytes import Part, square
from tests.support.ground.map_folders import write_map
from tests.support.running.whole_server import HOST

pytest.importorskip("lupa", reason="the package lupa is not installed")
pytestmark = pytest.mark.slow
ZONE = 325
NAMES = ("Broken guard", "Lamp", "Owl", "Rat")
WRONG = "-- Greets.\nfunction spawn(NPC)\n    Say(NPC, 1 + nil)\nend\n"


GROUND = [
    *square((-20, -7.97, 220), (260, -7.97, 280)),
    *square((-10, -7.97, 236), (-10, 0, 256)),
]
"""The isle's floor, and a wall in its west."""


def content(folder: Path, more: int = 0) -> dict[str, Any]:
    """Write a zone with a creature whose script fails and an owl without weight; return settings.

    `more` creatures stand in a grid around them.
    """
    names = (*NAMES, *("Rat" for _ in range(more)))
    places = [(4.0 * (at % 60), 4.0 * (at // 60)) for at in range(len(names))]
    tables: dict[str, Any] = {
        "zones": [{"id": ZONE, "name": "IsleRefuge1", "file": "tutorial_island02",
                   "description": "Isle", "safe_y": -7.97, "safe_z": 243.45,
                   "instance_type": "NONE", "shutdown_timer": 300},
                  {"id": 12, "name": "antonica", "file": "qey_adv01", "description": "Antonica",
                   "instance_type": "NONE"}],
        "spawn": [
            {"id": 3250001 + at, "name": name, "race": 9, "model_type": 134, "size": 32,
             "targetable": 1, "show_name": 1}
            for at, name in enumerate(NAMES)
        ],
        "spawn_npcs": [
            {"id": 1 + at, "spawn_id": 3250001 + at, "min_level": 5, "max_level": 5}
            for at in range(len(NAMES))
        ],
        "spawn_location_placement": [
            {"id": 11 + at, "zone_id": ZONE, "spawn_location_id": 1 + at, "respawn": 60,
             "x": x, "y": -7.97, "z": 243.45 + z}
            for at, (x, z) in enumerate(places)
        ],
        "spawn_location_entry": [
            {"id": 21 + at, "spawn_id": 3250001 + min(at, 3), "spawn_location_id": 1 + at,
             "spawnpercentage": 0 if name == "Owl" else 100}
            for at, name in enumerate(names)
        ],
        "spawn_scripts": [{"id": 1, "spawn_id": 3250001, "spawnentry_id": 0,
                           "spawn_location_id": 0, "lua_script": "SpawnScripts/Isle/guard.lua"}],
    }  # fmt: skip
    script = folder / "scripts" / "SpawnScripts" / "Isle" / "guard.lua"
    script.parent.mkdir(parents=True)
    script.write_text(WRONG)
    file = folder / "content.sqlite"
    import_content(dump_parts([write_dumps(folder / "dumps", tables)]), file)
    (folder / "source" / "Maps").mkdir(parents=True)
    write_map(folder / "source", "tutorial_island02", [Part(GROUND)])
    import_maps(folder / "source", maps_folder(file))
    return {"world__content": str(file), "world__scripts": str(folder / "scripts")}


@asynccontextmanager
async def opened(
    browser: Browser, folder: Path, size: tuple[int, int] = DESKTOP, scheme: str = "light",
    more: int = 0,
) -> AsyncIterator[Page]:  # fmt: skip
    """Run a server with a player on the isle; an operator has signed in."""
    async with (
        office(folder, speed=8.0, **content(folder, more)) as (server, web),
        await player(server, "victim") as victim,
        browser.page(f"http://{HOST}:{web.port}/admin", size, scheme) as page,
    ):
        await victim.stand()
        await page.until("!document.getElementById('sign-in').hidden")
        await sign_in(page, "boss")
        await page.shows("#signed-in-as", "boss")
        yield page
        await page.do(lambda tab: tab.goto("about:blank"))
        await victim.leave()


async def open_isle(page: Page) -> None:
    await click(page, "#nav [href='#/zones']")
    await click(page, f"#page tbody a[href^='#/zone/{ZONE}']")
    await page.shows("#page h2", "Isle")
    await page.shows("#page", "3 spawns, 1 empty spawn point")


async def choose(page: Page, word: str) -> None:
    await page.locate("#ground-find", lambda box: box.fill(word))
    await page.press("Enter")


HOLD_OUTLINE = """(() => {
    const real = window.fetch;
    window.fetch = async (...request) => {
        if (String(request[0]).includes("outline"))
            await new Promise((go) => { window.release = go; });
        return real(...request);
    };
})()"""


async def test_who_types_while_the_ground_loads_keeps_the_focus(
    browser: Browser, tmp_path: Path
) -> None:
    async with opened(browser, tmp_path) as page:
        await page.evaluate(HOLD_OUTLINE)
        await page.evaluate(f"location.hash = '#/zone/{ZONE}/0'")
        await page.until("window.release")
        await page.locate("#ground-find", lambda box: box.fill("guard"))
        await page.evaluate("window.release()")
        await page.until("document.querySelector('#page').innerText.includes('ground is gray')")
        assert await page.evaluate("document.activeElement.id") == "ground-find"
        await page.press("Enter")
        await page.shows("#page .details", "location 1")


async def test_the_reason_why_a_creature_is_missing_is_found(
    browser: Browser, tmp_path: Path
) -> None:
    async with opened(browser, tmp_path) as page:
        await click(page, "#nav [href='#/content']")
        await page.locate("#content-subject", lambda box: box.select_option("spawn"))
        await page.locate("#content-word", lambda box: box.fill("owl"))
        await page.press("Enter")
        await click(page, "#page tbody a")
        await page.shows("#page h2", "Owl (spawn 3250003)")
        await page.shows("#page", "Isle")
        await open_isle(page)
        await choose(page, "13")  # the number of its placement
        await page.shows("#page .details", "nothing")
        await page.shows("#page .details", "entry 23 (Owl): its weight is 0")
        await click(page, "#page .details a")
        await page.shows("#page h2", "Owl (spawn 3250003)")


async def test_the_line_of_a_script_that_fails_is_found(browser: Browser, tmp_path: Path) -> None:
    async with opened(browser, tmp_path) as page:
        await open_isle(page)
        await choose(page, "guard")
        await page.shows("#page .details", "after 60 s")
        await page.shows("#page .details", "location 1")
        await page.shows("#page .details .bad", "attempt to perform arithmetic on a nil value")
        await click(page, "#page .details .bad a")
        await page.shows("#page h2", "SpawnScripts/Isle/guard.lua")
        await page.shows("#page .code li:nth-child(3) .fault", "in spawn of Broken guard")
        await page.shows("#page .code .picked", "Say(NPC, 1 + nil)")
        await click(page, "#nav [href='#/content']")
        await page.shows("#page .notes", "SpawnScripts/Isle/guard.lua:3")


async def test_zones_are_searched_the_running_ones_first(browser: Browser, tmp_path: Path) -> None:
    async with opened(browser, tmp_path) as page:
        await click(page, "#nav [href='#/zones']")
        await page.shows("#page tbody tr >> nth=0", "1 player, 4 spawns")
        await page.locate("#zones-find", lambda box: box.fill("ANTON"))
        await page.shows("#page [role=status]", "1 zone, 0 of them running here")
        await page.shows("#page tbody", "not running")
        await click(page, "#page tbody a")
        await page.shows("#page h2", "antonica (zone 12)")
        page.allowed.append("status of 422")
        await click(page, "#page a[href='#/zone/12']")
        await page.shows("#page", "Antonica does not run here")


async def test_the_map_is_used_by_mouse_and_by_keyboard(browser: Browser, tmp_path: Path) -> None:
    async with opened(browser, tmp_path) as page:
        await open_isle(page)
        await choose(page, "Victim")
        await page.shows("#page .details a", "Page of Victim")
        await page.locate("#page canvas", lambda one: one.focus())
        await page.press("ArrowRight", "+", "-", "0")
        await choose(page, "lamp")  # brings it into the middle
        await page.shows("#page .details", "Lamp")
        await page.locate("#page canvas", lambda one: one.focus())
        await page.press("ArrowUp", "ArrowUp", "ArrowUp", "Enter")
        await choose(page, "lamp")
        box = await page.locate("#page canvas", lambda one: one.bounding_box())
        assert box is not None
        await page.do(lambda tab: tab.mouse.click(box["x"] + 5, box["y"] + 5))
        await page.until("!document.querySelector('#page .details').textContent")
        await page.do(
            lambda tab: tab.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        )
        await page.shows("#page .details", "Lamp")
        await page.locate("#page .legend input >> nth=1", lambda one: one.uncheck())
        await page.do(
            lambda tab: tab.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        )
        await page.until("!document.querySelector('#page .details').textContent.includes('Lamp')")


OPACITIES = """() => {
  const canvas = document.querySelector('#page canvas'), pen = canvas.getContext('2d');
  const line = pen.getImageData(0, Math.round(canvas.height / 2) - 30, canvas.width, 1).data;
  return [...new Set(line.filter((_, at) => at % 4 === 3))];
}"""
"""The opacities along a line that is 30 pixels over the middle of the map."""


async def test_the_ground_is_drawn_under_the_spawns(browser: Browser, tmp_path: Path) -> None:
    async with opened(browser, tmp_path) as page:
        await open_isle(page)
        await page.shows("#page", "The ground is gray; lines are walls.")
        await choose(page, "guard")  # its place is in the middle then, 10 m beside the wall
        await page.shows("#page .details", "location 1")
        opacities = await page.evaluate(OPACITIES)
        assert {0, 48} <= set(opacities), "beside the ground nothing is drawn"
        assert any(96 < one < 255 for one in opacities), "the wall"


DRAWN = """async () => {
  const canvas = document.querySelector('#page canvas');
  const times = [];
  for (let turn = 0; turn < 30; turn++) {
    const key = turn % 2 ? 'ArrowRight' : 'ArrowLeft'; // all marks stay visible
    canvas.dispatchEvent(new KeyboardEvent('keydown', { key }));
    await new Promise(requestAnimationFrame);
    const began = performance.now();
    await new Promise(requestAnimationFrame);
    times.push(performance.now() - began);
  }
  return times.sort((a, b) => a - b)[15];
}"""


async def test_five_thousand_spawns_stay_fluid(browser: Browser, tmp_path: Path) -> None:
    async with opened(browser, tmp_path, more=5000) as page:
        await click(page, "#nav [href='#/zones']")
        await click(page, f"#page tbody a[href^='#/zone/{ZONE}']")
        await page.shows("#page", "5003 spawns")
        await page.locate("#page .acts button >> nth=2", lambda one: one.click())
        # The median of thirty frames, on a machine that does other things, too.
        took = await page.evaluate(DRAWN)
        assert took < 100.0
        await page.screenshot("map-5000")


@pytest.mark.parametrize(
    ("size", "scheme"), [nightly(DESKTOP, "light"), (DESKTOP, "dark"), (PHONE, "light")]
)
async def test_everybody_can_use_the_pages(
    browser: Browser, tmp_path: Path, size: tuple[int, int], scheme: str
) -> None:
    look = f"{'phone' if size == PHONE else 'desktop'}-{scheme}"
    async with opened(browser, tmp_path, size, scheme) as page:
        pages = {
            "zones": ("#/zones", "Isle"),
            "map": (f"#/zone/{ZONE}/0", "3 spawns"),
            "content": ("#/content", "SpawnScripts"),
            "found": ("#/content/find/all/a", "Broken guard"),
            "spawn": ("#/content/spawn/3250001", "SpawnScripts"),
            "source": ("#/source/SpawnScripts%2FIsle%2Fguard.lua/3", "arithmetic"),
        }
        for name, (address, shown) in pages.items():
            await page.evaluate(f"location.hash = '{address}'")
            await page.shows("#page", shown)
            if name == "map":
                await choose(page, "guard")
                await page.shows("#page .details", "location 1")
            assert await page.complaints() == "", name
            assert await page.width() <= size[0], name
            await page.screenshot(f"{name}-{look}")
