"""Linearizability: sequential rules that explain a history, or nearly.

Theory of operation. A history shows calls that overlap. It is *explained* when each call can be
given an instant between its call and its return at which it takes effect, all at once, so that the
sequential rules, taking the calls in the order of these instants, yield every result and every
event of the history. A call that returned before another one was called so comes before it; those
that overlap may come in either order. A call that has not returned may have taken effect or not.
A history so explained is *linearizable*.

Some calls are not one effect by the rules themselves: a watch tries, and tries again. Rules may so
divide a call into *parts* (``sequential_rules``). Each part takes effect at an instant of its own,
in their order, between the call and the return. The rules that ``sequential`` makes of a model
divide nothing.

The events of a part are those of its call, in its thread and in their order; when exactly they
happen, before the instant of their part or after it, is not asked, so long as it is inside the
call. Observables are no part of a history, and not compared.

To decide it, all explanations are followed together. A *candidate* is one of them: the sequential
state, and of each open call how many parts took effect, which events were seen that no part has
explained yet, and which are still owed. Parts are assumed to take effect as late as can be: when
something returns. Where no candidate is left, nothing explains the history.
"""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeAlias, TypeVar

from immutables import Map

from purgatory_model.overlapping.interleaving import (
    Called,
    Happened,
    History,
    HistoryEvent,
    Returned,
)
from purgatory_model.overlapping.parts import WHOLE, Part
from purgatory_model.overlapping.sequential_rules import Effect, Rule, Rules
from purgatory_model.step import result_matches
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Event, Value
from purgatory_spec.reasons import Reason


@dataclass(frozen=True, slots=True)
class Call:
    """An open call in one explanation.

    ``part`` is what takes effect next; where it is None, nothing of the call is left but to return
    the ``result`` that its parts have decided, or the reason ``raised``. ``seen`` are events that
    no part has explained yet, ``owed`` those of parts that took effect which were not seen yet; one
    of the two is empty.
    """

    operation: Operation
    part: Part | None = WHOLE
    seen: tuple[Event, ...] = ()
    owed: tuple[Event, ...] = ()
    result: Value = None
    raised: Reason | None = None

    def shows(self, event: Event) -> "Call | None":
        """Return this call after an event of its thread, None where the parts so far forbid it."""
        if self.owed:
            return replace(self, owed=self.owed[1:]) if self.owed[0] == event else None
        return None if self.part is None else replace(self, seen=(*self.seen, event))

    def after(self, effect: Effect[Rule]) -> "Call | None":
        """Return this call after its next part, None if the part shows other events."""
        common = min(len(self.seen), len(effect.events))
        if self.seen[:common] != effect.events[:common]:
            return None
        seen = self.seen[common:]
        if effect.then is None and seen:
            return None
        return Call(
            self.operation,
            part=effect.then,
            seen=seen,
            owed=(*self.owed, *effect.events[common:]),
            result=self.result if effect.result is None else effect.result,
            raised=effect.raised,
        )

    def may_return(self, returned: Returned) -> bool:
        """Decide whether the whole call took effect and was seen, with this result."""
        if self.part is not None or self.owed:
            return False
        return self.raised is returned.raised and result_matches(self.result, returned.result)


@dataclass(frozen=True, slots=True)
class SearchState(Generic[Rule]):
    """An explanation of a history so far: sequential state and open calls by thread."""

    state: Rule
    calls: Map[str, Call] = Map()


@dataclass(frozen=True, slots=True)
class Taken:
    """A part of a call that took effect; most calls have one part, ``WHOLE``."""

    thread: str
    operation: Operation
    part: Part = WHOLE


Order: TypeAlias = tuple[Taken, ...]
"""The order in which calls took effect."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of a history, or the place where it fails.

    Attributes:
        order: The order in which calls took effect in one explanation; of the longest beginning
            that is explained, where the whole is not.
        unexplained: The shortest beginning of the history that nothing explains; None where all of
            it is explained.
    """

    order: Order
    unexplained: History | None = None

    @property
    def is_complete(self) -> bool:
        """Decide whether the whole history is explained."""
        return self.unexplained is None


Memory = TypeVar("Memory", bound=Hashable)


class Monitor(Protocol[Memory]):
    """A follower of a history, event by event, that tells when it cannot be explained."""

    def begin(self) -> Memory:
        """Return the memory before the first event."""

    def after(self, memory: Memory, event: HistoryEvent) -> Memory | None:
        """Return the memory after one more event; None where no explanation is left."""


