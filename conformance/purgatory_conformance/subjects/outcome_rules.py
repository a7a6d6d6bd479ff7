"""Rules for a subject's outcomes, given its profile: results and observables.

Each component has a table of its observables with their types, and of the operations that have a
result. Whether the values are right, the judges say.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from purgatory_conformance.subjects.fault import Fault
from purgatory_conformance.subjects.subject import FailureKind
from purgatory_judge.components import on_real_clock
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.messages import Reply
from purgatory_spec.outcomes import Event, EventKind, Outcome, Value
from purgatory_spec.reasons import Reason


@dataclass(frozen=True, slots=True)
class _Type:
    """A type of values: what is right, and how a sentence says so."""

    is_right: Callable[[Value], bool]
    words: str


_INTEGER = _Type(lambda value: type(value) is int, "an integer")
_COUNT = _Type(lambda value: type(value) is int and value >= 0, "an integer that is not negative")
_INTEGER_OR_NULL = _Type(lambda value: value is None or type(value) is int, "an integer")
_TRUTH = _Type(lambda value: isinstance(value, bool), "true or false")
_NAMES = _Type(lambda value: isinstance(value, tuple), "a list of names")


@dataclass(frozen=True, slots=True)
class _Form:
    """The form of the outcomes of one component.

    After ``shutdown`` only the observables in ``shown_when_closed`` must be shown, all where it is
    None, and results may stay away where ``answers_when_closed`` is false.
    """

    observables: Mapping[str, _Type]
    results: Mapping[type[op.Operation], _Type] = field(default_factory=dict)
    result_is: str = ""
    """The observable by whose name the result is declared, where it is one that may be."""
    shown_when_closed: frozenset[str] | None = None
    answers_when_closed: bool = True


def _form(profile: profiles.Profile) -> _Form:
    if isinstance(profile, profiles.PurgatoryProfile):
        return _purgatory_form(profile)
    if isinstance(profile, profiles.MemoryPoolProfile):
        return _memory_pool_form(profile)
    if isinstance(profile, profiles.ChannelMutingProfile):
        return _channel_muting_form(profile)
    has_result = profiles.Observable.ADVANCE_RESULT in profile.observables
    shown = profile.observables - {profiles.Observable.ADVANCE_RESULT}
    results: dict[type[op.Operation], _Type] = {op.Reachable: _TRUTH}
    if has_result:
        results[op.Advance] = _TRUTH
    return _Form(
        {
            name.value: _INTEGER_OR_NULL if name is profiles.Observable.NEXT_EXPIRY else _INTEGER
            for name in sorted(shown)
        },
        results,
        result_is=profiles.Observable.ADVANCE_RESULT.value,
        shown_when_closed=frozenset({profiles.Observable.QUEUED.value}),
        answers_when_closed=False,
    )


def _purgatory_form(profile: profiles.PurgatoryProfile) -> _Form:
    special = {
        profiles.PurgatoryObservable.ESTIMATE: _INTEGER,
        profiles.PurgatoryObservable.CALLBACK_TIMER_SIZE: _INTEGER_OR_NULL,
    }
    return _Form(
        {name.value: special.get(name, _COUNT) for name in sorted(profile.observables)},
        {
            op.Check: _COUNT,
            op.Watch: _TRUTH,
            op.Force: _TRUTH,
            op.CancelForKey: _NAMES,
            op.Reachable: _TRUTH,
        },
    )


def _memory_pool_form(profile: profiles.MemoryPoolProfile) -> _Form:
    special = {
        profiles.MemoryPoolObservable.OUT_OF_MEMORY: _TRUTH,
        profiles.MemoryPoolObservable.BUFFER: _INTEGER_OR_NULL,
    }
    return _Form(
        {name.value: special.get(name, _INTEGER) for name in sorted(profile.observables)},
        {op.Allocate: _TRUTH, op.Read: _INTEGER},
    )


def _channel_muting_form(profile: profiles.ChannelMutingProfile) -> _Form:
    special = {
        profiles.ChannelMutingObservable.AVAILABLE: _INTEGER,
        profiles.ChannelMutingObservable.UNREAD: _INTEGER_OR_NULL,
        profiles.ChannelMutingObservable.DEPLETED_TIME: _COUNT,
    }
    return _Form({name.value: special.get(name, _NAMES) for name in sorted(profile.observables)})


class OutcomeRules:
    """The rules for a subject's outcomes, given its profile."""

    def __init__(self, profile: profiles.Profile) -> None:
        """Prepare the names that are looked for in every reply."""
        self._form = _form(profile)
        self._real_clock = on_real_clock(profile)

    def outcome(self, reply: Reply, operation: op.Operation, *, closed: bool) -> Outcome:
        """Return the outcome in a reply to ``do``, without undeclared observables.

        An operation that the adapter does not offer is rejected as unsupported, with its sentence.

        Args:
            reply: the reply, of which the types are right.
            operation: what was asked.
            closed: whether the component has been shut down, after which less may be shown.

        Raises:
            Fault: the reply reports a failure, or lacks something that was declared.
        """
        if reply.error:
            raise Fault(FailureKind.ERRORED, reply.error)
        if reply.unsupported:
            return Outcome(rejected=Reason.UNSUPPORTED, detail=reply.unsupported)
        wanted = self._form.results.get(type(operation))
        result: Value = None
        if wanted is not None and reply.rejected is None:
            result = self._result(reply.result, wanted, operation, closed)
        return Outcome(
            result,
            reply.rejected,
            self._events(reply.events) if reply.events else (),
            self._observed(reply.observed, closed),
            reply.detail,
            *self._readings(reply),
        )

    def _result(self, given: Value, wanted: _Type, operation: op.Operation, closed: bool) -> Value:
        if wanted.is_right(given) or (
            given is None and closed and not self._form.answers_when_closed
        ):
            return given
        word = op.operation_name(operation)
        declared = self._form.result_is if isinstance(operation, op.Advance) else ""
        if given is None and declared:
            raise Fault(
                FailureKind.MISSING_OBSERVABLE,
                f"'{declared}' is declared but '{word}' has no 'result'; "
                f"answer {wanted.words}, or do not declare it",
            )
        if given is None:
            raise Fault(
                FailureKind.WRONG_TYPES,
                f"'{word}' has no 'result'; answer {wanted.words} where it is not rejected",
            )
        raise Fault(
            FailureKind.WRONG_TYPES,
            f"the result of '{word}' is {_shown(given)}; it must be {wanted.words}",
        )

    def _observed(self, given: Mapping[str, Value], closed: bool) -> Mapping[str, Value]:
        observed: dict[str, Value] = {}
        needed = self._form.shown_when_closed if closed else None
        for name, wanted in self._form.observables.items():
            if name not in given:
                if needed is not None and name not in needed:
                    continue
                raise Fault(
                    FailureKind.MISSING_OBSERVABLE,
                    f"'{name}' is declared but not in 'observed'; "
                    "show it after every operation, or do not declare it",
                )
            value = given[name]
            if not wanted.is_right(value):
                raise Fault(
                    FailureKind.WRONG_TYPES,
                    f"the observable '{name}' is {_shown(value)}; it must be {wanted.words}",
                )
            # Languages sort names in orders of their own; lists of names have none.
            observed[name] = tuple(sorted(value)) if isinstance(value, tuple) else value
        return observed

    def _events(self, given: tuple[Event, ...]) -> tuple[Event, ...]:
        for event in given:
            if (event.kind is EventKind.REJECTED) is not (event.reason is not None):
                raise Fault(
                    FailureKind.WRONG_TYPES,
                    f"an event '{event.kind.value}' of task '{event.task}' has "
                    f"{'no' if event.reason is None else 'a'} reason; "
                    "events of kind 'rejected' have one and no others",
                )
            if self._real_clock and event.at_ms is None:
                raise Fault(
                    FailureKind.WRONG_TYPES,
                    "an event has no 'at_ms'; with the clock 'wall' each event has one",
                )
        if self._real_clock or all(event.at_ms is None for event in given):
            return given
        return tuple(Event(event.kind, event.task, event.reason) for event in given)

    def _readings(self, reply: Reply) -> tuple[int | None, int | None]:
        if not self._real_clock:
            return None, None
        if reply.called_ms is None or reply.returned_ms is None:
            raise Fault(
                FailureKind.WRONG_TYPES,
                "the reply lacks 'called_ms' or 'returned_ms'; with the clock 'wall' it has both",
            )
        return reply.called_ms, reply.returned_ms


def _shown(value: Value) -> str:
    return json.dumps(value)
