"""Clients of a server under test on the loopback interface, plain and by TLS.

A client is used by the thread that also polls the server, so that nothing happens by itself: it
sends one write, which TLS makes one record, and tells how many bytes that put on the wire.
"""

import array
import contextlib
import select
import socket
import ssl
import struct
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from purgatory_conformance.subjects.sent_requests import SentRequests
from purgatory_spec.operations import Announce, Ending, HangUp, Send

PATIENCE_S: Final = 10.0
"""The longest wait for bytes that must come, s."""

CallOfClient: TypeAlias = Announce | Send | HangUp
"""The operations that a client does to its own end of a connection."""

_LINGER_ZERO: Final = struct.pack("ii", 1, 0)
_CERTIFICATE: Final = Path(__file__).parent / "loopback.pem"
_CHUNK_BYTES: Final = 65536


@cache
def server_context() -> ssl.SSLContext:
    """Return the server's side of TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_CERTIFICATE)
    return context


@cache
def _client_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(_CERTIFICATE)
    return context


class Client(Protocol):
    """A client of one connection."""

    def shake_hands(self) -> bool:
        """Go on with the handshake as far as the server's bytes allow; whether it is complete."""

    def send(self, data: bytes) -> int:
        """Send in one write; how many bytes that is on the wire."""

    def receive(self, count: int) -> bytes:
        """Return so many bytes, or fewer at the server's end.

        Raises:
            TimeoutError: they have not come in 10 s.
        """

    def hang_up(self, ending: Ending) -> None:
        """End the connection as asked."""

    def abort(self) -> None:
        """Break the connection, if it is still there; no port is left waiting."""


class PlainClient:
    """A client that does not use TLS."""

    def __init__(self, address: tuple[str, int]) -> None:
        """Connect to the address of the server."""
        self._socket = socket.create_connection(address, PATIENCE_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def shake_hands(self) -> bool:
        """Return true: a plain connection has no handshake."""
        return True

    def send(self, data: bytes) -> int:
        """Send in one write; how many bytes that is on the wire."""
        self._socket.sendall(data)
        return len(data)

    def receive(self, count: int) -> bytes:
        """Return so many bytes, or fewer at the server's end."""
        found = b""
        while len(found) < count and (part := self._socket.recv(count - len(found))):
            found += part
        return found

    def hang_up(self, ending: Ending) -> None:
        """End the connection as asked."""
        match ending:
            case Ending.HALF_CLOSE:
                # The server may have broken the connection in the meantime.
                with contextlib.suppress(OSError):
                    self._socket.shutdown(socket.SHUT_WR)
            case Ending.CLOSE:
                self._drain()
                self._socket.close()
            case Ending.RESET:
                self.abort()

    def abort(self) -> None:
        """Break the connection, if it is still there; no port is left waiting."""
        if self._socket.fileno() >= 0:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_ZERO)
            self._socket.close()

    def _drain(self) -> None:
        """Read what has come: bytes left unread would make a reset of the end."""
        self._socket.setblocking(False)
        with suppress(BlockingIOError, ConnectionError):
            while self._socket.recv(_CHUNK_BYTES):
                pass


class TlsClient(PlainClient):
    """A client that uses TLS."""

    def __init__(self, address: tuple[str, int]) -> None:
        """Connect; the handshake is yet to be made."""
        super().__init__(address)
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._tls = _client_context().wrap_bio(
            self._incoming, self._outgoing, server_hostname="localhost"
        )

    def shake_hands(self) -> bool:
        """Go on with the handshake as far as the server's bytes allow; whether it is complete."""
        if select.select([self._socket], [], [], 0)[0]:
            self._incoming.write(self._socket.recv(_CHUNK_BYTES))
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        finally:
            self._flush()
        return True

    def send(self, data: bytes) -> int:
        """Send in one write, which is one record; how many bytes that is on the wire."""
        self._tls.write(data)
        return self._flush()

    def receive(self, count: int) -> bytes:
        """Return so many bytes, or fewer at the server's end."""
        found = b""
        while len(found) < count:
            try:
                found += self._tls.read(count - len(found))
            except ssl.SSLWantReadError:
                part = self._socket.recv(_CHUNK_BYTES)
                if not part:
                    break
                self._incoming.write(part)
            except ssl.SSLZeroReturnError:
                break
        return found

    def hang_up(self, ending: Ending) -> None:
        """End the connection, with a good-bye unless it is broken."""
        if ending is not Ending.RESET:
            with suppress(ssl.SSLError):  # the server's good-bye is not waited for
                self._tls.unwrap()
            with suppress(ConnectionError):
                self._flush()
        super().hang_up(ending)

    def _flush(self) -> int:
        records = self._outgoing.read()
        self._socket.sendall(records)
        return len(records)


def client_of(address: tuple[str, int], *, tls: bool) -> Client:
    """Return a client that has connected.

    Raises:
        OSError: nobody listens there.
    """
    return TlsClient(address) if tls else PlainClient(address)


class HasDescriptor(Protocol):
    """A socket, whoever has it."""

    def fileno(self) -> int:
        """Return the descriptor of the socket."""


if sys.platform != "win32":
    import fcntl
    import termios

    def unread_in(connection: HasDescriptor) -> int:
        """Return the number of bytes that lie in a socket."""
        count = array.array("i", [0])
        fcntl.ioctl(connection, termios.FIONREAD, count)
        return count[0]

else:

    def unread_in(connection: HasDescriptor) -> int:
        """Return the number of unread bytes in a socket; this system does not tell."""
        raise OSError(f"on Windows the bytes in socket {connection.fileno()} cannot be counted")


class Connection(Protocol):
    """Both sides of a connection, and what was sent on it."""

    client: Client
    sent: SentRequests

    @property
    def is_open(self) -> bool:
        """Decide whether the server has not closed its side."""

    @property
    def socket(self) -> HasDescriptor:
        """Return the server's end of the connection, a socket."""


def act_as_client(connection: Connection, operation: CallOfClient) -> None:
    """Do what a client does; return when the server's socket knows of it.

    Raises:
        TimeoutError: the server's socket has not learnt of it in 10 s.
    """
    match operation:
        case Announce(_, size_bytes, sent_bytes):
            _send(connection, connection.sent.announce(size_bytes, sent_bytes))
        case Send(_, sent_bytes):
            _send(connection, connection.sent.send(sent_bytes))
        case HangUp(_, ending):
            connection.client.hang_up(ending)
            if connection.is_open:
                await_end(connection.socket)


def _send(connection: Connection, data: bytes) -> None:
    """Send, unless the connection is closed; return when the server's socket has the bytes."""
    if connection.is_open and data:
        expected = unread_in(connection.socket) + connection.client.send(data)
        await_unread(lambda: unread_in(connection.socket), expected)


def await_unread(unread: Callable[[], int], expected: int) -> None:
    """Return when the server's socket has so many bytes.

    Raises:
        TimeoutError: they have not come in 10 s.
    """
    ends_s = time.monotonic() + PATIENCE_S
    while unread() < expected:
        if time.monotonic() > ends_s:
            raise TimeoutError("what a client has sent has not come to the server's socket")


def await_end(connection: HasDescriptor) -> None:
    """Return when the server's socket knows that its client has ended, whatever lies before.

    Raises:
        TimeoutError: it has not learnt of it in 10 s.
    """
    ended = select.poll()
    ended.register(connection, getattr(select, "POLLRDHUP", select.POLLHUP))
    if not ended.poll(PATIENCE_S * 1000):
        raise TimeoutError("a client has ended, and the server's socket has not learnt of it")
