"""The Twisted shell: sockets, timers, threads and signals around the protocol packages.

`server.EmuService` is the whole server, made of `login`, `world`, `admin`, `web` and `cluster`.
`udp` serves sessions and queries, `stream` connections, `link` the login-world link, `store` the
database, and `scheduler` gives all of them the time. Protocol rules do not belong here: code that
can be tested without a reactor is in another package.
"""
