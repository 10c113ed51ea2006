"""Administration: the server's status, its commands, and the protocols that operators' tools use.

Sans-IO, like the services: bytes and values in, bytes and values out. The Twisted side is
`emu.net.admin`.
"""
