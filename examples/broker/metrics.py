"""Metrics for Prometheus: the pool and its waiters, connections, queue, both purgatories.

All numbers are read when Prometheus asks, none is kept. The names in quotes are Kafka's.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from broker.broker import Broker

_MS_PER_S: Final = 1000


class BrokerCollector(Collector):
    """The metrics of one broker."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics, read once."""
        yield from self._memory()
        server = self._broker.server
        yield GaugeMetricFamily(
            "broker_queued_requests",
            "Requests that wait for a handler, of at most queued_requests. MUTING-BOTH-BOUNDS",
            server.queued,
        )
        yield GaugeMetricFamily("broker_connections", "Open connections.", server.connections)
        yield GaugeMetricFamily(
            "broker_unread_response_bytes",
            "Bytes of responses that clients have not read, of at most unread_response_bytes.",
            server.unread_response_bytes,
        )
        closed = CounterMetricFamily(
            "broker_closed_connections",
            "Connections that were closed, by reason: unread, bad_response, handler_failed, failed "
            "and others.",
            labels=["reason"],
        )
        for reason, count in server.closed.items():
            closed.add_metric([reason.value], count)
        yield closed
        yield from self._purgatories()

    def _memory(self) -> Iterator[Metric]:
        line = self._broker.server.line
        # Read once: two readings would not add up to the limit.
        available = line.pool.available_bytes
        yield GaugeMetricFamily(
            "broker_memory_pool_available_bytes",
            "'MemoryPoolAvailable': bytes left for requests; below zero by at most the largest "
            "request less a byte. With the used ones they are the limit. MUTING-GAUGES",
            available,
        )
        yield GaugeMetricFamily(
            "broker_memory_pool_used_bytes",
            "'MemoryPoolUsed': bytes of requests that are being received or handled. MUTING-GAUGES",
            line.pool.size_bytes - available,
        )
        yield GaugeMetricFamily(
            "broker_memory_pool_waiting_channels",
            "Connections that are not read because their request was refused memory. MUTING-WAIT",
            line.waiting,
        )
        yield CounterMetricFamily(
            "broker_memory_pool_depleted_seconds",
            "'MemoryPoolDepletedTimeTotal': how long a connection has waited for memory, a wait "
            "that goes on included. MUTING-DEPLETED",
            line.depleted_ms / _MS_PER_S,
        )
        yield GaugeMetricFamily(
            "broker_memory_pool_depleted_percent",
            "'MemoryPoolAvgDepletedPercent': the share of the last 30 seconds in which a "
            "connection waited for memory, 0 to 100. MUTING-DEPLETED",
            line.depleted_percent,
        )

    def _purgatories(self) -> Iterator[Metric]:
        entries = GaugeMetricFamily(
            "broker_purgatory_size",
            "'PurgatorySize': entries in all lists; stale ones count until a check or a purge.",
            labels=["purgatory"],
        )
        delayed = GaugeMetricFamily(
            "broker_num_delayed_operations",
            "'NumDelayedOperations': requests in the timer.",
            labels=["purgatory"],
        )
        for purgatory in (self._broker.produces, self._broker.fetches):
            entries.add_metric([purgatory.name], purgatory.entries)
            delayed.add_metric([purgatory.name], purgatory.timer_size)
        yield entries
        yield delayed


def registry_of(broker: Broker) -> CollectorRegistry:
    """Return the metrics of a broker, and no others."""
    registry = CollectorRegistry()
    registry.register(BrokerCollector(broker))
    return registry


@contextmanager
def serving_metrics(broker: Broker, address: tuple[str, int]) -> Iterator[str]:
    """Serve the metrics over HTTP; the URL.

    Args:
        broker: Whose.
        address: Host and port; port 0 is any that is free.

    Raises:
        OSError: the address cannot be listened on.
    """
    host, port = address
    server, thread = start_http_server(port, host, registry_of(broker))
    try:
        yield f"http://{host}:{server.server_port}/metrics"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
