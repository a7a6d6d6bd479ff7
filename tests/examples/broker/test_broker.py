"""The broker over loopback: what waits, what lets it go on, and that nothing is left."""

import gc
import socket
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from msgspec.msgpack import encode as pack

from broker.broker import Broker
from broker.client import Client
from broker.protocol import (
    CONSUMER,
    MOST_ELEMENTS,
    MOST_WAIT_MS,
    RESPONSES,
    Acks,
    ErrorCode,
    Fetched,
    FetchRequest,
    Produced,
    ProduceRequest,
    Read,
    Refusal,
    RefusedRequest,
    Request,
    Response,
    TopicPartition,
    encode,
)
from purgatory_impl import InvalidConfiguration, SimpleMemoryPool
from purgatory_impl.network import Channel, NetworkLimits
from purgatory_impl.network import Request as Received
from purgatory_lab.benchmarks.network.serving import CountedPool
from tests.examples.broker.running import (
    LIMITS,
    LONG_MS,
    ORDERS,
    OTHERS,
    client_of,
    eventually,
    following,
    is_at_rest,
    running,
    scraped,
    waiting,
)
from tests.impl.network.wire import frame

pytestmark = [pytest.mark.verify, pytest.mark.usefixtures("no_long_wait")]
both = pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])


@pytest.fixture
def helper() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as threads:
        yield threads


@both
def test_a_produce_to_all_is_acknowledged_when_the_follower_has_it(
    helper: ThreadPoolExecutor, *, tls: bool
) -> None:
    """It is acknowledged, consumers see its records, and the follower has them."""
    with running(tls=tls) as broker, client_of(broker, tls=tls) as client:
        produced = helper.submit(client.produce, ORDERS, [b"a", b"bc"], timeout_ms=LONG_MS)
        assert eventually(lambda: waiting(broker) == {"produce": 1, "fetch": 0})
        assert not produced.done()
        with client_of(broker, tls=tls) as consumer:
            assert consumer.fetch({ORDERS: 0}, max_wait_ms=0) == {ORDERS: Read(0, ())}
            with following(broker, tls=tls) as follower:
                assert produced.result() == 0
                assert client.produce(ORDERS, [b"d"], timeout_ms=LONG_MS) == 2
            fetched = consumer.fetch({ORDERS: 1}, max_wait_ms=0)
        assert fetched == {ORDERS: Read(3, (b"bc", b"d"))}
        copy = follower.logs[ORDERS]
        assert copy.read(0, copy.end, 100, at_least_one=True) == (b"a", b"bc", b"d")


def test_a_produce_to_all_times_out_when_the_follower_has_stopped() -> None:
    """It is refused after its time, its record stays, and no consumer sees it."""
    with running() as broker, client_of(broker) as client:
        with following(broker):
            client.produce(ORDERS, [b"seen"], timeout_ms=LONG_MS)
        with pytest.raises(RefusedRequest, match=r"offsets 1 to 1 of orders-0 .* 30 ms") as refusal:
            client.produce(ORDERS, [b"unseen"], timeout_ms=30)
        assert refusal.value.code is ErrorCode.TIMED_OUT
        assert broker.logs[ORDERS].end == 2
        assert client.fetch({ORDERS: 0}, max_wait_ms=0)[ORDERS] == Read(1, (b"seen",))


def test_a_produce_to_the_leader_waits_for_nobody() -> None:
    with running() as broker, client_of(broker) as client:
        assert client.produce(ORDERS, [b"a", b"b"], acks=Acks.LEADER, timeout_ms=LONG_MS) == 0
        assert client.produce(ORDERS, [b"c"], acks=Acks.LEADER, timeout_ms=LONG_MS) == 2


