"""A monitor that follows explanations as the model's does, and few of them.

Theory of operation. The model's ``Explainer`` keeps a moment for everything that open calls may
have done by now. With several calls open these are very many, and most differ in nothing that
matters. Here

- a step of a call that changes nothing, a try in vain or a look into a list, is not a further
  moment. A moment keeps for each open call all *ways* in which it may stand: what it may have
  seen changes nothing for the others, so the ways of different calls go together in any manner;
- steps that change something are taken when a call returns that cannot be explained without, as
  late as can be. Of the moments that are then possible, those are left out that others lead to by
  calls that are still open.

The same histories are explained, but for this: a try is seen when it begins, before it can have any
effect, and a completion after it has taken effect. So no part takes effect whose try was not seen
yet, and what completes an operation has taken effect when that is seen.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from immutables import Map

from purgatory_model.overlapping.interleaving import Called, Happened, HistoryEvent, Returned
from purgatory_model.overlapping.linearizability import Call
from purgatory_model.overlapping.parts import Part
from purgatory_model.overlapping.sequential_rules import Effect
from purgatory_pipeline.errors import Undecided
from purgatory_pipeline.replay.overlapping.purgatory.observed_rules import ObservedRules, Standing
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import EventKind

MOST_MOMENTS = 20_000
"""How many explanations of one operation's history are looked at when a call returns."""

Ways: TypeAlias = frozenset[Call]
"""The ways in which an open call may stand."""


class Explanation(NamedTuple):
    """One explanation: how things stand, and the ways of each open call."""

    state: Standing
    calls: Map[str, Ways] = Map()


Moments: TypeAlias = frozenset[Explanation]


