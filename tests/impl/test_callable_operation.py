"""The operation that is made of callables: it does what a user's class would do."""

from functools import partial
from typing import Any

import pytest

from purgatory_impl import CallableOperation, CallableTask, DelayedOperation, InvalidConfiguration

from .purgatory_bench import Bench, Seen


class OfCallables:
    """An operation of callables that writes into the log of a bench, like ``Recorded``."""

    def __init__(self, bench: Bench, name: str, delay_ms: int = 1000) -> None:
        self.ready: object = False
        log = bench.log

        def condition() -> object:
            log.append(f"try {name}")
            return self.ready

        self.operation = CallableOperation(
            condition,
            delay_ms,
            on_complete=lambda: log.append(f"complete {name}"),
            on_expiration=lambda: log.append(f"expire {name}"),
        )


def test_it_is_completed_once_its_condition_holds() -> None:
    """The second check completes it, and ``on_complete`` is called once."""
    bench = Bench()
    made = OfCallables(bench, "a")
    assert bench.purgatory.try_complete_else_watch(made.operation, ["k", "l"]) is False
    assert bench.purgatory.check_and_complete("k") == 0
    made.ready = True
    assert bench.purgatory.check_and_complete("k") == 1
    assert bench.purgatory.check_and_complete("l") == 0
    assert bench.log == ["try a", "try a", "try a", "try a", "complete a"]
    assert bench.seen() == Seen()


def test_its_time_out_calls_both_callbacks_in_order() -> None:
    bench = Bench()
    bench.purgatory.try_complete_else_watch(OfCallables(bench, "a", 10).operation, ["k"])
    bench.advance(10)
    bench.run_all()
    assert bench.log == ["try a", "try a", "complete a", "expire a"]


@pytest.mark.parametrize(("value", "holds"), [(1, True), ("x", True), (0, False), (None, False)])
def test_the_condition_is_true_or_false(value: object, holds: bool) -> None:
    bench = Bench()
    made = OfCallables(bench, "a")
    made.ready = value
    assert bench.purgatory.try_complete_else_watch(made.operation, ["k"]) is holds
    assert made.operation.is_completed is holds


def test_callbacks_may_be_left_out() -> None:
    """Given operations of a condition alone: both are completed."""
    bench = Bench()
    forced, expired = (CallableOperation(bool, delay_ms) for delay_ms in (100, 0))
    for operation in (forced, expired):
        bench.purgatory.try_complete_else_watch(operation, ["k"])
    assert forced.force_complete()
    bench.run_all()
    assert expired.is_completed


@pytest.mark.parametrize("name", ["condition", "on_complete", "on_expiration"])
def test_what_cannot_be_called_is_refused(name: str) -> None:
    arguments: dict[str, Any] = {"condition": bool, "delay_ms": 10, name: 7}
    with pytest.raises(InvalidConfiguration, match=f"{name} is 7"):
        CallableOperation(**arguments)


class AsyncCall:
    async def __call__(self) -> bool:
        return True


async def holds() -> bool:
    return True


@pytest.mark.parametrize("given", [holds, partial(holds), AsyncCall(), partial(AsyncCall())])
@pytest.mark.parametrize("name", ["condition", "on_complete", "on_expiration"])
def test_a_coroutine_function_is_refused_when_it_is_given(name: str, given: Any) -> None:
    arguments: dict[str, Any] = {"condition": bool, "delay_ms": 10, name: given}
    with pytest.raises(TypeError, match=rf"{name} is .* makes a coroutine"):
        CallableOperation(**arguments)
    with pytest.raises(TypeError, match=r"action is .* makes a coroutine"):
        CallableTask(given)


def test_a_condition_that_makes_a_coroutine_all_the_same_does_not_hold() -> None:
    bench = Bench()
    operation: DelayedOperation = CallableOperation(lambda: holds(), 10)
    with pytest.raises(TypeError, match="holds, and nothing runs it"):
        bench.purgatory.try_complete_else_watch(operation, ["k"])
    assert not operation.is_completed


def test_it_has_no_subclasses() -> None:
    with pytest.raises(TypeError, match="derive the class from DelayedOperation"):
        type("Tried", (CallableOperation,), {})
