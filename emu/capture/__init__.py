"""Captures: read them, follow the sessions in them, write a server's own, and a dissector.

Sans-IO: files and terminals are the business of `emu.cli.capture`. Rooms: `stream`, `pcap`,
`pcapng`, `frames` (files to datagrams), `keys`, `trace` (what a server writes), `follow` (datagrams
to messages), `dissector` (a Wireshark script).
"""
