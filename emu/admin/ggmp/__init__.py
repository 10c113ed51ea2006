"""The Generic Gameserver Messaging Protocol 0.4.0: tools observe and control actors of the world.

Source: docs/protocol/administration/ggmp.md. `messages` has the datagrams, `peer` what each side
keeps of the other, `server` the clients that are logged in, `acting` the requests that they make,
`client` the client's side.
"""
