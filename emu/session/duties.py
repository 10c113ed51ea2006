"""What a session does of its own accord: when the clock says so, or because it owes it.

Sources: docs/protocol/transport.md#setup, docs/protocol/transport.md#reliability. When something is
due is the business of `life`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from emu.session.core import Core, PendingControl
from emu.session.events import CloseReason
from emu.session.life import Due
from emu.session.states import SessionPhase
from emu.session.statistics import answer_to
from emu.times import Monotonic
from emu.wire import ProtocolOpcode, packets
from emu.wire.packets import marker_of

_KEEP_ALIVE: Final = marker_of(ProtocolOpcode.KEEP_ALIVE)


# -- what is owed ---------------------------------------------------------------------------------


def take_owed(core: Core, now: Monotonic) -> Sequence[bytes]:
    """Return the packets outside the reliable channel that are to leave now."""
    owed = core.owed
    core.owed = owed & PendingControl.GOODBYE  # that one waits until everything has arrived
    sent, received = core.sent.datagrams + 1, core.received.datagrams
    outgoing: list[bytes] = []
    if owed & PendingControl.ANSWER and core.stat_request is not None:
        answer = answer_to(core.stat_request, sent=sent, received=received, now=now)
        outgoing.append(packets.SESSION_STAT_RESPONSE.push(answer))
        core.stat_request = None
    if owed & PendingControl.QUESTION:
        round_trip = core.channel.queue.round_trip
        question = core.inquiry.ask(round_trip, sent=sent, received=received, now=now)
        outgoing.append(packets.SERVER_KEY_REQUEST.push(question))
    if owed & PendingControl.KEEP_ALIVE:
        outgoing.append(_KEEP_ALIVE)
    if owed & PendingControl.GOODBYE and core.standing.stage is SessionPhase.CLOSING:
        outgoing += _goodbye(core, now)
    return outgoing


def _goodbye(core: Core, now: Monotonic) -> Sequence[bytes]:
    """Return the SessionDisconnect when everything before it has arrived."""
    core.life.wait_for_idle(now)
    if not core.channel.is_idle:
        return ()
    if not core.session_id:
        core.life.hurry(now)  # an OutOfSession cannot share a datagram; the timer sends it
        return ()
    core.owed = 0
    core.life.part(now)
    return (core.disconnect_packet(),)


# -- what is due ----------------------------------------------------------------------------------


def keep_alive(core: Core, _now: Monotonic) -> None:
    """Say that we are here."""
    core.owed |= PendingControl.KEEP_ALIVE


def _part(core: Core, now: Monotonic) -> None:
    core.life.part(now)
    core.owed &= ~PendingControl.GOODBYE
    core.sent.ready.append(core.farewell())


def _give_up_asking(core: Core, _now: Monotonic) -> None:
    core.end(CloseReason.NO_ANSWER)


def _give_up_unvalidated(core: Core, _now: Monotonic) -> None:
    core.end(CloseReason.UNVALIDATED)


def _give_up_silent(core: Core, _now: Monotonic) -> None:
    core.end_with_farewell(CloseReason.SILENCE)


def _end_parted(core: Core, _now: Monotonic) -> None:
    core.end(CloseReason.LOCAL)


DUTIES: Final[Mapping[Due, Callable[[Core, Monotonic], None]]] = {
    Due.ASK: Core.ask,
    Due.NO_ANSWER: _give_up_asking,
    Due.UNVALIDATED: _give_up_unvalidated,
    Due.SILENCE: _give_up_silent,
    Due.PART: _part,
    Due.PARTED: _end_parted,
    Due.KEEP_ALIVE: keep_alive,
    Due.QUESTION: Core.ask_statistics,
}
"""What to do when the clock says so."""


def do_due(core: Core, now: Monotonic) -> None:
    """Do whatever is due at `now`, retransmissions with it."""
    for due in core.life.take_due(now):
        DUTIES[due](core, now)
    if SessionPhase.VALIDATED <= core.standing.stage < SessionPhase.ENDED:
        queue = core.channel.queue
        queue.handle_timer(now)
        if queue.exhausted:
            core.abort(CloseReason.GAVE_UP)
