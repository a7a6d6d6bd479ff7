"""A monitor of overlapping calls that follows explanations as the model's does, and few of them.

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

It is asked of one delayed operation of a purgatory (``purgatory.observed_rules``). A memory pool
has an explainer of its own, which knows which orders of calls do not matter
(``memory_pool.explainer``); the tests compare the two.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from immutables import Map

from purgatory_model.overlapping.interleaving import Called, Happened, HistoryEvent, Returned
from purgatory_model.overlapping.linearizability import Call
from purgatory_model.overlapping.sequential_rules import Effect, Rule, Rules
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import EventKind
from purgatory_traces.errors import Undecided

MOST_MOMENTS = 20_000
"""The most explanations of one history that are looked at when a call returns."""

Moment = TypeVar("Moment", bound=Hashable)
"""An explanation of one history."""

Ways: TypeAlias = frozenset[Call]
"""The ways in which an open call may stand."""


class Explanation(NamedTuple, Generic[Rule]):
    """An explanation: the state, and the ways of each open call."""

    state: Rule
    calls: Map[str, Ways] = Map()


Moments: TypeAlias = frozenset[Explanation[Rule]]


@dataclass(frozen=True, slots=True)
class LateExplainer(Generic[Rule]):
    """Follows the explanations of one history by some rules."""

    rules: Rules[Rule]

    def begin(self) -> Moments[Rule]:
        """Return the moments before any call."""
        return frozenset({Explanation(self.rules.initial())})

    def after(self, moments: Moments[Rule], event: HistoryEvent) -> Moments[Rule] | None:
        """Return the explanations that are left and needed; None where none explains the history.

        Raises:
            Undecided: there are too many to look at.
        """
        match event:
            case Called(thread, operation):
                ways = frozenset({_begun(operation)})
                return frozenset(self.with_ways(each, thread, ways) for each in moments)
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

    def with_ways(self, moment: Explanation[Rule], thread: str, ways: Ways) -> Explanation[Rule]:
        """Return the moment in which a call is open, and may stand in these ways."""
        closed = self._closed(moment.state, ways)
        return Explanation(moment.state, moment.calls.set(thread, closed))

    def all_moments(self, moments: Moments[Rule]) -> set[Explanation[Rule]]:
        """Return the moments, and those after any further parts of open calls.

        Raises:
            Undecided: there are too many to look at.
        """
        return explored(moments, self._changed)

    def _shown(self, moments: Moments[Rule], event: Happened) -> Iterator[Explanation[Rule]]:
        for moment in moments:
            shown = (each.shows(event.event) for each in moment.calls[event.thread])
            ways = frozenset(each for each in shown if each is not None)
            if ways:
                yield self.with_ways(moment, event.thread, ways)

    def _reached(
        self, moments: Moments[Rule], thread: str, suits: Callable[[Call], bool]
    ) -> set[Explanation[Rule]]:
        """Return the moments in which a call stands as asked, after the work of other calls."""
        reached: set[Explanation[Rule]] = set()

        def further(moment: Explanation[Rule]) -> Iterable[Explanation[Rule]]:
            suited = frozenset(filter(suits, moment.calls[thread]))
            if suited:
                reached.add(moment._replace(calls=moment.calls.set(thread, suited)))
                own = map(self._moved, self._steps(thread, moment))
                return (each for each in own if any(map(suits, each.calls[thread])))
            return self._changed(moment)

        explored(moments, further)
        return reached

    def _needed(self, moments: Iterable[Explanation[Rule]]) -> Moments[Rule]:
        """Return the moments without those that an open call leads to from another of them."""
        kept = frozenset(moments)
        if len(kept) < 2:
            return kept
        return kept - {after for moment in kept for after in self._changed(moment)}

    def _changed(self, moment: Explanation[Rule]) -> Iterator[Explanation[Rule]]:
        """Yield the moments after one more part of some open call, one that changes something."""
        for thread in moment.calls:
            yield from map(self._moved, self._steps(thread, moment))

    def _steps(self, thread: str, moment: Explanation[Rule]) -> Iterator[Explanation[Rule]]:
        """Yield the moments after one part of one call, before its effect on other calls."""
        for way in moment.calls[thread]:
            for effect, after in self._next(moment.state, way):
                if effect.state != moment.state:
                    calls = moment.calls.set(thread, frozenset({after}))
                    yield Explanation(effect.state, calls)

    def _moved(self, moment: Explanation[Rule]) -> Explanation[Rule]:
        """Return the moment with the further ways of open calls in its state."""
        calls = moment.calls
        for thread, ways in moment.calls.items():
            closed = self._closed(moment.state, ways)
            if closed is not ways:
                calls = calls.set(thread, closed)
        return moment._replace(calls=calls)

    def _closed(self, state: Rule, ways: Ways) -> Ways:
        """Return the ways, and those after steps that change nothing."""
        found: set[Call] | None = None
        fresh = list(ways)
        while fresh:
            for effect, after in self._next(state, fresh.pop()):
                if effect.state == state and after not in (ways if found is None else found):
                    found = set(ways) if found is None else found
                    found.add(after)
                    fresh.append(after)
        return ways if found is None else frozenset(found)

    def _next(self, state: Rule, way: Call) -> Iterator[tuple[Effect[Rule], Call]]:
        """Yield the effects of a call's next part that fit the events, and the call after each."""
        if way.part is None:
            return
        for effect in self.rules.effects(state, way.operation, way.part):
            if effect.events and effect.events[0].kind is EventKind.TRIED and not way.seen:
                continue
            after = way.after(effect)
            if after is not None:
                yield effect, after


def explored(
    moments: Iterable[Moment], further: Callable[[Moment], Iterable[Moment]]
) -> set[Moment]:
    """Return the moments, and all to which they lead.

    Raises:
        Undecided: there are too many to look at.
    """
    found, fresh = set(moments), list(moments)
    while fresh:
        for after in further(fresh.pop()):
            if after not in found:
                found.add(after)
                fresh.append(after)
        if len(found) > MOST_MOMENTS:
            raise Undecided(f"more than {MOST_MOMENTS} explanations are possible")
    return found


def _has_completed(way: Call) -> bool:
    """Decide whether the completing part took effect, which is seen afterwards."""
    return all(event.kind is not EventKind.COMPLETED for event in way.seen)


@lru_cache(maxsize=256)
def _begun(operation: Operation) -> Call:
    return Call(operation)
