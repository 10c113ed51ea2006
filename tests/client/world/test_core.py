"""The client in a world over a simulated network: entry, requests, and what it refuses."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.client.events import Closed, Unexpected
from emu.client.world import ClientWorldMessages, WorldClientCore, WorldHandoff, WorldPhase
from emu.client.world.events import (
    CampBegun,
    CampStopped,
    ControlChanged,
    DialogClosed,
    DialogOpened,
    Heard,
    LineShown,
    OptionRow,
    OptionsShown,
    PutSomewhere,
    Stood,
    WayRow,
    WaysShown,
    WhoListed,
    ZoneLeft,
    ZoneToLoad,
)
from emu.errors import CommandError, LocalProtocolError
from emu.net.client.world_connection import ClientWorldConnection
from emu.times import Monotonic
from emu.world.speech.windows import set_control_flags
from tests.support.examples import tries
from tests.support.sessions.lossy_net import LossyReactor
from tests.support.world.cast import near
from tests.support.world.ghost_views import dialect
from tests.support.world.lossy_world import HOST, PORT, LossyWorld

pytestmark = pytest.mark.usefixtures("collect_garbage")
Scene = Callable[[ClientWorldConnection, list[Any]], Awaitable[None]]


def played(
    scene: Scene, version: int = 546, *, status: int = 100, world: LossyWorld | None = None
) -> tuple[LossyWorld, list[Any]]:
    """Let one character come in, play a scene, and leave; returns the world and all events."""
    world = world or LossyWorld(LossyReactor())
    world.harness.character(5, name="Aldana", admin_status=status)
    events: list[Any] = []

    async def whole() -> None:
        async with await world.enter(5, version, events.append) as client:
            await scene(client, events)

    world.reactor.drive(whole())
    return world, events


def kinds(events: list[Any]) -> list[type]:
    return [type(event) for event in events]


@pytest.mark.parametrize("version", [546, 561])
def test_the_way_in_and_out(version: int) -> None:
    async def scene(client: ClientWorldConnection, _events: list[Any]) -> None:
        core = client.core
        assert (core.phase, core.own_index, core.character) == (WorldPhase.STANDING, 1, "Aldana")
        assert {"say", "tell", "who", "zone"} <= set(core.commands)
        assert core.surroundings is not None
        assert core.surroundings.name(1) == "Aldana"
        assert core.place.heading == pytest.approx(92.0, abs=0.02)

    world, events = played(scene, version)
    assert kinds(events).index(ZoneToLoad) < kinds(events).index(Stood)
    assert events[-1] == Closed("you left the world")
    assert not any(isinstance(event, Unexpected) for event in events)
    assert len(world.harness.world.players) == 0  # it has quit, not lost its link


def test_camping_standing_up_and_camping_again() -> None:
    async def scene(client: ClientWorldConnection, events: list[Any]) -> None:
        client.act(WorldClientCore.camp)
        await client.until(lambda: CampBegun(20) in events, "the countdown")
        client.act(WorldClientCore.stand)
        await client.until(lambda: CampStopped() in events, "the end of the countdown")
        client.act(WorldClientCore.camp)
        await client.until(lambda: client.core.phase is WorldPhase.CLOSED, "out", timeout=25.0)

    played(scene, status=0)


def test_who_is_sent_away_after_an_interrupted_camp_did_not_camp() -> None:
    async def scene(client: ClientWorldConnection, events: list[Any]) -> None:
        client.act(WorldClientCore.camp)
        await client.until(lambda: CampBegun(20) in events, "the countdown")
        client.act(WorldClientCore.stand)
        await client.until(lambda: CampStopped() in events, "the countdown's stop")
        player = world.harness.world.players.get(5)
        assert player is not None
        world.harness.service.send_away(player, "sent away", client.now())
        await client.until(lambda: client.core.phase is WorldPhase.CLOSED, "the end")

    world = LossyWorld(LossyReactor())
    _, events = played(scene, status=0, world=world)
    assert isinstance(events[-1], Closed)
    assert events[-1].reason not in ("", "you camped")


def test_slash_commands_are_those_of_the_table() -> None:
    async def scene(client: ClientWorldConnection, events: list[Any]) -> None:
        client.act(lambda core: core.command("/who all"))
        client.act(lambda core: core.command("say hello there"))
        await client.until(lambda: WhoListed in kinds(events), "the list")
        assert WhoListed((("Aldana", 1, "Isle of Refuge"),)) in events
        heard = next(event for event in events if isinstance(event, Heard))
        assert (heard.channel, heard.text, heard.index) == ("say", "hello there", 1)
        with pytest.raises(CommandError, match="no command fly"):
            client.act(lambda core: core.command("/fly"))

    played(scene)


def test_being_put_somewhere_ends_the_walk() -> None:
    async def scene(client: ClientWorldConnection, events: list[Any]) -> None:
        at = client.core.place
        client.walk_to(at.x + 40.0, at.y, at.z)
        await client.pause(1.0)
        client.act(lambda core: core.command("/move 10 5 20"))
        looks = 90.0 + 360.0  # along +x
        await client.until(lambda: PutSomewhere(10.0, 5.0, 20.0, looks) in events, "the new place")
        assert client.core.walker.goal is None
        client.walk_to(12.0, 5.0, 20.0)
        await client.until(lambda: client.core.walker.goal is None, "the goal")
        await client.pause(0.5)

    world, _ = played(scene)
    assert near(world.harness.store.rows[5].place, (12.0, 5.0, 20.0))  # type: ignore[arg-type]


@pytest.mark.parametrize("version", [546, 1208, 60114])
def test_who_is_held_by_the_world_walks_no_more_until_it_is_let_go(version: int) -> None:
    """The world sends flag 8 at a death, and for a spell that roots. Steps of the held are refused:
    docs/protocol/world/fights.md#death."""
    world = LossyWorld(LossyReactor())

    async def scene(client: ClientWorldConnection, events: list[Any]) -> None:
        player = world.harness.world.players.get(5)
        assert player is not None
        at = client.core.place
        client.walk_to(at.x + 40.0, at.y, at.z)
        await client.pause(1.0)
        set_control_flags(player, 1, 8, 1)
        await client.until(lambda: ControlChanged(8, is_on=True) in events, "the flag")
        await client.until(lambda: client.core.walker.goal is None, "the end of the walk")
        before = client.core.place
        client.walk_to(at.x + 40.0, at.y, at.z)
        await client.pause(1.0)
        assert client.core.place == before
        set_control_flags(player, 1, 8, 0)
        await client.until(lambda: ControlChanged(8, is_on=False) in events, "the end of it")
        client.walk_to(before.x + 2.0, at.y, at.z)
        await client.until(lambda: client.core.place.x == before.x + 2.0, "the goal")

    played(scene, version, world=world)


