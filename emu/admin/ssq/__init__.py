"""Standard Server Queries 0.31: SQL-like queries about a server and its players.

Source: docs/protocol/administration/ssq.md. `responder` is the server's side, `query` parses a
query, `tables` has the rows that can be queried, `packets` their encoding and the client's side.
"""
