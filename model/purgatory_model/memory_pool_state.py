"""The state of a memory pool, and the small steps that all its operations are made of."""

from dataclasses import dataclass

from immutables import Map

from purgatory_model.replacing import replace


@dataclass(frozen=True, slots=True)
class MemoryPoolState:
    """Everything that the future of a pool depends on.

    ``held`` are the outstanding buffers by name, each with its size in bytes; ``returned`` those
    that were given back. ``spell_began_ms`` is the clock's reading at the refusal that began the
    dry spell under way, None where there is none.
    """

    available_bytes: int
    held: Map[str, int] = Map()
    returned: Map[str, int] = Map()
    now_ms: int = 0
    spell_began_ms: int | None = None
    depleted_spells: int = 0
    depleted_ms: int = 0

    @property
    def outstanding_bytes(self) -> int:
        """The bytes of all buffers that were granted and not given back."""
        return sum(self.held.values())


def credited(state: MemoryPoolState, size_bytes: int) -> MemoryPoolState:
    """More is available. Rules: POOL-RELEASE, POOL-CONSERVATION."""
    return replace(state, available_bytes=state.available_bytes + size_bytes)


def with_spell(state: MemoryPoolState) -> MemoryPoolState:
    """A refusal begins a dry spell, or belongs to the one under way. Rules: POOL-SPELL-BEGINS."""
    if state.spell_began_ms is not None:
        return state
    return replace(state, spell_began_ms=state.now_ms)


def without_spell(state: MemoryPoolState) -> MemoryPoolState:
    """The dry spell under way ends, if there is one.

    Rules: POOL-SPELL-ENDS, POOL-DEPLETED-TIME.
    """
    if state.spell_began_ms is None:
        return state
    return replace(
        state,
        spell_began_ms=None,
        depleted_spells=state.depleted_spells + 1,
        depleted_ms=state.depleted_ms + state.now_ms - state.spell_began_ms,
    )


def at(state: MemoryPoolState, to_ms: int) -> MemoryPoolState:
    """The clock reads ``to_ms``; raises ``ValueError`` where it would go back."""
    if to_ms < state.now_ms:
        raise ValueError(f"the clock reads {state.now_ms} and cannot go back to {to_ms}")
    return replace(state, now_ms=to_ms)
