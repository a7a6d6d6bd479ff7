"""The memory pools behind the Kafka adapter, driven line by line: what no campaign asks.

The regular behaviour is judged by the campaigns of ``test_kafka_memory_pool_conformance``.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from purgatory_conformance.subjects.kafka import KafkaMode

from .adapter_process import Adapter, Reply, started
from .releases import releases

pytestmark = [pytest.mark.verify, pytest.mark.java, pytest.mark.slow]

LARGEST_LONG = str(2**63 - 1)
FEATURES = [
    "strict",
    "non_strict",
    "construct",
    "release_again",
    "release_slice",
    "release_copy",
    "release_foreign",
    "release_nothing",
]
INVALID = {
    "rejected": "invalid_argument",
    "detail": "java.lang.IllegalArgumentException",
}


@pytest.fixture(scope="module", params=releases("4.4.0", "4.0.0", "3.9.1"))
def release(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def simple(release: str) -> Iterator[Adapter]:
    yield from started(release, KafkaMode.VIRTUAL)


@pytest.fixture(scope="module")
def tracking(release: str) -> Iterator[Adapter]:
    yield from started(release, KafkaMode.LEAK_TRACKING)


@pytest.fixture(params=["simple", "tracking"])
def pool(request: pytest.FixtureRequest, simple: Adapter, tracking: Adapter) -> Adapter:
    return {"simple": simple, "tracking": tracking}[str(request.param)]


def seen(available: int, buffer: int | None = None, *, spells: int = 0, size: int = 100) -> Reply:
    return {
        "observed": {
            "available_bytes": available,
            "used_bytes": size - available,
            "size_bytes": size,
            "out_of_memory": available <= 0,
            "buffer_bytes": buffer,
            "depleted_spells": spells,
        }
    }


def allocate(pool: Adapter, buffer: str, size: int) -> Reply:
    return pool.do("allocate", buffer=buffer, size_bytes=size)


def refused(reply: Reply) -> Reply:
    return {**INVALID, **reply}


def test_the_modes_say_what_they_offer(simple: Adapter, tracking: Adapter) -> None:
    profiles = [
        adapter.ask("hello", protocol=1, suite="0.1.0", schema="")["components"]
        for adapter in (simple, tracking)
    ]
    observables = list(seen(0)["observed"])
    assert profiles[0]["memory_pool"] == {
        "release_validation": "none",
        "features": [*FEATURES, "unbounded"],
        "observables": observables,
    }
    assert profiles[1] == {
        "memory_pool": {
            "release_validation": "identity",
            "features": [*FEATURES, "leak_detection"],
            "observables": observables,
        }
    }


def test_what_makes_no_sense_is_refused(pool: Adapter) -> None:
    pool.new("memory_pool")
    for size in (0, -1, 41):
        assert allocate(pool, "a", size) == refused(seen(100))
    assert pool.do("release_nothing") == refused(seen(100))
    for sizes in ((0, 0), (0, 1), (1, 0), (10, 11), (-1, -1)):
        construct = {"size_bytes": sizes[0], "max_single_bytes": sizes[1]}
        assert pool.do("construct", **construct) == refused(seen(100))
    assert pool.do("construct", size_bytes=10, max_single_bytes=10) == seen(100)
    unknown = {"rejected": "unknown_name", "detail": "purgatory.adapter.kafka.UnknownName"}
    assert pool.do("release", buffer="z") == unknown | seen(100)
    assert pool.do("allocate", buffer="a", size_bytes=2**31) == {
        "unsupported": "'size_bytes' is an int in Kafka"
    }


def test_a_simple_pool_credits_whatever_is_released(simple: Adapter) -> None:
    """
    Given a pool that does not know its own buffers
    When a foreign buffer, a slice, a copy and one buffer twice are released
    Then all are credited, and more is available than there is
    """
    simple.new("memory_pool")
    allocate(simple, "a", 40)
    assert simple.do("release_foreign", size_bytes=30) == seen(90)
    assert simple.do("release", buffer="a", form="slice") == seen(130)
    assert simple.do("release", buffer="a", form="copy") == seen(170)
    assert simple.do("release", buffer="a") == seen(210)
    assert simple.do("release", buffer="a") == seen(250)
    assert simple.do("lose", buffer="a") == {"unsupported": "this pool notices no loss"}


def test_no_pool_grants_everything(simple: Adapter) -> None:
    simple.new("memory_pool", unbounded=True)
    observed = {
        "available_bytes": LARGEST_LONG,
        "used_bytes": 0,
        "size_bytes": LARGEST_LONG,
        "out_of_memory": False,
        "buffer_bytes": None,
        "depleted_spells": 0,
    }
    for size in (0, 1000):
        reply = {"result": True, "observed": {**observed, "buffer_bytes": size}}
        assert allocate(simple, "a", size) == reply
    assert allocate(simple, "b", -1) == refused({"observed": observed})
    for _ in range(2):
        assert simple.do("release", buffer="a") == {"observed": observed}
    assert simple.do("release_nothing") == {"observed": observed}


def test_there_is_no_tracking_pool_without_bound(tracking: Adapter) -> None:
    configuration = {"unbounded": True}
    assert tracking.ask("new", component="memory_pool", case="a", configuration=configuration) == {
        "unsupported": "the pool that is none tracks no leaks"
    }


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
