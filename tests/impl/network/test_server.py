"""A server with threads, over loopback: both bounds, faults, ends; nothing is left out or open."""

import gc
import pickle
import random
import resource
import socket
import ssl
import struct
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from purgatory_impl import InvalidConfiguration
from purgatory_impl.network import NetworkLimits, Request, Server
from purgatory_impl.network import server as server_module
from purgatory_lab.benchmarks.network.serving import CountedPool
from tests.impl.network.serving import ask, dial, echo, eventually, response, serving
from tests.impl.network.wire import both, frame
from tests.impl.threads import LONG_S


@pytest.mark.slow
@both
def test_a_spike_of_large_requests_stays_within_the_bound(*, tls: bool) -> None:
    """All are answered, each with its own, and limit + largest - 1 was never exceeded."""
    largest, limit, each = 100_000, 200_000, 6
    limits = NetworkLimits(limit, largest)

    def client(number: int) -> None:
        with dial(server, tls=tls) as wire:
            for count in range(each):
                tag = struct.pack(">hh", number, count)
                size = random.Random(number * 100 + count).randrange(4, largest + 1)
                assert ask(wire, tag + b"x" * (size - 4)) == tag

    def handler(request: Request) -> None:
        deadline = time.monotonic() + LONG_S
        while pool.most_bytes <= largest and time.monotonic() < deadline:
            time.sleep(0.001)
        echo(request)

    with serving(handler, limits, tls=tls) as server, ThreadPoolExecutor(12) as clients:
        pool = CountedPool(server.line.pool)
        server.line.pool = pool
        for done in [clients.submit(client, number) for number in range(12)]:
            done.result(timeout=12 * LONG_S)
    assert largest < pool.most_bytes <= limit + largest - 1


def test_the_count_bound_stops_reading_and_not_responses(monkeypatch: pytest.MonkeyPatch) -> None:
    """That one is not read, while the response to the kept one is written."""
    monkeypatch.setattr(server_module, "_POLL_MS", 60_000)
    go_on = threading.Event()
    kept: list[Request] = []
    handled: list[Request] = []

    def handler(request: Request) -> None:
        if bytes(request.payload) == b"later":
            kept.append(request)
        else:
            handled.append(request)
            go_on.wait(LONG_S)
            request.respond(b"done")

    def is_full() -> bool:
        received = sum(channel.received for channel in server._threads[0].channels)
        return received >= 5 and len(handled) == 2 and server.queued == 1

    limits = NetworkLimits(queued_requests=1)
    with serving(handler, limits, network_threads=1) as server, ExitStack() as stack:
        wires = [stack.enter_context(dial(server)) for _ in range(8)]
        wires[0].sendall(frame(5) + b"later")
        assert eventually(lambda: bool(kept))
        for wire in wires[1:]:
            wire.sendall(frame(1) + b"x")
        # One is kept, two are handled, one is queued, and one at least finds no place.
        assert eventually(is_full)
        late = stack.enter_context(dial(server))
        late.sendall(frame(1) + b"x")
        assert eventually(lambda: server.connections == 9)
        kept[0].respond(b"now")
        assert response(wires[0]) == b"now"
        assert server._threads[0].channels[-1].received == 0
        assert server.queued == 1
        go_on.set()
        assert [response(wire) for wire in (*wires[1:], late)] == [b"done"] * 8


def test_a_handler_that_raises_closes_its_connection_alone(
    logged: pytest.LogCaptureFixture,
) -> None:
    def handler(request: Request) -> None:
        if bytes(request.payload) == b"bad!":
            raise ValueError("not for me")
        echo(request)

    with serving(handler, NetworkLimits(100, 100)) as server, dial(server) as good:
        with dial(server) as bad, pytest.raises((EOFError, ConnectionResetError)):
            ask(bad, b"bad!")
        assert ask(good, b"good") == b"good"
    assert "not for me" in logged.text


def test_a_payload_that_is_still_used_is_told_and_closes_the_connection(
    logged: pytest.LogCaptureFixture,
) -> None:
    """That is logged, the connection is closed, and the memory is out until it is given back."""
    kept: list[tuple[Request, object]] = []

    def handler(request: Request) -> None:
        kept.append((request, pickle.PickleBuffer(request.payload)))

    with serving(handler, NetworkLimits(100, 100)) as server, dial(server) as wire:
        with pytest.raises((EOFError, ConnectionResetError)):
            ask(wire, b"abcd")
        request, _ = kept.pop()
        assert server.line.pool.available_bytes == 96
        del _
        gc.collect()
        request.release()
    assert "memory of a request" in logged.text


