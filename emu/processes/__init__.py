"""The interfaces between the processes of one world, with their implementations.

`ports` states `HandoffKeys`, `Presence`, `ZoneServers`, `Bus` and the stores. `local` and
`presence` implement them for a single process. `bus`, `connection` and `remote` implement them for
a hub and the members that are connected to it: the bus over connections, frames and greeting, and
the members' calls to the hub. A broker or a database can implement the same ports; the tests under
``contracts`` state their requirements. The package uses no socket and no clock.
"""
