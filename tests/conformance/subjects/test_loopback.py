"""The clients of servers under test on the loopback interface."""

import datetime
import socket
import ssl

import pytest

from purgatory_conformance.subjects import loopback
from purgatory_spec.operations import Ending


@pytest.fixture
def listener() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0))


def test_what_a_client_sends_lies_in_the_socket(listener: socket.socket) -> None:
    with listener:
        client = loopback.PlainClient(listener.getsockname())
        accepted, _ = listener.accept()
        with accepted:
            loopback.await_unread(lambda: loopback.unread_in(accepted), client.send(b"hello"))
            assert loopback.unread_in(accepted) == 5
            client.hang_up(Ending.HALF_CLOSE)
            loopback.await_end(accepted)
            assert accepted.recv(9) == b"hello"
            accepted.sendall(b"bye")
            assert client.receive(3) == b"bye"
            client.abort()


@pytest.mark.parametrize("ending", [Ending.CLOSE, Ending.RESET])
def test_an_end_is_known_before_what_was_sent_is_read(
    ending: Ending, listener: socket.socket
) -> None:
    """The server's socket knows, and only of the broken one it hears an error."""
    with listener:
        client = loopback.PlainClient(listener.getsockname())
        accepted, _ = listener.accept()
        with accepted:
            accepted.sendall(b"not read")
            client.hang_up(ending)
            loopback.await_end(accepted)
            if ending is Ending.CLOSE:
                assert accepted.recv(9) == b""
            else:
                with pytest.raises(ConnectionResetError):
                    accepted.recv(9)
        client.abort()


def test_a_write_is_a_record(listener: socket.socket) -> None:
    """Given a connection by TLS: two records lie in the socket, of the lengths that it told."""
    with listener:
        client = loopback.TlsClient(listener.getsockname())
        accepted, _ = listener.accept()
        with accepted:
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            server = loopback.server_context().wrap_bio(incoming, outgoing, server_side=True)
            is_done = False
            while not (client.shake_hands() and is_done):
                incoming.write(accepted.recv(65536))
                try:
                    server.do_handshake()
                    is_done = True
                except ssl.SSLWantReadError:
                    pass
                accepted.sendall(outgoing.read())
            lengths = [client.send(b"one"), client.send(b"second")]
            loopback.await_unread(lambda: loopback.unread_in(accepted), sum(lengths))
            for length, text in zip(lengths, (b"one", b"second"), strict=True):
                incoming.write(accepted.recv(length))
                assert server.read(99) == text
                assert server.pending() == 0
        client.abort()


def test_what_does_not_come_is_not_awaited_for_ever(
    monkeypatch: pytest.MonkeyPatch, listener: socket.socket
) -> None:
    monkeypatch.setattr(loopback, "PATIENCE_S", 0.01)
    with listener:
        client = loopback.PlainClient(listener.getsockname())
        accepted, _ = listener.accept()
        with accepted:
            with pytest.raises(TimeoutError, match="has not come"):
                loopback.await_unread(lambda: loopback.unread_in(accepted), 1)
            with pytest.raises(TimeoutError, match="has not learnt"):
                loopback.await_end(accepted)
            with pytest.raises(TimeoutError):
                client.receive(1)
        client.abort()


def test_the_certificate_is_good_for_a_long_time() -> None:
    details = ssl._ssl._test_decode_cert(str(loopback._CERTIFICATE))  # type: ignore[attr-defined]
    ends = datetime.datetime.strptime(details["notAfter"], "%b %d %H:%M:%S %Y %Z")
    assert ends.year == 2120
