"""The small program that stands in for a forked one where a shell or `subprocess` starts it.

``python -IS forked_command.py SOCKET PROGRAM [ARGUMENT...]`` asks the process of `forking` for the
program, with this process's files, folder and environment, and ends with its exit status. It
imports next to nothing, and so starts in some milliseconds.
"""

from __future__ import annotations

import _socket
import array
import os
import sys

LONGEST_REQUEST = 1 << 20
"""Maximum size of a request in bytes; an environment has some kilobytes."""
TWISTD = "FORKED_TWISTD"
"""Variable with the script that `emu start` and `emu run` are to run in place of `twistd`."""
FILES = (0, 1, 2)
"""Standard input, output and error."""


def encode_request(
    arguments: list[str], folder: str, umask: int, environment: dict[str, str]
) -> bytes:
    """Return the text of a request for a program: each part ends with a null byte."""
    variables = [f"{name}={value}" for name, value in environment.items()]
    parts = [folder, str(umask), str(len(arguments)), *arguments, *variables]
    return b"".join(os.fsencode(part) + b"\0" for part in parts)


def send_request(asker: _socket.socket, request: bytes, files: tuple[int, ...] = FILES) -> None:
    """Send a request with the descriptors of the program's standard files."""
    rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", files))
    sent = asker.sendmsg([len(request).to_bytes(4, "big")], [rights])
    assert sent == 4
    asker.sendall(request)


def main(place: str, arguments: list[str]) -> int:
    """Run a forked program; return its exit status, or 128 and the number of its signal."""
    asker = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    asker.connect(place)
    umask = os.umask(0)
    os.umask(umask)
    folder = os.getcwd()  # noqa: PTH109  # pathlib takes longer than all the rest
    send_request(asker, encode_request(arguments, folder, umask, dict(os.environ)))
    answer = b""
    while more := asker.recv(100):
        answer += more
    _, status = map(int, answer.split())
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
