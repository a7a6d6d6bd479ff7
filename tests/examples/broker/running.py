"""A broker and followers in this process, what is observed from outside, and what must be left."""

import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager

from prometheus_client import generate_latest

from broker.broker import Broker
from broker.client import Client
from broker.follower import Follower
from broker.metrics import registry_of
from broker.protocol import MOST_WAIT_MS, TopicPartition
from purgatory_impl.network import NetworkLimits
from tests.impl.network.wire import tls_contexts

ORDERS = TopicPartition("orders", 0)
OTHERS = TopicPartition("orders", 1)
LONG_MS = MOST_WAIT_MS
"""A wait that only a failure takes to its end: five minutes."""

LIMITS = NetworkLimits(limit_bytes=10_000, max_request_bytes=5_000)


def eventually(is_so: Callable[[], bool]) -> bool:
    """Decide whether a condition becomes true within a time that only a failure takes."""
    ends = time.monotonic() + 120
    while not is_so() and time.monotonic() < ends:
        time.sleep(0.002)
    return is_so()


def scraped(broker: Broker) -> dict[str, float]:
    """The metrics by name and label, as Prometheus gets them."""
    return values_of(generate_latest(registry_of(broker)).decode())


def values_of(exposition: str) -> dict[str, float]:
    lines = (line for line in exposition.splitlines() if not line.startswith("#"))
    return {
        re.sub(r'\{\w+="(\w+)"\}', r"_of_\1", name).removeprefix("broker_"): float(value)
        for name, value in (line.rsplit(" ", 1) for line in lines)
    }


def waiting(broker: Broker) -> Mapping[str, float]:
    """Return the number of waiting requests in each purgatory, by its name."""
    values = scraped(broker)
    return {name: values[f"num_delayed_operations_of_{name}"] for name in ("produce", "fetch")}


@contextmanager
def running(
    limits: NetworkLimits = LIMITS, *, followers: int = 1, tls: bool = False
) -> Iterator[Broker]:
    """A broker that purges at once, and whose followers do not run yet."""
    # In the end nothing of it is left: no memory out, no entry, no time-out, no thread.
    threads = threads_now()
    broker = Broker(
        {"orders": 2},
        limits,
        follower_ids=range(followers),
        tls=tls_contexts()[0] if tls else None,
        purge_interval=0,
    )
    with broker:
        yield broker
        assert eventually(lambda: is_at_rest(broker))
    assert threads_now() <= threads
    assert broker.server.connections == 0


def threads_now() -> set[threading.Thread]:
    """All threads but those in which tests call clients."""
    running = threading.enumerate()
    return {each for each in running if not each.name.startswith("ThreadPoolExecutor")}


def is_at_rest(broker: Broker) -> bool:
    """Decide whether no request waits and the memory is back."""
    values = scraped(broker)
    names = ("purgatory_size_of_{}", "num_delayed_operations_of_{}")
    return (
        values["memory_pool_available_bytes"] == broker.server.limits.limit_bytes
        and values["memory_pool_used_bytes"] == values["memory_pool_waiting_channels"] == 0
        and not any(values[name.format(each)] for name in names for each in ("produce", "fetch"))
    )


def client_of(broker: Broker, *, tls: bool = False) -> Client:
    _, port = broker.server.address
    return Client(("localhost", port), tls_contexts()[1] if tls else None)


def following(broker: Broker, *, tls: bool = False) -> AbstractContextManager[Follower]:
    """The broker's only follower; it stops soon."""
    _, port = broker.server.address
    context = tls_contexts()[1] if tls else None
    return Follower(0, ("localhost", port), broker.logs, tls=context, max_wait_ms=20)
