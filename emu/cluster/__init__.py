"""The nodes of a cluster: processes of one world that share a database.

`ports` states what the database has to store: nodes with their terms, zone instances, and leases.
`placement` chooses the node of a zone instance. `node` is one node: its beats, its term, the zones
and leases that it holds, and what it does after it was away. `drain` sends its players to other
nodes. `zone_servers` implements `emu.processes.ports.ZoneServers` over a node. `memory` implements
the store in memory.

A coroutine of this package awaits only the store. Times are arguments, and whether another node
lives is decided by the database's clock, so no two machines compare their clocks.
"""
