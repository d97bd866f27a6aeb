"""A port of loopback for a server that cannot be given the socket itself."""
import random
import socket


def free_port() -> int:
    """Not one of those that outgoing connections are given, on Linux from 32768 on: such a port could be taken before the
    server has it."""
    while True:
        port = random.randrange(10_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
