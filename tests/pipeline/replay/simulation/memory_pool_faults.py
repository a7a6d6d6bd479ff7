"""The scenes in which a simulated pool does something wrong, and the rules that are then broken."""

# Each is played while nobody else calls, so that nothing overlaps that could explain it.

from purgatory_model.memory_pool import MemoryPoolState
from purgatory_model.replacing import replace
from purgatory_spec import operations as op
from purgatory_spec.outcomes import Outcome
from purgatory_spec.reasons import Reason

from .machine import Script, Thread
from .memory_pool import PoolFault, PoolPlan, Wrong
from .memory_pool_run import PoolRun, Scene


def grants_all(outcome: Outcome, before: MemoryPoolState, after: MemoryPoolState) -> "_After":
    """Grant what was refused; what that takes is not written down anywhere."""
    return Outcome(result=True), before


def refuses(outcome: Outcome, before: MemoryPoolState, after: MemoryPoolState) -> "_After":
    """Refuse what could be granted."""
    return Outcome(result=False), before


def _rejects(outcome: Outcome, before: MemoryPoolState, after: MemoryPoolState) -> "_After":
    return Outcome(rejected=Reason.INVALID_ARGUMENT), before


def _accepts(outcome: Outcome, before: MemoryPoolState, after: MemoryPoolState) -> "_After":
    return Outcome(), before


def _credits_nothing(outcome: Outcome, before: MemoryPoolState, after: MemoryPoolState) -> "_After":
    return outcome, replace(after, available_bytes=before.available_bytes)


def _credits_twice(outcome: Outcome, before: MemoryPoolState, after: MemoryPoolState) -> "_After":
    credit = after.available_bytes - before.available_bytes
    return outcome, replace(after, available_bytes=after.available_bytes + credit)


def _as_it_is(outcome: Outcome, before: MemoryPoolState, after: MemoryPoolState) -> "_After":
    """Wrong by what was done before."""
    return outcome, after


_After = tuple[Outcome, MemoryPoolState]


def _fill(run: PoolRun, thread: Thread) -> Script:
    """Ask for bytes one by one until there are none."""
    while run.pool.state.available_bytes > 0:
        yield from run.pool.call(thread, op.Allocate(run.fresh(), 1))


def _one_buffer(run: PoolRun, thread: Thread) -> Script:
    """Ask until there is a buffer that can be given back."""
    pool = run.pool
    while not pool.held:
        yield from pool.call(thread, op.Allocate(run.fresh(), pool.plan.max_single_bytes))


def _grants_too_much(run: PoolRun, thread: Thread) -> Script:
    pool = run.pool
    yield from _fill(run, thread)
    for _ in range(1 + pool.plan.max_single_bytes):
        size = pool.plan.max_single_bytes
        outstanding = pool.state.outstanding_bytes + size
        if outstanding > pool.plan.size_bytes + (0 if pool.plan.strict else size - 1):
            break
        yield from _give_back_one(run, thread)
        while pool.state.available_bytes > 1:
            yield from pool.call(thread, op.Allocate(run.fresh(), 1))
        yield from pool.call(thread, op.Allocate(run.fresh(), size))
    size = pool.plan.max_single_bytes
    yield from pool.call(thread, op.Allocate(run.fresh(), size), grants_all)


def _give_back_one(run: PoolRun, thread: Thread) -> Script:
    yield from run.pool.call(thread, op.Release(run.pool.held[0]))


def _grants_from_nothing(run: PoolRun, thread: Thread) -> Script:
    """Not more than the bound is outstanding then: one byte, where there is none."""
    yield from _drain(run, thread)
    yield from run.pool.call(thread, op.Allocate(run.fresh(), 1), grants_all)


def _refuses(run: PoolRun, thread: Thread) -> Script:
    yield from _one_buffer(run, thread)
    while run.pool.state.available_bytes < 1:
        yield from _give_back_one(run, thread)
    yield from run.pool.call(thread, op.Allocate(run.fresh(), 1), refuses)


def _drain(run: PoolRun, thread: Thread) -> Script:
    """Ask and give back until nothing is available, and nothing owed."""
    yield from _fill(run, thread)
    while run.pool.state.available_bytes < 0:
        yield from _give_back_one(run, thread)
        yield from _fill(run, thread)


def _loses(run: PoolRun, thread: Thread, *, leaks: bool) -> Script:
    """Leave a release out, which shows when the pool refuses for want of it."""
    yield from _drain(run, thread)
    buffer = run.pool.held[0]
    operation: op.MemoryPoolOperation = op.Lose(buffer) if leaks else op.Release(buffer)
    yield from run.pool.call(thread, operation, _credits_nothing, shows=False)
    yield from run.pool.call(thread, op.Allocate(run.fresh(), 1), _as_it_is)


def _loses_a_release(run: PoolRun, thread: Thread) -> Script:
    yield from _loses(run, thread, leaks=False)


def _loses_a_leak(run: PoolRun, thread: Thread) -> Script:
    yield from _loses(run, thread, leaks=True)


