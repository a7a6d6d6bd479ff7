"""The rules of a memory pool, for a search.

Every call is one effect. What the future of a pool does not depend on is left out of its state, so
that fewer of them are told apart: dry spells, which no call answers, and buffers that were given
back and are not named again.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeGuard

import msgspec

from purgatory_model.memory_pool import MemoryPoolModel, MemoryPoolState
from purgatory_model.overlapping.parts import Part
from purgatory_model.overlapping.sequential_rules import Effect
from purgatory_model.replacing import replace
from purgatory_spec.operations import (
    Allocate,
    Lose,
    Operation,
    Release,
    ReleaseForeign,
    ReleaseForm,
)
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
        is_determined: Whether the calls that took effect determine the state. A pool that does
            not know its buffers may take what it has not granted, or leave it, without a word.
    """

    model: MemoryPoolModel
    first: MemoryPoolState
    named_again: frozenset[str]
    is_determined: bool

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

    def may_go_first(self, call: RecordedCall, others: Iterable[RecordedCall]) -> bool:
        """Decide whether a call may as well take effect now (POOL-STRICT, POOL-NON-STRICT).

        A refused request changes nothing. A release leaves more free, which disturbs requests that
        are refused alone; a grant leaves less, which disturbs those that are granted alone.
        """
        returned = call.returned
        if returned is None or returned.raised is not None:
            return False
        if isinstance(call.operation, Allocate):
            if not returned.result:
                return True
            return all(_is_calm(each, call.operation.buffer, False) for each in others)
        if not _is_plain(call.operation, self.named_again):
            return False
        return all(_is_calm(each, call.operation.buffer, True) for each in others)

    def _forgetful(self, state: MemoryPoolState) -> MemoryPoolState:
        if state.spell_began_ms is not None or state.depleted_spells:
            state = replace(state, spell_began_ms=None, depleted_spells=0, depleted_ms=0)
        for name in [*state.returned] if state.returned else ():
            if name not in self.named_again:
                state = replace(state, returned=state.returned.delete(name))
        return state


def _is_plain(operation: Operation, named_again: frozenset[str]) -> TypeGuard[Release]:
    """Decide whether a call gives back a buffer itself, and the only time."""
    if not isinstance(operation, Release) or operation.form is not ReleaseForm.ITSELF:
        return False
    return operation.buffer not in named_again


def _is_calm(call: RecordedCall, buffer: str, result: bool) -> bool:
    """Decide whether a call is of another buffer, and a release or a request with this result."""
    operation, returned = call.operation, call.returned
    if isinstance(operation, Release):
        return operation.buffer != buffer
    if not isinstance(operation, Allocate) or returned is None or returned.raised is not None:
        return False
    return bool(returned.result) is result and operation.buffer != buffer


def pool_rules(
    instance: MemoryPoolInstance, snapshot: Snapshot | None, operations: list[Operation]
) -> PoolRules:
    """Return the rules of the pool of a run, whose operations are given."""
    profile = msgspec.structs.replace(instance.profile, observables=frozenset())
    model = MemoryPoolModel(instance.configuration, profile)
    state = model.initial() if snapshot is None else memory_pool_state(snapshot, instance)
    back = [each.buffer for each in operations if isinstance(each, Release | Lose)]
    again = frozenset(name for name, count in Counter(back).items() if count > 1)
    returned = [each for each in operations if isinstance(each, Release | ReleaseForeign)]
    is_determined = model.knows_its_own or all(_is_plain(each, again) for each in returned)
    return PoolRules(model, state, again, is_determined)
