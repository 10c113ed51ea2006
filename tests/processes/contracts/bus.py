"""What every `Bus` must do. An implementation's test class gives `buses` and `settle`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from emu.errors import STORE_FAULT, CommandError, LocalProtocolError, StoreError, Unanswered
from emu.processes.ports import Bus, Note

Buses = Callable[[], Bus]


class BusContract:
    """Subclass it, with a fixture `buses` that gives one more process its end of the bus."""

    async def settle(self) -> None:
        """Wait until what was published is heard; nothing to wait for by default."""

    async def test_a_note_is_heard_in_every_process_once(self, buses: Buses) -> None:
        here, there = buses(), buses()
        heard: list[tuple[str, Note]] = []
        here.subscribe("weather", lambda note: heard.append(("here", note)))
        there.subscribe("weather", lambda note: heard.append(("there", note)))
        there.subscribe("tides", lambda note: heard.append(("tides", note)))
        await self.settle()
        here.publish("weather", {"rain": True})
        here.publish("unheard", {})
        await self.settle()
        assert sorted(who for who, _ in heard) == ["here", "there"]
        assert all(note == {"rain": True} for _, note in heard)

    async def test_every_kind_of_value_arrives_as_it_was(self, buses: Buses) -> None:
        here, there = buses(), buses()
        heard: list[Note] = []
        there.subscribe("values", heard.append)
        await self.settle()
        sent = {"text": "Ælf", "count": 1 << 40, "part": 0.5, "on": False, "raw": b"\0\xff",
                "none": None}  # fmt: skip
        here.publish("values", sent)
        sent["text"] = "changed afterwards"
        await self.settle()
        assert heard == [{**sent, "text": "Ælf"}]
        assert heard[0]["on"] is False

    async def test_notes_of_one_publisher_come_in_order(self, buses: Buses) -> None:
        here, there = buses(), buses()
        heard: list[object] = []
        there.subscribe("count", lambda note: heard.append(note["n"]))
        await self.settle()
        for n in range(50):
            here.publish("count", {"n": n})
        await self.settle()
        assert heard == list(range(50))

    async def test_what_a_subscriber_publishes_comes_after_what_it_heard(
        self, buses: Buses
    ) -> None:
        here = buses()
        heard: list[str] = []
        here.subscribe("first", lambda _: here.publish("second", {}))
        here.subscribe("first", lambda _: heard.append("first"))
        here.subscribe("second", lambda _: heard.append("second"))
        here.publish("first", {})
        await self.settle()
        assert heard == ["first", "second"]

    async def test_who_cancelled_hears_no_more(self, buses: Buses) -> None:
        here = buses()
        heard: list[Note] = []
        subscription = here.subscribe("weather", heard.append)
        here.publish("weather", {})
        await self.settle()
        subscription.cancel()
        subscription.cancel()
        here.publish("weather", {})
        await self.settle()
        assert heard == [{}]

    async def test_a_subscriber_that_fails_keeps_nothing_from_the_others(
        self, buses: Buses
    ) -> None:
        here = buses()
        heard: list[Note] = []

        def fails(_note: Note) -> None:
            raise ZeroDivisionError

        here.subscribe("weather", fails)
        here.subscribe("weather", heard.append)
        here.publish("weather", {})
        await self.settle()
        here.publish("weather", {"again": True})
        await self.settle()
        assert heard == [{}, {"again": True}]

    async def test_a_question_is_answered_from_any_process(self, buses: Buses) -> None:
        here, there = buses(), buses()

        async def double(note: Note) -> Note:
            return {"n": 2 * int(note["n"] or 0)}

        there.answer("double", double)
        await self.settle()
        assert await here.request("double", {"n": 21}) == {"n": 42}
        assert await there.request("double", {"n": 4}) == {"n": 8}

    async def test_a_question_that_nobody_answers_is_not_waited_for_in_vain(
        self, buses: Buses
    ) -> None:
        here = buses()

        async def nothing(_note: Note) -> Note:
            return {}

        with pytest.raises(Unanswered):
            await here.request("silence", {})
        here.answer("silence", nothing).cancel()
        with pytest.raises(Unanswered):
            await here.request("silence", {})

    async def test_an_error_of_the_answerer_arrives_as_its_text(self, buses: Buses) -> None:
        here, there = buses(), buses()

        async def fails(_note: Note) -> Note:
            raise CommandError("it is not there")

        async def fails_with_its_place(_note: Note) -> Note:
            raise StoreError("/srv/emu.sqlite: the disk is full")

        there.answer("find", fails)
        there.answer("save", fails_with_its_place)
        await self.settle()
        with pytest.raises(CommandError, match="it is not there"):
            await here.request("find", {})
        # Players may see the text.
        with pytest.raises(CommandError, match=STORE_FAULT):
            await here.request("save", {})

    async def test_of_several_answerers_one_is_asked(self, buses: Buses) -> None:
        here, there = buses(), buses()
        asked: list[str] = []

        def named(who: str) -> Callable[[Note], Awaitable[Note]]:
            async def answer(_note: Note) -> Note:
                asked.append(who)
                return {"who": who}

            return answer

        first = here.answer("who", named("first"))
        await self.settle()
        second = there.answer("who", named("second"))
        await self.settle()
        for bus in (here, there):
            await bus.request("who", {})
        assert len(asked) == 2
        first.cancel()
        first.cancel()
        await self.settle()
        for bus in (here, there):
            assert await bus.request("who", {}) == {"who": "second"}
        second.cancel()
        await self.settle()
        for bus in (here, there):
            with pytest.raises(Unanswered, match="no process answers who"):
                await bus.request("who", {})

    @pytest.mark.parametrize(
        "topic", ["", "Weather", "a b", "a..b", ".a", "a.", "a*", "\u00e6", "a" * 121]
    )
    async def test_what_no_broker_can_carry_is_no_topic(self, buses: Buses, topic: str) -> None:
        here = buses()

        async def nothing(_note: Note) -> Note:
            return {}

        with pytest.raises(LocalProtocolError):
            here.publish(topic, {})
        with pytest.raises(LocalProtocolError):
            here.subscribe(topic, [].append)
        with pytest.raises(LocalProtocolError):
            here.answer(topic, nothing)
