"""The purgatory of ``purgatory_model.purgatory`` beside ``PurgatoryCalls.tla``: a call is one step.

The model judges every purgatory. Labels have the answer of a call, its events in their order, and
the estimate behind it. The operation ``Watch`` is five actions of the module, by its outcome.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from purgatory_model.overlapping.interleaving import Step
from purgatory_model.purgatory import PurgatoryModel, PurgatoryState, purgatory_model
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.outcomes import EventKind, Outcome
from purgatory_tla.comparing.binding import Binding, Variable, label_of
from purgatory_tla.values.values import function, sequence, to_tla

State = PurgatoryState

KEYS = ("a", "b")

VARIABLES: dict[str, Variable[State]] = {
    "now": Variable("the reading of the clock (ms)", lambda state: state.timer.now_ms),
    "delay": Variable(
        "the delay of each known operation (ms)",
        lambda state: function({name: each.delay_ms for name, each in state.operations.items()}),
    ),
    "satisfied": Variable(
        "the operations that every try completes",
        lambda state: frozenset(name for name, each in state.operations.items() if each.satisfied),
    ),
    "completed": Variable("the completed operations", lambda state: state.completed),
    "lists": Variable(
        "the watcher list of each key",
        lambda state: function({key: sequence(state.lists.get(key, ())) for key in KEYS}),
    ),
    "due": Variable(
        "the due tick of each operation in the timer",
        lambda state: function(state.timer.store.due_ticks),
    ),
    "queue": Variable("the executor's queue", lambda state: sequence(state.timer.queue)),
    "estimate": Variable("the count of the published accounting", lambda state: state.estimate),
    "closed": Variable("whether the purgatory was shut down", lambda state: state.closed),
}

ACTIONS = {
    "WatchRejected": "`Watch(operation, keys, delay_ms)` that is rejected",
    "WatchCompletes": "`Watch(operation, keys, delay_ms)` that completes its operation",
    "WatchWaits": "`Watch(operation, keys, delay_ms)` after which the operation waits",
    "WatchExpires": "the same, with a time-out that is handed over at once",
    "WatchCompleted": "`Watch(operation, keys, delay_ms)` of a completed operation",
    "Check": "`Check(key)`",
    "CancelForKey": "`CancelForKey(key)`",
    "Force": "`Force(operation)`",
    "Satisfy": "`Satisfy(operation)`",
    "Elapse": "`Elapse` by one millisecond",
    "Advance": "`Advance(to_ms)`, with the purge",
    "RunOne": "`RunOne` of a queue that is not empty",
    "Shutdown": "`Shutdown`",
}


@dataclass(frozen=True, slots=True)
class _Instance:
    """Callers who use these names and delays, while there is room, until ``last_ms``."""

    accounting: profiles.Accounting = profiles.Accounting.EXACT
    purge_due: profiles.PurgeDue = profiles.PurgeDue.FIXED
    check_drops: profiles.CheckDrops = profiles.CheckDrops.EITHER
    operations_named: tuple[str, ...] = ("o", "p")
    delays_ms: tuple[int, ...] = (0, 1)
    interval: int = 1
    last_ms: int = 1
    most_entries: int = 2
    most_queued: int = 1
    most_estimate: int = 2
    model: PurgatoryModel = field(init=False)

    def __post_init__(self) -> None:
        """Make the model of the instance."""
        configuration = profiles.PurgatoryConfiguration(purge_interval=self.interval)
        profile = profiles.PurgatoryProfile(
            accounting=self.accounting,
            purge_due=self.purge_due,
            check_drops=self.check_drops,
            executor=profiles.Executor.STEPPED,
        )
        object.__setattr__(self, "model", purgatory_model(configuration, profile))

    @property
    def is_exact(self) -> bool:
        """Decide whether the accounting is the exact one."""
        return self.accounting is profiles.Accounting.EXACT

    def operations(self, state: State) -> Iterator[op.Operation]:
        """Yield the operations that callers may ask for in a state."""
        yield from self._watches(state)
        for key in KEYS:
            yield from (op.Check(key), op.CancelForKey(key))
        for name in self.operations_named:
            yield from (op.Force(name), op.Satisfy(name))
        now_ms = state.timer.now_ms
        yield from (op.Advance(to_ms) for to_ms in range(now_ms, self.last_ms + 1))
        if now_ms < self.last_ms:
            yield op.Elapse(now_ms + 1)
        if state.timer.queue:
            yield op.RunOne()
        yield op.Shutdown()

    def _watches(self, state: State) -> Iterator[op.Operation]:
        """Yield the watches for which there is room; a known operation keeps its delay."""
        pairs = [(one, other) for one in KEYS for other in KEYS]
        room = self.most_entries - state.entries
        if not self.is_exact and state.estimate >= self.most_estimate:
            return
        for name in self.operations_named:
            if state.timer.queue.count(name) >= self.most_queued:
                continue
            known = state.operations.get(name)
            delays_ms = self.delays_ms if known is None else (known.delay_ms,)
            for keys in ((), *((key,) for key in KEYS), *pairs):
                if len(keys) <= room:
                    yield from (
                        op.Watch(name, keys, ms) for ms in delays_ms if ms in self.delays_ms
                    )


def binding() -> Binding[State]:
    """Return a binding of two operations under two keys, with the exact accounting."""
    return _bound("purgatory-calls", "The calls of a purgatory, accounting exact.", _Instance())


def published_binding() -> Binding[State]:
    """Return two operations with the published accounting, which has more states: one delay."""
    title = "The calls of a purgatory, accounting as published."
    instance = _Instance(profiles.Accounting.PROPOSAL, delays_ms=(0,))
    return _bound("purgatory-calls-published", title, instance)


def leaving_binding() -> Binding[State]:
    """Return the same, for longer, where an operation leaves all lists as it completes."""
    instance = _Instance(check_drops=profiles.CheckDrops.EVERYWHERE, last_ms=2)
    title = "The calls of a purgatory whose operations leave all lists as they complete."
    return _bound("purgatory-calls-leaving", title, instance)


def amortised_binding() -> Binding[State]:
    """Return the same with room for a third entry, where half of the live ones may be stale."""
    instance = _Instance(
        purge_due=profiles.PurgeDue.AMORTISED, delays_ms=(0,), interval=0, most_entries=3
    )
    title = "The calls of a purgatory whose purges are amortised."
    return _bound("purgatory-calls-amortised", title, instance)


def small_binding() -> Binding[State]:
    """Return a binding of one operation, for controls."""
    instance = _Instance(operations_named=("o",), interval=0)
    return _bound("purgatory-calls-small", "A purgatory's calls about one operation.", instance)


def small_published_binding() -> Binding[State]:
    """Return a binding of one operation, with the published accounting, for controls."""
    instance = _Instance(profiles.Accounting.PROPOSAL, operations_named=("o",), interval=0)
    title = "A purgatory's calls about one operation, accounting as published."
    return _bound("purgatory-calls-published-small", title, instance)


def _bound(name: str, title: str, instance: _Instance) -> Binding[State]:
    model = instance.model

    def steps(state: State) -> Iterator[tuple[Step, State]]:
        for operation in instance.operations(state):
            for outcome, after in model.successors(state, operation):
                shown = "free" if after.closed else model.estimate(after)
                called = _label(state, operation, outcome)
                arguments = (*called.arguments, *_events(outcome), shown)
                yield Step(called.action, arguments), after

    return Binding(
        name=name,
        title=title,
        module="PurgatoryCallsHistory",
        constants=_constants(instance),
        initial=model.initial(),
        steps=steps,
        variables=VARIABLES,
        actions=ACTIONS,
    )


def _label(before: State, operation: op.Operation, outcome: Outcome) -> Step:
    """Return the action, and its arguments with the answer."""
    rejected = "" if outcome.rejected is None else outcome.rejected.value
    answer = "true" if outcome.result else "false"
    if isinstance(operation, op.Watch):
        arguments: tuple[str | int, ...] = (
            operation.operation,
            *operation.keys,
            operation.delay_ms,
            rejected or answer,
        )
        if rejected:
            return Step("WatchRejected", arguments)
        return Step(_watch_action(operation.operation in before.completed, outcome), arguments)
    if isinstance(operation, op.Check):
        assert isinstance(outcome.result, int)
        return label_of(operation, outcome.result)
    if isinstance(operation, op.CancelForKey):
        assert isinstance(outcome.result, tuple)
        return label_of(operation, *outcome.result)
    if isinstance(operation, op.Force):
        return label_of(operation, answer)
    return label_of(operation, *([rejected] if isinstance(operation, op.Advance) else []))


def _watch_action(was_completed: bool, outcome: Outcome) -> str:
    kinds = [event.kind for event in outcome.events]
    if was_completed:
        return "WatchCompleted"
    if outcome.result:
        return "WatchCompletes"
    return "WatchExpires" if EventKind.EXPIRED in kinds else "WatchWaits"


def _events(outcome: Outcome) -> Iterator[str]:
    for event in outcome.events:
        yield from (event.kind.value, event.task)


def _constants(instance: _Instance) -> dict[str, str]:
    exact = {"exact"} if instance.is_exact else set()
    amortised = {"amortised"} if instance.purge_due is profiles.PurgeDue.AMORTISED else set()
    leaving = {"leaves-all"} if instance.check_drops is profiles.CheckDrops.EVERYWHERE else set()
    values: dict[str, object] = {
        "Operations": frozenset(instance.operations_named),
        "Keys": frozenset(KEYS),
        "Delays": frozenset(instance.delays_ms),
        "Interval": instance.interval,
        "Last": instance.last_ms,
        "MostEntries": instance.most_entries,
        "MostQueued": instance.most_queued,
        "MostEstimate": instance.most_estimate,
        "Features": frozenset(exact | leaving | amortised),
        "Defects": frozenset[str](),
    }
    return {name: to_tla(value) for name, value in values.items()}
