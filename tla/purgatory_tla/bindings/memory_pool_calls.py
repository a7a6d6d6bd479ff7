"""The pool of ``purgatory_model.memory_pool`` beside ``MemoryPoolCalls.tla``: a call is one step.

The model judges every pool. The operation ``Allocate`` is three actions of the module, by its
outcome. Bound is the pool that tells its own buffers from others: other pools may credit without
end.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from purgatory_model.memory_pool import MemoryPoolModel, MemoryPoolState
from purgatory_model.overlapping.interleaving import Step
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.outcomes import Outcome
from purgatory_tla.comparing.binding import Binding, Variable, label_of
from purgatory_tla.values.values import function, to_tla

_PROFILE = profiles.MemoryPoolProfile(
    release_validation=profiles.ReleaseValidation.IDENTITY,
    observables=frozenset(profiles.MemoryPoolObservable),
)
_NO_SPELL = -1

VARIABLES: dict[str, Variable[MemoryPoolState]] = {
    "now": Variable("the reading of the clock (ms)", lambda state: state.now_ms),
    "available": Variable("the available bytes", lambda state: state.available_bytes),
    "held": Variable("the outstanding buffers with their bytes", lambda s: function(s.held)),
    "returned": Variable("the buffers given back, with theirs", lambda s: function(s.returned)),
    "since": Variable(
        "the reading at which the dry spell began (ms), or -1",
        lambda state: _NO_SPELL if state.spell_began_ms is None else state.spell_began_ms,
    ),
    "spells": Variable("the dry spells that have ended", lambda state: state.depleted_spells),
    "depleted": Variable("their length, all together (ms)", lambda state: state.depleted_ms),
}

ACTIONS = {
    "Grant": "`Allocate(buffer, size_bytes)` that is granted",
    "Refuse": "`Allocate(buffer, size_bytes)` that is refused",
    "Reject": "`Allocate(buffer, size_bytes)` that is rejected",
    "Release": "`Release(buffer)` of a buffer that is out",
    "ReleaseAgain": "`Release(buffer)` of a buffer that was given back, with its answer",
    "ReleaseOther": "`Release(buffer, form)` of a slice or a copy, with its answer",
    "ReleaseForeign": "`ReleaseForeign(size_bytes)`, with its answer",
    "ReleaseNothing": "`ReleaseNothing`, with its answer",
    "Lose": "`Lose(buffer)`",
    "Construct": "`Construct(size_bytes, max_single_bytes)`, with its answer",
    "Elapse": "`Elapse` by one millisecond",
}


@dataclass(frozen=True, slots=True)
class _Instance:
    """Callers of a pool who use these names and sizes, until the clock reads ``last_ms``."""

    configuration: profiles.MemoryPoolConfiguration
    buffers: tuple[str, ...] = ("a", "b")
    sizes_bytes: tuple[int, ...] = (0, 1, 2, 3)
    last_ms: int = 6
    most_spells: int = 3

    def operations(self, state: MemoryPoolState) -> Iterator[op.Operation]:
        """Yield the operations that callers may ask for in a state."""
        for buffer in self.buffers:
            if buffer in state.held:
                yield op.Lose(buffer)
            else:
                asked = (*self.sizes_bytes, -1)
                yield from (op.Allocate(buffer, size_bytes) for size_bytes in asked)
            if buffer in state.held or buffer in state.returned:
                yield from (op.Release(buffer, form) for form in op.ReleaseForm)
        for size_bytes in self.sizes_bytes:
            if size_bytes > 0:
                yield op.ReleaseForeign(size_bytes)
            yield from (op.Construct(size_bytes, single) for single in self.sizes_bytes)
        yield op.ReleaseNothing()
        if state.now_ms < self.last_ms:
            yield op.Elapse(state.now_ms + 1)

    def has_room(self, before: MemoryPoolState, after: MemoryPoolState) -> bool:
        """Decide whether a step begins no more dry spells than allowed."""
        begins = before.spell_began_ms is None and after.spell_began_ms is not None
        return not begins or before.depleted_spells < self.most_spells


def binding() -> Binding[MemoryPoolState]:
    """Return a binding of two buffers at a pool of two bytes that lends beyond them."""
    return _bound(
        "memory-pool-calls",
        "The calls of a non-strict memory pool: dry spells, losses, buffers that are not its own.",
        _Instance(profiles.MemoryPoolConfiguration(2, 2)),
    )


def strict_binding() -> Binding[MemoryPoolState]:
    """Return a binding of two buffers at a pool of three bytes that lends no more."""
    return _bound(
        "memory-pool-calls-strict",
        "The calls of a strict memory pool.",
        _Instance(profiles.MemoryPoolConfiguration(3, 2, strict=True)),
    )


def unbounded_binding() -> Binding[MemoryPoolState]:
    """Return a binding of two buffers at a pool without a bound."""
    return _bound(
        "memory-pool-unbounded",
        "The calls of an unbounded memory pool.",
        _Instance(profiles.MemoryPoolConfiguration(3, 2, unbounded=True), last_ms=16),
    )


def small_binding() -> Binding[MemoryPoolState]:
    """Return the same as ``binding`` for a short while and with one dry spell, for controls."""
    configuration = profiles.MemoryPoolConfiguration(2, 2)
    instance = _Instance(configuration, last_ms=1, most_spells=1)
    return _bound("memory-pool-calls-small", "A memory pool's calls, for a short while.", instance)


def small_unbounded_binding() -> Binding[MemoryPoolState]:
    """Return the same as ``unbounded_binding`` with one size, for controls."""
    configuration = profiles.MemoryPoolConfiguration(2, 2, unbounded=True)
    instance = _Instance(configuration, sizes_bytes=(0, 1), last_ms=1)
    return _bound("memory-pool-unbounded-small", "An unbounded memory pool's calls.", instance)


def _bound(name: str, title: str, instance: _Instance) -> Binding[MemoryPoolState]:
    model = MemoryPoolModel(instance.configuration, _PROFILE)
    never = {"Refuse"} if instance.configuration.unbounded else set()

    def steps(state: MemoryPoolState) -> Iterator[tuple[Step, MemoryPoolState]]:
        for operation in instance.operations(state):
            for outcome, after in model.successors(state, operation):
                if instance.has_room(state, after):
                    yield _label(state, operation, outcome), after

    return Binding(
        name=name,
        title=title,
        module="MemoryPoolCallsHistory",
        constants=_constants(instance),
        initial=model.initial(),
        steps=steps,
        variables=VARIABLES,
        actions={action: words for action, words in ACTIONS.items() if action not in never},
    )


def _label(before: MemoryPoolState, operation: op.Operation, outcome: Outcome) -> Step:
    answer = "taken" if outcome.rejected is None else "rejected"
    if isinstance(operation, op.Allocate):
        answered = "Grant" if outcome.result is True else "Refuse"
        action = answered if outcome.rejected is None else "Reject"
        return Step(action, (operation.buffer, operation.size_bytes))
    if isinstance(operation, op.Release):
        if operation.form is not op.ReleaseForm.ITSELF:
            return Step("ReleaseOther", (operation.form.value, operation.buffer, answer))
        if operation.buffer not in before.held:
            return Step("ReleaseAgain", (operation.buffer, answer))
    if isinstance(operation, op.ReleaseForeign | op.ReleaseNothing):
        return label_of(operation, answer)
    if isinstance(operation, op.Construct):
        return label_of(operation, "made" if outcome.rejected is None else "rejected")
    return label_of(operation)


def _constants(instance: _Instance) -> dict[str, str]:
    configuration = instance.configuration
    strict = {"strict"} if configuration.strict else set()
    unbounded = {"unbounded"} if configuration.unbounded else set()
    values: dict[str, object] = {
        "Buffers": frozenset(instance.buffers),
        "PoolSize": configuration.size_bytes,
        "MaxSingle": configuration.max_single_bytes,
        "Sizes": frozenset(instance.sizes_bytes),
        "Last": instance.last_ms,
        "MostSpells": instance.most_spells,
        "Features": frozenset(strict | unbounded),
        "Defects": frozenset[str](),
    }
    return {name: to_tla(value) for name, value in values.items()}
