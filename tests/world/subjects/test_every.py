from emu.world.subjects.every import SUBJECTS, all_command_words
from tests.support.world.worlds import WorldHarness


def test_a_world_has_every_subject_with_its_commands() -> None:
    harness = WorldHarness()
    made = [type(one) for one in harness.parts.subjects]
    assert len(made) == len(SUBJECTS)
    assert {*made} == {*SUBJECTS}
    for subject in SUBJECTS:
        assert all(harness.registry.has_word(word) for word in subject.COMMANDS.words())
        assert subject.COMMANDS.words() <= all_command_words()
