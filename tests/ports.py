"""Ports for tests that have to name one before anybody listens there."""

import socket
from contextlib import ExitStack, suppress

from windvane import ambient


def free_port(among: range = range(10_000, 30_000)) -> int:
    """A port of 127.0.0.1 that nobody listens on, of those that a system gives only to who asks for them by number.

    One that it chose itself it may give to the next connection of any other test, before ours is taken.
    """
    (port,) = free_ports(1, among)
    return port


def free_ports(count: int, among: range = range(10_000, 30_000)) -> list[int]:
    """Several of them, each another one."""
    with ExitStack() as held:
        ports: list[int] = []
        while len(ports) < count:
            port = among[int(ambient.token(6, "0123456789")) % len(among)]
            with suppress(OSError):
                held.enter_context(socket.create_server(("127.0.0.1", port)))
                ports.append(port)
        return ports
