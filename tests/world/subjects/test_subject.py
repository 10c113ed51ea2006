from emu.metrics import MetricRegistry
from emu.scripts.signatures import FunctionTable, bind
from emu.world.messages import WorldMessages
from emu.world.subjects.subject import Subject


def test_a_subject_without_messages_and_measures_adds_none() -> None:
    messages, measures = WorldMessages(), MetricRegistry()
    Subject().register(messages)
    Subject().measure(measures)
    assert not messages
    assert measures.read_samples() == MetricRegistry().read_samples()


def test_the_functions_of_a_subject_get_the_subject() -> None:
    table = FunctionTable()

    @table("Twice", "u number")
    def twice(factor: int, number: int) -> int:
        """Multiply a number."""
        return factor * number

    bound = table.bound(2).functions["Twice"]
    assert bind(bound, "the context of the other functions")(21) == 42
    assert bound.summary == "Multiply a number."
