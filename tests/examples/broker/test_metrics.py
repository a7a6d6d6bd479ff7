"""Numbers that Prometheus reads: each one while something is under way, and at rest."""

import time
from urllib.request import urlopen

import pytest

from broker.client import Client
from broker.metrics import serving_metrics
from broker.protocol import CONSUMER, Acks, FetchRequest, ProduceRequest, Request, encode
from purgatory_impl.network import CloseReason
from tests.examples.broker.running import (
    LONG_MS,
    ORDERS,
    OTHERS,
    client_of,
    eventually,
    following,
    is_at_rest,
    running,
    scraped,
    values_of,
)
from tests.impl.network.wire import frame

pytestmark = [pytest.mark.verify, pytest.mark.usefixtures("no_long_wait")]

REST = {
    "memory_pool_available_bytes": 10_000,
    "memory_pool_used_bytes": 0,
    "memory_pool_waiting_channels": 0,
    "memory_pool_depleted_seconds_total": 0,
    "memory_pool_depleted_percent": 0,
    "queued_requests": 0,
    "connections": 0,
    "unread_response_bytes": 0,
    "purgatory_size_of_produce": 0,
    "purgatory_size_of_fetch": 0,
    "num_delayed_operations_of_produce": 0,
    "num_delayed_operations_of_fetch": 0,
}


def sends(client: Client, data: bytes) -> None:
    client._wire.sendall(data)


def framed(request: Request) -> bytes:
    body = encode(request)
    return frame(len(body)) + body


def present(text: str) -> dict[str, float]:
    """The numbers that come and go: all but those of closed connections."""
    values = values_of(text)
    return {name: each for name, each in values.items() if not name.startswith("closed_")}


def exposition(url: str) -> str:
    with urlopen(url, timeout=120) as response:
        return str(response.read(), "utf-8")


@pytest.mark.slow
def test_prometheus_sees_what_is_received_and_what_waits() -> None:
    """Every number is that of rest."""
    with running() as broker, serving_metrics(broker, ("127.0.0.1", 0)) as url:
        text = exposition(url)
        assert present(text) == REST
        for name, rule in (
            ("available_bytes", "MUTING-GAUGES"),
            ("used_bytes", "MUTING-GAUGES"),
            ("depleted_seconds_total", "MUTING-DEPLETED"),
            ("depleted_percent", "MUTING-DEPLETED"),
        ):
            (line,) = (
                each for each in text.splitlines() if f"HELP broker_memory_pool_{name}" in each
            )
            assert rule in line
        with client_of(broker) as receiving, client_of(broker) as one, client_of(broker) as two:
            sends(receiving, frame(1_000) + b"x" * 999)
            sends(one, framed(ProduceRequest(1, ORDERS, (b"a",), Acks.ALL, LONG_MS)))
            sends(two, framed(FetchRequest(1, {ORDERS: 0, OTHERS: 0}, 1, LONG_MS, 100, CONSUMER)))
            expected = REST | {
                "memory_pool_available_bytes": 9_000,
                "memory_pool_used_bytes": 1_000,
                "connections": 3,
                "purgatory_size_of_produce": 1,
                "purgatory_size_of_fetch": 2,
                "num_delayed_operations_of_produce": 1,
                "num_delayed_operations_of_fetch": 1,
            }
            assert eventually(lambda: present(exposition(url)) == expected)
            with following(broker):
                assert one._receive(4)
                assert two._receive(4)
        assert eventually(lambda: present(exposition(url)) == REST)


def test_depleted_time_runs_while_a_connection_waits_for_memory_and_no_longer() -> None:
    """Depleted time runs, also within the wait, and its share is between 0 and 100."""
    name = "memory_pool_depleted_seconds_total"
    with running() as broker:
        clients = [client_of(broker) for _ in range(3)]
        assert scraped(broker)[name] == 0
        for client in clients:
            sends(client, frame(5_000) + b"x" * 4_999)
        assert eventually(lambda: scraped(broker)["memory_pool_waiting_channels"] == 1)
        assert eventually(lambda: scraped(broker)[name] > 0)
        first = scraped(broker)
        assert 0 < first["memory_pool_depleted_percent"] <= 100
        assert (first["memory_pool_available_bytes"], first["memory_pool_used_bytes"]) == (
            0,
            10_000,
        )
        assert eventually(lambda: scraped(broker)[name] > first[name])
        for client in clients:
            client.__exit__()
        assert eventually(lambda: is_at_rest(broker))
        last, ends = scraped(broker)[name], time.monotonic() + 0.02
        assert eventually(lambda: time.monotonic() > ends)
        assert scraped(broker)[name] == last >= first[name]


def test_closed_connections_are_counted_by_reason() -> None:
    """Given a broker: each is counted under its reason, and all reasons have a number."""
    name = "closed_connections_total_of_{}"
    with running() as broker, client_of(broker) as wrong, client_of(broker) as right:
        assert {key for key in scraped(broker) if key.startswith("closed_")} == {
            name.format(reason.value) for reason in CloseReason
        }
        sends(wrong, frame(-1))
        assert eventually(lambda: scraped(broker)[name.format("invalid_size")] == 1)
        broker.server._threads[0].channels[-1].close(CloseReason.BAD_RESPONSE)
        assert eventually(lambda: scraped(broker)[name.format("bad_response")] == 1)
        assert right._wire.recv(1) == b""


def test_a_port_that_is_taken_is_an_error() -> None:
    with (
        running() as broker,
        pytest.raises(OSError, match="in use"),
        serving_metrics(broker, broker.server.address),
    ):
        pass
