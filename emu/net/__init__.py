"""The Twisted shell: sockets, timers, threads and signals around the cores, and nothing else.

`server.EmuService` is the whole, made of the parts in `login`, `world`, `admin`, `web` and `fleet`.
`udp` serves sessions and questions, `stream` connections, `link` the login-world link, `stores` the
database, and `scheduler` tells all of them the time. Protocol rules do not belong here: what a test
can show without a reactor is in another package.
"""
