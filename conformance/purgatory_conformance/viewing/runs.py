"""A run of the model as frames: what a step did in words, and the state after it as rows.

The states are the model's own. Where a case has no recorded outcome, the model says what comes of
the step; where several outcomes are right, the first of them in the order of their JSON text, of at
most 1,000: a crowd is received in any order. A case whose header names a variant may break that
rule, and the model follows the variant then.
"""

from collections.abc import Hashable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

import msgspec

from purgatory_conformance.describing.states import describe_state
from purgatory_conformance.describing.steps import (
    describe_configuration,
    describe_operation,
    describe_outcome,
)
from purgatory_conformance.describing.words import printable
from purgatory_conformance.drawing.channel_muting_panels import channel_muting_rows
from purgatory_conformance.drawing.memory_pool_panels import memory_pool_rows
from purgatory_conformance.drawing.panels import Row, Words
from purgatory_conformance.drawing.purgatory_panels import purgatory_rows
from purgatory_conformance.viewing.timer_rows import Levels, timer_rows
from purgatory_judge.case_judge import Deviation, right_outcomes
from purgatory_judge.components import narrowed
from purgatory_judge.registry import judged
from purgatory_judge.retraced_case import RetracedCase
from purgatory_model.channel_muting import ChannelMutingState
from purgatory_model.claims.explorer import Counterexample
from purgatory_model.claims.narrative import Narrative
from purgatory_model.memory_pool import MemoryPoolState
from purgatory_model.purgatory import purgatory_model
from purgatory_model.purgatory_state import PurgatoryState
from purgatory_model.replacing import replace
from purgatory_model.timer import TimerState
from purgatory_model.timing_wheel import TimingWheel
from purgatory_spec import profiles
from purgatory_spec.cases import Case, Step
from purgatory_spec.jsonlines import encode_line
from purgatory_spec.operations import Advance, Operation
from purgatory_spec.outcomes import Outcome

State = TypeVar("State", bound=Hashable)

ViewedRow = Row | Levels

_THE_WAY = "The way there, state by state"

_MOST_OUTCOMES = 1_000
"""The most right outcomes of a step that are compared."""

_MOST_FRAMES = 200
"""The most frames of a long failing case; a page of more would be slow."""


class Frame(msgspec.Struct, frozen=True):
    """A state: the step before it (0 at first), the step in words, the state in words, its rows."""

    step: int
    says: str
    state: str
    rows: tuple[ViewedRow, ...]


class Run(msgspec.Struct, frozen=True):
    """The content of the viewer: a title, the instance's configuration, and the frames."""

    title: str
    about: str
    frames: tuple[Frame, ...]


class NoSuchStep(ValueError):
    """The model allows no outcome of a step, or not the recorded one."""


def run_of_case(case: Case) -> Run:
    """Return the run of a case, from the model's own steps.

    Raises:
        NoSuchStep: a recorded outcome is none that the model allows.
        ValueError: the model cannot take an operation of the case.
    """
    header = case.header
    steps, states = _followed(case)
    title = header.title or header.case
    return run_of_states(title, header.configuration, header.profile, steps, states)


def run_of_failure(case: RetracedCase, title: str) -> Run:
    """Return the last frames of a failing case; the very last is the state that was expected."""
    divergence = case.divergence
    states = (*case.states, divergence.after)
    taken = case.steps[: len(case.states)]
    right = Step(taken[-1].operation, divergence.right)
    steps = (*taken[:-1], right)
    run = run_of_states(title, case.configuration, case.profile, steps, states)
    frames = run.frames[-_MOST_FRAMES:]
    if frames and frames[-1].step == len(steps):
        words = f"{frames[-1].says}; expected {divergence.expected}; seen {divergence.seen}"
        said = msgspec.structs.replace(frames[-1], says=printable(words))
        frames = (*frames[:-1], said)
    return msgspec.structs.replace(run, frames=frames)


def run_of_way(
    configuration: profiles.Configuration,
    profile: profiles.Profile,
    way: Counterexample[State, tuple[Operation, Outcome]],
) -> Run:
    """Return the run of a way through the model to a step that breaks a claim."""
    steps = [Step(operation, outcome) for (operation, outcome), _ in way.path]
    states = [way.initial, *(state for _, state in way.path)]
    run = run_of_states(_THE_WAY, configuration, profile, steps, states)
    last = run.frames[-1]
    said = msgspec.structs.replace(last, says=f"{last.says}; it is false that {way.broken}")
    return msgspec.structs.replace(run, frames=(*run.frames[:-1], said))


