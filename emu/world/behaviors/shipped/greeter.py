"""A behavior that greets players who come near and answers a hail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from emu.world.behaviors.api import Actor, Visitor


class Greeter:
    """Greets each player once per visit.

    Options: `greeting` and `answer` (``{name}`` is the player's name), `choices`, and `answers`
    with one text for each choice.
    """

    near = 12.0

    def __init__(self, me: Actor, options: Mapping[str, Any]) -> None:
        self.me = me
        self.greeting = str(options.get("greeting", "Welcome, {name}!"))
        self.answer = str(options.get("answer", "Well met, {name}."))
        self.choices = [str(choice) for choice in options.get("choices", ())]
        self.answers = [str(answer) for answer in options.get("answers", ())]

    def on_enter(self, visitor: Visitor) -> None:
        """Greet a player who comes near."""
        self.me.look_at(visitor)
        self.me.say(self.greeting.replace("{name}", visitor.name))

    def on_hail(self, visitor: Visitor) -> None:
        """Answer, or open a dialog if there are choices."""
        self.me.look_at(visitor)
        answer = self.answer.replace("{name}", visitor.name)
        if self.choices:
            self.me.ask(visitor, answer, *self.choices)
        else:
            self.me.say(answer)

    def on_choice(self, visitor: Visitor, number: int) -> None:
        """Say the text of the chosen answer."""
        if 1 <= number <= len(self.answers):
            self.me.say(self.answers[number - 1].replace("{name}", visitor.name))
