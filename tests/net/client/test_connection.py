"""The client on real UDP over loopback, and its shell over a simulated reactor."""

import socket
from typing import Any

import pytest
from twisted.internet import reactor
from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.task import Clock

from emu.client import Credentials, LoginPhase, flow
from emu.errors import CommandError, LocalProtocolError, UnknownVersion
from emu.net.client.connection import open_client
from emu.session import SessionConfig
from emu.versions import LOGIN_VERSION_STEPS
from tests.support.running.clients import connect
from tests.support.sessions.reference_messages import ReferenceCharacter
from tests.support.sessions.reference_server import Script, serving

pytestmark = pytest.mark.usefixtures("collect_garbage")

QUICK = SessionConfig(
    session_request_pause=0.05,
    session_request_pause_growth=1.0,
    session_request_attempts=4,
    disconnect_timeout=0.05,
)


def characters() -> list[ReferenceCharacter]:
    return [ReferenceCharacter(5, 1, "Olda", 7)]


async def test_the_whole_life_of_a_2006_client() -> None:
    async with serving(Script(characters=characters())) as (endpoint, port):
        client = await connect(reactor, "127.0.0.1", port, "tester", "secret")
        assert (await client.login()).fields["login_response"] == 0
        assert [world.name for world in await client.worlds()] == ["Antonia Bayle"]
        assert [one.name for one in await client.characters()] == ["Olda"]
        assert (await client.create(1, "Testa", race=3)).ok
        assert (await client.play_answer()).port == 9001
        assert (await client.delete("olda")).ok
        assert (await client.play("Testa")).access_code == 0x1234ABCD
        await client.close()
        server = endpoint.only_session()
        assert server.wire.disconnected
        assert server.created is not None
        assert server.created.race == 3
        assert [step.name for step in client.steps][:3] == ["session", "key", "login"]


@pytest.mark.parametrize("version", LOGIN_VERSION_STEPS)
async def test_every_version_step_over_udp(version: int) -> None:
    async with serving(Script(version=version, characters=characters())) as (_, port):
        opened = await open_client(
            reactor, "127.0.0.1", port, Credentials("tester", "secret"), version=version
        )
        async with opened as client:
            script = flow.whole_login(
                client.core, create_name="Testa", delete_name="Olda", play_name="Testa"
            )
            await client.run(script)
        assert client.core.phase is LoginPhase.CLOSED


async def test_lost_first_datagrams_cost_time_and_nothing_else() -> None:
    async with serving(drop_first=3) as (endpoint, port):
        client = await connect(reactor, "127.0.0.1", port, "tester", "secret", config=QUICK)
        await client.login()
        assert endpoint.only_session().wire.requests == 1
        await client.close()


async def test_many_clients_at_once_do_not_disturb_each_other() -> None:
    async with serving(Script(version=1208)) as (endpoint, port):

        async def one() -> int:
            client = await connect(reactor, "127.0.0.1", port, "tester", "secret", version=1208)
            async with client:
                await client.login()
                return len(await client.worlds())

        counts = await gatherResults([Deferred.fromCoroutine(one()) for _ in range(30)])
        assert counts == [1] * 30
        assert len(endpoint.sessions) == 30


async def test_a_denied_login_says_why_and_where() -> None:
    async with serving() as (_, port):
        client = await connect(reactor, "127.0.0.1", port, "tester", "wrong")
        with pytest.raises(
            CommandError,
            match=rf"^127.0.0.1:{port}: login denied: bad user name or password \(code 1\)$",
        ):
            await client.login()
        await client.close()


async def test_a_silent_server_is_given_up() -> None:
    async with serving(Script(silent_from="session")) as (_, port):
        with pytest.raises(CommandError, match="no answer to the session request"):
            await connect(reactor, "127.0.0.1", port, "tester", "secret", config=QUICK)


async def test_a_step_that_takes_too_long_is_named() -> None:
    async with serving(Script(silent_from="login")) as (_, port):
        client = await connect(reactor, "127.0.0.1", port, "tester", "secret", timeout=0.2)
        with pytest.raises(CommandError, match=r"timed out at step 'login' after 0\.2 s"):
            await client.login()
        await client.close()