@dataclass(frozen=True, slots=True)
class Explainer(Generic[Rule]):
    """A monitor that follows all explanations by sequential rules."""

    rules: Rules[Rule]
    known: dict[tuple[Rule, Operation, Part], tuple[Effect[Rule], ...]] = field(
        default_factory=dict, compare=False, repr=False
    )

    def begin(self) -> frozenset[SearchState[Rule]]:
        """Return the explanations before any call."""
        return frozenset({SearchState(self.rules.initial())})

    def after(
        self, memory: frozenset[SearchState[Rule]], event: HistoryEvent
    ) -> frozenset[SearchState[Rule]] | None:
        """Return the explanations that are left."""
        return frozenset(self.ordered_after(dict.fromkeys(memory, ()), event)) or None

    def ordered_after(
        self, candidates: dict[SearchState[Rule], Order], event: HistoryEvent
    ) -> dict[SearchState[Rule], Order]:
        """Return the remaining explanations, each with one order of parts that leads there.

        Raises:
            ValueError: a thread calls while it is inside a call.
        """
        match event:
            case Called(thread, operation):
                return {
                    _begun(candidate, thread, operation): candidates[candidate]
                    for candidate in candidates
                }
            case Happened(thread, happened):
                return _kept(candidates, lambda candidate: _shown(candidate, thread, happened))
            case Returned():
                return _kept(
                    self._closed(candidates), lambda candidate: _returned(candidate, event)
                )

    def _closed(self, candidates: dict[SearchState[Rule], Order]) -> dict[SearchState[Rule], Order]:
        """The candidates, and those after any further parts of open calls."""
        found = dict(candidates)
        fresh = list(candidates)
        while fresh:
            candidate = fresh.pop()
            for taken, after in self._parts(candidate):
                if after not in found:
                    found[after] = (*found[candidate], taken)
                    fresh.append(after)
        return found

    def _parts(self, candidate: SearchState[Rule]) -> Iterator[tuple[Taken, SearchState[Rule]]]:
        for thread, call in candidate.calls.items():
            if call.part is None:
                continue
            for effect in self._effects(candidate.state, call.operation, call.part):
                after = call.after(effect)
                if after is not None:
                    taken = Taken(thread, call.operation, call.part)
                    yield taken, SearchState(effect.state, candidate.calls.set(thread, after))

    def _effects(self, state: Rule, operation: Operation, part: Part) -> tuple[Effect[Rule], ...]:
        key = (state, operation, part)
        if key not in self.known:
            self.known[key] = tuple(self.rules.effects(state, operation, part))
        return self.known[key]


def _kept(
    candidates: dict[SearchState[Rule], Order],
    change: Callable[[SearchState[Rule]], SearchState[Rule] | None],
) -> dict[SearchState[Rule], Order]:
    """The candidates after a change, without those that do not survive it."""
    changed = ((change(candidate), order) for candidate, order in candidates.items())
    return {candidate: order for candidate, order in changed if candidate is not None}


def _begun(candidate: SearchState[Rule], thread: str, operation: Operation) -> SearchState[Rule]:
    if thread in candidate.calls:
        raise ValueError(
            f"thread {thread!r} calls {operation!r} while it is inside "
            f"{candidate.calls[thread].operation!r}: calls inside calls are not explained here"
        )
    return replace(candidate, calls=candidate.calls.set(thread, Call(operation)))


def _shown(candidate: SearchState[Rule], thread: str, event: Event) -> SearchState[Rule] | None:
    call = candidate.calls.get(thread)
    after = None if call is None else call.shows(event)
    return None if after is None else replace(candidate, calls=candidate.calls.set(thread, after))


def _returned(candidate: SearchState[Rule], event: Returned) -> SearchState[Rule] | None:
    call = candidate.calls.get(event.thread)
    if call is None or not call.may_return(event):
        return None
    return replace(candidate, calls=candidate.calls.delete(event.thread))


def explain(history: History, rules: Rules[Rule]) -> Explanation:
    """Explain a history by rules, and return the order in which its calls took effect.

    An event outside every call, or a return without a call, is explained by nothing.

    Raises:
        ValueError: a thread calls while it is inside a call, or the rules do not know an operation.
    """
    explainer = Explainer(rules)
    candidates: dict[SearchState[Rule], Order] = dict.fromkeys(explainer.begin(), ())
    for number, event in enumerate(history):
        after = explainer.ordered_after(candidates, event)
        if not after:
            return Explanation(next(iter(candidates.values())), history[: number + 1])
        candidates = after
    return Explanation(next(iter(candidates.values())))
