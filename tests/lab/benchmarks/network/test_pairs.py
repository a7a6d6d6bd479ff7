"""Two processes: what the server measures is what came, and who fails is told of."""

import sys

import pytest

from purgatory_conformance.problems import Problem
from purgatory_lab.benchmarks.network import pairs
from purgatory_lab.benchmarks.network.messages import Load, Serve
from purgatory_lab.benchmarks.network.pairs import measure

pytestmark = pytest.mark.verify

PYTHON = sys.executable


@pytest.mark.slow
def test_the_server_measures_itself_while_it_serves() -> None:
    found = measure(Serve("throughput", Load(4, 10, 2, 1000), 100_000), PYTHON, None)
    assert 30 <= found.requests <= 36
    assert found.polls > 0
    assert 0 < found.cpu_s < 5
    assert found.left_bytes == 0


@pytest.mark.slow
def test_the_bound_holds_and_what_is_no_bound_of_bytes_is_found() -> None:
    body = 200_000
    limit = 2 * body + 1
    load = Load(8, 1, 1, body, is_crowd=True)
    bounded = measure(Serve("spike", load, limit), PYTHON, None)
    assert bounded.most_bytes == limit + body - 1
    assert (bounded.waiting, bounded.requests, bounded.left_bytes) == (5, 8, 0)
    queued = measure(Serve("spike", load, -1, queued_requests=1), PYTHON, None)
    assert queued.most_bytes > limit + body - 1
    assert (queued.waiting, queued.requests, queued.left_bytes) == (0, 8, 0)


@pytest.mark.slow
def test_an_idle_server_sleeps_and_the_control_does_not() -> None:
    calm = Serve("idle", Load(3, 1, 1, 100, is_crowd=True), 100, seconds=0.4)
    found = measure(calm, PYTHON, None)
    assert (found.waiting, found.left_bytes) == (2, 0)
    assert found.polls <= 4
    spinning = Serve("idle", Load(3, 1, 1, 100, is_crowd=True), 100, seconds=0.4, spins=True)
    assert measure(spinning, PYTHON, None).polls > 100


def test_a_server_that_fails_is_a_problem() -> None:
    with pytest.raises(Problem, match=r"the server has failed: .*limit_bytes is 10;") as problem:
        measure(Serve("throughput", Load(1, 1, 1, 100), 10), PYTHON, None)
    assert problem.value.exit_code == 3


@pytest.mark.slow
def test_clients_that_send_too_little_are_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    start = pairs._start
    started = []

    def starting(python: str, module: str, task: object, said: object, more: object) -> object:
        if isinstance(task, Serve):
            task = Serve(task.scene, Load(1, 7, 1, 100), -1)
        process = start(python, module, task, said, more)  # type: ignore[arg-type]
        started.append(process)
        return process

    monkeypatch.setattr(pairs, "_start", starting)
    with pytest.raises(Problem, match="5 of 7 requests have come"):
        measure(Serve("throughput", Load(1, 5, 1, 100), -1), PYTHON, None)
    assert [process.poll() is not None for process in started] == [True, True]
