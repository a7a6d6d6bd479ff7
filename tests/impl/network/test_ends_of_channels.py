"""The ends of channels, in time or of their own accord, after which nothing of them is left."""

import gc
import select
import socket
import struct
import weakref
from pathlib import Path

import pytest

from purgatory_impl import BufferReleased, InvalidConfiguration
from purgatory_impl.errors import RequestAnswered
from purgatory_impl.network import CloseReason, NetworkLimits
from purgatory_impl.network.readiness import Readiness, SelectorReadiness, system_readiness
from tests.impl.network.wire import Bench, bench, both, frame, tls_contexts, waits
from tests.impl.threads import LONG_S

DESCRIPTORS = Path("/proc/self/fd")
LONG_MS = 1000 * int(LONG_S)

everywhere = pytest.mark.parametrize("readiness", [type(system_readiness()), SelectorReadiness])
"""The way of this system, and that of systems that have no better."""

# Ends


@both
@pytest.mark.parametrize("how", ["end", "reset"])
def test_an_end_mid_request_gives_the_memory_back(how: str, *, tls: bool) -> None:
    with bench(100, tls=tls) as network:
        client = network.connect()
        client.send(frame(50) + b"x" * 20)
        network.poll()
        assert network.available == 50
        getattr(client, how)()
        network.poll(1000)
        assert network.available == 100
        assert set(network.closed) == {1}


@pytest.mark.parametrize("how", ["end", "half_close", "reset"])
def test_an_end_while_waiting_is_noticed_at_once_if_the_request_is_not_whole(how: str) -> None:
    """The next poll closes it, though nothing is available, and credits nothing."""
    with bench(10, 10) as network:
        (_holder, held), client = network.asked(b"x" * 10), network.connect()
        client.send(frame(10) + b"01234")
        network.poll()
        getattr(client, how)()
        network.poll(1000)
        ended = CloseReason.PEER_RESET if how == "reset" else CloseReason.PEER_ENDED
        assert network.closed == {2: ended}
        assert (network.available, network.line.waiting) == (0, 0)
        held.release()


@pytest.mark.parametrize("seen", ["with the size", "before the response"])
def test_an_end_that_is_seen_before_the_channel_waits_is_not_forgotten(seen: str) -> None:
    """The channel is closed all the same, and waits for nothing."""
    with bench(10, 10) as network:
        holder, client = network.connect(), network.connect()
        first = network.next_of(client, b"")
        held = network.next_of(holder, b"x" * 10)
        client.send(frame(10) + b"01234")
        client.half_close()
        if seen == "before the response":
            network.poll(1000)
        first.respond(b"")
        network.poll()
        network.poll()
        assert network.closed == {2: CloseReason.PEER_ENDED}
        assert (network.available, network.line.waiting) == (0, 0)
        held.release()


@both
def test_a_whole_request_before_a_half_close_is_answered_also_after_waiting(*, tls: bool) -> None:
    with bench(10, 10, tls=tls) as network:
        (_holder, held), client = network.asked(b"x" * 10), network.connect()
        client.request(b"0123456789")
        network.poll()
        assert waits(client)
        client.half_close()
        network.poll()
        held.release()
        request = network.one()
        assert network.poll() == []
        network.complete(request, b"yes")
        network.poll()
        network.poll()
        assert client.response() == b"yes"
        assert network.closed[2] is CloseReason.PEER_ENDED


@pytest.mark.parametrize("how", ["end", "reset", "close"])
def test_a_connection_that_closes_while_its_request_is_handled_keeps_the_memory_out(
    how: str,
) -> None:
    with bench(10, 10) as network:
        client, request = network.asked(b"0123456789")
        if how == "close":
            client.channel.close()
        else:
            getattr(client, how)()
        network.poll(100)
        assert network.available == 0
        assert bytes(request.payload) == b"0123456789"
        request.respond(b"nobody")
        network.poll()
        request.release()
        assert network.available == 10
        with pytest.raises(BufferReleased):
            request.release()
        network.poll()
        assert client.channel.is_closed
        assert network.available == 10


@both
@pytest.mark.parametrize("size", [-1, -(2**31), 101, 2**31 - 1])
def test_an_impossible_size_closes_that_connection_alone(size: int, *, tls: bool) -> None:
    with bench(100, 100, tls=tls) as network:
        client, other = network.connect(), network.connect()
        client.announce(size)
        network.poll()
        assert network.closed == {1: CloseReason.INVALID_SIZE}
        assert network.available == 100
        other.request(b"fine")
        network.complete(network.one())


def test_garbage_instead_of_a_handshake_closes_the_connection() -> None:
    with (
        bench(100, tls=True) as network,
        socket.create_connection(network.listener.getsockname()) as wire,
    ):
        connection, _ = network.listener.accept()
        network.thread.add(connection, tls_contexts()[0])
        network.poll()
        wire.sendall(b"GET / HTTP/1.1\r\n\r\n")
        network.poll(1000)
        assert network.closed == {1: CloseReason.TLS_FAILED}


