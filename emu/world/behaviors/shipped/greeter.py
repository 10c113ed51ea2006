"""Greets who comes near, and answers a hail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from emu.world.behaviors.api import Actor, Visitor


class Greeter:
    """Greets everybody once a visit.

    Options: `greeting` and `answer` (with ``{name}`` for the player), `choices` with an `answers`
    text for each.
    """

    near = 12.0

    def __init__(self, me: Actor, options: Mapping[str, Any]) -> None:
        self.me = me
        self.greeting = str(options.get("greeting", "Welcome, {name}!"))
        self.answer = str(options.get("answer", "Well met, {name}."))
        self.choices = [str(choice) for choice in options.get("choices", ())]
        self.answers = [str(answer) for answer in options.get("answers", ())]

    def on_enter(self, visitor: Visitor) -> None:
        """Greet somebody who comes near."""
        self.me.look_at(visitor)
        self.me.say(self.greeting.replace("{name}", visitor.name))

    def on_hail(self, visitor: Visitor) -> None:
        """Answer, or ask."""
        self.me.look_at(visitor)
        answer = self.answer.replace("{name}", visitor.name)
        if self.choices:
            self.me.ask(visitor, answer, *self.choices)
        else:
            self.me.say(answer)

    def on_choice(self, visitor: Visitor, number: int) -> None:
        """Say what belongs to the answer that was chosen."""
        if 1 <= number <= len(self.answers):
            self.me.say(self.answers[number - 1].replace("{name}", visitor.name))
