"""For those who run the server: what it tells of itself, its commands, and the protocols they use.

Sans-IO, like the services: bytes and values in, bytes and values out. The shells are in
`emu.net.admin`.
"""
