"""All explanations of what was seen of a shared memory pool.

Theory of operation. A *moment* is one explanation: the bytes that are available, and the outcomes
of those open calls that took effect. When a call returns, other open calls may have taken effect
before it, in any order; the moments in which it has the outcome that was seen are left. What a
call does at an instant is asked of the model, ``MemoryPoolModel``, with a state that holds the
call's own buffer and no other.

Most of the time there is plenty and the order does not matter: where every open request would be
granted even after all the others, only the call that returns takes effect.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from immutables import Map

from purgatory_model.memory_pool import MemoryPoolModel, MemoryPoolState
from purgatory_model.memory_pool_arithmetic import is_granted
from purgatory_pipeline.errors import Undecided
from purgatory_pipeline.replay.overlapping.memory_pool.moments import (
    REFUSED,
    PoolCall,
    PoolMoment,
    PoolOutcome,
    gives_back_itself,
)
from purgatory_spec.operations import Allocate, Construct, Lose, Operation, Release, ReleaseNothing
from purgatory_spec.profiles import MemoryPoolConfiguration
from purgatory_spec.reasons import Reason

MOST_MOMENTS = 20_000
"""How many explanations of a pool are followed."""

_GRANTED = PoolOutcome(True, None)
_REJECTED = (
    PoolOutcome(None, Reason.INVALID_ARGUMENT),
    PoolOutcome(None, Reason.UNKNOWN_NAME),
)


@dataclass(slots=True)
class PoolExplainer:
    """Follows the explanations.

    Attributes:
        configuration: Of the pool.
        model: What its calls do.
        moments: The explanations of what was seen so far.
        open: The open calls, by number.
    """

    configuration: MemoryPoolConfiguration
    model: MemoryPoolModel
    moments: list[PoolMoment]
    open: dict[int, PoolCall] = field(default_factory=dict)

    def begin(self, call: PoolCall) -> None:
        """A call begins."""
        self.open[call.number] = call
        self.moments = [self._noted(moment) for moment in self.moments]

    def resume(self, call: PoolCall, *, is_told: bool) -> None:
        """A call is open when the pool is first seen: it may have taken effect before that.

        Args:
            call: The call; it has begun.
            is_told: Whether the buffer that it asks for, or gives back, is told to be outstanding.
                So it has been granted, or has not been given back.
        """
        over: tuple[PoolOutcome, ...] = (PoolOutcome(None, None), *_REJECTED)
        is_open = True
        if isinstance(call.operation, Allocate):
            over = (_GRANTED,) if is_told else (REFUSED,)
            is_open = not is_told
        elif is_told and gives_back_itself(call.operation):
            over = ()
        done = [
            moment._replace(done=moment.done | {(call.number, outcome)})
            for moment in self.moments
            for outcome in over
        ]
        self.moments = [*self.moments, *done] if is_open else done

    def end(self, call: PoolCall, left: list[PoolMoment]) -> None:
        """A call has returned, and these moments explain that."""
        del self.open[call.number]
        self.moments = left

    @property
    def open_calls(self) -> list[PoolCall]:
        """The calls that have not returned."""
        return list(self.open.values())

    def possible_bytes(self) -> set[int]:
        """How many bytes may be available now, whichever open calls took effect.

        Raises:
            Undecided: there are too many ways to look at.
        """
        return {
            each.available_bytes
            for moment in self.moments
            for each in self._closed(moment, self.open_calls)
        }

    def right_outcomes(self, call: PoolCall) -> set[PoolOutcome]:
        """What an open call could say now, at any instant."""
        others = self._others_than(call)
        right: set[PoolOutcome] = set()
        for moment in self.moments:
            done = moment.outcome_of(call.number)
            if done is not None:
                right.add(done)
                continue
            right |= {REFUSED} if call.number in moment.refusable else set()
            for each in self._closed(moment, others):
                right.update(outcome for outcome, _ in self._effects(each, call))
        return right

    def after(self, call: PoolCall, seen: PoolOutcome) -> list[PoolMoment]:
        """The moments in which a call has done what was seen.

        Raises:
            Undecided: there are too many to look at.
        """
        others = self._others_than(call)
        after: dict[PoolMoment, None] = {}
        for moment in self.moments:
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

    def may_answer_otherwise(self, call: PoolCall, request: Allocate, seen: PoolOutcome) -> bool:
        """Whether a request may as well get the other answer, by what other calls may do first.

        It looks at the most and the least that may be available, not at each order of the calls;
        so it says yes a little too often.
        """
        if self.configuration.unbounded:
            return False
        for moment in self.moments:
            outcome = moment.outcome_of(call.number)
            if outcome is not None:
                if outcome != seen:
                    return True
                continue
            done = {number for number, _ in moment.done}
            others = [each for each in self._others_than(call) if each.number not in done]
            if seen == REFUSED:
                available = moment.available_bytes + sum(each.size_bytes or 0 for each in others)
            elif call.number in moment.refusable:
                return True
            else:
                wanted = (each.operation for each in others)
                available = moment.available_bytes - sum(
                    max(0, each.size_bytes) for each in wanted if isinstance(each, Allocate)
                )
            grants = is_granted(available, request.size_bytes, self.configuration.strict)
            if grants == (seen == REFUSED):
                return True
        return False

    def _others_than(self, call: PoolCall) -> list[PoolCall]:
        return [each for each in self.open.values() if each is not call]

    def _alone(self, moment: PoolMoment, call: PoolCall, seen: PoolOutcome) -> list[PoolMoment]:
        """The moments after a call has returned so, no other call having done anything more."""
        refusable = moment.refusable - {call.number}
        if seen == REFUSED and call.number in moment.refusable:
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
        if self.configuration.unbounded:
            return moment
        refused = {
            number
            for number, call in self.open.items()
            if isinstance(call.operation, Allocate)
            and self.model.may_refuse(moment.available_bytes, call.operation.size_bytes)
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
        if self.configuration.unbounded:
            return False
        if moment.done:
            return True
        wanted = []
        for call in self.open.values():
            if isinstance(call.operation, Allocate):
                wanted.append(max(0, call.operation.size_bytes))
            elif call.is_contested or not (call.is_held or _changes_nothing(call.operation)):
                return True
        # Without strict admission it is the smallest request that is refused first, as the last.
        smallest = min(wanted, default=0)
        last = moment.available_bytes - sum(wanted) + smallest
        return bool(wanted) and not is_granted(last, smallest, self.configuration.strict)

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
                    if outcome != REFUSED:
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
            if is_held or not gives_back_itself(operation):
                held = held.set(operation.buffer, call.size_bytes)
            else:
                returned = returned.set(operation.buffer, call.size_bytes)
        state = MemoryPoolState(moment.available_bytes, held, returned)
        for expectation in self.model.expectations(state, operation):
            available = expectation.complete(()).available_bytes
            own = isinstance(operation, Allocate) or is_held
            wrongly = moment.credits_wrongly or (not own and available != moment.available_bytes)
            outcome = PoolOutcome(expectation.result, expectation.rejected)
            then = PoolMoment(available, moment.done, wrongly, moment.refusable)
            yield outcome, self._noted(then)


def _changes_nothing(operation: Operation) -> bool:
    return isinstance(operation, ReleaseNothing | Construct)


def _check_number(number: int) -> None:
    if number > MOST_MOMENTS:
        raise Undecided(f"more than {MOST_MOMENTS} explanations of the pool are possible")
