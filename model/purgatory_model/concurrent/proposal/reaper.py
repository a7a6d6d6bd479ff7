"""The steps of the reaper: handing over due time-outs, and purging when the estimate calls for it.

A pass reads the estimate, then the timer's size. Where they differ by more than the purge interval
it reads the timer's size once more, sets the estimate to that, and sweeps the lists one by one.
Whatever is counted, or leaves the timer, between these steps is missed.
"""

from collections.abc import Iterator
from dataclasses import replace

from purgatory_model.concurrent.proposal.state import (
    EXECUTOR,
    REAPER,
    Defect,
    Feature,
    Place,
    ProposalInstance,
    ProposalState,
    Reaper,
    without,
)
from purgatory_model.overlapping.interleaving import Step


def reaper_steps(
    instance: ProposalInstance, state: ProposalState, reaper: Reaper
) -> Iterator[tuple[Step, ProposalState]]:
    """The next step of the reaper; what is due, and which list is swept next, is left to chance."""
    match reaper.place:
        case Place.IDLE:
            if instance.may_begin(state, REAPER):
                yield from _advance(instance, state)
                yield from _begin_pass(instance, state)
        case Place.TEST:
            yield _test(instance, state, reaper)
        case Place.READ_AGAIN:
            yield _read_size_again(state)
        case Place.RESET:
            yield _reset(instance, state, reaper)
        case _:
            yield from _sweep(instance, state, reaper)


def _advance(
    instance: ProposalInstance, state: ProposalState
) -> Iterator[tuple[Step, ProposalState]]:
    """One operation is due and handed to the executor. Rules: PURGATORY-TIME-OUT."""
    if Feature.NO_TIME_OUTS in instance.features:
        return
    for operation in sorted(state.timer):
        after = replace(state, timer=state.timer - {operation}, queue=state.queue | {operation})
        yield Step("Advance", (REAPER, operation)), after


def _begin_pass(
    instance: ProposalInstance, state: ProposalState
) -> Iterator[tuple[Step, ProposalState]]:
    busy = state.queue or state.threads[EXECUTOR].place is not Place.IDLE
    if Feature.DRAINED in instance.features and busy:
        return
    testing = Reaper(Place.TEST, estimate_read=state.estimate)
    yield Step("ReadEstimate", (REAPER, state.estimate)), state.to(REAPER, testing)


def _test(
    instance: ProposalInstance, state: ProposalState, reaper: Reaper
) -> tuple[Step, ProposalState]:
    """Whether there is enough to purge. Rules: PURGATORY-PURGE-START."""
    size = len(state.timer)
    if reaper.estimate_read - size > instance.interval(size):
        return Step("Purge", (REAPER, size)), state.to(REAPER, Reaper(Place.READ_AGAIN))
    return Step("NoPurge", (REAPER, size)), state.to(REAPER, Reaper())


def _read_size_again(state: ProposalState) -> tuple[Step, ProposalState]:
    """Read the timer's size for the estimate; the observer notes the operations overlooked."""
    size = len(state.timer)
    seen = replace(state, lost=0, overlooked=state.in_executor)
    resetting = Reaper(Place.RESET, size_read=size)
    return Step("ReadSizeAgain", (REAPER, size)), seen.to(REAPER, resetting)


def _reset(
    instance: ProposalInstance, state: ProposalState, reaper: Reaper
) -> tuple[Step, ProposalState]:
    """The estimate is set. Rules: PURGATORY-ESTIMATE-PROPOSAL."""
    after = replace(state, estimate=reaper.size_read)
    sweeping = Reaper(Place.SWEEP, keys_left=frozenset(instance.keys))
    return Step("Reset", (REAPER, reaper.size_read)), after.to(REAPER, sweeping)


def _sweep(
    instance: ProposalInstance, state: ProposalState, reaper: Reaper
) -> Iterator[tuple[Step, ProposalState]]:
    """Completed operations leave one of the lists. Rules: PURGATORY-PURGE-REMOVES."""
    everything = Defect.SWEEP_TAKES_ALL in instance.defects
    for key in sorted(reaper.keys_left):
        entries = () if everything else without(state.lists[key], state.completed)
        swept = replace(state, lists=state.lists.set(key, entries))
        left = reaper.keys_left - {key}
        following = Reaper(Place.SWEEP, keys_left=left) if left else Reaper()
        yield Step("Sweep", (REAPER, key)), swept.to(REAPER, following)