def test_a_response_may_come_later_from_any_thread_and_the_memory_earlier() -> None:
    waiting: list[Request] = []
    with (
        serving(waiting.append, NetworkLimits(4, 4)) as server,
        dial(server) as first,
        dial(server) as second,
    ):
        first.sendall(frame(4) + b"abcd")
        second.sendall(frame(4) + b"efgh")
        # The handler has returned: the memory is back, and the second is received.
        assert eventually(lambda: len(waiting) == 2)
        for request in waiting:
            request.respond(b"late")
        assert (response(first), response(second)) == (b"late", b"late")


def test_stop_answers_what_was_received_and_then_closes() -> None:
    began = threading.Event()

    def handler(request: Request) -> None:
        began.set()
        time.sleep(0.1)
        request.respond(b"still")

    with serving(handler, NetworkLimits()) as server:
        wire = dial(server)
        wire.sendall(frame(1) + b"x")
        assert began.wait(LONG_S)
        server.stop()
        assert response(wire) == b"still"
        with pytest.raises((EOFError, ConnectionResetError)):
            response(wire)
        wire.close()
        with pytest.raises(ConnectionRefusedError):
            dial(server)


def test_stop_does_not_wait_for_ever() -> None:
    kept: list[Request] = []
    with serving(kept.append, NetworkLimits(10, 10)) as server, dial(server) as wire:
        wire.sendall(frame(1) + b"x")
        assert eventually(lambda: bool(kept))
        server.stop(drain_ms=50)
        with pytest.raises((EOFError, ConnectionResetError)):
            response(wire)


def fault_mid_request(wire: socket.socket) -> None:
    wire.sendall(frame(1000) + b"x" * 10)


def fault_garbage(wire: socket.socket) -> None:
    wire.sendall(b"\xff" * 100)


def fault_oversize(wire: socket.socket) -> None:
    wire.sendall(frame(10**6))


def fault_reset(wire: socket.socket) -> None:
    wire.sendall(frame(1000) + b"x")
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def fault_half_close(wire: socket.socket) -> None:
    wire.sendall(frame(1000) + b"x")
    socket.socket.shutdown(wire, socket.SHUT_WR)


def fault_half_size(wire: socket.socket) -> None:
    wire.sendall(b"\0\0")


def fault_silence(wire: socket.socket) -> None:
    pass


FAULTS = [
    fault_mid_request,
    fault_garbage,
    fault_oversize,
    fault_reset,
    fault_half_close,
    fault_half_size,
    fault_silence,
]


@both
def test_after_each_fault_others_are_served_and_nothing_is_left(*, tls: bool) -> None:
    """The one is served all the time, and memory, connections and descriptors are back."""
    with serving(echo, NetworkLimits(2000, 1000), tls=tls) as server, dial(server, tls=tls) as good:
        for fault in FAULTS * 3:
            with dial(server, tls=tls) as wire:
                fault(wire)
                assert ask(good, b"good") == b"good"
            assert ask(good, b"fine") == b"fine"
        assert eventually(lambda: server.connections == 1)
        # A response may be there before its handler returns, and the memory after it.
        assert eventually(lambda: server.line.pool.available_bytes == 2000)


def test_failed_handshakes_leave_nothing(logged: pytest.LogCaptureFixture) -> None:
    stranger = ssl.create_default_context()  # trusts others
    with serving(echo, NetworkLimits(2000, 1000), tls=True) as server:
        for _ in range(5):
            with socket.create_connection(server.address) as plain, pytest.raises(ssl.SSLError):
                stranger.wrap_socket(plain, server_hostname="localhost")
        with socket.create_connection(server.address) as silent:
            silent.sendall(b"\x16\x03\x01")
            with dial(server, tls=True) as wire:
                assert ask(wire, b"good") == b"good"
        assert eventually(lambda: server.connections == 0)
    assert logged.text == ""


@pytest.mark.slow
def test_two_thousand_connections() -> None:
    count = min(2000, (resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 300) // 2)
    assert count > 100
    with serving(echo, NetworkLimits(2000, 1000)) as server:
        with dial(server) as good:
            wires = [dial(server) for _ in range(count)]
            for wire in wires:
                wire.sendall(frame(1000)[:3])
            assert eventually(lambda: server.connections == count + 1)
            assert ask(good, b"good") == b"good"
            for wire in wires:
                wire.close()
            assert ask(good, b"fine") == b"fine"
        assert eventually(lambda: server.connections == 0)


@pytest.mark.parametrize("threads", [(0, 1), (1, 0)])
def test_a_server_has_threads(threads: tuple[int, int]) -> None:
    network_threads, handler_threads = threads
    with pytest.raises(InvalidConfiguration, match="at least one"):
        Server(
            echo, NetworkLimits(), network_threads=network_threads, handler_threads=handler_threads
        )
