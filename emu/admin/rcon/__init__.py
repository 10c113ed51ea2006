"""Source RCON: commands over TCP, for operators' tools.

`packets` has the wire format and the client's side, `session` the server's side.
"""
