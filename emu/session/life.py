"""What a session does by the clock: ask, be validated, stay alive, say goodbye, give up.

Sources: docs/protocol/transport.md#setup, docs/protocol/transport.md#reliability.

Says what is due and when; how it is done is the session's business. Knows no packet and no payload.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Final

from emu.session.configuration import Role, SessionConfig
from emu.session.states import SessionPhase, SessionStep, Standing
from emu.session.statistics import Inquiry, request_pause
from emu.times import Monotonic

_VALIDATED: Final = SessionPhase.VALIDATED
_KEYED: Final = SessionPhase.KEYED
_ENDED: Final = SessionPhase.ENDED


class Due(Enum):
    """What the clock asks of a session."""

    ASK = "ask for the session again"
    NO_ANSWER = "give up asking for it"
    UNVALIDATED = "let go of an address that shows nothing"
    SILENCE = "give up a peer that says nothing"
    PART = "say goodbye"
    PARTED = "do not wait for the answer to that any longer"
    KEEP_ALIVE = "say that we are here"
    QUESTION = "ask for statistics"


class Life:
    """The clock of one session; `standing` says where it is, `inquiry` when it asks."""

    __slots__ = (
        "_config",
        "_deadline",
        "_inquiry",
        "_keep_alive_interval",
        "_requests",
        "_standing",
    )

    def __init__(
        self, config: SessionConfig, role: Role, standing: Standing, inquiry: Inquiry
    ) -> None:
        self._config = config
        self._standing = standing
        self._inquiry = inquiry
        self._deadline: Monotonic | None = None
        """When the stage has lasted long enough; only for those that may not last."""
        self._requests = 0
        self._keep_alive_interval = (
            config.keep_alive_interval if role is Role.CLIENT else config.server_keep_alive_interval
        )

    # -- what happens -----------------------------------------------------------------------------

    def ask(self, now: Monotonic) -> None:
        """A SessionRequest is sent. Raises `LocalProtocolError` once that was answered."""
        self._standing.step(SessionStep.ASK)
        self._deadline = Monotonic(now + request_pause(self._config, self._requests))
        self._requests += 1

    def begin(self, step: SessionStep, now: Monotonic) -> None:
        """Both sides agree: we have answered (`Step.ANSWER`), or been answered (`Step.AGREE`)."""
        standing = self._standing
        standing.step(step)
        standing.last_received = standing.last_sent = now
        self._deadline = Monotonic(now + self._config.unvalidated_lifetime)

    def close(self) -> None:
        """Our side closes; the clock for it starts when the owner next sends."""
        self._standing.step(SessionStep.CLOSE)
        self._deadline = None

    def wait_for_idle(self, now: Monotonic) -> None:
        """What is queued has to arrive before we say goodbye; not for ever."""
        if self._deadline is None:
            self._deadline = Monotonic(now + self._config.close_timeout)

    def hurry(self, now: Monotonic) -> None:
        """Nothing has to be waited for in this stage any longer."""
        self._deadline = now

    def part(self, now: Monotonic) -> None:
        """Our goodbye is sent."""
        self._standing.step(SessionStep.PART)
        self._deadline = Monotonic(now + self._config.disconnect_timeout)

    # -- time -------------------------------------------------------------------------------------

    def get_timer(self, retransmission: Monotonic | None) -> Monotonic | None:
        """Return when `take_due` has something, or `retransmission` if that is earlier."""
        standing = self._standing
        stage = standing.stage
        if stage is _ENDED:
            return None
        if stage < _VALIDATED:
            return self._deadline
        config = self._config
        deadline = standing.last_received + config.idle_timeout
        if stage <= _KEYED:
            deadline = min(
                deadline,
                self._next_keep_alive(),
                self._inquiry.next_question,
            )
        elif self._deadline is not None and self._deadline < deadline:
            deadline = self._deadline
        if retransmission is not None and retransmission < deadline:
            return retransmission
        return Monotonic(deadline)

    def take_due(self, now: Monotonic) -> Iterator[Due]:
        """Yield what is due now; what ends the session comes alone."""
        standing = self._standing
        stage = standing.stage
        if stage < _VALIDATED:
            if self._is_over(now):
                yield self._due_unvalidated(stage)
        elif now >= standing.last_received + self._config.idle_timeout:
            yield Due.SILENCE
        elif stage <= _KEYED:
            if now >= self._next_keep_alive():
                yield Due.KEEP_ALIVE
            if now >= self._inquiry.next_question:
                yield Due.QUESTION
        elif self._is_over(now):
            yield Due.PARTED if stage is SessionPhase.PARTED else Due.PART

    def _next_keep_alive(self) -> float:
        """Return when to send a KeepAlive next.

        A peer that misses its own keep-alives may be behind a link that is interrupted. It is sent
        one every `retry_interval` then: both sides hear each other soon after the link is back,
        and before their silence limits.
        """
        standing = self._standing
        config = self._config
        usual = standing.last_sent + self._keep_alive_interval
        suspected = standing.last_received + config.keep_alive_interval + config.retry_interval
        return min(usual, max(suspected, standing.last_sent + config.retry_interval))

    def _due_unvalidated(self, stage: SessionPhase) -> Due:
        if stage is SessionPhase.ANSWERED:
            return Due.UNVALIDATED
        asked_enough = self._requests >= self._config.session_request_attempts
        return Due.NO_ANSWER if asked_enough else Due.ASK

    def _is_over(self, now: Monotonic) -> bool:
        return self._deadline is not None and now >= self._deadline

    def is_silent(self, now: Monotonic) -> bool:
        """Whether the peer has said nothing for so long that a stranger may be believed."""
        return now - self._standing.last_received >= self._config.out_of_session_silence