def test_a_produce_to_all_of_two_followers_waits_for_the_slower(helper: ThreadPoolExecutor) -> None:
    """Given two followers: its produce is acknowledged by the second fetch, and not before."""
    with running(followers=2) as broker, client_of(broker) as client, client_of(broker) as other:
        produced = helper.submit(client.produce, ORDERS, [b"a"], timeout_ms=LONG_MS)
        assert eventually(lambda: waiting(broker)["produce"] == 1)
        other.fetch({ORDERS: 1}, max_wait_ms=0, replica_id=0)
        assert waiting(broker)["produce"] == 1
        other.fetch({ORDERS: 1}, max_wait_ms=0, replica_id=1)
        assert produced.result() == 0


def test_a_long_poll_returns_at_once_with_enough_bytes() -> None:
    with running(followers=0) as broker, client_of(broker) as client:
        client.produce(ORDERS, [b"abc"])
        client.produce(OTHERS, [b"de"])
        fetched = client.fetch({ORDERS: 0, OTHERS: 0}, min_bytes=5, max_wait_ms=LONG_MS)
    assert fetched == {ORDERS: Read(1, (b"abc",)), OTHERS: Read(1, (b"de",))}


def test_a_long_poll_waits_until_there_are_enough_bytes_in_all(helper: ThreadPoolExecutor) -> None:
    """It waits after the first, and is answered with all by the second."""
    with running(followers=0) as broker, client_of(broker) as client, client_of(broker) as other:
        fetched = helper.submit(
            client.fetch, {ORDERS: 0, OTHERS: 0}, min_bytes=5, max_wait_ms=LONG_MS
        )
        assert eventually(lambda: waiting(broker)["fetch"] == 1)
        other.produce(ORDERS, [b"abcd"])
        assert waiting(broker)["fetch"] == 1
        assert scraped(broker)["purgatory_size_of_fetch"] == 2
        other.produce(OTHERS, [b"e"])
        assert fetched.result() == {ORDERS: Read(1, (b"abcd",)), OTHERS: Read(1, (b"e",))}


def test_a_long_poll_times_out_empty_and_with_less_than_it_wanted() -> None:
    with running(followers=0) as broker, client_of(broker) as client:
        assert client.fetch({ORDERS: 0}, max_wait_ms=20) == {ORDERS: Read(0, ())}
        client.produce(ORDERS, [b"a"])
        fetched = client.fetch({ORDERS: 0}, min_bytes=100, max_wait_ms=20)
        assert fetched == {ORDERS: Read(1, (b"a",))}


def test_a_response_has_no_more_than_the_most_bytes_but_one_record() -> None:
    """It does not wait, and gets two records of the first partition, then one."""
    with running(followers=0) as broker, client_of(broker) as client:
        for partition in (ORDERS, OTHERS):
            client.produce(partition, [b"four"] * 3)
        for most, records in ((9, 2), (3, 1), (13, 3)):
            fetched = client.fetch(
                {ORDERS: 0, OTHERS: 0}, min_bytes=100, max_bytes=most, max_wait_ms=LONG_MS
            )
            assert fetched == {ORDERS: Read(3, (b"four",) * records), OTHERS: Read(3, ())}


@pytest.mark.pure
@both
def test_many_clients_are_served_within_a_small_byte_bound(
    monkeypatch: pytest.MonkeyPatch, *, tls: bool
) -> None:
    """Three have memory, limit + largest - 1 bytes of it, and nine wait for some."""
    limit, largest, count = 9_999, 4_999, 12
    pool = CountedPool(SimpleMemoryPool(limit, largest))
    monkeypatch.setattr(NetworkLimits, "memory_pool", lambda _: pool)
    payload = (
        largest - len(encode(ProduceRequest(1, ORDERS, (b"x" * 999,), Acks.ALL, LONG_MS))) + 999
    )
    with running(NetworkLimits(limit, largest), tls=tls) as broker, ExitStack() as stack:
        clients = [stack.enter_context(client_of(broker, tls=tls)) for _ in range(count)]
        records = [bytes([number]) * payload for number in range(count)]
        bodies = [
            encode(ProduceRequest(number, ORDERS, (record,), Acks.ALL, LONG_MS))
            for number, record in enumerate(records)
        ]
        for client, body in zip(clients, bodies, strict=True):
            client._wire.sendall(frame(len(body)) + body[:-1])
        assert eventually(lambda: scraped(broker)["memory_pool_waiting_channels"] == 9)
        values = scraped(broker)
        assert values["memory_pool_used_bytes"] == limit + largest - 1
        assert values["memory_pool_available_bytes"] == 1 - largest
        for client, body in zip(clients, bodies, strict=True):
            client._wire.sendall(body[-1:])
        assert eventually(lambda: waiting(broker)["produce"] == count)
        follower = stack.enter_context(following(broker, tls=tls))
        for number, client in enumerate(clients):
            produced = received(client)
            assert isinstance(produced, Produced)
            assert produced.correlation_id == number
            copy = follower.logs[ORDERS]
            read = copy.read(produced.offset, copy.end, 1, at_least_one=True)
            assert read == (records[number],)
    assert pool.most_bytes == limit + largest - 1