@pytest.mark.parametrize("state", ["waiting", "granted", "receiving", "silent"])
def test_closing_the_thread_gives_back_what_is_not_handled(state: str) -> None:
    """The pool is whole; the bench looks."""
    with bench(10, 10) as network:
        (_holder, held), client = (
            network.asked(b"x" * (9 if state == "receiving" else 10)),
            network.connect(),
        )
        if state != "silent":
            client.send(frame(10) + b"0")
            network.poll()
        if state == "granted":
            held.release()
        network.thread.close()
        if state != "granted":
            held.release()
        held.respond(b"nobody")


# Whoever waits with a response


@both
@everywhere
@pytest.mark.parametrize("how", ["end", "half_close", "reset", "close", "thread"])
def test_who_waits_with_a_response_is_told_once_of_the_end(
    how: str, readiness: type[Readiness], *, tls: bool
) -> None:
    """The handler is told once; a half-closed peer is answered, and each connection closes."""
    with bench(tls=tls, readiness=readiness()) as network:
        client, request = network.asked(b"long poll")
        told: list[str] = []
        request.on_end(lambda: told.append("end"))
        network.poll()
        assert told == []
        match how:
            case "close":
                client.channel.close()
                network.poll()
            case "thread":
                network.thread.close()
            case _:
                getattr(client, how)()
                network.poll(LONG_MS)
        assert told == ["end"]
        network.complete(request, b"less")
        if how == "half_close":
            network.poll()
            assert client.response() == b"less"
        while not client.channel.is_closed:
            network.poll(LONG_MS)
        assert told == ["end"]


@both
@everywhere
def test_an_end_that_was_seen_before_somebody_asks_is_told_in_the_next_poll(
    readiness: type[Readiness], *, tls: bool
) -> None:
    with bench(tls=tls, readiness=readiness()) as network:
        client, request = network.asked(b"long poll")
        client.half_close()
        network.poll(LONG_MS)
        told: list[str] = []
        request.on_end(lambda: told.append("end"))
        assert told == []
        network.poll()
        assert told == ["end"]
        network.complete(request)


@pytest.mark.skipif(not hasattr(select, "epoll"), reason="ends behind bytes are not told here")
@both
def test_an_end_behind_a_next_request_is_told_for_both(*, tls: bool) -> None:
    """It is told, though the second request is not read before the first is answered."""
    with bench(tls=tls) as network:
        client, first = network.asked(b"one")
        client.request(b"two")
        client.half_close()
        told: list[int] = []
        first.on_end(lambda: told.append(1))
        while not told:
            network.poll(LONG_MS)
        network.complete(first, b"1")
        second = network.one()
        second.on_end(lambda: told.append(2))
        network.poll()
        assert told == [1, 2]
        network.complete(second, b"2")
        network.poll()
        assert [client.response(), client.response()] == [b"1", b"2"]


def test_without_epoll_an_end_behind_a_next_request_is_told_once_that_is_read() -> None:
    """The handler of the first was not told, and that of the second is."""
    with bench(readiness=SelectorReadiness()) as network:
        client, first = network.asked(b"one")
        client.request(b"two")
        client.half_close()
        told: list[int] = []
        first.on_end(lambda: told.append(1))
        for _ in range(3):
            assert network.poll() == []
        assert told == []
        network.complete(first, b"1")
        (second,) = network.poll()
        second.on_end(lambda: told.append(2))
        while not told:
            network.poll(LONG_MS)
        assert told == [2]
        network.complete(second, b"2")


def test_a_good_bye_under_tls_is_no_obstacle() -> None:
    with bench(tls=True) as network:
        client, request = network.asked(b"long poll")
        told: list[str] = []
        request.on_end(lambda: told.append("end"))
        client.good_bye()
        while not told:
            network.poll(LONG_MS)
        network.complete(request)


def test_nobody_is_told_of_an_end_after_the_response_and_nothing_is_kept() -> None:
    """It is not told, and the server does not keep what it would have called."""

    class Handler:
        def told(self) -> None:
            raise AssertionError

    with bench() as network:
        for is_early in (True, False):
            client, request = network.asked(b"a")
            handler = Handler()
            is_kept = weakref.ref(handler)
            if is_early:
                request.on_end(handler.told)
            network.complete(request)
            if not is_early:
                request.on_end(handler.told)
            network.poll()
            del handler
            gc.collect()
            assert is_kept() is None
            client.end()
            while not client.channel.is_closed:
                network.poll(LONG_MS)


