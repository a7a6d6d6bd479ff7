"""Ports on the loopback address for servers that tests start, also twice."""

import random
import socket
from contextlib import closing
from itertools import islice


def free_ports(count: int) -> list[int]:
    """Return different ports at which nobody listens, below those that clients are given."""
    ports = random.sample(range(20_000, 32_000), 100)
    return list(islice((port for port in ports if not listens(port)), count))


def free_port() -> int:
    """Return one such port."""
    return free_ports(1)[0]


def listens(port: int) -> bool:
    """Decide whether a server listens at a port."""
    with closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