@dataclass(frozen=True, slots=True)
class LateExplainer:
    """Follows the explanations of one operation's history by some rules."""

    rules: ObservedRules
    _known: dict[tuple[Standing, Operation, Part], tuple[Effect[Standing], ...]] = field(
        default_factory=dict, compare=False, repr=False
    )

    def begin(self) -> Moments:
        """Nothing was called."""
        return frozenset({Explanation(self.rules.initial())})

    def after(self, moments: Moments, event: HistoryEvent) -> Moments | None:
        """The explanations that are left and needed; None where nothing explains the history.

        Raises:
            Undecided: there are too many to look at.
        """
        match event:
            case Called(thread, operation):
                ways = frozenset({_begun(operation)})
                return frozenset(self._with(each, thread, ways) for each in moments)
            case Happened(thread, shown):
                seen = frozenset(self._shown(moments, event))
                if shown.kind is EventKind.COMPLETED:
                    seen = self._needed(self._reached(seen, thread, _has_completed))
                return seen or None
            case Returned(thread):
                left = self._reached(moments, thread, lambda way: way.may_return(event))
                return (
                    self._needed(
                        Explanation(each.state, each.calls.delete(thread)) for each in left
                    )
                    or None
                )

    def amid(self, moments: Moments, thread: str, operation: Operation) -> Moments:
        """A call is under way that changed nothing so far; what it has shown is not known."""
        return frozenset(
            self._with(each, thread, self._ways_so_far(each.state, operation)) for each in moments
        )

    def _ways_so_far(self, state: Standing, operation: Operation) -> Ways:
        """The possible positions of a call that has changed nothing since it began.

        The call may have tried the operation before the condition held, and may have passed the
        operation's list before the operation was in the list. A seen try may still take effect.
        """
        found, fresh = {_begun(operation)}, [_begun(operation)]
        states = (state, replace(state, satisfied=False), self.rules.initial())
        while fresh:
            way = fresh.pop()
            for before in states if way.part is not None and not way.seen else ():
                for after in self._steps_so_far(before, way):
                    if after not in found:
                        found.add(after)
                        fresh.append(after)
        return frozenset(found)

    def _steps_so_far(self, state: Standing, way: Call) -> Iterator[Call]:
        """A call after its next part, where that changes nothing; or before it, the try seen."""
        assert way.part is not None
        for effect in self._effects(state, way.operation, way.part):
            tries = tuple(event for event in effect.events if event.kind is EventKind.TRIED)
            yield replace(way, seen=tries)
            if effect.state == state:
                result = way.result if effect.result is None else effect.result
                yield Call(way.operation, part=effect.then, result=result)

    def _with(self, moment: Explanation, thread: str, ways: Ways) -> Explanation:
        closed = self._closed(moment.state, ways)
        return Explanation(moment.state, moment.calls.set(thread, closed))

    def _shown(self, moments: Moments, event: Happened) -> Iterator[Explanation]:
        for moment in moments:
            shown = (each.shows(event.event) for each in moment.calls[event.thread])
            ways = frozenset(each for each in shown if each is not None)
            if ways:
                yield self._with(moment, event.thread, ways)

    def _reached(
        self, moments: Moments, thread: str, suits: Callable[[Call], bool]
    ) -> Iterator[Explanation]:
        """The moments in which a call stands as asked, other calls having done what they had to."""
        found = set(moments)
        fresh = list(moments)
        while fresh:
            moment = fresh.pop()
            ways = moment.calls[thread]
            suited = frozenset(filter(suits, ways))
            if suited:
                yield moment._replace(calls=moment.calls.set(thread, suited))
                continue
            for after in self._changed(moment):
                if after not in found:
                    found.add(after)
                    fresh.append(after)
            if len(found) > MOST_MOMENTS:
                raise Undecided(f"more than {MOST_MOMENTS} explanations of one operation")

    def _needed(self, moments: Iterable[Explanation]) -> Moments:
        """The moments without those that an open call leads to from another of them."""
        kept = frozenset(moments)
        if len(kept) < 2:
            return kept
        return kept - {after for moment in kept for after in self._changed(moment)}

    def _changed(self, moment: Explanation) -> Iterator[Explanation]:
        """The moments after one more part of some open call, one that changes something."""
        state = moment.state
        for thread, ways in moment.calls.items():
            for way in ways:
                for effect, after in self._next(state, way):
                    if effect.state != state:
                        calls = moment.calls.set(thread, frozenset({after}))
                        yield self._moved(effect.state, calls)

    def _moved(self, state: Standing, calls: Map[str, Ways]) -> Explanation:
        """The moment in which things have come to stand so."""
        for thread, ways in calls.items():
            closed = self._closed(state, ways)
            if closed is not ways:
                calls = calls.set(thread, closed)
        return Explanation(state, calls)

    def _closed(self, state: Standing, ways: Ways) -> Ways:
        """The ways, and those after steps that change nothing."""
        found: set[Call] | None = None
        fresh = list(ways)
        while fresh:
            for effect, after in self._next(state, fresh.pop()):
                if effect.state == state and after not in (ways if found is None else found):
                    found = set(ways) if found is None else found
                    found.add(after)
                    fresh.append(after)
        return ways if found is None else frozenset(found)

    def _next(self, state: Standing, way: Call) -> Iterator[tuple[Effect[Standing], Call]]:
        """The effects of a call's next part that fit what was seen, and the call after each."""
        if way.part is None:
            return
        for effect in self._effects(state, way.operation, way.part):
            if effect.events and effect.events[0].kind is EventKind.TRIED and not way.seen:
                continue
            after = way.after(effect)
            if after is not None:
                yield effect, after

    def _effects(
        self, state: Standing, operation: Operation, part: Part
    ) -> tuple[Effect[Standing], ...]:
        key = state, operation, part
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = tuple(self.rules.effects(state, operation, part))
        return known


def _has_completed(way: Call) -> bool:
    """Whether what completes the operation took effect: that is seen afterwards."""
    return all(event.kind is not EventKind.COMPLETED for event in way.seen)


@lru_cache(maxsize=256)
def _begun(operation: Operation) -> Call:
    return Call(operation)
