"""Several processes that are one world: a hub, and members that are connected to it.

`frames` cuts the stream of a connection, `greeting` lets nobody in without the secret, `end` is one
end of a connection, `bus` the `Bus` over any number of them. `remote` and
`desk` let members have the hub's hand-off keys and its characters, `leases` one of them each.
Nothing here knows a socket or a clock.
"""
