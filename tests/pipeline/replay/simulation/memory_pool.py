"""A memory pool whose calls take effect at one instant each, as the executable model says."""

# The state is the model's. Who calls pauses before that instant and after it. A fault is planted
# while nobody else calls: the others wait at a gate, since any open call may explain an answer.

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias, TypeGuard

from purgatory_model.memory_pool import MemoryPoolModel, MemoryPoolState
from purgatory_spec.operations import Allocate, Lose, MemoryPoolOperation, Release, ReleaseForm
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import MemoryPoolConfiguration, MemoryPoolProfile, ReleaseValidation
from purgatory_traces.traces.lines import HeldBuffer, MemoryPoolInstance, Snapshot

from .machine import RUN, Machine, Script, Thread

STEP_NS = 100_000

Wrong: TypeAlias = Callable[
    [Outcome, MemoryPoolState, MemoryPoolState], tuple[Outcome, MemoryPoolState]
]
"""Returns a faulty outcome, given the right one, the state before it and the one after it."""


class PoolFault(Enum):
    """The faults of a pool in one call."""

    GRANTS_TOO_MUCH = "grants more than there is, and than may be outstanding"
    GRANTS_FROM_NOTHING = "grants, not strict, though nothing is left, within the bound"
    REFUSES = "refuses though there is memory"
    LOSES_A_RELEASE = "does not credit a release"
    CREDITS_TWICE = "credits a release twice"
    LOSES_A_LEAK = "does not credit a buffer that its holder lost"
    TAKES_A_STRANGER = "takes a buffer of somebody else though it knows its own"
    TAKES_AGAIN = "takes a buffer a second time though it knows its own"
    TAKES_NOTHING = "takes null for a buffer"
    GRANTS_NOTHING = "grants a buffer of no bytes"
    GRANTS_NEGATIVE = "grants a buffer of less than no bytes"
    GRANTS_OVERSIZE = "grants more than the largest buffer"
    REJECTS_LEGAL = "rejects a legal request"
    REJECTS_RELEASE = "rejects a buffer that is outstanding"
    MAKES_SENSELESS = "makes a pool of senseless sizes"
    REFUSES_UNBOUNDED = "refuses though it has no bound"
    SNAPSHOT_AVAILABLE = "a snapshot tells of other bytes that are available"
    SNAPSHOT_BUFFERS = "a snapshot leaves out a buffer"


@dataclass(frozen=True)
class PoolPlan:
    """The kind of pool, and the users of it."""

    threads: int = 4
    calls: int = 30
    """Of each thread."""
    size_bytes: int = 100
    max_single_bytes: int = 40
    strict: bool = False
    unbounded: bool = False
    knows_its_own: bool = False
    lag_ns: int = 40_000
    """The longest time that a thread may hold a reading before it writes its line, ns."""

    @property
    def configuration(self) -> MemoryPoolConfiguration:
        """Return what the first line says of its arguments."""
        return MemoryPoolConfiguration(
            self.size_bytes, self.max_single_bytes, self.strict, self.unbounded
        )

    @property
    def profile(self) -> MemoryPoolProfile:
        """Return what the first line says of its choices."""
        kind = ReleaseValidation.IDENTITY if self.knows_its_own else ReleaseValidation.NONE
        return MemoryPoolProfile(release_validation=kind)


@dataclass
class SimulatedPool:
    """One pool of a plan."""

    machine: Machine
    plan: PoolPlan
    state: MemoryPoolState
    model: MemoryPoolModel
    held: list[str] = field(default_factory=list)
    """The buffers whose grants have returned, and that nobody is giving back."""
    returned: list[str] = field(default_factory=list)
    """The latest buffers that were given back."""
    under_way: int = 0
    """The calls that have begun, or are about to."""
    gate_closed: bool = False

    def call(
        self,
        thread: Thread,
        operation: MemoryPoolOperation,
        wrong: Wrong | None = None,
        *,
        shows: bool = True,
    ) -> Script:
        """A call, which a faulty pool may get wrong; ``shows`` where its answer tells that."""
        if gives_back_itself(operation) and operation.buffer in self.held:
            self.held.remove(operation.buffer)
        yield from thread.calls(operation)
        yield self.machine.pause(STEP_NS)
        outcome = self._take_effect(operation, wrong)
        yield self.machine.pause(STEP_NS)
        yield from thread.returns(
            outcome.result, outcome.rejected, wrong=wrong is not None and shows
        )
        if isinstance(operation, Allocate) and outcome.result is True:
            self.held.append(operation.buffer)
        elif isinstance(operation, Release) and outcome.rejected is None:
            self.returned = [*self.returned[-5:], operation.buffer]

    def _take_effect(self, operation: MemoryPoolOperation, wrong: Wrong | None) -> Outcome:
        ways = list(self.model.successors(self.state, operation))
        outcome, after = self.machine.source.choice(ways)
        if wrong is not None:
            outcome, after = wrong(outcome, self.state, after)
        self.state = after
        return outcome

    def alone(self, script: Script) -> Script:
        """Do something while nobody else calls."""
        self.gate_closed = True
        while self.under_way:
            yield 10_000
        yield from script
        self.gate_closed = False

    def snapshot(self, *, without: str = "", more_bytes: int = 0) -> None:
        """Write down what is outstanding, at this instant."""
        if without or more_bytes:
            self.machine.plant()
        buffers = [
            HeldBuffer(name, size)
            for name, size in sorted(self.state.held.items())
            if name != without
        ]
        available = self.state.available_bytes + more_bytes
        self.machine.lines.append(
            Snapshot(
                run=RUN,
                seq=self.machine.seq,
                at_ns=self.machine.now_ns,
                buffers=tuple(buffers),
                calls=self.machine.calls(),
                available_bytes=available,
            )
        )


def gives_back_itself(operation: MemoryPoolOperation) -> TypeGuard[Release | Lose]:
    """Return whether an operation ends a buffer's being out: not one of a copy or a slice."""
    if isinstance(operation, Release):
        return operation.form is ReleaseForm.ITSELF
    return isinstance(operation, Lose)


def pool_of(seed: int, plan: PoolPlan) -> SimulatedPool:
    """A pool of a plan on a machine of its own."""
    instance = MemoryPoolInstance(plan.configuration, plan.profile)
    machine = Machine(seed, instance, lag_ns=plan.lag_ns)
    model = MemoryPoolModel(plan.configuration, plan.profile)
    return SimulatedPool(machine, plan, model.initial(), model)
