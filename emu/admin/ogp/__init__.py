"""The Open Game Protocol, 0.91 and 0.94: questions about a server and their answers.

Source: docs/protocol/administration/ogp.md. `responder` answers, `client` asks; `head` and `body`
are the two parts of a datagram, `fields` what differs between the versions, as tables.
"""
