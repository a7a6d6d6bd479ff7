"""The sequential purgatory and the concurrent one without interleaving, side by side."""

from collections.abc import Iterator
from dataclasses import dataclass

from purgatory_model.concurrent.exact.instance import ExactInstance
from purgatory_model.concurrent.exact.state import ExactState
from purgatory_model.purgatory import PurgatoryModel, PurgatoryState, purgatory_model
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.outcomes import Event, EventKind, Outcome, Value
from purgatory_spec.reasons import Reason

from .exact_alone import ExactAlone

INSTANCE = ExactInstance(
    cancellers=("canceller",), forcers=("forcer",), demanding=frozenset({2}), max_events=2
)


@dataclass(frozen=True)
class Pair:
    """A state of each model after the same operations."""

    sequential: PurgatoryState
    concurrent: ExactState


@dataclass(frozen=True)
class _Seen:
    """An outcome that can be looked up; results of different types differ."""

    result: tuple[type, Value]
    rejected: Reason | None
    events: tuple[Event, ...]
    observed: frozenset[tuple[str, Value]]

    @classmethod
    def of(cls, outcome: Outcome) -> "_Seen":
        """Return the parts of an outcome that are compared."""
        return cls(
            (type(outcome.result), outcome.result),
            outcome.rejected,
            outcome.events,
            frozenset(outcome.observed.items()),
        )

    @property
    def tries(self) -> bool:
        """Decide whether an operation was tried."""
        return any(event.kind is EventKind.TRIED for event in self.events)


class Differ(AssertionError):
    """One model has an outcome that the other one has not."""


@dataclass(frozen=True)
class Pairs:
    """Both models of one instance."""

    instance: ExactInstance = INSTANCE

    @property
    def sequential(self) -> PurgatoryModel:
        """The sequential model: exact accounting, stepped executor, everything shown."""
        return purgatory_model(
            profiles.PurgatoryConfiguration(self.instance.purge_interval),
            profiles.PurgatoryProfile(
                check_drops=profiles.CheckDrops.AS_PASSED,
                accounting=profiles.Accounting.EXACT,
                throwing_try=profiles.ThrowingTry.GO_ON,
                executor=profiles.Executor.STEPPED,
                observables=frozenset(profiles.PurgatoryObservable)
                - {profiles.PurgatoryObservable.CALLBACK_TIMER_SIZE},
            ),
        )

    @property
    def concurrent(self) -> ExactAlone:
        """The concurrent model without interleaving."""
        return ExactAlone(self.instance)

    def initial(self) -> Pair:
        """Two purgatories that were just made."""
        return Pair(self.sequential.initial(), self.concurrent.initial())

    def watch(self, number: int, delay_ms: int = 1, tries: tuple[op.Answer, ...] = ()) -> op.Watch:
        """A watch of an operation, under all keys."""
        on_complete = (op.Throw(),) if number in self.instance.throwing else ()
        script = op.Script(tries, on_complete)
        return op.Watch(str(number), self.instance.entries_per_call, delay_ms, script)

    def may(self, pair: Pair, operation: op.Operation) -> bool:
        """Decide whether both models can be asked for an operation."""
        # The concurrent model counts calls up to a bound, knows no run of an empty queue, and has
        # an operation in the executor's queue once at a time. In the sequential one an operation
        # that is forced or satisfied before it is watched has no script, so its callback cannot
        # raise.
        match operation:
            case op.Watch(name):
                return pair.concurrent.operations[int(name)].calls < self.instance.max_calls
            case op.Force(name):
                return self._may_introduce(pair, name)
            case op.Check(key):
                names = self.concurrent.satisfied_by(pair.concurrent, key)
                return all(self._may_introduce(pair, name) for name in names)
            case op.RunOne():
                return bool(pair.concurrent.queue)
            case op.Advance():
                outcomes = self.sequential.successors(pair.sequential, operation)
                handed = [[e.task for e in outcome.events] for outcome, _ in outcomes]
                queued = {str(number) for number in pair.concurrent.queue}
                return not any(queued.intersection(names) for names in handed)
        return True

    def after(self, pair: Pair, operation: op.Operation) -> Iterator[tuple[Outcome, Pair]]:
        """Every outcome that the operation has by both models, with the states after it."""
        before = pair.sequential
        if isinstance(operation, op.Check):
            for name in self.concurrent.satisfied_by(pair.concurrent, operation.key):
                before = self._satisfied(before, name)
        one = {
            _Seen.of(each): (each, s) for each, s in self.sequential.successors(before, operation)
        }
        if _watches_completed(before, operation):
            # Whether a completed operation is tried is free; the concurrent model does not.
            one = {seen: each for seen, each in one.items() if not seen.tries}
        successors = self.concurrent.successors(pair.concurrent, operation)
        other = {_Seen.of(outcome): state for outcome, state in successors}
        missing = [seen for seen in one if seen not in other]
        further = [seen for seen in other if seen not in one]
        if missing or (further and not self._chooses(operation)):
            raise Differ(f"{operation}: sequential alone {missing}, concurrent alone {further}")
        for seen, (outcome, state) in one.items():
            yield outcome, Pair(state, other[seen])

    def _may_introduce(self, pair: Pair, name: str) -> bool:
        return name in pair.sequential.operations or int(name) not in self.instance.throwing

    def _chooses(self, operation: op.Operation) -> bool:
        """Decide whether the concurrent model leaves a choice: of time, or of a try that raises."""
        raises = "throwing-try" in self.instance.features
        return raises or isinstance(operation, op.Advance | op.RunOne)

    def _satisfied(self, state: PurgatoryState, name: str) -> PurgatoryState:
        ((_, after),) = self.sequential.successors(state, op.Satisfy(name))
        return after


def _watches_completed(state: PurgatoryState, operation: op.Operation) -> bool:
    return isinstance(operation, op.Watch) and operation.operation in state.completed
