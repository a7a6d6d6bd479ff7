"""Faults of peers, one poll at a time: others are served, and nothing is left out or open."""

# A fault is a row of a table. Its channels must be closed for the reason that the row names, no
# later and no earlier; meanwhile another client is served within a bounded number of polls; and in
# the end the count of bytes, which is not the pool's own, is zero, and no descriptor is open.

import gc
import resource
import socket
import ssl
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from purgatory_impl.network import CloseReason, NetworkLimits, Request, Server
from purgatory_lab.benchmarks.network.serving import CountedPool
from tests.impl.network.wire import Bench, Client, bench, both, frame, tls_contexts
from tests.impl.threads import LONG_S

DESCRIPTORS = Path("/proc/self/fd")

IDLE_MS, RECEIVE_MS = 1000, 500
READINGS_MS = (0, 400, 500, 900, 1000)
"""The clock's readings while a fault lasts: just before each limit, and at it."""

MOST_POLLS = 3
"""Within so many polls the request of a client that behaves is received."""


def open_descriptors() -> int:
    gc.collect()
    return len(list(DESCRIPTORS.iterdir())) if DESCRIPTORS.is_dir() else 0


@contextmanager
def counted(limit: int = 1000, largest: int = 100, *, tls: bool) -> Iterator[Bench]:
    """A bench that leaves neither bytes nor descriptors."""
    before = open_descriptors()
    with bench(limit, largest, tls=tls, idle_ms=IDLE_MS, receive_ms=RECEIVE_MS) as network:
        pool = CountedPool(network.line.pool)
        network.line.pool = pool
        yield network
        network.thread.close()
        assert pool.out_bytes == 0
        assert pool.most_bytes > 0
    assert open_descriptors() == before


def is_served(network: Bench, client: Client) -> bool:
    """Decide whether a request of this client is answered soon; others are answered, too."""
    client.request(b"fine")
    for _ in range(MOST_POLLS):
        received = network.poll()
        for request in received:
            network.complete(request, b"done")
        if any(request.channel is client.channel for request in received):
            network.poll()
            return client.response() == b"done"
    return False


# What a peer may do once it is connected


def stop_mid_size(client: Client) -> None:
    client.send(b"\0\0")
    client.end()


def stop_mid_request(client: Client) -> None:
    client.send(frame(50) + b"x" * 20)
    client.end()


def announce_and_stop(client: Client) -> None:
    client.announce(50)
    client.end()


def leave_at_once(client: Client) -> None:
    client.end()


def send_garbage(client: Client) -> None:
    client.send(b"\xff" * 100)


def send_garbage_below_tls(client: Client) -> None:
    socket.socket.send(client.wire, b"GET / HTTP/1.1\r\n\r\n")


def negative(client: Client) -> None:
    client.announce(-1)


def most_negative(client: Client) -> None:
    client.announce(-(2**31))


def oversize(client: Client) -> None:
    client.announce(101)


def most_oversize(client: Client) -> None:
    client.announce(2**31 - 1)


def reset_mid_request(client: Client) -> None:
    client.send(frame(50) + b"x" * 20)
    client.reset()


def reset_between(client: Client) -> None:
    client.reset()


def half_close_mid_request(client: Client) -> None:
    client.send(frame(50) + b"x" * 20)
    client.half_close()


def half_close_after_a_request(client: Client) -> None:
    client.request(b"the last")
    client.half_close()


def leave_before_the_response(client: Client) -> None:
    client.request(b"the last")
    client.end()


def stay_silent(client: Client) -> None:
    pass


def stay_silent_mid_size(client: Client) -> None:
    client.send(b"\0\0\0")


def trickle(client: Client) -> None:
    client.announce(50)
    client.send(b"x")


@dataclass(frozen=True)
class Fault:
    """Something that a peer does."""

    cause: Callable[[Client], None]
    reasons: tuple[CloseReason, ...]  # of the close: two where the system decides
    at_ms: int = 0
    kinds: tuple[bool, ...] = (False, True)  # plain, TLS


ENDED, RESET = CloseReason.PEER_ENDED, CloseReason.PEER_RESET
INVALID, FAILED = CloseReason.INVALID_SIZE, CloseReason.TLS_FAILED

# Whoever closes a socket with something unread in it resets the connection; with TLS a client that
# has read nothing yet has the server's tickets there.
FAULTS = (
    Fault(stop_mid_size, (ENDED, RESET)),
    Fault(stop_mid_request, (ENDED, RESET)),
    Fault(announce_and_stop, (ENDED, RESET)),
    Fault(leave_at_once, (ENDED, RESET)),
    Fault(send_garbage, (INVALID,)),
    Fault(send_garbage_below_tls, (FAILED,), kinds=(True,)),
    Fault(negative, (INVALID,)),
    Fault(most_negative, (INVALID,)),
    Fault(oversize, (INVALID,)),
    Fault(most_oversize, (INVALID,)),
    Fault(reset_mid_request, (RESET,)),
    Fault(reset_between, (RESET,)),
    Fault(half_close_mid_request, (ENDED,)),
    Fault(half_close_after_a_request, (ENDED,)),
    Fault(leave_before_the_response, (ENDED, RESET)),
    Fault(stay_silent, (CloseReason.IDLE,), at_ms=IDLE_MS),
    Fault(stay_silent_mid_size, (CloseReason.IDLE,), at_ms=IDLE_MS),
    Fault(trickle, (CloseReason.SLOW,), at_ms=RECEIVE_MS),
)


