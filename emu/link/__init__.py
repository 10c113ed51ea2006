"""EQ2Emulator's TCP link between login server and world servers, without input and output.

`codec` splits a byte stream into frames, and `messages` converts their payloads.
`LoginLinkProtocol` and `WorldLinkProtocol` are the two sides of a link: bytes in, bytes out, one
timer, events. The package uses no socket, clock or store. Source: docs/protocol/link.md.
"""
