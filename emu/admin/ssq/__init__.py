"""Standard Server Queries 0.31: questions in the manner of SQL about a server and its players.

Source: docs/protocol/administration/ssq.md. `responder` answers, `client` asks; `query` and
`conditions` read what is asked, `tables` says what there is, `rows` and `packets` how it is sent.
"""
