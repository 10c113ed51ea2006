"""The interfaces between the processes of one world, with their implementations.

`ports` states `HandoffKeys`, `Presence`, `ZoneServers`, `Bus` and the stores. `shared` implements
keys and zone servers for a single process, `bus` the bus of one, and `exchange` the bus of several
over any broker. `presence` has the characters in the world
over any bus, with the tables of `tables`. The tests under ``contracts`` state the requirements. The
package uses no socket and no clock.
"""
