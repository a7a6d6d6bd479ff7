# SPDX-License-Identifier: CC0-1.0
"""A model of a purgatory, to be changed. Compare it with the rules: purgatory model check FILE."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations

from immutables import Map

from purgatory_spec.operations import Advance, Answer, Check, Operation, RunOne, Satisfy, Watch
from purgatory_spec.outcomes import Event, Outcome, completed, expired, timed_out, tried
from purgatory_spec.profiles import PurgatoryConfiguration
from purgatory_spec.reasons import Reason

COMPONENT = "purgatory"
PROFILE = {"executor": "stepped"}  # what is not declared here is neither asked for nor compared


@dataclass(frozen=True)
class State:
    """The state of a purgatory: everything that its future depends on.

    ``answers`` are those that the tries of each operation are still to give; once there is one
    left, it stays. An operation that is completed has none.
    """

    tick_ms: int
    now_ms: int
    answers: Map[str, tuple[Answer, ...]] = Map()
    lists: Map[str, tuple[str, ...]] = Map()
    due: frozenset[tuple[int, str]] = frozenset()
    queue: tuple[str, ...] = ()


Steps = Iterator[tuple[Outcome, State]]


def initial(configuration: PurgatoryConfiguration) -> State:
    """Return a purgatory that was just made."""
    return State(configuration.tick_ms, configuration.start_ms)


def step(state: State, operation: Operation) -> Steps:
    """Yield every outcome that is allowed, with the state after it."""
    match operation:
        case Watch(keys=()):
            yield Outcome(rejected=Reason.INVALID_ARGUMENT), state
        case Watch(name, keys, delay_ms, script):
            known = state.answers.set(name, script.tries or (Answer.WAIT,))
            yield from watch(replace(state, answers=known), name, keys, state.now_ms + delay_ms)
        case Satisfy(name) if name in state.answers:
            yield Outcome(), replace(state, answers=state.answers.set(name, (Answer.COMPLETE,)))
        case Check(key):
            yield check(state, key)
        case Advance(to_ms):
            yield from advance(replace(state, now_ms=to_ms))
        case RunOne() if state.queue:
            yield run(replace(state, queue=state.queue[1:]), state.queue[0])
        case Satisfy() | RunOne():
            yield Outcome(), state


def watch(state: State, name: str, keys: tuple[str, ...], expiry_ms: int) -> Steps:
    """Try, append to the lists, try again; the time-out may be armed before that or after it."""
    events, tried_once = attempt(state, name)
    if name not in tried_once.answers:
        yield Outcome(result=True, events=events), tried_once
        return
    lists = tried_once.lists
    for key in keys:
        lists = lists.set(key, (*lists.get(key, ()), name))
    listed = replace(tried_once, lists=lists)
    for first, armed in arm(listed, name, expiry_ms):
        second, after = attempt(armed, name)
        yield Outcome(name not in after.answers, events=events + first + second), after
    second, after = attempt(listed, name)
    for last, armed in arm(after, name, expiry_ms):
        yield Outcome(name not in after.answers, events=events + second + last), armed


def attempt(state: State, name: str) -> tuple[tuple[Event, ...], State]:
    """Call try_complete: what comes of it is in the operation's script."""
    answer, *rest = state.answers[name]
    if answer is Answer.COMPLETE:
        return (tried(name), completed(name)), finish(state, name)
    left = tuple(rest) or (answer,)
    return (tried(name),), replace(state, answers=state.answers.set(name, left))


def arm(state: State, name: str, expiry_ms: int) -> Iterator[tuple[tuple[Event, ...], State]]:
    """Arm the time-out of an operation that is not completed; what is due may expire at once."""
    if name not in state.answers:
        yield (), state
        return
    due_tick = expiry_ms - expiry_ms % state.tick_ms
    yield (), replace(state, due=state.due | {(due_tick, name)})
    if due_tick <= state.now_ms:
        yield (expired(name),), replace(state, queue=(*state.queue, name))


def check(state: State, key: str) -> tuple[Outcome, State]:
    """Try what is watched under a key; what is completed leaves this list, and no other."""
    events: tuple[Event, ...] = ()
    count = 0
    for name in state.lists.get(key, ()):
        if name in state.answers:
            seen, state = attempt(state, name)
            events += seen
            count += name not in state.answers
    left = tuple(name for name in state.lists.get(key, ()) if name in state.answers)
    return Outcome(count, events=events), replace(state, lists=state.lists.set(key, left))


def advance(state: State) -> Steps:
    """Hand over what is due, tick after tick; inside a tick any order is right."""
    due = frozenset(each for each in state.due if each[0] <= state.now_ms)
    for names in orders(due):
        after = replace(state, due=state.due - due, queue=state.queue + names)
        yield Outcome(events=tuple(expired(name) for name in names)), after


def orders(due: frozenset[tuple[int, str]]) -> Iterator[tuple[str, ...]]:
    """Yield the orders of expiry: tick after tick, inside a tick in any order."""
    if not due:
        yield ()
        return
    first = min(tick for tick, _ in due)
    rest = frozenset(each for each in due if each[0] > first)
    for head in permutations(sorted(name for tick, name in due if tick == first)):
        for tail in orders(rest):
            yield head + tail


def run(state: State, name: str) -> tuple[Outcome, State]:
    """Return the outcome of a run of a time-out, which may come too late."""
    if name not in state.answers:
        return Outcome(), state
    return Outcome(events=(completed(name), timed_out(name))), finish(state, name)


def finish(state: State, name: str) -> State:
    """Return the state with the operation completed and its time-out out of the timer."""
    due = frozenset(each for each in state.due if each[1] != name)
    return replace(state, answers=state.answers.delete(name), due=due)