@pytest.mark.parametrize(
    ("fault", "tls"),
    [
        pytest.param(fault, tls, id=f"{fault.cause.__name__}-{'tls' if tls else 'plain'}")
        for fault in FAULTS
        for tls in fault.kinds
    ],
)
def test_a_fault_closes_its_channel_alone(fault: Fault, tls: bool) -> None:
    """It is served within a few polls each time, and the others are closed when they must be."""
    with counted(tls=tls) as network:
        good = network.connect()
        failing = [network.connect() for _ in range(3)]
        numbers = {client.channel.number for client in failing}
        for client in failing:
            fault.cause(client)
        for now_ms in READINGS_MS:
            network.clock.set_ms(now_ms)
            for _ in range(2):
                assert is_served(network, good)
            assert set(network.closed) == (numbers if now_ms >= fault.at_ms else set())
        assert set(network.closed.values()) <= set(fault.reasons)


# What a peer may do instead of a handshake


def half_a_hello(wire: socket.socket) -> None:
    wire.sendall(b"\x16\x03\x01")


def no_hello(wire: socket.socket) -> None:
    pass


def another_protocol(wire: socket.socket) -> None:
    wire.sendall(b"GET / HTTP/1.1\r\n\r\n")


def a_request_in_plain(wire: socket.socket) -> None:
    wire.sendall(frame(4) + b"fine")


def reset_in_the_hello(wire: socket.socket) -> None:
    half_a_hello(wire)
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wire.close()


def end_in_the_hello(wire: socket.socket) -> None:
    half_a_hello(wire)
    wire.close()


@pytest.mark.parametrize(
    ("cause", "reason", "at_ms"),
    [
        (half_a_hello, CloseReason.IDLE, IDLE_MS),
        (no_hello, CloseReason.IDLE, IDLE_MS),
        (another_protocol, FAILED, 0),
        (a_request_in_plain, FAILED, 0),
        (reset_in_the_hello, RESET, 0),
        (end_in_the_hello, FAILED, 0),
    ],
)
def test_a_failed_handshake_closes_its_channel_alone(
    cause: Callable[[socket.socket], None], reason: CloseReason, at_ms: int
) -> None:
    with counted(tls=True) as network:
        good = network.connect()
        with socket.create_connection(network.listener.getsockname()) as wire:
            channel = network.thread.add(network.listener.accept()[0], tls_contexts()[0])
            cause(wire)
            for now_ms in READINGS_MS:
                network.clock.set_ms(now_ms)
                for _ in range(2):
                    assert is_served(network, good)
                closed = {channel.number: reason} if now_ms >= at_ms else {}
                assert network.closed == closed


def test_a_client_that_does_not_trust_the_server_is_closed_alone() -> None:
    stranger = ssl.create_default_context()
    with counted(tls=True) as network:
        good = network.connect()
        with socket.create_connection(network.listener.getsockname()) as wire:
            network.thread.add(network.listener.accept()[0], tls_contexts()[0])
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            shaking = stranger.wrap_bio(incoming, outgoing, server_hostname="localhost")
            with suppress(ssl.SSLWantReadError):
                shaking.do_handshake()
            wire.sendall(outgoing.read())
            assert is_served(network, good)
            wire.settimeout(LONG_S)
            incoming.write(wire.recv(65536))
            with pytest.raises(ssl.SSLCertVerificationError):
                shaking.do_handshake()
            wire.sendall(outgoing.read())
            assert is_served(network, good)
            assert network.closed == {2: FAILED}


# What a peer may do while it waits for memory


@both
@pytest.mark.parametrize(
    ("how", "is_whole"), list(product(("end", "reset", "half_close"), (False, True)))
)
def test_an_end_while_waiting_lets_the_next_on(how: str, is_whole: bool, *, tls: bool) -> None:
    """The one behind is served within a few polls, though each of the three had its turn."""
    with counted(100, 100, tls=tls) as network:
        (_holder, held), good = network.asked(b"x" * 100), network.connect()
        failing = [network.connect() for _ in range(3)]
        for client in failing:
            client.send(frame(100) + b"y" * (100 if is_whole else 40))
            network.poll()
        good.request(b"z" * 100)
        network.poll()
        assert network.line.waiting == 4
        for client in failing:
            getattr(client, how)()
        network.poll(100)
        network.complete(held)
        served: list[Request] = []
        for _ in range(MOST_POLLS * len(failing)):
            for request in network.poll():
                served.append(request)
                network.complete(request, b"done")
        assert served[-1].channel is good.channel
        assert good.response() == b"done"
        network.poll()
        assert set(network.closed) == {client.channel.number for client in failing}
        assert network.line.waiting == 0