def test_standing_still_ends_the_walk_where_it_is() -> None:
    async def scene(client: ClientWorldConnection, _events: list[Any]) -> None:
        at = client.core.place
        client.walk_to(at.x + 40.0, at.y, at.z)
        await client.pause(1.0)
        client.act(lambda core: core.stand_still(client.now()))
        await client.until(lambda: client.core.walker.goal is None, "the end of the walk")
        assert at.x < client.core.place.x < at.x + 20.0
        before = client.core.place
        client.act(lambda core: core.stand_still(client.now()))
        assert client.core.walker.get_timer() is None, "it sends nothing more"
        assert client.core.place == before

    played(scene)


def test_changing_the_zone_shows_the_new_key_at_the_new_address() -> None:
    async def scene(client: ClientWorldConnection, events: list[Any]) -> None:
        session, handoff = client.core.session, client.core.handoff
        client.act(lambda core: core.command("/zone Antonica"))
        await client.until(lambda: client.core.session is not session, "a new session")
        with pytest.raises(CommandError, match="not in the zone"):
            client.act(WorldClientCore.sit)
        await client.stand()
        assert client.core.handoff.key != handoff.key
        assert ZoneLeft(HOST, PORT) in events
        assert client.core.zone is not None
        assert client.core.zone.file == "antonica"

    played(scene)


def test_a_dialog_is_answered_once_and_only_with_its_choices() -> None:
    async def scene(client: ClientWorldConnection, events: list[Any]) -> None:
        core = client.core
        with pytest.raises(CommandError, match="no dialog is open"):
            core.answer(1)
        core._note(DialogOpened(3, "Guard", "Halt", ("Why?", "Bye")))
        with pytest.raises(CommandError, match="answers 1 to 2"):
            core.answer(3)
        client.act(lambda core: core.answer(2))
        assert core.dialog is None
        core._note(DialogOpened(4, "Guard", "Halt", ()))
        client.act(WorldClientCore.close_dialog)
        core._note(DialogOpened(5, "Guard", "Halt", ()))
        core._note(DialogClosed(5))
        assert core.dialog is None

    played(scene)