def _credits_a_release_twice(run: PoolRun, thread: Thread) -> Script:
    """Credit a release twice, which shows when more is granted than there can be."""
    yield from _drain(run, thread)
    pool = run.pool
    yield from pool.call(thread, op.Release(pool.held[0]), _credits_twice, shows=False)
    for _ in range(pool.state.available_bytes // 2):
        yield from pool.call(thread, op.Allocate(run.fresh(), 1))
    yield from pool.call(thread, op.Allocate(run.fresh(), 1), _as_it_is)


def _once(operation: op.MemoryPoolOperation, wrong: Wrong) -> Scene:
    """Play one call that is answered wrongly."""

    def scene(run: PoolRun, thread: Thread) -> Script:
        yield from run.pool.call(thread, operation, wrong)

    return scene


def _allocates(size_bytes: int, wrong: Wrong) -> Scene:
    """Play one request that is answered wrongly."""

    def scene(run: PoolRun, thread: Thread) -> Script:
        yield from run.pool.call(thread, op.Allocate(run.fresh(), size_bytes), wrong)

    return scene


def _grants_oversize(run: PoolRun, thread: Thread) -> Script:
    size_bytes = run.pool.plan.max_single_bytes + 1
    yield from run.pool.call(thread, op.Allocate(run.fresh(), size_bytes), grants_all)


def _takes_again(run: PoolRun, thread: Thread) -> Script:
    yield from _one_buffer(run, thread)
    buffer = run.pool.held[0]
    yield from run.pool.call(thread, op.Release(buffer))
    yield from run.pool.call(thread, op.Release(buffer), _accepts)


def _rejects_release(run: PoolRun, thread: Thread) -> Script:
    yield from _one_buffer(run, thread)
    yield from run.pool.call(thread, op.Release(run.pool.held[0]), _rejects)


def _snapshot_available(run: PoolRun, thread: Thread) -> Script:
    yield from _one_buffer(run, thread)
    run.pool.snapshot(more_bytes=run.pool.machine.source.choice((-1, 1, 7)))


def _snapshot_buffers(run: PoolRun, thread: Thread) -> Script:
    yield from _one_buffer(run, thread)
    run.pool.snapshot(without=run.pool.held[0])


_ADMISSION = {"POOL-STRICT", "POOL-NON-STRICT"}

SCENES: dict[PoolFault, tuple[Scene, set[str]]] = {
    PoolFault.GRANTS_TOO_MUCH: (_grants_too_much, {"POOL-BOUND"}),
    PoolFault.GRANTS_FROM_NOTHING: (_grants_from_nothing, {"POOL-NON-STRICT"}),
    PoolFault.REFUSES: (_refuses, _ADMISSION),
    PoolFault.LOSES_A_RELEASE: (_loses_a_release, _ADMISSION),
    PoolFault.CREDITS_TWICE: (_credits_a_release_twice, _ADMISSION | {"POOL-BOUND"}),
    PoolFault.LOSES_A_LEAK: (_loses_a_leak, _ADMISSION),
    PoolFault.TAKES_A_STRANGER: (_once(op.ReleaseForeign(3), _accepts), {"POOL-RELEASE-FOREIGN"}),
    PoolFault.TAKES_AGAIN: (_takes_again, {"POOL-RELEASE-AGAIN"}),
    PoolFault.TAKES_NOTHING: (_once(op.ReleaseNothing(), _accepts), {"POOL-RELEASE-NOTHING"}),
    PoolFault.GRANTS_NOTHING: (_allocates(0, grants_all), {"POOL-ZERO-REQUEST"}),
    PoolFault.GRANTS_NEGATIVE: (_allocates(-3, grants_all), {"POOL-NEGATIVE-REQUEST"}),
    PoolFault.GRANTS_OVERSIZE: (_grants_oversize, {"POOL-OVERSIZE-REQUEST"}),
    PoolFault.REJECTS_LEGAL: (_allocates(1, _rejects), _ADMISSION),
    PoolFault.REJECTS_RELEASE: (_rejects_release, {"POOL-RELEASE"}),
    PoolFault.MAKES_SENSELESS: (_once(op.Construct(5, 6), _accepts), {"POOL-CONSTRUCT"}),
    PoolFault.REFUSES_UNBOUNDED: (_allocates(5, refuses), {"POOL-UNBOUNDED-GRANTS"}),
    PoolFault.SNAPSHOT_AVAILABLE: (_snapshot_available, {"POOL-CONSERVATION"}),
    PoolFault.SNAPSHOT_BUFFERS: (_snapshot_buffers, {"POOL-CONSERVATION"}),
}
"""The play of each fault, and the rules, one of which a verdict has to name for it."""

_NEEDS_VALIDATION = frozenset(
    {PoolFault.TAKES_A_STRANGER, PoolFault.TAKES_AGAIN, PoolFault.LOSES_A_LEAK}
)
_WITHOUT_BOUND = frozenset({PoolFault.REFUSES_UNBOUNDED})


def can_go_wrong(plan: PoolPlan, fault: PoolFault) -> bool:
    """Return whether a pool of a plan can have a fault at all."""
    if plan.unbounded:
        return fault in _WITHOUT_BOUND
    if fault in _WITHOUT_BOUND or (fault in _NEEDS_VALIDATION and not plan.knows_its_own):
        return False
    within_bound = not plan.strict and plan.max_single_bytes > 1
    return fault is not PoolFault.GRANTS_FROM_NOTHING or within_bound
