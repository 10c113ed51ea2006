"""One attacker, or players who ask where they are, in a process of their own.

Run as ``python -m tools.bench.fairness_players PORT FIRST COUNT``; prints ``ready 0`` when all
stand in the zone, then reads commands from its input, one JSON object a line, and prints one JSON
object for each:

* ``{"ask": SECONDS}``: each player asks ``/loc`` again and again; round trips in milliseconds.
* ``{"attack": NAME, "seconds": SECONDS}``: the first player sends 950 messages at once and 95 in
  each second after that; how many were sent, and whether its session lasted. Some attacks do so at
  the login port, and some come and go as fast as they can.

FIRST is the number of the first character; the characters are those of `tools.bench.world_child`.
"""

from __future__ import annotations

import itertools
import json
import random
import sys
from collections.abc import Callable, Sequence
from typing import Any

from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.task import react
from twisted.internet.threads import deferToThread

from emu.client import Credentials
from emu.client.core import LoginClient, LoginPhase
from emu.client.flow import Entrance
from emu.client.world import WorldClientCore, WorldPhase
from emu.client.world.events import LineShown, WorldEvent
from emu.errors import CommandError
from emu.net.client.connection import ClientConnection, open_client
from emu.net.client.swarm import character_name, own_address
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from emu.net.scheduler import Scheduler
from tools.bench.login_players import PASSWORD
from tools.bench.world_child import PREFIX

AT_ONCE = 950
A_SECOND = 95
FRIENDS = 98
"""Names on the attacker's list of friends."""
ASK_PAUSE = 0.05
PATIENCE = 20.0
UNKNOWN_OPCODE = "9999"


def _command(line: str) -> Callable[[WorldClientCore, int], None]:
    return lambda core, number: core.command(line.format(number))


def _friend(core: WorldClientCore, number: int) -> None:
    core.command("unfriend Lastone" if number % 2 else "friend Lastone")


def _unknown(core: WorldClientCore, _number: int) -> None:
    core.session.send(9999, b"\0" * 8)


def _invalid(core: WorldClientCore, _number: int) -> None:
    core.send("OP_RemoteCmdMsg", random.randbytes(20))


def _garbage(core: WorldClientCore, _number: int) -> None:
    core.send("OP_PredictionUpdateMsg", random.randbytes(60))


def _mixed(core: WorldClientCore, number: int) -> None:
    kinds = list(ATTACKS.values())[:-1]
    kinds[number % len(kinds)](core, number)


ATTACKS: dict[str, Callable[[WorldClientCore, int], None]] = {
    "help": _command("help"),
    "friend with a full list": _friend,
    "who all": _command("who all"),
    "around": _command("around"),
    "complete tell": _command("complete tell "),
    "say": _command("say number {0}"),
    "tell": _command(f"tell {character_name(PREFIX, 0)} number {{0}}"),
    "shout": _command("shout number {0}"),
    "tellchannel": _command("tellchannel General number {0}"),
    "chatwho": _command("chatwho General"),
    "afk": _command("afk"),
    "loc": _command("loc"),
    "unknown opcode": _unknown,
    "invalid command": _invalid,
    "invalid movement": _garbage,
    "a mix": _mixed,
}


def _worlds(core: LoginClient, _number: int) -> None:
    core.session.send(*core.messages.worlds())


def _create(core: LoginClient, number: int) -> None:
    name = character_name("made", number)
    core.session.send(*core.messages.create(1, name, {}))


AT_LOGIN: dict[str, Callable[[LoginClient, int], None]] = {
    "character lists": _worlds,
    "character creations": _create,
}
"""What is sent to the login port."""
LOOPS = ("entering and quitting", "logging in")
"""What comes and goes as fast as it can."""
KINDS = (*ATTACKS, *AT_LOGIN, *LOOPS)


class Asker:
    """A player who asks where it is as soon as it was answered."""

    def __init__(self, client: ClientWorldConnection) -> None:
        self._client = client
        self._answered = False
        self.waits: list[float] = []
        client.on_event = self._heard

    def _heard(self, event: WorldEvent) -> None:
        if isinstance(event, LineShown) and "heading" in event.text:
            self._answered = True

    async def ask(self, seconds: float) -> list[float]:
        """Ask for some time; return the milliseconds that each answer took."""
        client, waits = self._client, []
        end = client.now() + seconds
        while client.now() < end:
            self._answered = False
            began = client.now()
            client.act(lambda core: core.command("loc"))
            await client.until(lambda: self._answered, "the place", timeout=PATIENCE)
            waits.append((client.now() - began) * 1000)
            await client.pause(ASK_PAUSE)
        return waits


