"""The clients that are logged in: one for each account, and so many for each address."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from emu.limits.addresses import address_key
from emu.login.client import Client


class LoggedIn:
    """Clients by account id. At most `per_address` of them may be from one address."""

    def __init__(self, per_address: int) -> None:
        self._per_address = per_address
        self._clients: dict[int, Client] = {}
        self._addresses: Counter[str] = Counter()
        """How many of them there are from each address (IPv6: from each /64 network)."""

    def __len__(self) -> int:
        return len(self._clients)

    def __iter__(self) -> Iterator[Client]:
        """Go through the clients as they are now; some may end meanwhile."""
        return iter(list(self._clients.values()))

    def find(self, account_id: int) -> Client | None:
        """Return an account's client."""
        return self._clients.get(account_id)

    def is_full(self, address: str, account_id: int) -> bool:
        """Say whether an address has as many clients as it may, not counting this account's."""
        source = address_key(address)
        here = self._addresses.get(source, 0)
        earlier = self._clients.get(account_id)
        if earlier is not None and address_key(earlier.address) == source:
            here -= 1
        return here >= self._per_address

    def add(self, client: Client) -> None:
        """Add a client; the account must not have another one."""
        self._clients[client.account_id] = client
        self._addresses[address_key(client.address)] += 1

    def remove(self, client: Client) -> None:
        """Forget a client, if it is here; its account may log in again at once."""
        if client.account is None or self._clients.get(client.account.id) is not client:
            return
        del self._clients[client.account.id]
        source = address_key(client.address)
        self._addresses[source] -= 1
        if not self._addresses[source]:
            del self._addresses[source]
