"""Steps of a script, and what runs a script over a client: what to ask, what to wait for.

A script is a generator that yields `Step`s and gets back the event each of them waited for; a
`LoginFlow` runs it over a `LoginClient`, without a clock of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Generic, TypeVar

from emu.client.core import LoginClient
from emu.client.events import Characters, Closed, Event, LoginDenied, Unexpected
from emu.errors import CommandError, EmuError
from emu.times import Monotonic

STEP_TIMEOUT = 10.0
"""Seconds a step may take when nothing else is said."""

Result = TypeVar("Result")
Awaited = TypeVar("Awaited", bound=Event)


@dataclass(frozen=True, slots=True)
class Step(Generic[Awaited]):
    """One thing to wait for, and what is asked of the server before."""

    name: str
    wanted: type[Awaited]
    """The event that ends the step."""
    message: str = ""
    """Opcode name of the answer: when it cannot be read, the step fails at once."""
    action: Callable[[LoginClient], None] | None = None


class StepFailed(CommandError):
    """A step came to nothing, or its answer was a refusal; `step` is its name."""

    def __init__(self, step: str, text: str) -> None:
        self.step = step
        super().__init__(text)


@dataclass(frozen=True, slots=True)
class StepDone:
    """One step that came to its end: its event, and how many seconds it took."""

    name: str
    seconds: float
    event: Event


Script = Generator[Step[Any], Any, Result]


def take(step: Step[Awaited]) -> Script[Awaited]:
    """Take one step, and return what it waited for: a script of its own, or a part of one."""
    found: Awaited = yield step
    return found


@dataclass(slots=True, eq=False)
class LoginFlow(Generic[Result]):
    """One script under way over one client.

    Call `begin`, then `advance` whenever the client has taken a datagram or its timer. It has ended
    when `done` is true: `result` is then what the script returned, or `failure` says what went
    wrong. `steps` are the finished steps in order.
    """

    client: LoginClient
    script: Script[Result]
    _: KW_ONLY
    timeout: float = STEP_TIMEOUT
    on_step: Callable[[StepDone], None] | None = None
    steps: list[StepDone] = field(default_factory=list, init=False)
    result: Result | None = field(default=None, init=False)
    failure: EmuError | None = field(default=None, init=False)
    done: bool = field(default=False, init=False)
    _step: Step[Any] | None = field(default=None, init=False)
    _reached: str = field(default="", init=False)
    _since: float = field(default=0.0, init=False)

    def begin(self, now: Monotonic) -> None:
        """Start the first step, and take what has happened already."""
        self._next_step(None, now)
        self.advance(now)

    def get_timer(self) -> Monotonic | None:
        """Return when the present step has taken too long, None when there is none."""
        return None if self._step is None else Monotonic(self._since + self.timeout)

    def advance(self, now: Monotonic) -> None:
        """Take the client's new events and go on as far as they lead."""
        while self._step is not None and (event := self._take(self._step)) is not None:
            step = StepDone(self._step.name, now - self._since, event)
            self.steps.append(step)
            if self.on_step is not None:
                self.on_step(step)
            self._next_step(event, now)
        if self._step is not None and now >= self._since + self.timeout:
            text = f"timed out at step '{self._step.name}' after {self.timeout:g} s"
            self.fail(CommandError(text))

    def fail(self, failure: EmuError) -> None:
        """End the flow from outside, for instance because the network is gone."""
        if not self.done:
            if self._reached and type(failure) is CommandError:
                failure = StepFailed(self._reached, str(failure))
            self.failure = failure
            self._end()

    def _take(self, step: Step[Any]) -> Event | None:
        """Remove and return the event that ends the step; end the flow when none ever will."""
        events = self.client.events
        found: Event | None = next((one for one in events if isinstance(one, step.wanted)), None)
        if found is not None:
            self._forget_lists_before(found)
            events.remove(found)
            return found
        for event in events:
            reason = _failure(step, event)
            if reason is not None:
                self.fail(CommandError(reason))
                break
        return None

    def _forget_lists_before(self, found: Event) -> None:
        """Drop character lists that came before an event: the one that follows it is newer."""
        events = self.client.events
        for event in list(events)[: events.index(found)]:
            if isinstance(event, Characters):
                events.remove(event)

    def _next_step(self, event: Event | None, now: Monotonic) -> None:
        self._since = now
        try:
            self._step = step = self.script.send(event)
            self._reached = step.name
            if step.action is not None:
                step.action(self.client)
        except StopIteration as end:
            self.result = end.value
            self._end()
        except EmuError as error:
            self.fail(error)

    def _end(self) -> None:
        self._step = None
        self.script.close()
        self.done = True


def _failure(step: Step[Any], event: Event) -> str | None:
    """Say why an event means that the step will never end, None when it means nothing."""
    match event:
        case LoginDenied(code, text):
            return f"login denied: {text} (code {code})"
        case Closed(reason):
            return f"the session ended at step '{step.name}': {reason}"
        case Unexpected(_, name, reason) if name and name == step.message:
            return f"the server's {name} cannot be read: {reason}"
    return None