async def test_a_port_where_nothing_listens_is_reported_quickly() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    clock: Any = reactor
    begun = clock.seconds()
    with pytest.raises(CommandError, match=f"127.0.0.1:{port}: nothing listens there"):
        await connect(reactor, "127.0.0.1", port, "tester", "secret")
    assert clock.seconds() - begun < 1.0


async def test_garbage_from_the_server_disturbs_nothing() -> None:
    async with serving() as (endpoint, port):
        client = await connect(reactor, "127.0.0.1", port, "tester", "secret")
        await client.login()
        for datagram in (b"", b"\0", b"\x00\x02", b"hello", bytes(600), b"\x00\x09" + bytes(40)):
            endpoint.only_session().wire.raw(datagram)
        endpoint.tick()
        assert len(await client.worlds()) == 1
        assert sum(client.core.drops.values()) >= 4
        await client.close()


async def test_a_host_name_is_resolved_or_refused_in_one_line() -> None:
    async with serving() as (_, port):
        client = await connect(reactor, "localhost", port, "tester", "secret")
        await client.login()
        await client.close()
    with pytest.raises(CommandError, match=r"host name no-such-host\.invalid cannot be resolved"):
        await connect(reactor, "no-such-host.invalid", 9100, "tester", "secret")


async def test_a_version_without_opcodes_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(UnknownVersion):
        await connect(reactor, "127.0.0.1", 9, "tester", "secret", version=1213)


async def test_a_name_no_client_can_type_leaves_no_socket_behind() -> None:
    with pytest.raises(CommandError, match="user name"):
        await connect(reactor, "127.0.0.1", 9, "ж", "secret")


async def test_two_scripts_at_once_are_an_error_of_the_caller() -> None:
    async with serving(Script(silent_from="login")) as (_, port):
        client = await connect(reactor, "127.0.0.1", port, "tester", "secret", timeout=0.2)
        waiting = Deferred.fromCoroutine(client.login())
        with pytest.raises(LocalProtocolError, match="another script"):
            await client.worlds()
        with pytest.raises(CommandError, match="timed out"):
            await waiting
        await client.close()


async def test_stopping_a_client_ends_its_script() -> None:
    async with serving(Script(silent_from="login")) as (_, port):
        client = await connect(reactor, "127.0.0.1", port, "tester", "secret")
        waiting = Deferred.fromCoroutine(client.login())
        await client.stop()
        with pytest.raises(CommandError, match="the client was stopped"):
            await waiting


async def test_closing_a_server_that_is_gone_raises_nothing() -> None:
    async with serving() as (_, port):
        client = await connect(
            reactor, "127.0.0.1", port, "tester", "secret", config=QUICK, timeout=1.0
        )
        await client.login()
    await client.close()
    await client.close()
    with pytest.raises(CommandError, match="the socket is closed"):
        await client.worlds()


class QuietReactor(Clock):
    """A clock that hands out a socket which leads nowhere."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.to: tuple[str, int] | None = None

    def listenUDP(self, port: int, protocol: Any, interface: str = "") -> Any:
        return self

    def connect(self, host: str, port: int) -> None:
        self.to = (host, port)

    def write(self, datagram: bytes) -> None:
        self.written.append(datagram)

    async def stopListening(self) -> None:
        self.to = None


async def test_one_delayed_call_repeats_the_request_and_ends_the_script() -> None:
    quiet = QuietReactor()
    client = await open_client(quiet, "192.0.2.1", 9100, Credentials("tester", "secret"))
    assert quiet.to == ("192.0.2.1", 9100)
    waiting = Deferred.fromCoroutine(client.run(flow.login()))
    for _ in range(1000):
        assert len(quiet.getDelayedCalls()) <= 1
        quiet.advance(0.01)
    with pytest.raises(CommandError, match="no answer"):
        await waiting
    assert len(quiet.written) == 12
    await client.stop()
    assert quiet.getDelayedCalls() == []


async def test_a_socket_that_cannot_send_ends_the_script() -> None:
    quiet = QuietReactor()
    client = await open_client(quiet, "192.0.2.1", 9100, Credentials("tester", "secret"))

    def unreachable(datagram: bytes) -> None:
        raise OSError(101, "Network is unreachable")

    waiting = Deferred.fromCoroutine(client.run(flow.login()))
    quiet.write = unreachable  # type: ignore[method-assign]
    quiet.advance(1.1)
    with pytest.raises(CommandError, match="9100: cannot send: Network is unreachable"):
        await waiting
    await client.stop()
