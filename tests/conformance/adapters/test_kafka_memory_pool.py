"""The memory pools behind the Kafka adapter, driven line by line: what no campaign asks."""

# The regular behaviour is judged by the campaigns of ``test_kafka_memory_pool_conformance``.

from collections.abc import Iterator
from pathlib import Path

import pytest

from purgatory_conformance.subjects.kafka import KafkaMode

from .adapter_process import GREETINGS, Adapter, started
from .releases import releases

pytestmark = [pytest.mark.verify, pytest.mark.java, pytest.mark.slow]


@pytest.fixture(scope="module", params=releases("4.4.0", "4.0.0", "3.9.1"))
def release(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def simple(release: str) -> Iterator[Adapter]:
    yield from started(release, KafkaMode.VIRTUAL)


@pytest.fixture(scope="module")
def tracking(release: str) -> Iterator[Adapter]:
    yield from started(release, KafkaMode.LEAK_TRACKING)


def test_the_modes_say_what_they_offer(simple: Adapter, tracking: Adapter) -> None:
    profiles = [
        adapter.ask("hello", protocol=1, suite="0.1.0", schema="")["components"]
        for adapter in (simple, tracking)
    ]
    assert profiles[0]["memory_pool"] == GREETINGS["memory_pool"]
    assert profiles[1] == {"memory_pool": GREETINGS["memory_pool that finds leaks"]}


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="counts threads under /proc")
def test_a_former_tracking_pool_leaves_no_thread_behind(tracking: Adapter) -> None:
    def threads() -> int:
        return len(list(Path(f"/proc/{tracking.process.pid}/task").iterdir()))

    tracking.new("memory_pool")
    before = threads()
    for _ in range(100):
        tracking.new("memory_pool")
        tracking.do("construct", size_bytes=10, max_single_bytes=10)
    # The last ones may still be about to end.
    assert threads() < before + 20