# Handlers


@both
def test_a_handler_that_raises_gives_the_memory_to_who_waits(
    caplog: pytest.LogCaptureFixture, *, tls: bool
) -> None:
    """The bad ones are closed, the others are answered, and nothing is left."""

    def handler(request: Request) -> None:
        if bytes(request.payload) == b"bad!":
            raise ValueError("not for me")
        request.respond(b"done")

    before = open_descriptors()
    contexts = tls_contexts()
    with Server(handler, NetworkLimits(4, 4), tls=contexts[0] if tls else None) as server:
        pool = CountedPool(server.line.pool)
        server.line.pool = pool
        wires: list[socket.socket] = []
        for _ in range(8):
            wire = socket.create_connection(server.address, timeout=LONG_S)
            wires.append(
                contexts[1].wrap_socket(wire, server_hostname="localhost") if tls else wire
            )
        for number, wire in enumerate(wires):
            wire.sendall(frame(4) + (b"bad!" if number % 2 else b"good"))
        for number, wire in enumerate(wires):
            with wire:
                if number % 2:
                    with suppress(ConnectionResetError):
                        assert wire.recv(8) == b""
                else:
                    assert wire.recv(8, *(() if tls else (socket.MSG_WAITALL,)))[:4] == frame(4)
    assert (pool.out_bytes, pool.most_bytes) == (0, 4)
    assert caplog.text.count("ValueError: not for me") == 4
    assert open_descriptors() == before


# Two thousand connections


@pytest.fixture
def many_descriptors() -> Iterator[int]:
    """The number of connections that this process may have both ends of: 2,000 at most."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4400 if hard == resource.RLIM_INFINITY else min(hard, 4400)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    yield min(2000, (wanted - 400) // 2)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


CROWD_FAULTS: tuple[Callable[[Client], None], ...] = (
    stop_mid_size,
    stop_mid_request,
    send_garbage,
    oversize,
    reset_mid_request,
    half_close_mid_request,
    half_close_after_a_request,
    leave_before_the_response,
)


@pytest.mark.slow
def test_two_thousand_connections_that_fail(many_descriptors: int) -> None:
    """The one is served within a few polls, all others are closed, and nothing is left."""
    assert many_descriptors > 200
    with counted(100_000, 100, tls=False) as network:
        good = network.connect()
        failing = [network.connect() for _ in range(many_descriptors)]
        assert is_served(network, good)
        for number, client in enumerate(failing):
            CROWD_FAULTS[number % len(CROWD_FAULTS)](client)
        assert is_served(network, good)
        for _ in range(30):
            for request in network.poll():
                network.complete(request)
        assert len(network.closed) == many_descriptors
        assert network.thread.channels == (good.channel,)
        assert is_served(network, good)


@pytest.mark.slow
def test_two_thousand_connections_that_wait_are_served_in_turn(many_descriptors: int) -> None:
    """All others are received in the order of the refusals, with two polls for each at most."""
    with counted(100, 100, tls=False) as network:
        _holder, present = network.asked(b"x" * 100)
        waiting = [network.connect() for _ in range(many_descriptors)]
        for client in waiting:
            client.announce(100)
            network.poll()
        assert network.line.waiting == many_descriptors
        staying = [client for number, client in enumerate(waiting) if number % 3]
        for number, client in enumerate(waiting):
            if number % 3:
                client.wire.sendall(b"y" * 100)
            else:
                client.end()
        network.poll(100)
        network.poll()
        assert network.line.waiting == len(staying)
        polls = 0
        for client in staying:
            network.complete(present, None)
            found: list[Request] = []
            while not found and polls < 3 * many_descriptors:
                polls += 1
                found = network.poll()
            (present,) = found
            assert present.channel is client.channel
        network.complete(present, None)
        assert polls <= 2 * len(staying)


# Controls


def keep_a_request(network: Bench) -> None:
    network.connect().request(b"kept")
    network.one()


def keep_a_descriptor(network: Bench) -> None:
    assert is_served(network, network.connect())
    KEPT.append(socket.socket())


KEPT: list[socket.socket] = []


@pytest.mark.skipif(not DESCRIPTORS.is_dir(), reason="descriptors cannot be counted here")
@pytest.mark.parametrize("keep", [keep_a_request, keep_a_descriptor])
def test_the_check_finds_what_is_left(keep: Callable[[Bench], None]) -> None:
    with pytest.raises(AssertionError), counted(tls=False) as network:
        keep(network)
    while KEPT:
        KEPT.pop().close()


def test_the_check_finds_a_client_that_is_not_served() -> None:
    """The check says that it is not served."""
    with counted(100, 100, tls=False) as network:
        (_holder, held), client = network.asked(b"x" * 100), network.connect()
        assert not is_served(network, client)
        held.release()
        network.complete(network.one())
