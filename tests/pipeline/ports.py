"""Ports on the loopback address for servers that tests start, also twice."""

import random
import socket
from contextlib import closing


def free_port() -> int:
    """Return a port that nobody listens at, below those that the system gives to clients."""
    return next(port for port in random.sample(range(20_000, 32_000), 100) if not listens(port))


def listens(port: int) -> bool:
    """Decide whether a server listens at a port."""
    with closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
