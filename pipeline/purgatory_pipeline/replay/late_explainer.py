"""A monitor that follows explanations as the model's does, and keeps only those that it needs.

Theory of operation. The model's ``Explainer`` keeps, whenever a call returns, every moment that
other open calls may have led to by then. Most of them can be reached later just as well, since
their calls are still open. Here only those are kept that cannot be reached from another one that is
kept: calls take effect as late as can be. The same histories are explained.

A call that may have changed nothing, a check in vain, needs no other call before it: whatever
others have done, they may do after it. Such returns are most of all, and cost little.

A try is seen when it begins, before it can have any effect. So no part takes effect whose try was
not seen yet.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from purgatory_model.interleaving import HistoryEvent, Returned
from purgatory_model.linearizability import Explainer, Moment
from purgatory_model.sequential_rules import Effect
from purgatory_pipeline.errors import Undecided
from purgatory_pipeline.replay.observed_rules import ObservedRules, Standing
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import EventKind

MOST_MOMENTS = 50_000
"""How many explanations of one operation's history are looked at when a call returns."""

Moments: TypeAlias = frozenset[Moment[Standing]]


@dataclass(frozen=True, slots=True)
class LateExplainer:
    """Follows the explanations of one operation's history by some rules."""

    rules: ObservedRules
    _explainer: Explainer[Standing] = field(init=False, compare=False, repr=False)
    _known: dict[tuple[Standing, Operation, str], tuple[Effect[Standing], ...]] = field(
        default_factory=dict, compare=False, repr=False
    )

    def __post_init__(self) -> None:
        """What begins and what is shown is the model's business."""
        object.__setattr__(self, "_explainer", Explainer(self.rules))

    def begin(self) -> Moments:
        """Nothing was called."""
        return self._explainer.begin()

    def after(self, moments: Moments, event: HistoryEvent) -> Moments | None:
        """The explanations that are left and needed; None where nothing explains the history.

        Raises:
            Undecided: there are too many to look at.
        """
        if isinstance(event, Returned):
            return self._returned(moments, event) or None
        return self._explainer.after(moments, event)

    def _returned(self, moments: Moments, event: Returned) -> Moments:
        left: set[Moment[Standing]] = set()
        harder: list[Moment[Standing]] = []
        for moment in moments:
            if self._changes_nothing(moment, event):
                left.add(Moment(moment.state, moment.calls.delete(event.thread)))
            else:
                harder.append(moment)
        left.update(self._after_others(harder, event))
        return self._needed(left)

    def _changes_nothing(self, moment: Moment[Standing], event: Returned) -> bool:
        """Whether the call may return so, with no change by it or by others before."""
        state = moment.state
        fresh = [moment.calls[event.thread]]
        while fresh:
            call = fresh.pop()
            if call.may_return(event):
                return True
            if call.part is None:
                continue
            for effect in self._effects(state, call.operation, call.part):
                if effect.state == state and not _is_too_early(effect, bool(call.seen)):
                    after = call.after(effect)
                    if after is not None:
                        fresh.append(after)
        return False

    def _after_others(
        self, moments: list[Moment[Standing]], event: Returned
    ) -> Iterator[Moment[Standing]]:
        """The moments after a return before which other calls may have taken effect."""
        found = set(moments)
        fresh = list(moments)
        while fresh:
            moment = fresh.pop()
            call = moment.calls[event.thread]
            if call.part is None:
                if call.may_return(event):
                    yield Moment(moment.state, moment.calls.delete(event.thread))
                continue
            for after in self._parts(moment):
                if after not in found:
                    found.add(after)
                    fresh.append(after)
            if len(found) > MOST_MOMENTS:
                raise Undecided(f"more than {MOST_MOMENTS} explanations of one operation")

    def _needed(self, moments: set[Moment[Standing]]) -> Moments:
        """The moments without those that an open call leads to from another of them."""
        if len(moments) < 2:
            return frozenset(moments)
        reached = {after for moment in moments for after in self._parts(moment)}
        return frozenset(moments - reached)

    def _parts(self, moment: Moment[Standing]) -> Iterator[Moment[Standing]]:
        """The moments after one more part of some open call."""
        for thread, call in moment.calls.items():
            if call.part is None:
                continue
            for effect in self._effects(moment.state, call.operation, call.part):
                if _is_too_early(effect, bool(call.seen)):
                    continue
                after = call.after(effect)
                if after is not None:
                    changed = Moment(effect.state, moment.calls.set(thread, after))
                    if changed != moment:
                        yield changed

    def _effects(
        self, state: Standing, operation: Operation, part: str
    ) -> tuple[Effect[Standing], ...]:
        key = state, operation, part
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = tuple(self.rules.effects(state, operation, part))
        return known


def _is_too_early(effect: Effect[Standing], has_shown: bool) -> bool:
    """Whether an effect begins with a try that was not seen yet."""
    return not has_shown and bool(effect.events) and effect.events[0].kind is EventKind.TRIED
