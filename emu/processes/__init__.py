"""The interfaces between the processes of one world, with their implementations.

`ports` states `HandoffKeys`, `Presence`, `ZoneServers`, `Bus` and the stores. `shared` implements
them for a single process. A broker or a database can implement the same ports; the tests under
``contracts`` state their requirements. The package uses no socket and no clock.
"""