def test_what_waits_holds_no_memory(helper: ThreadPoolExecutor) -> None:
    """The follower's fetch is read, since the pool was empty, and both are acknowledged."""
    with running() as broker, client_of(broker) as one, client_of(broker) as two:
        produced = [
            helper.submit(client.produce, ORDERS, [b"x" * 4_900], timeout_ms=LONG_MS)
            for client in (one, two)
        ]
        assert eventually(lambda: waiting(broker)["produce"] == 2)
        assert scraped(broker)["memory_pool_used_bytes"] == 0
        with following(broker):
            assert {each.result() for each in produced} == {0, 1}


@pytest.mark.pure
def test_the_memory_is_back_before_the_response(monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory of each went back before its response, that is before more is read."""
    released: list[bool] = []
    respond = Received.respond

    def noted(request: Received, response: bytes | None) -> None:
        released.append(request.is_released)
        respond(request, response)

    monkeypatch.setattr(Received, "respond", noted)
    with running(followers=0) as broker, client_of(broker) as client:
        client.produce(ORDERS, [b"a"])
        client.fetch({ORDERS: 0})
        with pytest.raises(RefusedRequest):
            client.fetch({ORDERS: 9})
    assert released == [True] * 3


CLIENTS = 128
ABORTIVE = struct.pack("ii", 1, 0)
LONG_PRODUCE = ProduceRequest(1, ORDERS, (b"a",), Acks.ALL, LONG_MS)
LONG_POLL = FetchRequest(1, {ORDERS: 0, OTHERS: 0}, 1, LONG_MS, 100, CONSUMER)


def send(client: Client, request: Request) -> None:
    body = encode(request)
    client._wire.sendall(frame(len(body)) + body)


def received(client: Client) -> Response:
    (size,) = struct.unpack(">i", client._receive(4))
    return RESPONSES.decode(client._receive(size))


KEY = ["orders", 0]
PRODUCE = [0, 7, KEY, [b"a"], 1, 0]
FETCH = [1, 7, {("orders", 0): 0}, 0, 0, 0, -1]
RIGHT = (PRODUCE, FETCH)
MALFORMED = {
    "nothing": (b"", "truncated"),
    "cut": (pack(PRODUCE)[:-1], "truncated"),
    "more": (pack(PRODUCE) + b"!", "trailing"),
    "no message": (pack(7), "Expected `array`, got `int`"),
    "a field less": (pack(PRODUCE[:-1]), "at least length 6, got 5"),
    "a field more": (pack([*FETCH, 1]), "at most length 6, got 7"),
    "no API": (pack([9, 7]), "Invalid value 9"),
    "no partition": (pack([0, 7, "orders", [b"a"], 1, 0]), "Expected `array`, got `str`"),
    "no record": (pack([0, 7, KEY, [], 1, 0]), "length >= 1"),
    "text": (pack([0, 7, KEY, ["a"], 1, 0]), "Expected `bytes`, got `str`"),
    "no UTF-8": (pack(PRODUCE).replace(b"orders", b"\xff" * 6), "'utf-8' codec"),
    "acks": (pack([0, 7, KEY, [b"a"], 7, 0]), "Invalid enum value 7"),
    "before now": (pack([0, 7, KEY, [b"a"], 1, -1]), "Expected `int` >= 0"),
    "no position": (pack([1, 7, {}, 0, 0, 0, -1]), "length >= 1"),
    "too long": (pack([1, 7, {("orders", 0): 0}, 0, 2**31, 0, -1]), "Expected `int` <= 2147483647"),
    "beyond 64 bits": (pack([1, 7, {("orders", 0): 0}, 0, 2**63, 0, -1]), "<= 2147483647"),
    "a negative wait": (pack([1, 7, {("orders", 0): 0}, 0, -1, 0, -1]), "Expected `int` >= 0"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_request_closes_its_connection_alone(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Given two clients: its connection is closed, the log says why, and the other is served."""
    body, problem = MALFORMED[name]
    with running(followers=0) as broker, client_of(broker) as good:
        good.produce(ORDERS, [b"before"])
        with socket.create_connection(broker.server.address, timeout=120) as bad:
            bad.sendall(frame(len(body)) + body)
            assert bad.recv(1) == b""
        assert good.produce(ORDERS, [b"after"]) == 1
        assert broker.server.connections == 1
    (record,) = caplog.records
    assert problem in record.getMessage()


@pytest.mark.parametrize("fields", RIGHT, ids=["produce", "fetch"])
def test_what_malformed_requests_are_made_of_is_answered(fields: list[object]) -> None:
    """The control: a whole request is answered, so that each one above fails for its own defect."""
    body = pack(fields)
    with running(followers=0) as broker, socket.create_connection(broker.server.address) as wire:
        wire.sendall(frame(len(body)) + body)
        (size,) = struct.unpack(">i", wire.recv(4, socket.MSG_WAITALL))
        response = RESPONSES.decode(wire.recv(size, socket.MSG_WAITALL))
    assert response in (Produced(7, 0), Fetched(7, {ORDERS: Read(0, ())}))


def test_too_large_a_request_closes_its_connection_and_the_client_says_so() -> None:
    with (
        running(followers=0) as broker,
        client_of(broker) as client,
        pytest.raises(ConnectionError),
    ):
        client.produce(ORDERS, [b"x" * LIMITS.max_request_bytes])


def test_what_cannot_be_done_is_refused_and_the_connection_goes_on() -> None:
    missing = TopicPartition("missing", 3)
    with running() as broker, client_of(broker) as client:
        with pytest.raises(RefusedRequest, match="no partition missing-3") as refusal:
            client.produce(missing, [b"a"])
        assert refusal.value.code is ErrorCode.UNKNOWN_PARTITION
        for offset in (-1, 1):
            with pytest.raises(RefusedRequest, match=rf"offset {offset} of orders-1; .* 0 to 0"):
                client.fetch({ORDERS: 0, OTHERS: offset})
        with pytest.raises(RefusedRequest, match="no follower 5") as refusal:
            client.fetch({ORDERS: 0}, replica_id=5)
        assert refusal.value.code is ErrorCode.UNKNOWN_REPLICA
        assert client.fetch({ORDERS: 0}, max_wait_ms=0) == {ORDERS: Read(0, ())}


@pytest.mark.parametrize("reset", [False, True], ids=["end", "reset"])
def test_a_client_that_leaves_while_it_waits_leaks_nothing(*, reset: bool) -> None:
    """The purgatories are empty, the memory is back, and no connection is left."""
    requests: list[Request] = [
        ProduceRequest(1, ORDERS, (b"a",), Acks.ALL, LONG_MS),
        FetchRequest(1, {ORDERS: 0, OTHERS: 0}, 1, LONG_MS, 100, CONSUMER),
        FetchRequest(1, {OTHERS: 0}, 1, 50, 100, CONSUMER),
    ]
    with running() as broker:
        wires = [socket.create_connection(broker.server.address) for _ in requests]
        for wire, request in zip(wires, requests, strict=True):
            body = encode(request)
            wire.sendall(frame(len(body)) + body)
        assert eventually(lambda: waiting(broker)["produce"] == 1)
        assert eventually(lambda: broker.fetches.entries == 3)
        for wire in wires:
            if reset:
                wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            wire.close()
        assert eventually(lambda: is_at_rest(broker) and broker.server.connections == 0)


@pytest.mark.parametrize("how", ["close", "reset"])
@both
def test_a_hundred_clients_that_leave_while_they_wait_are_gone_at_once(
    how: str, *, tls: bool
) -> None:
    """Their connections close and nothing of them waits, and a new client is served."""
    with running(tls=tls) as broker, ExitStack() as stack:
        clients = [stack.enter_context(client_of(broker, tls=tls)) for _ in range(CLIENTS)]
        for number, client in enumerate(clients):
            send(client, LONG_POLL if number % 2 else LONG_PRODUCE)
        assert eventually(lambda: waiting(broker) == {"produce": 64, "fetch": 64})
        assert broker.server.connections == CLIENTS
        for client in clients:
            if how == "reset":
                client._wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORTIVE)
            client._wire.close()
        assert eventually(lambda: broker.server.connections == 0 and is_at_rest(broker))
        with client_of(broker, tls=tls) as newcomer:
            assert newcomer.fetch({OTHERS: 0}, max_wait_ms=0) == {OTHERS: Read(0, ())}


