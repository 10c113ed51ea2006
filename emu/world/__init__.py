"""The built-in world without input or output.

`registry.WorldRegistry` answers login servers (status, create, delete, play), `handoff` keeps the
keys they hand to players, `entry.Door` lets players in with them. `ports` states what is needed
of the outside.
"""
