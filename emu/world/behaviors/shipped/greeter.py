"""A behavior that greets players who come near and answers a hail."""

from __future__ import annotations

from attrs import frozen

from emu.world.behaviors.api import Actor, Visitor
from emu.world.behaviors.options import NAME, option


@frozen
class GreeterOptions:
    """The options of the greeter; ``{name}`` is the player's name."""

    greeting: str = option(
        "Welcome, {name}!", "Text that it says to a player who comes near.", placeholders=NAME
    )
    answer: str = option(
        "Well met, {name}.",
        "Answer to a hail; with choices, the question of the dialog.",
        placeholders=NAME,
    )
    choices: tuple[str, ...] = option(
        (), "Answers that a player can choose in the dialog. Without choices there is no dialog.",
        most=16,
    )  # fmt: skip
    answers: tuple[str, ...] = option(
        (), "Texts that it says for each choice, in the same order.", placeholders=NAME, most=16
    )


class Greeter:
    """Greets each player once per visit, and answers a hail or opens a dialog."""

    Options = GreeterOptions
    near = 12.0

    def __init__(self, me: Actor, options: GreeterOptions) -> None:
        self.me = me
        self.options = options

    def on_enter(self, visitor: Visitor) -> None:
        """Greet a player who comes near."""
        self.me.look_at(visitor)
        self.me.say(self.options.greeting.replace("{name}", visitor.name))

    def on_hail(self, visitor: Visitor) -> None:
        """Answer, or open a dialog if there are choices."""
        self.me.look_at(visitor)
        answer = self.options.answer.replace("{name}", visitor.name)
        if self.options.choices:
            self.me.ask(visitor, answer, *self.options.choices)
        else:
            self.me.say(answer)

    def on_choice(self, visitor: Visitor, number: int) -> None:
        """Say the text of the chosen answer."""
        answers = self.options.answers
        if 1 <= number <= len(answers):
            self.me.say(answers[number - 1].replace("{name}", visitor.name))
