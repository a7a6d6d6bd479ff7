"""The model's rules for a memory pool that threads share, as far as its future depends on them.

Theory of operation. How a pool stands is one number, the bytes that are available. What a call does
at an instant is asked of the model, ``MemoryPoolModel``, with a state that holds the call's own
buffer and no other. So that the buffer is found, the part of a call is numbered as the call is.

Most of the time there is plenty and the order does not matter: where every open request would be
granted even after all the others, only the call that returns takes effect.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from immutables import Map

from purgatory_model.memory_pool import MemoryPoolModel, MemoryPoolState
from purgatory_model.memory_pool_arithmetic import is_granted
from purgatory_model.overlapping.linearizability import Call
from purgatory_model.overlapping.parts import WHOLE, Part
from purgatory_model.overlapping.sequential_rules import Effect
from purgatory_spec import operations as op
from purgatory_traces.replay.overlapping.explainer import Explanation, LateRules, Ways

_NO_BUFFERS: Map[str, int] = Map()


class PoolStanding(NamedTuple):
    """The standing of a pool in one explanation."""

    available_bytes: int
    credits_wrongly: bool = False
    """True once bytes were credited that were not outstanding."""


@dataclass(slots=True, eq=False)
class PoolCall:
    """An open call; ``size_bytes`` of the buffer that it gives back, where that is known."""

    number: int
    operation: op.Operation
    size_bytes: int | None = None
    is_held: bool = False
    """True if the buffer was outstanding when the call began."""
    is_contested: bool = False
    """True if another open call gives the same buffer back: either of the two may be first."""
    effects: "dict[PoolStanding, tuple[Effect[PoolStanding], ...]]" = field(default_factory=dict)
    """The effects of the call that were asked for, by standing; see ``SharedPoolRules``."""

    def contest(self) -> None:
        """Note that another open call gives the same buffer back."""
        self.is_contested = True
        self.effects.clear()

    @property
    def thread(self) -> str:
        """Return the call's name in explanations, where each call has a thread of its own."""
        return str(self.number)

    @property
    def begun(self) -> Call:
        """Return the call before it takes effect."""
        return Call(self.operation, part=WHOLE._replace(number=self.number))

    def gives_back(self, buffer: str) -> bool:
        """Decide whether the call gives a buffer back, or leaks it."""
        return isinstance(self.operation, op.Release | op.Lose) and self.operation.buffer == buffer


def gives_back_itself(operation: op.Operation) -> bool:
    """Decide whether an operation ends a buffer's being out: not one of a copy or a slice."""
    if isinstance(operation, op.Release):
        return operation.form is op.ReleaseForm.ITSELF
    return isinstance(operation, op.Lose)


def has_yet_to_act(ways: Ways) -> bool:
    """Decide whether an open call may still take effect: then nothing has changed by it."""
    return any(way.part is not None for way in ways)


@dataclass(frozen=True, slots=True)
class SharedPoolRules(LateRules[PoolStanding]):
    """The rules of one pool.

    Attributes:
        model: The model of the pool, which says what calls do.
        open: The open calls, by number.
    """

    model: MemoryPoolModel
    open: dict[int, PoolCall] = field(default_factory=dict)

    def initial(self) -> PoolStanding:
        """Return the standing before any request."""
        return PoolStanding(self.model.configuration.size_bytes)

    def effects(
        self, state: PoolStanding, operation: op.Operation, part: Part
    ) -> tuple[Effect[PoolStanding], ...]:
        """Return the ways in which a call may take effect."""
        assert part.number is not None
        call = self.open[part.number]
        known = call.effects.get(state)
        if known is None:
            effects = self._effects(state, call, is_held=call.is_held)
            if call.is_contested:
                effects = chain(effects, self._effects(state, call, is_held=not call.is_held))
            known = call.effects[state] = tuple(effects)
        return known

    def _effects(
        self, state: PoolStanding, call: PoolCall, *, is_held: bool
    ) -> Iterator[Effect[PoolStanding]]:
        operation, held, returned = call.operation, _NO_BUFFERS, _NO_BUFFERS
        if isinstance(operation, op.Release | op.Lose) and call.size_bytes is not None:
            if is_held or not gives_back_itself(operation):
                held = held.set(operation.buffer, call.size_bytes)
            else:
                returned = returned.set(operation.buffer, call.size_bytes)
        before = MemoryPoolState(state.available_bytes, held, returned)
        own = isinstance(operation, op.Allocate) or is_held
        for expectation in self.model.expectations(before, operation):
            available = expectation.complete(()).available_bytes
            wrongly = state.credits_wrongly or (not own and available != state.available_bytes)
            after = PoolStanding(available, wrongly)
            yield Effect(after, (), expectation.result, expectation.rejected)

    def order_matters(self, moment: Explanation[PoolStanding]) -> bool:
        """Decide whether some order refuses a request. Rules: POOL-STRICT, POOL-NON-STRICT."""
        configuration = self.model.configuration
        if configuration.unbounded:
            return False
        wanted = []
        for call in self.open.values():
            if not has_yet_to_act(moment.calls[call.thread]):
                return True
            if isinstance(call.operation, op.Allocate):
                wanted.append(max(0, call.operation.size_bytes))
            elif call.is_contested or not (call.is_held or _changes_nothing(call.operation)):
                return True
        # Without strict admission it is the smallest request that is refused first, as the last.
        smallest = min(wanted, default=0)
        last = moment.state.available_bytes - sum(wanted) + smallest
        return bool(wanted) and not is_granted(last, smallest, configuration.strict)


def _changes_nothing(operation: op.Operation) -> bool:
    return isinstance(operation, op.ReleaseNothing | op.Construct)
