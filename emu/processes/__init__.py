"""The interfaces between the processes of one world, with their implementations.

`ports` states `HandoffKeys`, `Presence`, `ZoneServers`, `Bus` and the stores. `shared` implements
keys, zone servers and the bus for a single process, `presence` the characters in the world over any
bus, with the tables of `tables`. A broker or a database can implement the same ports; the tests
under ``contracts`` state their requirements. The package uses no socket and no clock.
"""