def test_a_way_is_taken_by_its_name() -> None:
    async def scene(client: ClientWorldConnection, _events: list[Any]) -> None:
        core = client.core
        with pytest.raises(CommandError, match="no window of destinations"):
            core.travel("North")
        core._note(WaysShown(9, (WayRow(51, "North", "Antonica", 0),)))
        with pytest.raises(CommandError, match="no way to South; the window has: North"):
            core.travel("South")
        client.act(lambda core: core.travel("north"))
        assert core.ways is None

    played(scene)


def test_an_option_is_chosen_by_its_name() -> None:
    async def scene(client: ClientWorldConnection, _events: list[Any]) -> None:
        core = client.core
        with pytest.raises(CommandError, match="no window of options"):
            core.choose("Stay")
        rows = (OptionRow(" Leave", "Go away", "leave_isle"), OptionRow("Stay", "Here", "Cancel"))
        core._note(OptionsShown("Leave?", rows, "Cancel"))
        with pytest.raises(CommandError, match="no option Run; the window has: Leave, Stay"):
            core.choose("Run")
        client.act(lambda core: core.choose("leave"))
        assert core.options is None

    played(scene)


def test_raw_packets_leave_as_they_are() -> None:
    async def scene(client: ClientWorldConnection, _events: list[Any]) -> None:
        client.act(lambda core: core.send("OP_UpdateTargetMsg", b"\1\0"))
        client.act(lambda core: core.send("4711", b"xyz"))
        client.act(lambda core: core.target(None))
        await client.pause(0.5)

    world, _ = played(scene)
    assert world.harness.world.faults.drops["unknown message"] == 1


def test_lines_of_refusal_are_printed() -> None:
    async def scene(client: ClientWorldConnection, events: list[Any]) -> None:
        client.act(lambda core: core.command("/tell Nobody hello"))
        await client.until(lambda: LineShown in kinds(events), "an answer")
        assert LineShown("error", "Unable to find client Nobody") in events

    played(scene)


def test_a_wrong_key_ends_the_session_and_nothing_stands() -> None:
    world = LossyWorld(LossyReactor())
    core = WorldClientCore(ClientWorldMessages(dialect(546)), WorldHandoff(HOST, PORT, 1, 2))

    async def whole() -> None:
        client = ClientWorldConnection(world.reactor, core)
        client.start()
        with pytest.raises(
            CommandError, match=r"the session ended before standing in the zone: \w+"
        ):
            await client.stand()
        await client.leave()

    world.reactor.drive(whole())
    assert core.phase is WorldPhase.CLOSED


def test_requests_before_the_beginning_are_refused() -> None:
    core = WorldClientCore(ClientWorldMessages(dialect(546)), WorldHandoff(HOST, PORT, 1, 2))
    for request in (WorldClientCore.sit, WorldClientCore.camp, lambda one: one.send("4711"),
                 lambda one: one.walk_to(0.0, 0.0, 0.0, Monotonic(0.0)),
                 lambda one: one.stand_still(Monotonic(0.0))):  # fmt: skip
        with pytest.raises(CommandError):
            request(core)
    core.close()
    assert core.next_event() == Closed("closed by this side")
    core = WorldClientCore(ClientWorldMessages(dialect(546)), WorldHandoff(HOST, PORT, 1, 2))
    core.connect(Monotonic(0.0))
    with pytest.raises(LocalProtocolError):
        core.connect(Monotonic(0.0))


@tries(100)
@given(opcode=st.sampled_from([4, 29, 31, 33, 35, 50, 67, 99]), payload=st.binary(max_size=80))
def test_any_message_of_a_server_is_survived(opcode: int, payload: bytes) -> None:
    core = WorldClientCore(ClientWorldMessages(dialect(546)), WorldHandoff(HOST, PORT, 1, 2), _Deaf)
    core._message(opcode, payload, Monotonic(0.0))


class _Deaf:
    """A session that takes everything and does nothing."""

    def send(self, opcode: int, payload: bytes) -> None:
        """Forget it."""

    def close(self) -> None:
        """Do nothing."""
