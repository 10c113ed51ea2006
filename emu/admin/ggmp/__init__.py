"""The Generic Gameserver Messaging Protocol 0.4.0: tools that watch actors of the world and act.

Source: docs/protocol/administration/ggmp.md. `messages` and `values` are the bytes; `window`,
`outbox` and `transfers` what each end keeps of the other, joined in `peer`; `server` lets clients
in, and `acting` does what they ask; `client` is the other end.
"""
