"""Kafka's selector and channels behind the adapter, driven line by line: what no campaign asks."""

# The regular behaviour is judged by the campaigns of ``test_kafka_channel_muting_conformance``.

from collections.abc import Iterator
from pathlib import Path

import pytest

from purgatory_conformance.subjects.kafka import KafkaMode

from .adapter_process import GREETINGS, Adapter, Reply, started
from .releases import releases

pytestmark = [pytest.mark.verify, pytest.mark.java, pytest.mark.slow]


@pytest.fixture(scope="module", params=releases("4.4.0", "4.0.0", "3.9.1", "2.8.2"))
def kafka(request: pytest.FixtureRequest) -> Iterator[Adapter]:
    yield from started(str(request.param), KafkaMode.VIRTUAL)


def seen(
    available: int,
    channels: str,
    *,
    waiting: str = "",
    ordered: str = "",
    holding: str = "",
    unread: int | None = 0,
) -> Reply:
    return {
        "available_bytes": available,
        "open": channels.split(),
        "waiting": waiting.split(),
        "ordered": ordered.split(),
        "holding": holding.split(),
        "unread_bytes": unread,
    }


def announce(kafka: Adapter, channel: str, size: int, sent: int | None = None) -> Reply:
    sent_bytes = 4 + size if sent is None else sent
    return kafka.do("announce", channel=channel, size_bytes=size, sent_bytes=sent_bytes)


def connected(kafka: Adapter, *channels: str, tls: bool = False) -> None:
    """A server for one request of 10 bytes, and its clients."""
    kafka.new("channel_muting", limit_bytes=10, max_request_bytes=10, tls=tls)
    for channel in channels:
        kafka.do("connect", channel=channel)


def received(*requests: str) -> list[Reply]:
    return [{"kind": "received", "task": request} for request in requests]


def test_says_what_it_offers(kafka: Adapter) -> None:
    hello = kafka.ask("hello", protocol=1, suite="0.1.0", schema="")
    assert hello["components"]["channel_muting"] == GREETINGS["channel_muting"]


@pytest.mark.parametrize("tls", [False, True])
def test_memory_released_during_select_is_a_trap_under_tls_alone(kafka: Adapter, tls: bool) -> None:
    """Over a plain connection it is received; under TLS it holds the memory and is never read."""
    connected(kafka, "c1", "c2", tls=tls)
    announce(kafka, "c1", 10)
    assert kafka.do("poll")["events"] == received("c1#1")
    announce(kafka, "c2", 10, 9)
    assert kafka.do("poll")["observed"]["waiting"] == ["c2"]
    unread = None if tls else 0
    waiting = "c2" if tls else ""
    assert kafka.do("poll_while", request="c1#1") == {
        "observed": seen(0, "c1 c2", waiting=waiting, ordered="c1", holding="c2", unread=unread)
    }
    kafka.do("send", channel="c2", sent_bytes=5)
    reply = kafka.do("poll")
    assert reply.get("events", []) == ([] if tls else received("c2#1"))


@pytest.mark.large
def test_a_selector_that_reads_requests_ahead_is_not_offered() -> None:
    """Channels are not among it."""
    for adapter in started("2.4.1", KafkaMode.VIRTUAL):
        hello = adapter.ask("hello", protocol=1, suite="0.1.0", schema="")
        assert sorted(hello["components"]) == ["memory_pool", "purgatory"]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts files under /proc")
@pytest.mark.parametrize("tls", [False, True])
def test_a_former_server_leaves_nothing_open(kafka: Adapter, tls: bool) -> None:
    def files() -> int:
        return len(list(Path(f"/proc/{kafka.process.pid}/fd").iterdir()))

    connected(kafka, "c1", tls=tls)
    before = files()
    for _ in range(50):
        connected(kafka, "c1", tls=tls)
        announce(kafka, "c1", 10)
        kafka.do("poll")
    assert files() <= before + 5
