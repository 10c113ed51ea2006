"""`tools.ports` finds numbers that servers can listen on by UDP and by TCP."""

import socket

from tools.ports import HOST, free_port, free_ports


def test_the_numbers_differ() -> None:
    assert len(set(free_ports(20))) == 20


def test_a_number_is_free_for_tcp_and_for_udp() -> None:
    number = free_port()
    with socket.create_server((HOST, number)), socket.socket(type=socket.SOCK_DGRAM) as udp:
        udp.bind((HOST, number))
