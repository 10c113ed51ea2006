"""GGMP's port: a core that also speaks unasked, to those who watch and where an Ack is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from emu.admin.ggmp.grants import Grant, read_grants
from emu.admin.ggmp.ports import Stage
from emu.admin.ggmp.server import ANSWER_RULES, GgmpRules, GgmpServer
from emu.admin.snapshot.making import OpenDoor
from emu.commands import Use
from emu.config import Address
from emu.config.administration import GgmpConfig
from emu.errors import CommandError, ConfigError
from emu.net.hosts import door, listen_address
from emu.net.logs import logger
from emu.net.scheduler import Scheduler
from emu.net.udp.query import QueryShell, listen_query
from emu.times import Monotonic

_log = logger("ggmp")


def ggmp_grants(config: GgmpConfig) -> tuple[Grant, ...]:
    """Return who may join. Raises `ConfigError` when the file of tokens is wrong."""
    if config.tokens_file is None:
        return ()
    try:
        return read_grants(config.tokens_file.read_text("utf-8"))
    except (OSError, ValueError, CommandError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError([f"ggmp.tokens_file: {config.tokens_file}: {reason}"]) from None


class GgmpPort:
    """The port of one server. `listen`, then `stop`."""

    def __init__(
        self,
        config: GgmpConfig,
        stage: Stage,
        reactor: Any,
        scheduler: Scheduler,
        told: Callable[[Use], None],
    ) -> None:
        """Act on `stage`; `told` hears of it. Raises `ConfigError` when the tokens are wrong."""
        self._config = config
        self._reactor = reactor
        self._scheduler = scheduler
        self._port: Any = None
        self._timer = scheduler.timer(self)
        rules = GgmpRules(ggmp_grants(config), wait=config.resend_milliseconds / 1000)
        self.core = GgmpServer(stage, rules, told)
        self.shell = QueryShell(self, scheduler, _log, ANSWER_RULES)

    @property
    def port(self) -> int:
        """The UDP port; 0 while it is closed."""
        return self._port.getHost().port if self._port is not None else 0

    def listen(self) -> None:
        """Open the port and say where, or why not. Raises `CannotListenError`."""
        if not self.core.rules.grants:
            _log.info("closed: ggmp.tokens_file names nobody")
            return
        address = listen_address("ggmp.listen", self._config.listen)
        self._port = listen_query(self._reactor, address.host, address.port, self.shell)
        host: Any = self._port.getHost()
        _log.info("tools on UDP {at}", at=Address(host.host, host.port))

    def doors(self) -> Iterator[OpenDoor]:
        """Yield the port, while it is open."""
        if self._port is not None:
            yield door("ggmp.listen", self._port, self.shell.counters)

    async def stop(self) -> None:
        """Close the port."""
        self._scheduler.drop(self._timer)
        if self._port is not None:
            await self._port.stopListening()
            self._port = None

    def proves(self, data: bytes, address: tuple[str, int], now: Monotonic) -> bool:
        """Say whether a datagram is of somebody who was let in."""
        return self.core.proves(data, address, now)

    def answer(self, data: bytes, address: tuple[str, int], now: Monotonic) -> Sequence[bytes]:
        """Answer a datagram, and be called when the core next wants to speak."""
        answers = self.core.answer(data, address, now)
        self._scheduler.arm(self._timer, self.core.get_timer())
        return answers

    def handle_timer(self, now: Monotonic) -> None:
        """Send what is due; called by the scheduler."""
        self.core.handle_timer(now)
        for data, address in self.core.data_to_send():
            self.shell.send(data, address)
        self._scheduler.arm(self._timer, self.core.get_timer())
