"""Source server queries (A2S): what every listing and monitoring tool of today asks.

Source: docs/protocol/administration/a2s.md. `messages` are the datagrams, `responder` answers,
`client` asks.
"""
