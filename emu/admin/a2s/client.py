"""Queries a server by A2S."""

from __future__ import annotations

from typing import Final

from emu.admin.a2s.messages import (
    A2sAnswer,
    A2sInfo,
    A2sJoiner,
    A2sPlayer,
    A2sQuery,
    pull_answer,
    pull_challenge,
    pull_info,
    pull_players,
    pull_rules,
    push_query,
)
from emu.errors import CommandError, MalformedMessage

MOST_CHALLENGES: Final = 3
"""Times that a query is repeated because the server refuses its challenge."""
_ANSWERS: Final = {
    A2sQuery.INFO: A2sAnswer.INFO,
    A2sQuery.PLAYERS: A2sAnswer.PLAYERS,
    A2sQuery.RULES: A2sAnswer.RULES,
}


class A2sQuestion:
    """One of the three queries; the answer is in `info`, `players` or `rules`."""

    def __init__(self, query: A2sQuery, challenge: int | None = None) -> None:
        """A `challenge` of an earlier query saves one round trip."""
        self._query = query
        self.challenge = challenge
        self._challenges = 0
        self._joiner = A2sJoiner()
        self.info: A2sInfo | None = None
        self.players: list[A2sPlayer] | None = None
        self.rules: list[tuple[str, str]] | None = None

    @property
    def is_answered(self) -> bool:
        """Whether the answer is complete."""
        return not (self.info is None and self.players is None and self.rules is None)

    def datagram(self) -> bytes:
        """Return the query, with the challenge if there is one."""
        return push_query(self._query, self.challenge)

    def receive(self, data: bytes) -> bool:
        """Handle a datagram; return True if the query must be sent again, with a challenge."""
        # An answer to RULES may come in several datagrams.
        whole = self._joiner.join(data)
        if whole is None:
            return False
        kind, reader = pull_answer(whole)
        if kind is A2sAnswer.CHALLENGE:
            # Counted, because a broken server could ask again for ever.
            self._challenges += 1
            if self._challenges > MOST_CHALLENGES:
                raise CommandError("the server refuses its own challenge")
            self.challenge = pull_challenge(reader)
            return True
        if kind is not _ANSWERS[self._query]:
            raise MalformedMessage("answer to another query")
        if kind is A2sAnswer.INFO:
            self.info = pull_info(reader)
        elif kind is A2sAnswer.PLAYERS:
            self.players = pull_players(reader)
        else:
            self.rules = pull_rules(reader)
        return False