@both
def test_clients_that_send_no_more_are_answered_at_once_with_what_there_is(*, tls: bool) -> None:
    """Each gets its answer, the produce a refusal, and then the end."""
    with running(tls=tls) as broker, ExitStack() as stack:
        producer, consumer = (stack.enter_context(client_of(broker, tls=tls)) for _ in range(2))
        send(producer, LONG_PRODUCE)
        assert eventually(lambda: waiting(broker)["produce"] == 1)
        send(consumer, FetchRequest(2, {ORDERS: 0}, 100, LONG_MS, 100, 0))
        assert eventually(lambda: waiting(broker)["fetch"] == 1)
        for client in (consumer, producer):
            socket.socket.shutdown(client._wire, socket.SHUT_WR)
        assert received(consumer) == Fetched(2, {ORDERS: Read(0, (b"a",))})
        problem = "offsets 0 to 0 of orders-0 are not on all followers and the client sends no more"
        assert received(producer) == Refusal(1, ErrorCode.CLIENT_ENDED, problem)
        assert eventually(lambda: broker.server.connections == 0)


def test_a_client_that_leaves_behind_many_long_polls_waits_for_none_of_them() -> None:
    """All are answered, one after the other, and none waits."""
    with running() as broker, client_of(broker) as client:
        for _ in range(10):
            send(client, LONG_POLL)
        assert eventually(lambda: waiting(broker)["fetch"] == 1)
        client._wire.shutdown(socket.SHUT_WR)
        answers = [received(client) for _ in range(10)]
        assert answers == [Fetched(1, {ORDERS: Read(0, ()), OTHERS: Read(0, ())})] * 10
        assert client._wire.recv(1) == b""


