"""Expectations of an inline executor where no order of its runs explains the outcome.

The model follows only the orders that begin as the observed events do. Where there is none, a rule
is broken, and to say which one some order is needed: here the step is told as a stepped executor
would go through it, running what was seen to run first.
"""

import dataclasses
from collections.abc import Callable, Iterator

import msgspec

from purgatory_judge.purgatory.step import Model, State
from purgatory_model.replacing import replace
from purgatory_model.step import Expectation, in_order_of
from purgatory_spec.operations import Operation, RunOne
from purgatory_spec.outcomes import Event, EventKind
from purgatory_spec.profiles import Executor

_MOST_RUNS = 1000


def composed_expectations(
    model: Model, before: State, operation: Operation, seen: tuple[Event, ...]
) -> Iterator[Expectation[State]]:
    """Yield the ways in which a step may go, each with one order of its runs."""
    profile = msgspec.structs.replace(model.profile, executor=Executor.STEPPED)
    stepped = dataclasses.replace(model, profile=profile)
    for expectation in stepped.expectations(before, operation):
        events = in_order_of(seen, expectation.groups)
        state = expectation.complete(events)
        runs = 0
        while state.timer.queue and runs < _MOST_RUNS:
            first, *_ = stepped.expectations(state, RunOne())
            ran = in_order_of(seen, first.groups)
            state = first.complete(ran)
            events += ran
            runs += 1
        shown = tuple(frozenset({e}) for e in events if e.kind is not EventKind.EXPIRED)
        yield replace(expectation, groups=shown, complete=_always(state), observe=model.observe)


def _always(state: State) -> Callable[[tuple[Event, ...]], State]:
    return lambda _: state
