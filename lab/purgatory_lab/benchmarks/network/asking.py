"""The clients' process: connects, sends what it is told, reads the responses, and leaves.

python -m purgatory_lab.benchmarks.network.asking '{"port": ...}'
"""

import socket
import ssl
import struct
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import msgspec

from purgatory_lab.benchmarks.network.messages import Ask, Load

_RESPONSE_BYTES = 4
"""A response is empty: its size."""


def ask(task: Ask) -> None:
    """Send all requests and read all responses.

    Raises:
        EOFError: the server has closed a connection.
        TimeoutError: a response has not come in time.
    """
    load = task.load
    batch = (struct.pack(">i", load.body_bytes) + b"x" * load.body_bytes) * load.outstanding
    with ExitStack() as stack:
        plain = [
            stack.enter_context(socket.create_connection(("127.0.0.1", task.port)))
            for _ in range(load.connections)
        ]
        wires = [stack.enter_context(_ready(wire, task)) for wire in plain]
        if load.is_crowd:
            with ThreadPoolExecutor(len(wires)) as crowd:
                for done in [crowd.submit(_talk, [wire], load, batch) for wire in wires]:
                    done.result()
        else:
            _talk(wires, load, batch)


def _ready(wire: socket.socket, task: Ask) -> socket.socket:
    wire.settimeout(task.patience_s)
    wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if not task.authority:
        return wire
    context = ssl.create_default_context(cafile=task.authority)
    return context.wrap_socket(wire, server_hostname="localhost")


def _talk(wires: list[socket.socket], load: Load, batch: bytes) -> None:
    """Send a batch on each connection, then read the responses of each, until all is sent."""
    wanted = _RESPONSE_BYTES * load.outstanding
    for _ in range(load.requests // load.outstanding):
        for wire in wires:
            wire.sendall(batch)
        for wire in wires:
            missing = wanted
            while missing:
                found = len(wire.recv(missing))
                if not found:
                    raise EOFError("the server has closed a connection")
                missing -= found


if __name__ == "__main__":
    ask(msgspec.json.decode(sys.argv[1], type=Ask))