def run_of_narrative(narrative: Narrative) -> Run:
    """Return the run of a story whose states are not those of a component: threads, or TLA+.

    A frame shows what each actor did last, and the counts.
    """
    frames: list[Frame] = []
    did = dict.fromkeys(narrative.actors, "nothing yet")
    for step in narrative.steps:
        if step.actor:
            did[step.actor] = step.text
        says = f"{step.actor}: {step.text}" if step.actor else step.text
        if step.remark:
            says = f"{says}; {step.remark}"
        told = {**did, **{name: step.counts.get(name, "") for name in narrative.counts}}
        rows = tuple(Words(printable(name), printable(words)) for name, words in told.items())
        state = "; ".join(f"{name} {step.counts.get(name, '')}" for name in narrative.counts)
        frames.append(Frame(step.number, printable(says), printable(state), rows))
    return Run(_THE_WAY, printable(narrative.title), tuple(frames))


def run_of_states(
    title: str,
    configuration: profiles.Configuration,
    profile: profiles.Profile,
    steps: Sequence[Step],
    states: Sequence[object],
) -> Run:
    """Return the run of steps through known states, the initial one first.

    An advance of a timing wheel has a frame for each time at which it pops buckets.
    """
    frames: list[Frame] = []

    def add(number: int, says: str, state: object) -> None:
        rows = tuple(rows_of(configuration, profile, state))
        if rows:
            words = printable(describe_state(state))
            frames.append(Frame(number, printable(says), words, rows))

    add(0, "at first", states[0])
    for number, (step, before, after) in enumerate(
        zip(steps, states[:-1], states[1:], strict=True), start=1
    ):
        says = describe_operation(step.operation)
        for move, between in _popping(before, step.operation, after):
            if between is not after:
                add(number, f"{says}: {move}", between)
            else:
                says = f"{says}: {move}"
        came = describe_outcome(step.operation, step.outcome) if step.outcome else ""
        add(number, f"{says} → {came}" if came else says, after)
    return Run(title, describe_configuration(configuration), tuple(frames))


def rows_of(
    configuration: profiles.Configuration, profile: profiles.Profile, state: object
) -> Iterator[ViewedRow]:
    """Yield the rows of a state of the model; none of anything else."""
    match state:
        case TimerState():
            yield from timer_rows(state)
        case PurgatoryState():
            model = purgatory_model(
                narrowed(configuration, profiles.PurgatoryConfiguration),
                narrowed(profile, profiles.PurgatoryProfile),
            )
            yield from purgatory_rows(model, state)
        case MemoryPoolState():
            yield from memory_pool_rows(
                narrowed(configuration, profiles.MemoryPoolConfiguration), state
            )
        case ChannelMutingState():
            made_with = narrowed(configuration, profiles.ChannelMutingConfiguration)
            yield from channel_muting_rows(made_with, state)
        case _:
            return


def _popping(before: object, operation: Operation, after: object) -> Iterator[tuple[str, object]]:
    """Yield the states between the pops of one advance, each with the move in words.

    Nothing for other operations, or for a timer that is no wheel.
    """
    if not isinstance(before, TimerState) or not isinstance(operation, Advance):
        return
    wheel = before.store
    if not isinstance(wheel, TimingWheel) or not isinstance(after, TimerState) or before.closed:
        return
    queue = before.queue
    while wheel.buckets and (expiry_ms := min(wheel.buckets)[0]) <= operation.to_ms:
        popped = wheel.pop_due(expiry_ms)
        due = frozenset[str]().union(*popped.ticks)
        down = [
            f"{name} goes down to level {place[1]}"
            for name, place in sorted(popped.store.places.items())
            if wheel.places[name] != place
        ]
        moves = [*down, *(f"{name} expires" for name in sorted(due))] or ["the bucket is empty"]
        words = f"pops the bucket of {expiry_ms}, {', '.join(moves)}"
        wheel = popped.store
        queue = (*queue, *(name for name in after.queue[len(queue) :] if name in due))
        is_last = not wheel.buckets or min(wheel.buckets)[0] > operation.to_ms
        between = replace(before, now_ms=operation.to_ms, store=wheel, queue=queue)
        yield words, after if is_last else between


def _followed(case: Case) -> tuple[list[Step], list[object]]:
    """Return the steps of a case with their outcomes, and the model's states from the initial."""
    header = case.header
    component = profiles.component_of(header.configuration)
    broken = (Deviation(header.breaks, header.variant),) if header.variant else ()
    judge = judged(component).judge(header.configuration, header.profile, broken)
    taken: list[Step] = []
    states: list[object] = [judge.state]
    for number, step in enumerate(case.steps, start=1):
        outcome = step.outcome
        if outcome is None:
            outcomes = islice(right_outcomes(judge, step.operation), _MOST_OUTCOMES)
            outcome = min(outcomes, key=encode_line, default=Outcome())
        if judge.step(step.operation, outcome).divergence is not None:
            raise NoSuchStep(f"step {number}: the model does not allow the recorded outcome")
        taken.append(Step(step.operation, outcome))
        states.append(judge.state)
    return taken, states
