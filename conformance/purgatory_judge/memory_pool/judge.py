"""The judge of a memory pool: it follows a subject step by step with the model.

What the profile lets a pool do and what the rules ask of every pool are two things here. A pool
that does not tell its own buffers from others may credit what it never granted, and the model
follows it; the state in which that leaves it is then held against the invariants.
"""

from purgatory_judge.finished_names import without_returned_buffers
from purgatory_judge.judgement import Divergence, Judgement, TooManyStates
from purgatory_judge.memory_pool.blame import blame, blame_state
from purgatory_judge.memory_pool.history import MemoryPoolHistory
from purgatory_judge.reached import reached
from purgatory_model.claims.memory_pool import Invariant, broken_invariants
from purgatory_model.memory_pool import MemoryPoolModel, MemoryPoolState
from purgatory_model.replacing import replace
from purgatory_model.step import Expectation
from purgatory_spec.operations import Operation, Release
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import (
    MemoryPoolConfiguration,
    MemoryPoolObservable,
    MemoryPoolProfile,
)

STATES_CAP = 256
"""The most possible states that the judge carries; beyond it a case is inconclusive."""


class MemoryPoolJudge:
    """Follows one case. After a divergence it must not be used further.

    A forgetful one keeps nothing of a buffer that was given back. A release of a name that it does
    not know is that of a buffer that was granted once, of unknown size: such a release is judged
    where the size does not matter, which is where the pool tells its own buffers from others and
    where it has no bound. Elsewhere that release must not be given to it.
    """

    def __init__(
        self,
        configuration: MemoryPoolConfiguration,
        profile: MemoryPoolProfile,
        variants: frozenset[str] = frozenset(),
        *,
        forgetful: bool = False,
        state: MemoryPoolState | None = None,
    ) -> None:
        """Start with a pool of the configuration in a state, or fresh, judged under the profile.

        ``variants`` are those of the model that the subject is declared to follow.
        """
        self.model = MemoryPoolModel(configuration, profile, variants)
        self.states: tuple[MemoryPoolState, ...] = (
            self.model.initial() if state is None else state,
        )
        self._forgetful = forgetful
        self._history = MemoryPoolHistory(self.model)

    @property
    def state(self) -> MemoryPoolState:
        """Return one of the states in which the subject may be."""
        if len(self.states) == 1:
            return self.states[0]
        return min(self.states, key=_order)

    def step(self, operation: Operation, outcome: Outcome) -> Judgement:
        """Judge a step by the operation and the outcome.

        Raises:
            TooManyStates: more than ``STATES_CAP`` states are possible.
        """
        if self._forgetful and isinstance(operation, Release):
            self._recall(operation.buffer)
        before = self.state
        found = reached(
            self.states, lambda state: self.model.expectations(state, operation), outcome
        )
        if not found:
            expectations = self.model.expectations(before, operation)
            return Judgement(divergence=self.blamed(operation, outcome, expectations))
        sound = [each for each in found if not broken_where_shown(self.model, each[1])]
        way, state = min(sound or found, key=lambda each: _order(each[1]))
        if not sound:
            (invariant, *_) = broken_where_shown(self.model, state)
            divergence = blame_state(self.model, before, operation, outcome, state, invariant)
            return Judgement(divergence=divergence)
        if len(sound) > STATES_CAP:
            raise TooManyStates
        self.states = tuple(after for _, after in sound)
        visited = self._history.note(before, operation, way, state)
        if self._forgetful:
            self.states = without_returned_buffers(self.states)
        return Judgement(visited=visited)

    def _recall(self, buffer: str) -> None:
        """Note that a buffer that is not outstanding was given back before."""
        self.states = tuple(
            state
            if buffer in state.held
            else replace(state, returned=state.returned.set(buffer, 0))
            for state in self.states
        )

    def blamed(
        self,
        operation: Operation,
        outcome: Outcome,
        expected: tuple[Expectation[MemoryPoolState], ...],
    ) -> Divergence:
        """Return the divergence of an outcome in the present state, were these expectations all."""
        return blame(self._history, self.state, operation, outcome, expected)


def broken_where_shown(model: MemoryPoolModel, state: MemoryPoolState) -> list[Invariant]:
    """Return the broken invariants; what is available is compared only where it is shown."""
    shown = MemoryPoolObservable.AVAILABLE in model.profile.observables
    broken = broken_invariants(model, state)
    return [each for each in broken if shown or each.rule != "POOL-CONSERVATION"]


def _order(state: MemoryPoolState) -> tuple[int, int, int, int]:
    """Return a sort key, by which one of several possible states is always the same."""
    began_ms = -1 if state.spell_began_ms is None else state.spell_began_ms
    return state.available_bytes, state.depleted_spells, state.depleted_ms, began_ms
