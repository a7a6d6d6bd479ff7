"""Channels under a bound of memory, one poll at a time; plain and TLS."""

import os
import threading

from purgatory_impl import UnboundedMemoryPool
from purgatory_impl.network import Mute, Request
from purgatory_impl.network.readiness import Readiness
from tests.impl.network.wire import Bench, bench, both, frame, waits


class WatchedReadiness:
    """Any readiness; the time-out of each wait, ms, and how many sockets were ready."""

    def __init__(self, inner: Readiness) -> None:
        self.seen: list[tuple[int, int]] = []
        self._inner = inner
        self.watch = inner.watch
        self.change = inner.change
        self.forget = inner.forget
        self.close = inner.close

    def wait(self, timeout_ms: int) -> list[tuple[int, int]]:
        found = self._inner.wait(timeout_ms)
        self.seen.append((timeout_ms, len(found)))
        return found


def watch_waits(network: Bench) -> list[tuple[int, int]]:
    """The time-out of each wait for sockets from now on, ms, and how many were ready."""
    watched = WatchedReadiness(network.thread._readiness)
    network.thread._readiness = watched
    return watched.seen


# Receiving


@both
def test_a_request_is_received_and_answered(*, tls: bool) -> None:
    """Its payload is what was sent, and the response arrives."""
    with bench(100, tls=tls) as network:
        client, request = network.asked(b"hello")
        assert (bytes(request.payload), request.number) == (b"hello", 1)
        assert network.available == 95
        assert client.channel.mutes == {Mute.ORDER}
        network.complete(request, b"bye")
        network.poll()
        assert client.response() == b"bye"
        assert client.channel.mutes == frozenset()


@both
def test_a_request_that_comes_in_pieces_is_asked_for_when_its_size_is_there(*, tls: bool) -> None:
    with bench(100, tls=tls) as network:
        client = network.connect()
        for part in (b"\0\0", b"\0"):
            client.send(part)
            assert network.poll() == []
            assert network.available == 100
        client.send(b"\6")
        assert network.poll() == []
        assert (network.available, client.channel.is_holding) == (94, True)
        client.send(b"abc")
        assert network.poll() == []
        client.send(b"def")
        request = network.one()
        assert bytes(request.payload) == b"abcdef"
        network.complete(request)


@both
def test_the_next_request_waits_for_the_response(*, tls: bool) -> None:
    """The second is received only after the first is answered, and nothing is lost."""
    with bench(100, tls=tls) as network:
        client = network.connect()
        client.send(frame(2) + b"ab" + frame(3) + b"cde")
        first = network.one()
        assert network.poll() == []
        first.release()
        assert network.poll() == []
        first.respond(b"1")
        second = network.one()
        assert bytes(second.payload) == b"cde"
        network.complete(second, b"2")
        network.poll()
        assert [client.response(), client.response()] == [b"1", b"2"]


@both
def test_an_empty_request_needs_no_memory(*, tls: bool) -> None:
    with bench(100, tls=tls) as network:
        (_holder, held), client = network.asked(b"x" * 100), network.connect()
        request = network.next_of(client, b"")
        assert bytes(request.payload) == b""
        network.complete(request)
        network.complete(held)


def test_a_response_may_be_none() -> None:
    with bench() as network:
        client = network.connect()
        client.send(frame(1) + b"a" + frame(1) + b"b")
        network.complete(network.one(), None)
        network.complete(network.one(), b"only")
        network.poll()
        assert client.response() == b"only"


def test_a_large_response_is_written_as_the_peer_takes_it() -> None:
    with bench() as network:
        client = network.connect()
        client.request(b"a")
        response = os.urandom(8_000_000)
        network.complete(network.one(), response)
        client.request(b"b")
        assert network.poll() == []  # the response is not written to its end
        seen: list[bytes] = []
        reading = threading.Thread(target=lambda: seen.append(client.response()))
        reading.start()
        requests: list[Request] = []
        while reading.is_alive() or not requests:
            requests += network.poll(10)
        reading.join()
        assert seen == [response]
        network.complete(requests[0])


# Waiting for memory


@both
def test_a_refused_channel_waits_and_nothing_of_it_is_lost(*, tls: bool) -> None:
    """It waits, polls leave it alone, and after the release it is received whole."""
    with bench(10, 10, tls=tls) as network:
        (_holder, held), client = network.asked(b"x" * 10), network.connect()
        client.request(b"0123456789")
        for _ in range(3):
            assert network.poll() == []
            assert waits(client)
        held.release()
        request = network.one()
        assert bytes(request.payload) == b"0123456789"
        network.complete(request)


@both
def test_a_release_during_the_wait_lets_the_channel_on(*, tls: bool) -> None:
    """The poll ends at once, and the request is received whole, its rest later."""
    with bench(10, 10, tls=tls) as network:
        (_holder, held), client = network.asked(b"x" * 10), network.connect()
        client.send(frame(10) + b"01234")
        network.poll()
        network.poll()
        assert waits(client)
        later = threading.Timer(0.05, held.release)
        later.start()
        assert network.poll(60_000) == []
        later.join()
        assert client.channel.is_holding
        client.send(b"56789")
        request = network.one()
        assert bytes(request.payload) == b"0123456789"
        network.complete(request)


