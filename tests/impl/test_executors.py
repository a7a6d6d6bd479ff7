"""Executors: order, failures, idleness, closing."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from purgatory_impl import (
    Executor,
    InlineExecutor,
    SteppedExecutor,
    ThreadExecutor,
    Timer,
    TimerTask,
    VirtualClock,
)

LONG_MS = 20_000
"""A limit that only a test that hangs reaches."""

Run = Callable[[list[Callable[[], object]]], None]


@contextmanager
def stepped() -> Iterator[Run]:
    executor = SteppedExecutor()

    def run(actions: list[Callable[[], object]]) -> None:
        hand_over(executor, actions)
        while executor.run_one():
            pass

    yield run


@contextmanager
def inline() -> Iterator[Run]:
    executor = InlineExecutor()
    yield lambda actions: hand_over(executor, actions)


@contextmanager
def threaded() -> Iterator[Run]:
    executor = ThreadExecutor()

    def run(actions: list[Callable[[], object]]) -> None:
        hand_over(executor, actions)
        assert executor.wait_until_idle(LONG_MS)

    yield run
    executor.close(LONG_MS)


def hand_over(executor: Executor, actions: list[Callable[[], object]]) -> None:
    """What a timer does with expired tasks."""
    executor._hand_over([TimerTask(action) for action in actions])
    executor.wake()


def fail() -> None:
    raise ValueError("planned")


every_executor = pytest.mark.parametrize("executor", [stepped, inline, threaded])
MakeRun = Callable[[], "contextmanager[Run]"]


@every_executor
def test_tasks_run_in_the_order_of_the_queue(
    executor: Callable[[], "_GeneratorContextManager[Run]"],
) -> None:
    raise NotImplementedError
