"""A server that is run over loopback, its clients, and the check that nothing of it is left."""

import gc
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from purgatory_impl.clocks import Clock
from purgatory_impl.network import NetworkLimits, Request, Server
from tests.impl.network.wire import frame, tls_contexts
from tests.impl.threads import LONG_S

DESCRIPTORS = Path("/proc/self/fd")


def echo(request: Request) -> None:
    request.respond(bytes(request.payload[:4]))


@contextmanager
def serving(
    handler: Callable[[Request], None],
    limits: NetworkLimits,
    *,
    tls: bool = False,
    network_threads: int = 2,
    clock: Clock | None = None,
) -> Iterator[Server]:
    """A server that in the end has all its memory, no connection and no descriptor left."""
    gc.collect()
    before = len(list(DESCRIPTORS.iterdir())) if DESCRIPTORS.is_dir() else 0
    server = Server(
        handler,
        limits,
        tls=tls_contexts()[0] if tls else None,
        network_threads=network_threads,
        clock=clock,
    )
    with server:
        yield server
    if limits.limit_bytes > 0:
        assert server.line.pool.available_bytes == limits.limit_bytes
    assert server.connections == 0
    if before:
        gc.collect()
        assert len(list(DESCRIPTORS.iterdir())) <= before


def dial(server: Server, *, tls: bool = False) -> socket.socket:
    wire = socket.create_connection(server.address, timeout=LONG_S)
    return tls_contexts()[1].wrap_socket(wire, server_hostname="localhost") if tls else wire


def exactly(wire: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        part = wire.recv(count - len(found))
        if not part:
            raise EOFError
        found += part
    return found


def response(wire: socket.socket) -> bytes:
    return exactly(wire, *struct.unpack(">i", exactly(wire, 4)))


def ask(wire: socket.socket, body: bytes) -> bytes:
    wire.sendall(frame(len(body)) + body)
    return response(wire)


def eventually(is_so: Callable[[], bool]) -> bool:
    ends = time.monotonic() + LONG_S
    while not is_so() and time.monotonic() < ends:
        time.sleep(0.005)
    return is_so()