@pytest.mark.pure
def test_nothing_of_clients_that_have_left_is_kept_until_a_purge() -> None:
    """The lists keep two stale entries of each, and through them no connection and no request."""
    before = kept()
    with Broker({"orders": 2}, LIMITS, handler_threads=1) as broker:
        with ExitStack() as stack:
            for _ in range(20):
                send(stack.enter_context(client_of(broker)), LONG_POLL)
            assert eventually(lambda: waiting(broker)["fetch"] == 20)
            assert kept() >= before + 2 * 20
        assert eventually(lambda: broker.server.connections == 0 and kept() <= before + 2)
        assert broker.fetches.entries == 2 * 20


def kept() -> int:
    """Return the number of connections and requests in this process."""
    gc.collect()
    return sum(isinstance(each, (Channel, Received)) for each in gc.get_objects())


def test_no_request_waits_longer_than_the_broker_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are answered, and the refusal says after which time."""
    monkeypatch.setattr("broker.broker.MOST_WAIT_MS", 20)
    with running() as broker, client_of(broker) as client:
        assert client.fetch({ORDERS: 0}, max_wait_ms=2**31 - 1) == {ORDERS: Read(0, ())}
        with pytest.raises(RefusedRequest, match="after 20 ms"):
            client.produce(ORDERS, [b"a"], timeout_ms=2**31 - 1)


def test_the_longest_wait_is_five_minutes() -> None:
    with running() as broker, client_of(broker) as client:
        send(client, FetchRequest(1, {ORDERS: 0}, 1, 2**31 - 1, 1, CONSUMER))
        assert eventually(lambda: waiting(broker)["fetch"] == 1)
        (fetch,) = broker.fetches.cancel_for_key(ORDERS)
        assert fetch.delay_ms == MOST_WAIT_MS == 300_000
        assert fetch.force_complete()
        assert received(client) == Fetched(1, {ORDERS: Read(0, ())})


def test_an_answer_has_bounds_of_its_own() -> None:
    """It gets 1 MiB, or 10,000 records, at once."""
    with running(NetworkLimits(10**7, 10**6), followers=0) as broker, client_of(broker) as client:
        for _ in range(3):
            client.produce(ORDERS, [bytes(2**18)] * 2)
        for _ in range(2):
            client.produce(OTHERS, [b""] * MOST_ELEMENTS)
        for wanted, records in (
            ({ORDERS: 0}, {ORDERS: 4}),
            ({OTHERS: 0}, {OTHERS: MOST_ELEMENTS}),
            ({ORDERS: 4, OTHERS: 0}, {ORDERS: 2, OTHERS: MOST_ELEMENTS - 2}),
        ):
            fetched = client.fetch(
                wanted, min_bytes=2**31 - 1, max_bytes=2**31 - 1, max_wait_ms=LONG_MS
            )
            assert {key: len(each.records) for key, each in fetched.items()} == records


def test_a_broker_has_no_more_partitions_than_a_fetch_may_name() -> None:
    with pytest.raises(InvalidConfiguration, match="10001 partitions"):
        Broker({"orders": MOST_ELEMENTS + 1}, LIMITS)


def test_stopping_answers_what_waits(helper: ThreadPoolExecutor) -> None:
    """The produce is refused, saying that the broker stops, and the fetch is answered empty."""
    with running() as broker:
        one, two = client_of(broker), client_of(broker)
        produced = helper.submit(one.produce, ORDERS, [b"a"], timeout_ms=LONG_MS)
        fetched = helper.submit(two.fetch, {ORDERS: 0}, max_wait_ms=LONG_MS)
        assert eventually(lambda: waiting(broker) == {"produce": 1, "fetch": 1})
        broker.__exit__()
        assert fetched.result() == {ORDERS: Read(0, ())}
        with one, two, pytest.raises(RefusedRequest, match="broker stops") as refusal:
            produced.result()
        assert refusal.value.code is ErrorCode.STOPPING


def test_a_follower_begins_anew_after_a_failure(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It connects again, and the produce is acknowledged; the high watermark never went back."""
    monkeypatch.setattr("broker.follower._RETRY_S", 0.001)
    with running() as broker, following(broker), client_of(broker) as client:
        assert client.produce(ORDERS, [b"a"], timeout_ms=LONG_MS) == 0
        for channel in broker.server._threads[0].channels:
            if channel.peer != client._wire.getsockname():
                channel.close()
        assert eventually(lambda: "follower 0 cannot fetch" in caplog.text)
        assert client.produce(ORDERS, [b"b"], timeout_ms=LONG_MS) == 1
        client.fetch({ORDERS: 0}, max_wait_ms=0, replica_id=0)
        assert broker.logs[ORDERS].high_watermark == 2
