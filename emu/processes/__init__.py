"""What several processes of one server share, as ports, with what serves one process.

`ports` states `HandoffKeys`, `Presence`, `ZoneServers` and `Bus`; `handoffs`, `presence`,
`zone_servers` and `bus` implement them for processes that are one. `stores` states what one of them
stores for all. A broker or a database plugs in by implementing the same ports; the tests under
``contracts`` say what it must do.
"""
