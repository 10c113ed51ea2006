"""Source server queries (A2S), the protocol of today's server lists and monitoring tools.

Source: docs/protocol/administration/a2s.md. `messages` has the datagrams, `responder` the server,
`client` the client.
"""
