"""Source RCON: commands over TCP, for the tools that administrators have.

`packets` is the wire format, `session` the server's side, `client` the other.
"""
