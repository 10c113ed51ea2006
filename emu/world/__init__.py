"""The built-in world without input or output.

`registration.registry.WorldRegistry` answers login servers (status, create, delete, play),
`door.entry.Door` lets players in with the keys they were handed, `service.WorldService` takes what
they do inside. What they need of the outside is stated in `emu.processes`.
"""
