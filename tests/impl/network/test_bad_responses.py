"""Responses that a handler may give by mistake, and responses that no client reads."""

import array
import mmap
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from purgatory_impl.errors import InvalidResponse, RequestAnswered, ResponseTooLarge
from purgatory_impl.network import CloseReason, NetworkLimits, Request
from purgatory_impl.network.unread_responses import UnreadResponses
from purgatory_spec.reasons import Reason
from tests.impl.network.serving import ask, dial, eventually, response, serving
from tests.impl.network.wire import Bench, Client, bench, both, frame
from tests.impl.threads import LONG_S

# What is no response


class Pretending(bytes):
    """Bytes that lie about their number."""

    def __len__(self) -> int:
        return 2**40


class Failing(bytes):
    """Bytes that cannot even be counted."""

    def __len__(self) -> int:
        raise SystemExit("no length")


def released() -> object:
    view = memoryview(b"abc")
    view.release()
    return view


def too_many_zeros() -> object:
    """Bytes that the system gives no memory for until somebody reads them."""
    return bytes(2**31)


def too_large_a_view() -> object:
    """The same as a view, of items of eight bytes: its length is below the largest size."""
    return memoryview(mmap.mmap(-1, 2**31)).cast("Q")


BAD: dict[str, tuple[Callable[[], object], type[BaseException]]] = {
    "text": (lambda: "text", InvalidResponse),
    "number": (lambda: 7, InvalidResponse),
    "list": (lambda: [1, 2], InvalidResponse),
    "object": (object, InvalidResponse),
    "class": (lambda: bytes, InvalidResponse),
    "released view": (released, InvalidResponse),
    "2^31 bytes": (too_many_zeros, ResponseTooLarge),
    "view of 2^31 bytes": (too_large_a_view, ResponseTooLarge),
}

if sys.version_info >= (3, 12):

    class Buffering:
        """An object of the buffer protocol that ends the program instead."""

        def __buffer__(self, flags: int) -> memoryview:
            raise SystemExit("no buffer")

    BAD["buffer that exits"] = (Buffering, SystemExit)


def respond_anyhow(request: Any, given: object) -> None:
    """Respond with something that the types forbid."""
    request.respond(given)


@pytest.mark.parametrize("is_late", [False, True], ids=["in the handler", "later"])
@pytest.mark.parametrize("name", BAD)
def test_a_bad_response_closes_its_connection_alone(
    name: str, is_late: bool, logged: pytest.LogCaptureFixture
) -> None:
    """That connection is closed, logged and counted; the other is served as before."""
    make, problem = BAD[name]
    kept: list[Request] = []

    def handler(request: Request) -> None:
        if bytes(request.payload) != b"bad!":
            request.respond(b"good")
        elif is_late:
            kept.append(request)
        else:
            respond_anyhow(request, make())

    with (
        serving(handler, NetworkLimits(100, 100), network_threads=1) as server,
        dial(server) as good,
    ):
        assert ask(good, b"good") == b"good"
        with dial(server) as bad:
            bad.sendall(frame(4) + b"bad!")
            if is_late:
                assert eventually(lambda: bool(kept))
                with pytest.raises(problem):
                    respond_anyhow(kept[0], make())
                with pytest.raises(RequestAnswered):
                    kept[0].respond(b"better")
            with pytest.raises((EOFError, ConnectionResetError)):
                response(bad)
        assert ask(good, b"good") == b"good"
        with dial(server) as newcomer:
            assert ask(newcomer, b"good") == b"good"
        assert server.closed[CloseReason.BAD_RESPONSE] == 1
        assert server.closed[CloseReason.HANDLER_FAILED] == 0
    assert "a response cannot be sent; its connection is closed" in logged.text
    assert problem.__name__ in logged.text