async def loop(reactor: Any, port: int, number: int, name: str, seconds: float) -> dict[str, Any]:
    """Come and go, for some time."""
    scheduler = Scheduler(reactor)
    end, done, refused = scheduler.now() + seconds, 0, 0
    while scheduler.now() < end:
        try:
            if name == "logging in":
                async with await log_in(reactor, port, number) as client:
                    await client.login()
                    await client.worlds()
            else:
                await (await come(reactor, port, number)).leave()
            done += 1
        except CommandError:
            refused += 1
    return {"sent": done, "refused": refused, "lasted": True}


async def attack_login(
    reactor: Any, port: int, number: int, name: str, seconds: float
) -> dict[str, Any]:
    """Send messages to the login port, for some time."""
    scheduler, sent = Scheduler(reactor), 0
    client = await log_in(reactor, port, number)
    await client.login()
    end = scheduler.now() + seconds
    for count in itertools.chain((AT_ONCE,), itertools.repeat(A_SECOND // 10)):
        if client.core.phase is LoginPhase.CLOSED or scheduler.now() >= end:
            break
        for _ in range(count):
            AT_LOGIN[name](client.core, sent)
            sent += 1
        client.handle_timer(scheduler.now())
        await scheduler.pause(0.1)
    lasted = client.core.phase is not LoginPhase.CLOSED
    await client.stop()
    return {"sent": sent, "lasted": lasted}


async def log_in(reactor: Any, port: int, number: int) -> ClientConnection:
    """Open a session with the login port."""
    return await open_client(
        reactor, "127.0.0.1", port, Credentials(f"{PREFIX}{number:05}", PASSWORD), version=546,
        timeout=PATIENCE, interface=own_address("127.0.0.1", number),
    )  # fmt: skip


async def attack(client: ClientWorldConnection, name: str, seconds: float) -> dict[str, Any]:
    """Send what an attacker sends, for some time."""
    send = ATTACKS[name]
    if name.startswith("friend") and "friend Friendaaa" not in client.core.drops:
        for number in range(FRIENDS):
            text = character_name("friend", number)
            client.act(lambda core, text=text: core.command(f"friend {text}"))  # type: ignore[misc]
            await client.pause(0.02)
        client.core.drops["friend Friendaaa"] = 1
        await client.pause(2.0)
    sent, end = 0, client.now() + seconds

    def burst(count: int) -> None:
        nonlocal sent
        if client.core.phase is not WorldPhase.STANDING:
            return

        def query(core: WorldClientCore) -> None:
            for number in range(sent, sent + count):
                send(core, number)

        client.act(query)
        sent += count

    burst(AT_ONCE)
    while client.now() < end:
        await client.pause(0.1)
        burst(A_SECOND // 10)
    return {"sent": sent, "lasted": client.core.phase is WorldPhase.STANDING}


async def main(reactor: Any) -> None:
    """Come in, and do what is asked for."""
    port, first, count = (int(word) for word in sys.argv[1:4])
    clients = [await come(reactor, port, first + number) for number in range(count)]
    askers = [Asker(client) for client in clients]
    print("ready 0", flush=True)
    while line := await deferToThread(sys.stdin.readline):
        asked = json.loads(line)
        name, seconds = asked.get("attack"), asked.get("seconds")
        if name in LOOPS or name in AT_LOGIN:
            await clients[0].leave()
            work = loop if name in LOOPS else attack_login
            answer: Any = await work(reactor, port, first, name, seconds)
        elif name is not None:
            if clients[0].core.phase is not WorldPhase.STANDING:
                await clients[0].stop()
                clients[0] = await come(reactor, port, first)
            answer = await attack(clients[0], name, seconds)
        else:
            found: Sequence[list[float]] = await gatherResults(
                [Deferred.fromCoroutine(asker.ask(asked["ask"])) for asker in askers]
            )
            answer = [one for waits in found for one in waits]
        print(json.dumps(answer), flush=True)
    for client in clients:
        await client.leave()


async def come(reactor: Any, port: int, number: int) -> ClientWorldConnection:
    """Let one character in."""
    client = await enter_world(
        reactor, "127.0.0.1", port,
        Entrance(
            Credentials(f"{PREFIX}{number:05}", PASSWORD), character_name(PREFIX, number),
            version=546, interface=own_address("127.0.0.1", number), reads_ghosts=False,
        ),
        timeout=PATIENCE,
    )  # fmt: skip
    client.act(lambda core: core.command("joinchannel General"))
    return client


if __name__ == "__main__":
    react(lambda reactor: Deferred.fromCoroutine(main(reactor)))
