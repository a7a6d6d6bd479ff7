"""Every measure of every peer, with tiny numbers."""

from typing import Any

import pytest

from purgatory_lab.benchmarks.python_peer.peers import peers
from tests.lab.benchmarks.python_peer.asking import asked, said

TIMERS = ("implementation", "asyncio", "heapq")
PURGATORIES = ("implementation", "old-design")


def assert_costs(answer: dict[str, Any], operations: int) -> None:
    assert answer.get("error") is None
    assert answer["operations"] == operations
    assert answer["process_cpu_ns"] > 0
    assert answer["wall_ns"] > 0
    if answer["thread_cpu_ns"] is not None:
        assert 0 < answer["thread_cpu_ns"] <= 1.1 * answer["process_cpu_ns"] + 1e6


@pytest.mark.parametrize("name", TIMERS)
@pytest.mark.parametrize("clock", ["virtual", "system"])
@pytest.mark.parametrize("measure", ["hot", "fifo", "random"])
def test_adding_and_cancelling(name: str, measure: str, clock: str) -> None:
    answer = asked(name, f"{measure}/{clock}", pending=300, operations=2500)
    assert_costs(answer, 2500)
    assert answer["thread_cpu_ns"] is not None


@pytest.mark.parametrize("name", TIMERS)
@pytest.mark.parametrize("measure", ["fifo", "random"])
def test_replacing_needs_something_to_replace(name: str, measure: str) -> None:
    answer = asked(name, f"{measure}/virtual", pending=0, operations=1)
    assert answer == {"error": f"{measure}/virtual needs pending to be at least 1"}


@pytest.mark.parametrize("name", TIMERS)
def test_expiring_on_a_virtual_clock(name: str) -> None:
    answer = asked(name, "expire/virtual", operations=500)
    assert_costs(answer, 500)
    assert 0 < answer["detail"]["add_cpu_ns"] < answer["thread_cpu_ns"]


@pytest.mark.verify
@pytest.mark.slow
@pytest.mark.parametrize("name", TIMERS)
def test_expiring_on_the_real_clock(name: str) -> None:
    answer = asked(name, "expire/system", operations=500)
    assert_costs(answer, 500)
    # The last of 500 delays of up to 2 s is near these.
    assert 1.9e9 < answer["wall_ns"] < 20e9
    assert answer["thread_cpu_ns"] is None
    assert answer["detail"]["add_cpu_ns"] > 0


@pytest.mark.parametrize("name", PURGATORIES)
@pytest.mark.parametrize("keys", [3, 1000])
@pytest.mark.parametrize("payload", [0, 100])
def test_watching_and_completing(name: str, keys: int, payload: int) -> None:
    answer = asked(name, "purgatory", operations=300, keys=keys, payload=payload)
    assert_costs(answer, 300)
    assert 0 < answer["detail"]["watch_cpu_ns"] < answer["thread_cpu_ns"]


@pytest.mark.parametrize("name", PURGATORIES)
def test_two_keys_are_too_few(name: str) -> None:
    answer = asked(name, "purgatory", operations=1, keys=2)
    assert answer == {"error": "three different keys are drawn, and there are 2"}


@pytest.mark.parametrize("name", PURGATORIES)
@pytest.mark.parametrize("keys", [1, 300])
def test_one_event(name: str, keys: int) -> None:
    answer = asked(name, "event", operations=50, keys=keys)
    assert answer["operations"] == 50
    assert (answer["thread_cpu_ns"], answer["process_cpu_ns"]) == (None, None)
    detail = answer["detail"]
    assert 0 < detail["median_ns"] <= detail["p99_ns"] <= detail["max_ns"] <= answer["wall_ns"]


@pytest.mark.parametrize("size", [1, 4096])
def test_the_pool(size: int) -> None:
    assert_costs(asked("implementation", "pool", operations=300, bytes=size), 300)


@pytest.mark.parametrize("size", [0, 2**20 + 1])
def test_a_buffer_that_no_pool_gives(size: int) -> None:
    answer = asked("implementation", "pool", operations=1, bytes=size)
    assert answer == {"error": f"a buffer has 1 to 1048576 bytes, and not {size}"}


@pytest.mark.parametrize(
    ("name", "measure"),
    [(name, "memory/timer") for name in TIMERS]
    + [(name, "memory/purgatory") for name in PURGATORIES],
)
def test_memory(name: str, measure: str) -> None:
    peer = peers()[name]
    assert measure in peer.fresh
    line = f'{{"measure":"{measure}","pending":20000}}'
    answer = said(peer, line, alone=False)[1]
    assert_costs(answer, 20_000)
    assert 20 < answer["detail"]["bytes"] < 2_000
    assert answer["detail"]["how"].startswith("growth of the ")


def test_memory_of_nothing() -> None:
    answer = asked("heapq", "memory/timer", pending=0)
    assert answer == {"error": "memory/timer needs pending to be at least 1"}


@pytest.mark.verify
@pytest.mark.slow
@pytest.mark.parametrize("name", ["implementation", "heapq"])
def test_the_longest_pause(name: str) -> None:
    answer = asked(name, "pause", pending=200, operations=1200)
    assert_costs(answer, 1200)
    assert 1.2e9 <= answer["wall_ns"] < 2.4e9
    detail = answer["detail"]
    assert detail["pairs"] > 1000
    assert 0 < detail["p999_ms"] <= detail["max_ms"] < 1200


def test_a_pause_takes_a_second() -> None:
    answer = asked("heapq", "pause", operations=999)
    assert answer == {"error": "operations are milliseconds here, at least 1000"}


@pytest.mark.verify
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "design"),
    [
        ("implementation", ""),
        ("implementation", "exact"),
        ("implementation", "proposal"),
        ("old-design", ""),
        ("old-design", "old"),
        ("old-design", "old-each"),
    ],
)
def test_the_workload(name: str, design: str) -> None:
    answer = asked(
        name, "workload", operations=300, rate=1000, case="high", keys=3, payload=100, design=design
    )
    assert_costs(answer, 300)
    detail = answer["detail"]
    assert detail["completed"] + detail["expired"] == 300
    assert detail["completed"] > 20
    assert detail["expired"] > 20
    assert 1 < detail["achieved"] < 1300
    assert detail["cpu_us"] == pytest.approx(answer["process_cpu_ns"] / 300e3, abs=0.001)
    assert detail["lag_p50_ms"] <= detail["lag_p99_ms"] <= detail["lag_max_ms"]
    assert detail["lag_p50_ms"] >= 0
    assert detail["pause_max_ms"] > 0
    assert 5 < detail["resident_mib"] < 1000


def test_a_design_that_there_is_not() -> None:
    answer = asked("old-design", "workload", design="exact")
    assert answer == {"error": "there is no design 'exact'; there are: old, old-each"}
