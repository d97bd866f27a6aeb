"""A free loopback port, for servers that do not accept a socket."""
import random
import socket


def free_port() -> int:
    """Returns a port outside the range of outgoing connections, which begins at 32768 on Linux. A connection could
    take a port of that range before the server binds it."""
    while True:
        port = random.randrange(10_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