def test_a_refused_response_says_what_is_wrong() -> None:
    with bench() as network:
        (_first, request), second = network.asked(b"a"), network.connect()
        with pytest.raises(InvalidResponse, match="of type str; it must be bytes") as refused:
            respond_anyhow(request, "text")
        assert refused.value.reason is Reason.INVALID_ARGUMENT
        request.release()
        second.request(b"a")
        (request,) = network.poll()
        with pytest.raises(
            ResponseTooLarge, match="2147483648 bytes; the largest has 2147483647"
        ) as large:
            respond_anyhow(request, too_large_a_view())
        assert large.value.reason is Reason.TOO_LARGE
        request.release()
        network.poll()
        assert network.closed == dict.fromkeys((1, 2), CloseReason.BAD_RESPONSE)


# What is one, in another form


def wide_items() -> object:
    return array.array("I", [0x01020304] * 3)


def reversed_view() -> object:
    return memoryview(b"cba")[::-1]


def of_two_dimensions() -> object:
    return memoryview(b"abcd").cast("B", (2, 2))


GOOD: dict[str, tuple[Callable[[], object], bytes]] = {
    "bytes": (lambda: b"abc", b"abc"),
    "none of them": (lambda: b"", b""),
    "bytearray": (lambda: bytearray(b"abc"), b"abc"),
    "view": (lambda: memoryview(b"xabcx")[1:4], b"abc"),
    "view backwards": (reversed_view, b"abc"),
    "view of two dimensions": (of_two_dimensions, b"abcd"),
    "wide items": (wide_items, array.array("I", [0x01020304] * 3).tobytes()),
    "bytes that lie": (lambda: Pretending(b"abc"), b"abc"),
    "bytes that raise": (lambda: Failing(b"abc"), b"abc"),
}


@both
@pytest.mark.parametrize("name", GOOD)
def test_whatever_holds_bytes_is_sent_as_its_bytes(name: str, *, tls: bool) -> None:
    make, expected = GOOD[name]
    with bench(tls=tls) as network:
        client, request = network.asked(b"a")
        respond_anyhow(request, make())
        request.release()
        network.poll()
        assert client.response() == expected


@pytest.mark.parametrize("size", [10, 1_000_000], ids=["small", "large"])
def test_a_response_may_be_changed_after_the_call(size: int) -> None:
    """Given a response in a bytearray: the client gets what it was."""
    with bench() as network:
        client, request = network.asked(b"a")
        body = bytearray(b"x" * size)
        request.respond(body)
        body[:] = b"y" * size
        body += b"z"
        request.release()
        network.poll()
        body.clear()
        reader = threading.Thread(target=lambda: found.append(client.response()))
        found: list[bytes] = []
        reader.start()
        while reader.is_alive():
            network.poll(10)
        assert found == [b"x" * size]


# Responses that nobody reads

LIMIT = 10_000_000
EACH = 4_000_000
"""More than sockets take whose buffers are no larger than ``BUFFER``."""

HUGE = 16_000_000
"""More than any sockets take."""

BUFFER = 200_000


def answered(network: Bench, count: int) -> list[Client]:
    """Clients that have a large response on its way and do not read."""
    clients = []
    for _ in range(count):
        client = network.connect()
        client.wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        client.channel.connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
        client.request(b"a")
        network.complete(network.one(), b"x" * (EACH - 4))
        network.poll()
        while network.thread._lengthy:  # until the socket takes no more: by turns under TLS
            network.poll()
        clients.append(client)
    return clients


def narrow(limit: int = LIMIT) -> NetworkLimits:
    return NetworkLimits(-1, 100, 0, 0, unread_response_bytes=limit)


@both
def test_at_the_limit_others_are_closed_for_a_response(*, tls: bool) -> None:
    """Two of the first three are closed for it, and no more than two responses are kept."""
    with bench(tls=tls, limits=narrow()) as network:
        answered(network, 2)
        assert (network.closed, network.thread.unread.bytes_) == ({}, 2 * EACH)
        answered(network, 2)
        assert list(network.closed.values()) == [CloseReason.UNREAD] * 2
        assert 4 not in network.closed
        assert network.thread.unread.bytes_ == 2 * EACH
        assert network.thread.closed_counts[CloseReason.UNREAD] == 2
    assert network.thread.unread.bytes_ == 0


