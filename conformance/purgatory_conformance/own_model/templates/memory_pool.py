# SPDX-License-Identifier: CC0-1.0
"""A model of a pool, to be changed. Compare it with the rules: purgatory model check FILE."""

from dataclasses import dataclass, replace

from purgatory_spec.operations import Allocate, Operation, Release
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import MemoryPoolConfiguration
from purgatory_spec.reasons import Reason

COMPONENT = "memory_pool"
PROFILE = {  # what is not declared here is neither asked for nor compared
    "release_validation": "identity",
    "features": ["strict", "non_strict", "release_again"],
    "observables": ["available_bytes", "out_of_memory"],
}


@dataclass(frozen=True)
class State:
    """The state of a pool: the bytes that are left, and the buffers that are held."""

    available_bytes: int
    held: frozenset[tuple[str, int]] = frozenset()


class Model:
    """A pool of one configuration."""

    def __init__(self, configuration: MemoryPoolConfiguration) -> None:
        """Keep the sizes, and whether admission is strict."""
        self.configuration = configuration

    def initial(self) -> State:
        """Return a pool that was just made."""
        return State(self.configuration.size_bytes)

    def step(self, state: State, operation: Operation) -> tuple[Outcome, State]:
        """Return the outcome, with the state after it; there is no choice in a pool."""
        match operation:
            case Allocate(buffer, size_bytes):
                return self.allocate(state, buffer, size_bytes)
            case Release(buffer):
                return self.release(state, buffer)
        raise ValueError(f"a pool has no {operation}")

    def allocate(self, state: State, buffer: str, size_bytes: int) -> tuple[Outcome, State]:
        """Ask for a buffer: only a strict pool needs to have all of it."""
        if not 1 <= size_bytes <= self.configuration.max_single_bytes:
            return self.rejected(state)
        needed = size_bytes if self.configuration.strict else 1
        if state.available_bytes < needed:
            return Outcome(result=False, observed=self.shown(state)), state
        left = state.available_bytes - size_bytes
        after = State(left, state.held | {(buffer, size_bytes)})
        return Outcome(result=True, observed=self.shown(after)), after

    def release(self, state: State, buffer: str) -> tuple[Outcome, State]:
        """Give a buffer back, which can be done once."""
        size_bytes = dict(state.held).get(buffer)
        if size_bytes is None:
            return self.rejected(state)
        held = state.held - {(buffer, size_bytes)}
        after = replace(state, available_bytes=state.available_bytes + size_bytes, held=held)
        return Outcome(observed=self.shown(after)), after

    def rejected(self, state: State) -> tuple[Outcome, State]:
        """Return a rejection, with the state unchanged."""
        outcome = Outcome(rejected=Reason.INVALID_ARGUMENT, observed=self.shown(state))
        return outcome, state

    def shown(self, state: State) -> dict[str, int | bool]:
        """Return the observables that PROFILE declares."""
        available = state.available_bytes
        return {"available_bytes": available, "out_of_memory": available <= 0}
