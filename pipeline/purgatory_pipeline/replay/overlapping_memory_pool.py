"""Follows a memory pool that threads share: one number, and whose buffers are out.

Theory of operation. Which buffers are outstanding, and how large they are, is known from the calls
that have returned. What is not known is when each open call takes effect. A *moment* is one
explanation: the bytes that are available, and the outcomes of those open calls that took effect.
When a call returns, other open calls may have taken effect before it, in any order; the moments in
which it has the outcome that was seen are left. What a call does at an instant is asked of the
model, ``MemoryPoolModel``, with a state that holds the call's own buffer and no other.

Most of the time there is plenty and the order does not matter: where every open request would be
granted even after all the others, only the call that returns takes effect.

A buffer that is given back twice, a copy, a stranger's: a pool without validation may credit it.
Such a moment is marked. Where nothing else explains the run, POOL-CONSERVATION is broken.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from immutables import Map

from purgatory_model.memory_pool import MemoryPoolModel
from purgatory_model.memory_pool_arithmetic import is_granted, is_legal
from purgatory_model.memory_pool_invariants import bound_of
from purgatory_model.memory_pool_state import MemoryPoolState
from purgatory_pipeline.errors import Undecided, Unusable
from purgatory_pipeline.replay.judge import Finding
from purgatory_pipeline.replay.recent_names import RecentNames
from purgatory_pipeline.trace_lines import Begin, MemoryPoolInstance, Snapshot
from purgatory_spec.operations import (
    Allocate,
    Construct,
    Lose,
    Operation,
    Release,
    ReleaseForeign,
    ReleaseForm,
    ReleaseNothing,
    operation_name,
)
from purgatory_spec.outcomes import Event, Value
from purgatory_spec.reasons import Reason

MOST_MOMENTS = 20_000
_CREDITS = "credits_anything"


class PoolOutcome(NamedTuple):
    """What came of a call at the instant at which it took effect."""

    result: Value
    rejected: Reason | None


class PoolMoment(NamedTuple):
    """One explanation: what is available, what open calls have done, whether a rule was broken."""

    available_bytes: int
    done: frozenset[tuple[int, PoolOutcome]] = frozenset()
    credits_wrongly: bool = False
    refusable: frozenset[int] = frozenset()
    """The open requests that could have been refused by now: that changes nothing for others."""

    def outcome_of(self, number: int) -> PoolOutcome | None:
        """What an open call has done, if it took effect."""
        return next((outcome for each, outcome in self.done if each == number), None)


@dataclass(slots=True, eq=False)
class PoolCall:
    """An open call; ``size_bytes`` of the buffer that it gives back, where that is known."""

    number: int
    operation: Operation
    size_bytes: int | None
    is_held: bool = False
    """Whether the buffer was outstanding when the call began."""
    is_contested: bool = False
    """Whether another open call gives the same buffer back: either of the two may be first."""


@dataclass(slots=True)
class MemoryPoolFollower:
    """Follows a memory pool; see ``Follower``."""

    begin: Begin
    instance: MemoryPoolInstance
    visits: Counter[str] = field(default_factory=Counter)
    deviated: set[str] = field(default_factory=set)
    _model: MemoryPoolModel = field(init=False)
    _variants: dict[str, str] = field(init=False)
    _moments: list[PoolMoment] = field(init=False)
    _held: dict[str, int] = field(default_factory=dict)
    _outstanding_bytes: int = 0
    _open: dict[int, PoolCall] = field(default_factory=dict)
    _returned: RecentNames[int] = field(default_factory=RecentNames)
    _number: int = 0

    def __post_init__(self) -> None:
        """Everything is available."""
        self._variants = {each.variant: each.rule for each in self.begin.deviations}
        declared = frozenset({_CREDITS} & self._variants.keys())
        profile = self.instance.profile
        self._model = MemoryPoolModel(self.instance.configuration, profile, declared)
        self._moments = [PoolMoment(self.instance.configuration.size_bytes)]

    def called(self, operation: Operation, at_ms: int) -> PoolCall:
        """A call begins; see ``Follower``."""
        self._number += 1
        call = PoolCall(self._number, operation, None)
        match operation:
            case Release(buffer) | Lose(buffer):
                other_form = isinstance(operation, Release) and operation.form is not _ITSELF
                by_itself = not other_form
                call.size_bytes = self._held.get(buffer, self._returned.get(buffer))
                if by_itself and buffer in self._held:
                    call.is_held = True
                    self._give_back(buffer)
                elif by_itself:
                    self._contest(call, buffer)
            case Allocate() | ReleaseForeign() | ReleaseNothing() | Construct():
                pass
            case _:
                raise Unusable(f"a pool on a wall clock has no {operation_name(operation)}")
        self._open[call.number] = call
        self._moments = [self._noted(moment) for moment in self._moments]
        return call

    def happened(
        self, thread: str, call: PoolCall | None, event: Event, first_ms: int, last_ms: int
    ) -> Finding | None:
        """A pool calls nobody back."""
        raise Unusable("a memory pool has no callbacks")

    def returned(
        self, call: PoolCall, result: Value, rejected: Reason | None, at_ms: int
    ) -> Finding | None:
        """A call returns. Rules: POOL-STRICT, POOL-NON-STRICT, POOL-BOUND, POOL-RELEASE."""
        seen = PoolOutcome(result, rejected)
        left = self._after(call, seen)
        if not left:
            return self._blame(call, seen)
        del self._open[call.number]
        self._moments = left
        if all(moment.credits_wrongly for moment in left):
            if _CREDITS not in self._variants:
                return self._wrong_credit(call)
            self.deviated.add(self._variants[_CREDITS])
            self._moments = [each._replace(credits_wrongly=False) for each in left]
        self._visit(call, seen)
        if isinstance(call.operation, Allocate) and result is True:
            self._held[call.operation.buffer] = call.operation.size_bytes
            self._outstanding_bytes += call.operation.size_bytes
        return None

    def passed(self, now_ms: int) -> Finding | None:
        """Nothing of a pool is due."""
        return None

    def ended(self, now_ms: int) -> Finding | None:
        """Nothing of a pool is due."""
        return None

    def resume(self, snapshot: Snapshot, now_ms: int) -> list[tuple[str, Operation, PoolCall]]:
        """Begin with what a snapshot says; calls that were open may have taken effect before."""
        for buffer in snapshot.buffers:
            self._held[buffer.buffer] = buffer.size_bytes
            self._outstanding_bytes += buffer.size_bytes
        size_bytes = self.instance.configuration.size_bytes
        available = snapshot.available_bytes
        if available is None:
            available = size_bytes - self._outstanding_bytes
        self._moments = [PoolMoment(available)]
        calls = [
            (each.thread, each.operation, self.called(each.operation, now_ms))
            for each in snapshot.calls
        ]
        for _, _, call in calls:
            self._moments += [
                moment._replace(done=moment.done | {(call.number, outcome)})
                for moment in self._moments
                for outcome in _possible(call.operation)
            ]
        return calls

    def compare(self, snapshot: Snapshot, now_ms: int) -> Finding | None:
        """A snapshot while nobody calls must tell what is outstanding, and what is available."""
        if self._open or snapshot.calls:
            return None
        told = {each.buffer: each.size_bytes for each in snapshot.buffers}
        available = snapshot.available_bytes
        if available is None:
            available = self.instance.configuration.size_bytes - sum(told.values())
        known = {moment.available_bytes for moment in self._moments}
        unbounded = self.instance.configuration.unbounded
        if told == self._held and (unbounded or available in known):
            return None
        return Finding(
            "POOL-CONSERVATION",
            "snapshot",
            f"{self._outstanding_bytes} bytes outstanding in {len(self._held)} buffers, "
            f"{min(known)} available",
            f"{sum(told.values())} bytes outstanding in {len(told)} buffers, {available} available",
        )

    def _after(self, call: PoolCall, seen: PoolOutcome) -> list[PoolMoment]:
        """The moments in which a call has done what was seen."""
        others = [each for each in self._open.values() if each is not call]
        after: dict[PoolMoment, None] = {}
        for moment in self._moments:
            alone = self._alone(moment, call, seen)
            is_pure = alone and all(
                each.available_bytes == moment.available_bytes for each in alone
            )
            if is_pure or not others or not self._is_contended(moment):
                after.update(dict.fromkeys(alone))
                continue
            for each in self._closed(moment, others):
                after.update(dict.fromkeys(self._alone(each, call, seen)))
            _check_number(len(after))
        return self._needed(after, others)

    def _alone(self, moment: PoolMoment, call: PoolCall, seen: PoolOutcome) -> list[PoolMoment]:
        """The moments after a call has returned so, no other call having done anything more."""
        refusable = moment.refusable - {call.number}
        if seen == _REFUSED and call.number in moment.refusable:
            return [moment._replace(refusable=refusable)]
        done = moment.outcome_of(call.number)
        if done is None:
            return [
                then._replace(refusable=then.refusable - {call.number})
                for outcome, then in self._effects(moment, call)
                if outcome == seen
            ]
        if done != seen:
            return []
        return [moment._replace(done=moment.done - {(call.number, seen)}, refusable=refusable)]

    def _noted(self, moment: PoolMoment) -> PoolMoment:
        """The moment, with the open requests noted that would be refused now."""
        configuration = self.instance.configuration
        if configuration.unbounded:
            return moment
        refused = {
            number
            for number, call in self._open.items()
            if isinstance(call.operation, Allocate)
            and is_legal(call.operation.size_bytes, configuration.max_single_bytes)
            and not is_granted(
                moment.available_bytes, call.operation.size_bytes, configuration.strict
            )
        }
        if refused <= moment.refusable:
            return moment
        done = {number for number, _ in moment.done}
        return moment._replace(refusable=moment.refusable | (refused - done))

    def _needed(self, moments: dict[PoolMoment, None], others: list[PoolCall]) -> list[PoolMoment]:
        """The moments without those that an open call leads to from another of them."""
        if len(moments) < 2:
            return list(moments)
        reached = {then for moment in moments for then in self._next(moment, others)}
        return [moment for moment in moments if moment not in reached]

    def _is_contended(self, moment: PoolMoment) -> bool:
        """Whether the order of the open calls may matter."""
        configuration = self.instance.configuration
        if configuration.unbounded:
            return False
        if moment.done:
            return True
        wanted = []
        for call in self._open.values():
            if isinstance(call.operation, Allocate):
                wanted.append(max(0, call.operation.size_bytes))
            elif call.is_contested or not (call.is_held or _changes_nothing(call.operation)):
                return True
        # Without strict admission it is the smallest request that is refused first, as the last.
        smallest = min(wanted, default=0)
        last = moment.available_bytes - sum(wanted) + smallest
        return bool(wanted) and not is_granted(last, smallest, configuration.strict)

    def _closed(self, moment: PoolMoment, others: list[PoolCall]) -> list[PoolMoment]:
        """A moment, and those after other open calls."""
        found = {moment: None}
        fresh = [moment]
        while fresh:
            for after in self._next(fresh.pop(), others):
                if after not in found:
                    found[after] = None
                    fresh.append(after)
            _check_number(len(found))
        return list(found)

    def _next(self, moment: PoolMoment, others: list[PoolCall]) -> Iterator[PoolMoment]:
        """The moments after one more of the open calls took effect."""
        done = {number for number, _ in moment.done}
        for call in others:
            if call.number not in done:
                for outcome, then in self._effects(moment, call):
                    if outcome != _REFUSED:
                        yield then._replace(
                            done=moment.done | {(call.number, outcome)},
                            refusable=then.refusable - {call.number},
                        )

    def _effects(
        self, moment: PoolMoment, call: PoolCall
    ) -> Iterator[tuple[PoolOutcome, PoolMoment]]:
        """What a call may do at this instant, by the model."""
        if call.is_contested:
            yield from self._effects_of(moment, call, is_held=True)
            yield from self._effects_of(moment, call, is_held=False)
        else:
            yield from self._effects_of(moment, call, is_held=call.is_held)

    def _effects_of(
        self, moment: PoolMoment, call: PoolCall, *, is_held: bool
    ) -> Iterator[tuple[PoolOutcome, PoolMoment]]:
        operation, held, returned = call.operation, Map[str, int](), Map[str, int]()
        if isinstance(operation, Release | Lose) and call.size_bytes is not None:
            if is_held or (isinstance(operation, Release) and operation.form is not _ITSELF):
                held = held.set(operation.buffer, call.size_bytes)
            else:
                returned = returned.set(operation.buffer, call.size_bytes)
        state = MemoryPoolState(moment.available_bytes, held, returned)
        for expectation in self._model.expectations(state, operation):
            available = expectation.complete(()).available_bytes
            own = isinstance(operation, Allocate) or is_held
            wrongly = moment.credits_wrongly or (not own and available != moment.available_bytes)
            outcome = PoolOutcome(expectation.result, expectation.rejected)
            then = PoolMoment(available, moment.done, wrongly, moment.refusable)
            yield outcome, self._noted(then)

    def _contest(self, call: PoolCall, buffer: str) -> None:
        """A call gives back a buffer that another open call gives back, too."""
        for other in self._open.values():
            if other.is_held and _gives_back(other, buffer):
                other.is_contested = call.is_contested = True

    def _give_back(self, buffer: str) -> None:
        size_bytes = self._held.pop(buffer)
        self._outstanding_bytes -= size_bytes
        self._returned.put(buffer, size_bytes)

    def _visit(self, call: PoolCall, seen: PoolOutcome) -> None:
        """Count the rules that a call has put to the test."""
        configuration = self.instance.configuration
        admission = "POOL-STRICT" if configuration.strict else "POOL-NON-STRICT"
        match call.operation:
            case Allocate(_, size_bytes):
                if configuration.unbounded:
                    self.visits["POOL-UNBOUNDED-GRANTS"] += 1
                elif seen.rejected is not None:
                    self.visits[_rule_of_size(size_bytes)] += 1
                else:
                    self.visits.update((admission, "POOL-BOUND"))
                    if seen.result is False:
                        self.visits["POOL-REFUSAL"] += 1
            case Release() | Lose():
                self.visits[_rule_of_release(call)] += 1
            case ReleaseForeign():
                self.visits["POOL-RELEASE-FOREIGN"] += 1
            case ReleaseNothing():
                self.visits["POOL-RELEASE-NOTHING"] += 1
            case _:
                self.visits["POOL-CONSTRUCT"] += 1

    def _wrong_credit(self, call: PoolCall) -> Finding:
        return Finding(
            "POOL-CONSERVATION",
            "invariant",
            "available and outstanding are the size, together",
            "what was seen is only explained where something was credited that was not outstanding",
            also=(_rule_of_release(call), "POOL-BOUND"),
        )

    def _blame(self, call: PoolCall, seen: PoolOutcome) -> Finding:
        """The finding of a call that has no right outcome at any instant."""
        others = [each for each in self._open.values() if each is not call]
        right = {
            outcome
            for moment in self._moments
            for each in self._closed(moment, others)
            for outcome, _ in self._effects(each, call)
        }
        expected = " or ".join(sorted(_words(outcome) for outcome in right)) or "another outcome"
        rule, also = self._rules_of_blame(call, seen, right)
        rejection = any(outcome.rejected is not seen.rejected for outcome in right)
        kind = "rejection" if rejection else "result"
        return Finding(rule, kind, expected, _words(seen), also=also)

    def _rules_of_blame(
        self, call: PoolCall, seen: PoolOutcome, right: set[PoolOutcome]
    ) -> tuple[str, tuple[str, ...]]:
        configuration = self.instance.configuration
        if not isinstance(call.operation, Allocate):
            return _rule_of_release(call), ()
        if configuration.unbounded:
            return "POOL-UNBOUNDED-GRANTS", ()
        size_bytes = call.operation.size_bytes
        if any(each.rejected for each in right):
            return _rule_of_size(size_bytes), ()
        admission = "POOL-STRICT" if configuration.strict else "POOL-NON-STRICT"
        too_much = self._outstanding_bytes + size_bytes > bound_of(configuration)
        if seen.result is True and too_much:
            return "POOL-BOUND", (admission, "POOL-CONSERVATION")
        return admission, ("POOL-RELEASE", "POOL-REFUSAL")


_ITSELF = ReleaseForm.ITSELF
_REFUSED = PoolOutcome(False, None)


def _changes_nothing(operation: Operation) -> bool:
    return isinstance(operation, ReleaseNothing | Construct)


def _gives_back(call: PoolCall, buffer: str) -> bool:
    return isinstance(call.operation, Release | Lose) and call.operation.buffer == buffer


def _possible(operation: Operation) -> tuple[PoolOutcome, ...]:
    """What a call may have done before a snapshot told of it."""
    if isinstance(operation, Allocate):
        return (PoolOutcome(True, None), PoolOutcome(False, None))
    return (PoolOutcome(None, None), PoolOutcome(None, Reason.INVALID_ARGUMENT))


def _rule_of_size(size_bytes: int) -> str:
    if size_bytes == 0:
        return "POOL-ZERO-REQUEST"
    return "POOL-NEGATIVE-REQUEST" if size_bytes < 0 else "POOL-OVERSIZE-REQUEST"


def _rule_of_release(call: PoolCall) -> str:
    """The rule of what a call gives back."""
    match call.operation:
        case Lose():
            return "POOL-LEAK"
        case Release(_, ReleaseForm.SLICE):
            return "POOL-RELEASE-SLICE"
        case Release(_, ReleaseForm.COPY):
            return "POOL-RELEASE-COPY"
        case Release():
            return "POOL-RELEASE" if call.is_held else "POOL-RELEASE-AGAIN"
        case ReleaseForeign():
            return "POOL-RELEASE-FOREIGN"
        case Construct():
            return "POOL-CONSTRUCT"
        case _:
            return "POOL-RELEASE-NOTHING"


def _words(outcome: PoolOutcome) -> str:
    if outcome.rejected is not None:
        return f"rejected: {outcome.rejected.value}"
    if isinstance(outcome.result, bool):
        return "a buffer" if outcome.result else "no buffer"
    return "accepted"


def _check_number(number: int) -> None:
    if number > MOST_MOMENTS:
        raise Undecided(f"more than {MOST_MOMENTS} explanations of the pool are possible")
