"""A network thread under a virtual clock, and the clients that talk to it, one poll at a time."""

import selectors
import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache

import pytest
import trustme

from purgatory_impl import VirtualClock, network
from purgatory_impl.network.readiness import Readiness
from tests.impl.threads import LONG_S

both = pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])


@cache
def tls_contexts() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """The server's and the client's side, which trust each other."""
    authority = trustme.CA()
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(server)
    client = ssl.create_default_context()
    authority.configure_trust(client)
    return server, client


def frame(size: int) -> bytes:
    return struct.pack(">i", size)


@dataclass(slots=True)
class Client:
    """The peer of a channel."""

    channel: network.Channel
    wire: socket.socket

    def send(self, data: bytes) -> None:
        """Send, and return when the server's socket has it."""
        self.wire.sendall(data)
        if not self.channel.is_closed:
            with selectors.DefaultSelector() as arrivals:
                arrivals.register(self.channel.connection, selectors.EVENT_READ)
                arrivals.select(1)

    def request(self, body: bytes) -> None:
        self.send(frame(len(body)) + body)

    def announce(self, size: int) -> None:
        """Four bytes of size, and nothing of the body."""
        self.send(frame(size))

    def end(self) -> None:
        """Close in an orderly way."""
        self.wire.close()

    def half_close(self) -> None:
        """Send nothing more, and listen on."""
        socket.socket.shutdown(self.wire, socket.SHUT_WR)  # TLS would end both directions

    def good_bye(self) -> None:
        """Close in an orderly way, under TLS with its good-bye, whose answer is not waited for."""
        if isinstance(self.wire, ssl.SSLSocket):
            self.wire.setblocking(False)
            with suppress(ssl.SSLWantReadError):
                self.wire.unwrap()
        self.wire.close()

    def reset(self) -> None:
        """Break the connection."""
        self.wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if isinstance(self.wire, ssl.SSLSocket):
            socket.socket(fileno=self.wire.detach()).close()
        else:
            self.wire.close()

    def response(self) -> bytes:
        """The next response, which must be there or on its way; none at the server's end."""
        self.wire.settimeout(LONG_S)
        head = self._exactly(4)
        return self._exactly(*struct.unpack(">i", head)) if head else b""

    def _exactly(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            part = self.wire.recv(count - len(found))
            if not part:
                return b""
            found += part
        return found


@dataclass(slots=True)
class Bench:
    """A network thread, its pool of ``limit`` bytes, and what polls have brought so far."""

    limits: network.NetworkLimits
    tls: bool = False
    readiness: Readiness | None = None
    clock: VirtualClock = field(default_factory=VirtualClock)
    line: network.MemoryLine = field(init=False)
    thread: network.NetworkThread = field(init=False)
    listener: socket.socket = field(init=False)
    clients: list[Client] = field(default_factory=list)
    closed: dict[int, network.CloseReason] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.line = network.MemoryLine(self.limits.memory_pool(), clock=self.clock)
        self.thread = network.NetworkThread(
            self.line, self.limits, clock=self.clock, readiness=self.readiness
        )
        self.listener = socket.create_server(("127.0.0.1", 0))

    def connect(self) -> Client:
        """A client whose handshake is done."""
        wire = socket.create_connection(self.listener.getsockname())
        connection, _ = self.listener.accept()
        if not self.tls:
            channel = self.thread.add(connection)
            self.poll()
        else:
            server, client = tls_contexts()
            channel = self.thread.add(connection, server)
            secured: list[ssl.SSLSocket] = []
            shaking = threading.Thread(
                target=lambda: secured.append(client.wrap_socket(wire, server_hostname="localhost"))
            )
            shaking.start()
            while shaking.is_alive() or not channel.is_ready:
                self.poll(10)
            shaking.join()
            wire = secured[0]
        self.clients.append(Client(channel, wire))
        return self.clients[-1]

    def poll(self, timeout_ms: int = 0, *, is_reading: bool = True) -> list[network.Request]:
        polled = self.thread.poll(timeout_ms, is_reading=is_reading)
        self.closed.update((each.channel.number, each.reason) for each in polled.closed)
        return polled.received

    def one(self) -> network.Request:
        """The request that the next poll brings, alone."""
        (request,) = self.poll()
        return request

    def asked(self, body: bytes) -> tuple[Client, network.Request]:
        """Connect a client; return it with its first request, which the next poll brings alone."""
        client = self.connect()
        return client, self.next_of(client, body)

    def next_of(self, client: Client, body: bytes) -> network.Request:
        """Return the next request of a client, which the next poll brings alone."""
        client.request(body)
        return self.one()

    def complete(self, request: network.Request, response: bytes | None = b"") -> None:
        request.release()
        request.respond(response)

    @property
    def available(self) -> int:
        return self.line.pool.available_bytes


@contextmanager
def bench(
    limit: int = -1,
    largest: int = 100,
    *,
    tls: bool = False,
    idle_ms: int = 0,
    receive_ms: int = 0,
    limits: network.NetworkLimits | None = None,
    readiness: Readiness | None = None,
) -> Iterator[Bench]:
    """A bench that must leave no memory out once its requests are released."""
    made = Bench(
        limits or network.NetworkLimits(limit, largest, idle_ms, receive_ms), tls, readiness
    )
    try:
        yield made
        made.thread.close()
        if limit > 0:
            assert made.available == limit
        assert made.line.waiting == 0
    finally:
        made.thread.close()
        made.listener.close()
        for client in made.clients:
            client.wire.close()


def waits(client: Client) -> bool:
    return client.channel.mutes == {network.Mute.MEMORY}
