"""A login worker without a login service: reports itself, and answers each datagram.

``python worker_program.py INDEX [MODE]``; it imports nothing of the package, so it starts soon. A
datagram is answered with the worker's number, its process and what was received. MODE ``broken``
cannot start, ``stubborn`` does not end when it is asked to.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys

UDP_DESCRIPTOR = 3


def write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def notify(line: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(line.encode(), os.environ["NOTIFY_SOCKET"])


def serve(index: int) -> None:
    """Answer datagrams until the supervisor is gone."""
    clients = socket.socket(fileno=UDP_DESCRIPTOR)
    while True:
        readable, _, _ = select.select([clients.fileno(), 0], [], [], 0.05)
        if clients.fileno() in readable:
            data, peer = clients.recvfrom(4096)
            clients.sendto(f"{index} {os.getpid()} ".encode() + data, peer)
        if 0 in readable and not os.read(0, 1024):
            return
        notify("WATCHDOG=1")


def main(index: int, mode: str = "") -> None:
    """Run as a worker."""
    if mode == "broken":
        write("emu: the database is away")
        sys.exit(1)
    write(f"worker {index} begins")
    if mode == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, lambda *_: write(f"worker {index} reads again"))
    notify("READY=1\nSTATUS=0 players")
    serve(index)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
