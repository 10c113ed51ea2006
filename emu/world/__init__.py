"""The built-in world without input or output.

`registration.registry.WorldRegistry` answers login servers (status, create, delete, play),
`entry.zone_entry.ZoneEntry` lets clients in with their world keys, `service.WorldService` handles
what players do in the world. What they need of the outside is stated in `emu.processes`.
"""