def test_a_failure_in_what_is_told_closes_that_connection_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with bench() as network:
        (client, request), other = network.asked(b"a"), network.connect()
        request.on_end(lambda: 1 // 0)
        client.half_close()
        network.poll(LONG_MS)
        assert network.closed == {1: CloseReason.FAILED}
        assert "ZeroDivisionError" in caplog.text
        network.complete(request)
        other.request(b"fine")
        network.complete(network.one())


# Time


def test_who_is_silent_is_closed_and_who_waits_or_is_handled_is_not() -> None:
    with bench(10, 10, idle_ms=1000) as network:
        silent, holder, waiting = (network.connect() for _ in range(3))
        held = network.next_of(holder, b"x" * 10)
        waiting.request(b"y" * 10)
        network.poll()
        network.clock.set_ms(999)
        network.poll()
        assert network.closed == {}
        network.clock.set_ms(1000)
        network.poll()
        assert network.closed == {1: CloseReason.IDLE}
        assert silent.response() == b""
        network.clock.set_ms(60_000)
        network.poll()
        held.release()
        request = network.one()
        assert bytes(request.payload) == b"y" * 10
        network.complete(request)
        held.respond(b"")
        network.poll()
        assert set(network.closed) == {1}
        network.clock.set_ms(61_000)
        network.poll()
        assert network.closed == dict.fromkeys((1, 2, 3), CloseReason.IDLE)


def test_who_does_not_read_a_response_is_idle() -> None:
    with bench(idle_ms=1000) as network:
        client = network.connect()
        client.request(b"a")
        network.complete(network.one(), b"x" * 50_000_000)
        network.poll()
        while network.thread._lengthy:  # until the socket takes no more
            network.poll()
        network.clock.set_ms(1000)
        network.poll()
        assert network.closed == {1: CloseReason.IDLE}


def test_a_trickling_sender_is_closed_and_its_memory_goes_to_who_waits() -> None:
    """The first is closed, and the second served."""
    with bench(10, 10, idle_ms=600_000, receive_ms=1_000_000) as network:
        slow, waiting = network.connect(), network.connect()
        slow.announce(10)
        network.poll()
        waiting.request(b"0123456789")
        network.poll()
        network.clock.set_ms(540_000)
        slow.send(b"x")
        network.poll()
        network.clock.set_ms(999_999)
        slow.send(b"x")
        network.poll()
        assert network.closed == {}
        network.clock.set_ms(1_000_000)
        network.poll()
        assert network.closed == {1: CloseReason.SLOW}
        request = network.one()
        assert request.channel is waiting.channel
        network.complete(request)


def test_a_poll_is_no_longer_than_the_next_limit() -> None:
    with bench(10, 10, idle_ms=50, receive_ms=20) as network:
        client = network.connect()
        assert network.thread._within_limits(1000) == 50
        client.announce(10)
        network.poll()
        network.clock.set_ms(5)
        assert network.thread._within_limits(1000) == 15


# Bad calls


def test_a_request_is_answered_once() -> None:
    with bench() as network:
        _client, request = network.asked(b"a")
        network.complete(request)
        with pytest.raises(RequestAnswered):
            request.respond(b"again")
        with pytest.raises(BufferReleased):
            request.release()


@pytest.mark.parametrize(
    ("limits", "problem"),
    [
        ((99, 100), "limit_bytes is 99; a request may have 100 bytes"),
        ((100, 0), "max_request_bytes is 0"),
        ((100, 2**31), "max_request_bytes"),
        ((-1, 100, -1), "idle_limit_ms is negative"),
        ((-1, 100, 0, -1), "receive_limit_ms is negative"),
        ((-1, 100, 0, 0, 0), "queued_requests is 0"),
    ],
)
def test_impossible_limits_are_refused_at_the_start(limits: tuple[int, ...], problem: str) -> None:
    with pytest.raises(InvalidConfiguration, match=problem):
        NetworkLimits(*limits)


@pytest.mark.parametrize("limit", [-1, 0, 100, 101])
def test_limits_are_absent_or_at_least_the_largest_request(limit: int) -> None:
    assert NetworkLimits(limit, 100).memory_pool().size_bytes in {limit, 2**63 - 1}


# No descriptor is left


def open_descriptors() -> int:
    gc.collect()
    return len(list(DESCRIPTORS.iterdir()))


@pytest.mark.skipif(not DESCRIPTORS.is_dir(), reason="descriptors cannot be counted here")
@both
def test_no_descriptor_is_left_open(*, tls: bool) -> None:
    before = open_descriptors()
    with bench(100, tls=tls) as network:
        for how in ("end", "reset", "half_close"):
            client = network.connect()
            client.send(frame(50) + b"x")
            network.poll()
            getattr(client, how)()
            network.poll(1000)
        network.connect().announce(-1)
        network.poll()
        assert len(network.closed) == 4
        network.connect()
    assert open_descriptors() == before


def test_the_bench_notices_memory_that_stays_out() -> None:
    """A control: the check that all benches make."""

    def leave_it(network: Bench) -> None:
        network.connect().request(b"a")
        network.one()

    with pytest.raises(AssertionError), bench(10, 10) as network:
        leave_it(network)
    assert struct.unpack(">i", frame(7)) == (7,)
