"""Behaviours of the purgatory as cases: calls in an order, with what each must answer.

Operations are named by their numbers. An event of a key becomes ``satisfy`` for each operation that
was watched before and is not completed; an operation that completes in its own watch has the answer
in its script. Which entry of a list a walk comes to first, TLA+ leaves open; so the order of
different operations within a check is not compared.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from purgatory_spec import operations as op
from purgatory_spec.outcomes import Event, EventKind, Outcome, Value, expired
from purgatory_spec.profiles import PurgatoryFeature
from purgatory_tla.cases.behaviours import Behaviour
from purgatory_tla.cases.calls import Call, Entangled, before, serial_order
from purgatory_tla.cases.predictions import CannotDrive, Driven, NotDrivable, Prediction
from purgatory_tla.cases.purgatory.calls import Calls, Kind, PurgatoryMap, operation_of
from purgatory_tla.cases.purgatory.delays import Timing, chosen_timing
from purgatory_tla.cases.purgatory.states import Shared

_ENTANGLED = "the calls interleave here, and have no order that comes to the same"


def drive_purgatory(behaviour: Behaviour, read: PurgatoryMap) -> Driven:
    """Return the behaviour as far as it can be driven."""
    calls = Calls(read)
    stopped: NotDrivable | None = None
    for move in behaviour.moves:
        try:
            calls.add(move)
        except CannotDrive as problem:
            stopped = NotDrivable(problem.step, problem.reason)
            break
    found = calls.calls
    while True:
        try:
            order = serial_order(found)
            timing = chosen_timing(order, read.expires)
            break
        except Entangled as problem:
            stopped = NotDrivable(problem.step, _ENTANGLED)
        except CannotDrive as problem:
            stopped = NotDrivable(problem.step, problem.reason)
        found = [part for call in found if (part := before(call, stopped.step - 1)).moves]
    teller = _Teller(read, timing, read.shared(behaviour.first))
    predictions = tuple(teller.tell(order))
    return Driven(read.configuration, read.profile, predictions, len(behaviour.moves), stopped)


@dataclass
class _Teller:
    """Goes through the calls in their order and keeps the shared memory of that order."""

    read: PurgatoryMap
    timing: Timing
    shared: Shared
    _introduced: set[int] = field(default_factory=set)
    _satisfied: set[int] = field(default_factory=set)

    def tell(self, order: Sequence[Call]) -> Iterator[Prediction]:
        """Yield the predictions of calls in this order."""
        for place, call in enumerate(order):
            kind = Kind(call.kind)
            was = self.shared
            for move in call.moves:
                now = self.shared.after(self.read.shared(move.before), self.read.shared(move.after))
                yield from self._satisfy(now)
                self.shared = now
            yield self._prediction(kind, call, place, was)

    def _satisfy(self, after: Shared) -> Iterator[Prediction]:
        """Yield the operations that an event satisfies, among the waiting ones."""
        if after.events == self.shared.events:
            return
        for operation in sorted(self._introduced - self._satisfied - self.shared.completed):
            if self.read.satisfied(operation, after.events):
                self._satisfied.add(operation)
                observed = self._observed(self.shared)
                yield Prediction(op.Satisfy(str(operation)), Outcome(observed=observed))

    def _prediction(self, kind: Kind, call: Call, place: int, was: Shared) -> Prediction:
        events = self._events(kind, call, place)
        free = kind is Kind.CHECK and len(events) > 1
        needs = frozenset(self._needs(kind, call))
        return Prediction(
            self._operation(kind, call, place, events),
            Outcome(
                self._result(kind, call, events, was),
                events=events,
                observed=self._observed(self.shared),
            ),
            tuple(move.number for move in call.moves),
            (len(events),) if free else (),
            self._free(kind, call, was),
            needs,
        )

    def _needs(self, kind: Kind, call: Call) -> Iterator[str]:
        match kind:
            case Kind.CANCEL:
                yield PurgatoryFeature.CANCEL_FOR_KEY
            case Kind.FORCE:
                yield PurgatoryFeature.FORCE
            case Kind.WATCH:
                if operation_of(call.moves[0]) in self._introduced:
                    yield PurgatoryFeature.REWATCH
                if len(set(self.read.keys)) < len(self.read.keys):
                    yield PurgatoryFeature.DUPLICATE_KEYS

    def _free(self, kind: Kind, call: Call, was: Shared) -> frozenset[str]:
        """Return the events that are free: tries of a completed operation that is watched again."""
        again = kind is Kind.WATCH and operation_of(call.moves[0]) in was.completed
        return frozenset({"events"} if again else ())

    def _observed(self, shared: Shared) -> dict[str, Value]:
        return dict(sorted({**shared.observe(), **self.read.observe(shared)}.items()))

    def _events(self, kind: Kind, call: Call, place: int) -> tuple[Event, ...]:
        if kind is Kind.ADVANCE:
            return tuple(expired(str(operation)) for operation in self.timing.expired[place])
        return tuple(
            event for move in call.moves for event in self.read.events(move, operation_of(move))
        )

    def _operation(
        self, kind: Kind, call: Call, place: int, events: tuple[Event, ...]
    ) -> op.PurgatoryOperation:
        move = call.moves[0]
        match kind:
            case Kind.WATCH:
                operation = operation_of(move)
                script = None if operation in self._introduced else _script(events)
                self._introduced.add(operation)
                delay_ms = self.timing.delays[operation]
                watch = op.Watch(str(operation), self.read.keys, delay_ms)
                return msgspec.structs.replace(watch, script=script) if script else watch
            case Kind.CHECK:
                return op.Check(self.read.key(move))
            case Kind.CANCEL:
                return op.CancelForKey(self.read.key(move))
            case Kind.FORCE:
                return op.Force(str(operation_of(move)))
            case Kind.RUN:
                return op.RunOne()
            case Kind.ADVANCE:
                return op.Advance(self.timing.readings[place])

    def _result(self, kind: Kind, call: Call, events: tuple[Event, ...], was: Shared) -> Value:
        completed = sum(event.kind is EventKind.COMPLETED for event in events)
        match kind:
            case Kind.WATCH | Kind.FORCE:
                return completed > 0
            case Kind.CHECK:
                return completed
            case Kind.CANCEL:
                return tuple(str(o) for o in was.listed(self.read.key(call.moves[0])))
            case Kind.RUN | Kind.ADVANCE:
                return None


def _script(events: tuple[Event, ...]) -> op.Script | None:
    """Return the answers of the tries of a watch whose last try completes the operation."""
    if not any(event.kind is EventKind.COMPLETED for event in events):
        return None
    tries = sum(event.kind is EventKind.TRIED for event in events)
    return op.Script((*[op.Answer.WAIT] * (tries - 1), op.Answer.COMPLETE))
