# SPDX-License-Identifier: CC0-1.0
"""A model of a timer, to be changed. Compare it with the rules: purgatory model check FILE."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations

from purgatory_spec.operations import Add, Advance, Cancel, Operation, RunOne
from purgatory_spec.outcomes import Outcome, expired, ran
from purgatory_spec.profiles import TimerConfiguration
from purgatory_spec.reasons import Reason

COMPONENT = "timer"
PROFILE = {
    "features": ["cancel", "readd", "change_delay"]
}  # the rest is neither asked nor compared
LARGEST_DELAY_MS = 2**31 - 1


@dataclass(frozen=True)
class State:
    """The state of a timer: clock, due ticks of pending tasks, the executor's queue."""

    tick_ms: int
    now_ms: int
    due: frozenset[tuple[int, str]] = frozenset()
    queue: tuple[str, ...] = ()


Steps = Iterator[tuple[Outcome, State]]


def initial(configuration: TimerConfiguration) -> State:
    """Return a timer that was just made."""
    return State(configuration.tick_ms, configuration.start_ms)


def step(state: State, operation: Operation) -> Steps:
    """Yield every outcome that is allowed, with the state after it."""
    match operation:
        case Add(task, delay_ms):
            yield from add(state, task, delay_ms)
        case Cancel(task):
            yield Outcome(), without(state, task)
        case Advance(to_ms):
            yield from advance(replace(state, now_ms=to_ms))
        case RunOne() if state.queue:
            yield Outcome(events=(ran(state.queue[0]),)), replace(state, queue=state.queue[1:])
        case RunOne():
            yield Outcome(), state


def add(state: State, task: str, delay_ms: int) -> Steps:
    """Arm a task; an earlier arming ends. What is due already may expire at once, or wait."""
    if delay_ms > LARGEST_DELAY_MS:
        yield Outcome(rejected=Reason.TOO_LARGE), state
        return
    expiry_ms = state.now_ms + delay_ms
    due_tick = expiry_ms - expiry_ms % state.tick_ms
    before = without(state, task)
    yield Outcome(), replace(before, due=before.due | {(due_tick, task)})
    if due_tick <= state.now_ms:
        yield Outcome(events=(expired(task),)), replace(before, queue=(*before.queue, task))


def advance(state: State) -> Steps:
    """Expire what is due, tick after tick; inside a tick any order is right."""
    due = frozenset(each for each in state.due if each[0] <= state.now_ms)
    for tasks in orders(due):
        after = replace(state, due=state.due - due, queue=state.queue + tasks)
        yield Outcome(events=tuple(expired(task) for task in tasks)), after


def orders(due: frozenset[tuple[int, str]]) -> Iterator[tuple[str, ...]]:
    """Yield the orders in which tasks may expire: tick after tick, inside a tick in any order."""
    if not due:
        yield ()
        return
    first = min(tick for tick, _ in due)
    rest = frozenset(each for each in due if each[0] > first)
    for head in permutations(sorted(task for tick, task in due if tick == first)):
        for tail in orders(rest):
            yield head + tail


def without(state: State, task: str) -> State:
    """Return the state in which the task is not pending."""
    return replace(state, due=frozenset(each for each in state.due if each[1] != task))
