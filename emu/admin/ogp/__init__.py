"""The Open Game Protocol, 0.91 and 0.94: queries about a server, and their answers.

Source: docs/protocol/administration/ogp.md. `responder` is the server's side, `client` the
client's, `messages` a datagram's head and body, `fields` the tables of what differs between the
versions.
"""
