from emu.admin.console import MOST_WAITING, CommandSession
from emu.admin.ports import CommandGiven, SessionEnded
from emu.commands import Caller, Reply
from emu.times import Monotonic

NOW = Monotonic(3.0)
CALLER = Caller("root", 1000, "here")


class Words(CommandSession[str]):
    """Each word is a command; its answer is a line."""

    def receive(self, *words: str) -> None:
        self._waiting.extend(words)
        self._work(NOW)

    def _answer(self, asked: str, reply: Reply, now: Monotonic) -> None:
        self._output.append(f"{asked}: {reply.text} at {now}".encode())

    def _work(self, _now: Monotonic) -> None:
        if self._running is None and self._waiting:
            self._running = self._waiting.popleft()
            self._events.append(CommandGiven(CALLER, self._running))


def test_one_command_runs_at_a_time_and_answers_keep_their_order() -> None:
    session = Words()
    session.receive("a", "b")
    assert session.next_event() == CommandGiven(CALLER, "a")
    assert session.next_event() is None
    session.answered(Reply(("done",)), NOW)
    assert session.data_to_send() == [b"a: done at 3.0"]
    assert session.data_to_send() == []
    assert session.next_event() == CommandGiven(CALLER, "b")


def test_an_answer_that_nobody_waits_for_goes_nowhere() -> None:
    session = Words()
    session.answered(Reply(("done",)), NOW)
    session.receive("a")
    session.close("enough", NOW)
    session.answered(Reply(("done",)), NOW)
    assert session.data_to_send() == []


def test_the_end_is_reported_once_and_what_waits_is_dropped() -> None:
    session = Words()
    session.receive(*"a" * (MOST_WAITING + 1))
    assert not session.wants_data
    session.next_event()
    session.answered(Reply(("done",)), NOW)
    session.close("enough", NOW)
    session.connection_lost(NOW)
    assert (session.closed, session.close_reason) == (True, "enough")
    session.next_event()
    assert session.next_event() == SessionEnded("enough")
    assert session.next_event() is None
    assert session.data_to_send() == []