@both
def test_the_first_that_was_refused_is_served_first(*, tls: bool) -> None:
    with bench(10, 10, tls=tls) as network:
        clients = [network.connect() for _ in range(5)]
        clients[0].request(b"x" * 10)
        present = network.one()
        order = [3, 1, 4, 2]
        for number in order:
            clients[number].request(bytes([number]) * 10)
            network.poll()
        clients[0].request(b"\0" * 10)  # and again, behind all others
        served = []
        for _ in range(5):
            network.complete(present)
            present = (network.poll() or network.poll())[0]
            served.append(present.payload[0])
        network.complete(present)
        assert served == [*order, 0]


def test_a_newcomer_stands_behind_those_who_wait() -> None:
    with bench(10, 10) as network:
        holder, waiting, newcomer = (network.connect() for _ in range(3))
        held = network.next_of(holder, b"x" * 10)
        for client in (waiting, newcomer):
            client.request(b"y")
            network.poll()
        assert waits(newcomer)
        assert network.line.waiting == 2
        held.release()
        both_requests = network.poll()
        assert [each.channel for each in both_requests] == [waiting.channel, newcomer.channel]
        for request in both_requests:
            network.complete(request)


def test_only_a_refusal_makes_a_channel_wait() -> None:
    """Given no memory: they do not wait, and the one with memory is received."""
    with bench(10, 10) as network:
        idle, half, holder = (network.connect() for _ in range(3))
        holder.send(frame(10) + b"0123")
        half.send(b"\0\0")
        assert network.poll() == []
        assert network.available == 0
        assert {idle.channel.mutes, half.channel.mutes, holder.channel.mutes} == {frozenset()}
        holder.send(b"456789")
        network.complete(network.one())


def test_waiting_channels_get_their_responses_and_others_connect() -> None:
    with bench(10, 10) as network:
        holder, client = network.connect(), network.connect()
        first = network.next_of(client, b"a")
        first.release()
        held = network.next_of(holder, b"x" * 10)
        first.respond(b"late")
        client.request(b"b")
        network.poll()
        network.poll()
        assert waits(client)
        assert client.response() == b"late"
        assert network.connect().channel.mutes == frozenset()
        held.release()
        network.complete(network.one())


@both
def test_while_all_wait_a_poll_sleeps(*, tls: bool) -> None:
    with bench(10, 10, tls=tls) as network:
        holder, first, second = (network.connect() for _ in range(3))
        held = network.next_of(holder, b"x" * 10)
        for client in (first, second):
            client.request(b"0123456789")
        second.half_close()
        network.poll()
        network.poll()
        seen = watch_waits(network)
        for _ in range(3):
            network.poll(20)
        assert seen == [(20, 0)] * 3
        held.release()


def test_memory_and_order_are_two_reasons() -> None:
    """The channel is still not read; and a response grants no memory."""
    with bench(10, 10) as network:
        holder, client = network.connect(), network.connect()
        first = network.next_of(client, b"a")
        first.release()
        held = network.next_of(holder, b"x" * 10)
        client.request(b"b")
        network.poll()
        held.release()
        assert network.poll() == []
        assert client.channel.mutes == {Mute.ORDER}
        held.respond(b"")
        again = network.next_of(holder, b"x" * 10)
        first.respond(b"")
        assert network.poll() == []
        assert network.poll() == []
        assert waits(client)
        again.release()
        network.complete(network.one())


@both
def test_a_throttled_channel_is_read_after_the_response_and_the_end_of_throttling(
    *, tls: bool
) -> None:
    for first in ("response", "end"):
        with bench(10, 10, tls=tls) as network:
            client, request = network.asked(b"a")
            client.channel.throttle()
            client.request(b"b")
            steps = [lambda: network.complete(request, b""), client.channel.unthrottle]  # noqa: B023
            for step in steps if first == "response" else reversed(steps):
                assert network.poll() == []
                step()
            network.complete(network.one())


@both
def test_a_throttled_channel_is_not_read_when_its_memory_comes(*, tls: bool) -> None:
    with bench(10, 10, tls=tls) as network:
        (_holder, held), client = network.asked(b"x" * 10), network.connect()
        client.request(b"0123456789")
        network.poll()
        client.channel.throttle()
        network.poll()
        held.release()
        for _ in range(3):
            assert network.poll() == []
        assert client.channel.mutes == {Mute.THROTTLE}
        client.channel.unthrottle()
        network.complete(network.one())


def test_a_poll_does_not_wait_while_tls_has_bytes() -> None:
    """Given two requests in one record: it does not wait for the socket, which has nothing more."""
    with bench(100, tls=True) as network:
        client = network.connect()
        client.send(frame(2) + b"ab" + frame(3) + b"cde")
        network.complete(network.one())
        seen = watch_waits(network)
        (request,) = network.poll(50)
        network.complete(request)
        network.poll(50)
        assert seen == [(0, 0), (50, 0)]


def test_without_a_bound_nobody_waits() -> None:
    with bench(-1, 1000) as network:
        clients = [network.connect() for _ in range(5)]
        for client in clients:
            client.request(b"x" * 1000)
        requests = network.poll() + network.poll()
        assert len(requests) == 5
        assert isinstance(network.line.pool, UnboundedMemoryPool)


def test_what_is_out_never_exceeds_the_bound_by_a_request() -> None:
    """At most 139 bytes are out, and that many can be."""
    with bench(100, 40) as network:
        for size in (40, 40, 19, 40, 40):
            network.connect().announce(size)
            network.poll()
        assert network.available == -39
        assert network.line.waiting == 1
