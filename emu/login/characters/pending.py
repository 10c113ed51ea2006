"""Create requests that worlds have not answered."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass

from emu.login.characters.creation import CreateRequest
from emu.login.client import Client
from emu.model import CreateResponse
from emu.times import Monotonic

MOST_UNANSWERED = 4
"""Requests of one account that one world may leave unanswered before further ones are refused."""


@dataclass(slots=True)
class PendingCreate:
    """One create request on its way to a world and back."""

    account_id: int
    account_name: str
    address: str
    request: CreateRequest
    expires: float
    client: Client | None
    """None once the session that asked is over; the answer still makes the row."""
    is_awaited: bool = True
    """The client waits: it is still there, and has not been told to wait no longer."""


class PendingCreates:
    """Create requests that worlds have not answered, in the order they were sent.

    A world answers in order and names the account only, so the oldest request of that account
    belongs to an answer. Requests are kept when their client is gone or has been told to wait no
    longer: the world may have made the character all the same (EQ2Emulator's login server loses
    it). What is older than its `expires` goes when the next request comes.
    """

    def __init__(self) -> None:
        self._waiting: OrderedDict[tuple[int, int], deque[PendingCreate]] = OrderedDict()
        self._awaited: dict[Client, PendingCreate] = {}

    def __len__(self) -> int:
        return sum(len(queue) for queue in self._waiting.values())

    def add(self, pending: PendingCreate, now: Monotonic) -> bool:
        """Keep a request; False when the account has one waiting, or too many unanswered."""
        self._expire(now)
        key = (pending.request.world_id, pending.account_id)
        queue = self._waiting.setdefault(key, deque())
        if len(queue) >= MOST_UNANSWERED or any(other.is_awaited for other in queue):
            return False
        queue.append(pending)
        self._waiting.move_to_end(key)
        if pending.client is not None:
            self._awaited[pending.client] = pending
        return True

    def awaited_by(self, client: Client) -> PendingCreate | None:
        """Return the request whose answer a client waits for."""
        return self._awaited.get(client)

    def wait_no_longer(self, pending: PendingCreate) -> None:
        """Note that the client is not to wait any more; the request stays if it is unanswered."""
        pending.is_awaited = False
        if pending.client is not None:
            self._awaited.pop(pending.client, None)

    def client_gone(self, client: Client) -> None:
        """Note that a client's session is over."""
        pending = self.awaited_by(client)
        if pending is not None:
            self.wait_no_longer(pending)
            pending.client = None

    def answered(self, answer: CreateResponse) -> PendingCreate | None:
        """Take out the request that an answer belongs to.

        Account 0 means that the world could not read the request: it belongs to the only client
        that waits for this world, if there is exactly one.
        """
        if answer.account_id:
            return self._take((answer.world_id, answer.account_id))
        keys = [
            key
            for key, queue in self._waiting.items()
            if key[0] == answer.world_id and any(one.is_awaited for one in queue)
        ]
        return self._take(keys[0]) if len(keys) == 1 else None

    def world_gone(self, world_id: int) -> list[PendingCreate]:
        """Take out every request to a world whose link is down; no answer can come any more."""
        gone: list[PendingCreate] = []
        for key in [key for key in self._waiting if key[0] == world_id]:
            gone.extend(self._waiting.pop(key))
        return gone

    def withdraw(self, pending: PendingCreate) -> None:
        """Take out a request that never reached its world."""
        key = (pending.request.world_id, pending.account_id)
        queue = self._waiting.get(key)
        if queue and pending in queue:
            queue.remove(pending)
            if not queue:
                del self._waiting[key]

    def _take(self, key: tuple[int, int]) -> PendingCreate | None:
        queue = self._waiting.get(key)
        if not queue:
            return None
        taken = queue.popleft()
        if not queue:
            del self._waiting[key]
        return taken

    def _expire(self, now: Monotonic) -> None:
        for key, queue in list(self._waiting.items()):
            while queue and queue[0].expires <= now:
                queue.popleft()
            if queue:
                break  # keys are in the order of their newest request
            del self._waiting[key]