def test_the_longest_standstill_is_closed_first() -> None:
    """The others are to be closed in the order of their standstill, each once."""
    unread = UnreadResponses(10)
    with bench() as network:
        first, second, third, fourth = (network.connect().channel for _ in range(4))
        assert unread.tried(first, 0, 4) == unread.tried(second, 0, 4) == []
        unread.progress(first)
        assert unread.tried(third, 0, 4) == [second]
        assert unread.bytes_ == 12
        unread.progress(second)
        assert unread.tried(fourth, 0, 4) == [first]
        for channel in (first, second, second):
            unread.remove(channel)
        assert unread.bytes_ == 8
        assert unread.tried(first, 0, 100) == [third, fourth]
        for channel in (third, fourth, first):
            unread.remove(channel)
        assert unread.bytes_ == 0


def test_a_response_beyond_the_limit_is_sent_if_it_is_alone() -> None:
    with bench(limits=narrow(1)) as network:
        (client,) = answered(network, 1)
        found = 0
        while found < EACH:
            found += len(client.wire.recv(65536))
            network.poll()
        assert network.closed == {}
        assert network.thread.unread.bytes_ == 0


def test_without_a_limit_nobody_is_closed() -> None:
    with bench(limits=narrow(0)) as network:
        answered(network, 6)
        assert (network.closed, network.thread.unread.bytes_) == ({}, 6 * EACH)


def test_twenty_clients_that_do_not_read_leave_the_limit_and_are_counted() -> None:
    """No more than the limit and one response are ever counted, the client is served."""
    most = 0

    def handler(request: Request) -> None:
        nonlocal most
        request.respond(b"x" * HUGE if bytes(request.payload) == b"many" else b"few")
        most = max(most, server.unread_response_bytes)

    limit = 5 * HUGE // 2
    limits = NetworkLimits(unread_response_bytes=limit)
    with serving(handler, limits) as server, dial(server) as good, ExitStack() as stack:
        server._unread.longest_wait_s = LONG_S
        for _ in range(20):
            wire = stack.enter_context(dial(server))
            wire.sendall(frame(4) + b"many")
        assert eventually(lambda: server.closed[CloseReason.UNREAD] == 18)
        assert ask(good, b"few?") == b"few"
        assert eventually(lambda: server.unread_response_bytes == 2 * (HUGE + 4))
        assert server.connections == 3
    assert 2 * HUGE <= most <= limit + HUGE


def test_a_response_waits_for_those_before_it_and_not_for_ever() -> None:
    """The second waits until the first was tried; and if nobody polls it goes on all the same."""
    with bench(limits=narrow(EACH)) as network:
        requests = []
        for _ in range(3):
            network.connect().request(b"a")
            requests += network.poll()
        given: list[int] = []

        def respond() -> None:
            for number, request in enumerate(requests):
                network.complete(request, b"x" * EACH)
                given.append(number)

        network.thread.unread.longest_wait_s = LONG_S
        responding = threading.Thread(target=respond)
        responding.start()
        assert eventually(lambda: given == [0])
        responding.join(0.05)
        assert given == [0]
        while responding.is_alive():
            network.poll(10)
        assert given == [0, 1, 2]
    with bench(limits=narrow(EACH)) as network:
        network.thread.unread.longest_wait_s = 0.01
        requests = []
        for _ in range(3):
            network.connect().request(b"a")
            requests += network.poll()
        given.clear()
        responding = threading.Thread(target=respond)
        responding.start()
        responding.join(LONG_S)
        assert given == [0, 1, 2]


def test_the_thread_that_polls_does_not_wait_for_itself() -> None:
    with bench(limits=narrow(1)) as network:
        network.thread.unread.longest_wait_s = LONG_S
        for client in [network.connect() for _ in range(3)]:
            client.request(b"a")
        for request in network.poll():
            network.complete(request, b"x" * EACH)
        network.poll()
        assert set(network.closed.values()) == {CloseReason.UNREAD}
        assert len(network.closed) == 2
