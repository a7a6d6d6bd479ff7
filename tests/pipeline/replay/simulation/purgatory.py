"""A purgatory in plain code: its operations, its lists, what is told of them in a snapshot."""

# Its calls and its time-outs are ``purgatory_threads`` and ``purgatory_time_outs``. They follow the
# parts in which the rules let calls take effect, so that a run of it is right by construction.

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from purgatory_spec.outcomes import EventKind
from purgatory_spec.profiles import Accounting
from purgatory_traces.traces.lines import PurgatoryInstance, Snapshot, WaitingOperation

from .machine import RUN, Machine, Script, Thread, Workers
from .purgatory_plan import PurgatoryFault, PurgatoryPlan

STEP_NS = 100_000


@dataclass(eq=False)
class Delayed:
    """A delayed operation."""

    name: str
    fault: PurgatoryFault | None = None
    satisfied: bool = False
    completed: bool = False
    told: bool = False
    """True once its completion was written down."""
    delay_ms: int = 0
    asked_ms: int | None = None
    """The reading at which its time-out is due, before rounding; None if it is not armed."""
    queued: int = 0
    word: int = 0
    """The entries that it has or was promised (exact accounting)."""
    promised: set[str] = field(default_factory=set)
    """The keys that count as its own though it is not in their lists (accounting ``proposal``)."""

    def is_completed(self) -> bool:
        """Return whether it is completed by now, whoever did that."""
        return self.completed


@dataclass
class SimulatedPurgatory:
    """One purgatory of a plan: its operations, its lists, its time-outs."""

    machine: Machine
    plan: PurgatoryPlan
    operations: dict[str, Delayed] = field(default_factory=dict)
    watched: list[str] = field(default_factory=list)
    """The names that were given to a watch, in that order."""
    lists: dict[str, list[Delayed]] = field(default_factory=dict)
    closed: bool = False
    inside: Callable[[Thread], Script] | None = None
    """Returns the calls that a completion callback makes, if it makes any."""
    workers: Workers = field(init=False)

    def __post_init__(self) -> None:
        self.workers = Workers(self.machine)

    def named(self, name: str, fault: PurgatoryFault | None = None) -> Delayed:
        """The operation of a name."""
        return self.operations.setdefault(name, Delayed(name, fault))

    def pause(self) -> Script:
        """Something else may happen here."""
        yield self.machine.pause(STEP_NS)

    def complete(
        self,
        thread: Thread,
        operation: Delayed,
        at_once: Callable[[], None] | None = None,
        *,
        dropping: list[Delayed] | None = None,
        by_time_out: bool = False,
    ) -> Script:
        """Take out what is completed. Rules: PURGATORY-TIMER-LEFT, PURGATORY-CHECK-DROPS."""
        steps: list[Callable[[], None]] = [lambda: self.leave_timer(operation)]
        if dropping is not None:
            steps.insert(0, lambda: drop(dropping, operation))
        proposal = self.plan.accounting is Accounting.PROPOSAL
        if proposal and self.machine.source.random() < 0.5:
            steps.reverse()
        for step in steps:
            yield from self.pause()
            step()
        yield from self.pause()

        def now() -> None:
            if at_once is not None:
                at_once()
            operation.told = True
            operation.queued -= by_time_out

        yield from thread.shows(EventKind.COMPLETED, operation.name, at_once=now)
        if self.inside is not None and self.machine.source.random() < 0.1:
            yield from self.inside(thread)

    def leave_timer(self, operation: Delayed) -> None:
        """Its time-out is disarmed. Rules: PURGATORY-TIMER-LEFT."""
        if operation.fault is not PurgatoryFault.EXPIRES_THOUGH_COMPLETED:
            operation.asked_ms = None

    def keys_of(self, operation: Delayed) -> tuple[str, ...]:
        """The keys in whose lists it is, once for each entry."""
        return tuple(
            key for key, entries in self.lists.items() for each in entries if each is operation
        )

    def snapshot(
        self, change: Callable[[WaitingOperation], WaitingOperation] | None = None
    ) -> None:
        """Write down what is live, at this instant; perhaps with something changed."""
        told = [self._waiting(each) for each in self._in_order()]
        told = [each for each in told if each.entries or each.early_ms is not None or each.queued]
        if change is not None:
            told = [change(each) for each in told]
            self.machine.plant()
        self.machine.lines.append(
            Snapshot(
                run=RUN,
                seq=self.machine.seq,
                at_ns=self.machine.now_ns,
                operations=tuple(told),
                calls=self.machine.calls(),
                closed=self.closed,
                lists={
                    key: tuple(each.name for each in entries)
                    for key, entries in self.lists.items()
                    if entries
                },
                estimate=None if self.plan.accounting is Accounting.EXACT else 0,
            )
        )

    def _in_order(self) -> Sequence[Delayed]:
        listed = [each for entries in self.lists.values() for each in entries]
        return list(dict.fromkeys([*listed, *self.operations.values()]))

    def _waiting(self, operation: Delayed) -> WaitingOperation:
        return WaitingOperation(
            operation=operation.name,
            entries=self.keys_of(operation),
            delay_ms=operation.delay_ms,
            completed=operation.completed,
            satisfied=operation.satisfied,
            early_ms=operation.asked_ms,
            late_ms=operation.asked_ms,
            queued=operation.queued,
        )


def drop(entries: list[Delayed], operation: Delayed) -> None:
    """Remove one entry, if there still is one."""
    if operation in entries and operation.fault is not PurgatoryFault.COMPLETED_TWICE:
        entries.remove(operation)


def purgatory_of(seed: int, plan: PurgatoryPlan) -> SimulatedPurgatory:
    """A purgatory of a plan on a machine of its own."""
    instance = PurgatoryInstance(plan.configuration, plan.profile)
    omitted = () if plan.tells_tries else (EventKind.TRIED,)
    machine = Machine(seed, instance, plan.lateness_ms, plan.lag_ns, omitted)
    return SimulatedPurgatory(machine, plan)
