"""The rules of a memory pool, for a search.

Every call is one effect. What the future of a pool does not depend on is left out of its state, so
that fewer of them are told apart: dry spells, which no call answers, and buffers that were given
back and are not named again.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from purgatory_model.memory_pool import MemoryPoolModel, MemoryPoolState
from purgatory_model.overlapping.parts import Part
from purgatory_model.overlapping.sequential_rules import Effect
from purgatory_model.replacing import replace
from purgatory_spec.operations import Allocate, Lose, Operation, Release
from purgatory_traces.linearizability.calls import CallRules, RecordedCall
from purgatory_traces.snapshots.memory_pool import memory_pool_state
from purgatory_traces.traces.lines import MemoryPoolInstance, Snapshot


@dataclass(frozen=True, slots=True)
class PoolRules(CallRules[MemoryPoolState]):
    """The rules of one pool.

    Attributes:
        model: Which shows nothing: observables are no part of a history.
        first: Where it begins.
        named_again: The buffers that are given back more than once.
    """

    model: MemoryPoolModel
    first: MemoryPoolState
    named_again: frozenset[str]

    def initial(self) -> MemoryPoolState:
        """Return the pool when the history begins."""
        return self.first

    def effects(
        self, state: MemoryPoolState, call: RecordedCall, part: Part
    ) -> Iterator[Effect[MemoryPoolState]]:
        """Yield the ways in which a call may take effect."""
        for expectation in self.model.expectations(state, call.operation):
            after = self._forgetful(expectation.complete(()))
            yield Effect(after, (), expectation.result, expectation.rejected)

    def changes_nothing(self, call: RecordedCall) -> bool:
        """Decide whether a call is a refused request (POOL-STRICT, POOL-NON-STRICT)."""
        returned = call.returned
        return isinstance(call.operation, Allocate) and returned is not None and not returned.result

    def _forgetful(self, state: MemoryPoolState) -> MemoryPoolState:
        if state.spell_began_ms is not None or state.depleted_spells:
            state = replace(state, spell_began_ms=None, depleted_spells=0, depleted_ms=0)
        for name in [*state.returned] if state.returned else ():
            if name not in self.named_again:
                state = replace(state, returned=state.returned.delete(name))
        return state


def pool_rules(
    instance: MemoryPoolInstance, snapshot: Snapshot | None, operations: list[Operation]
) -> PoolRules:
    """Return the rules of the pool of a run, whose operations are given."""
    profile = msgspec.structs.replace(instance.profile, observables=frozenset())
    model = MemoryPoolModel(instance.configuration, profile)
    state = model.initial() if snapshot is None else memory_pool_state(snapshot, instance)
    back = [each.buffer for each in operations if isinstance(each, Release | Lose)]
    again = frozenset(name for name, count in Counter(back).items() if count > 1)
    return PoolRules(model, state, again)
