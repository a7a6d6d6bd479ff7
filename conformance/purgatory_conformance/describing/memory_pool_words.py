"""What happens to a memory pool, in readable words."""

from purgatory_conformance.describing.words import (
    ComponentWords,
    describe_choices,
    describe_events,
    describe_task,
)
from purgatory_model.memory_pool import MemoryPoolState
from purgatory_spec.operations import (
    Allocate,
    Construct,
    Elapse,
    Lose,
    Operation,
    Release,
    ReleaseForeign,
    ReleaseForm,
    ReleaseNothing,
    operation_name,
)
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import MemoryPoolConfiguration, MemoryPoolProfile

_FORMS = {
    ReleaseForm.ITSELF: "",
    ReleaseForm.SLICE: "a slice of ",
    ReleaseForm.COPY: "a copy of ",
}

_MOST_NAMES = 8
"""How many buffers a description names."""


def describe_memory_pool_operation(operation: Operation) -> str:
    """An operation as a person would say it, for example ``ask for b1, 40 bytes``."""
    match operation:
        case Allocate(buffer, size_bytes):
            return f"ask for {describe_task(buffer)}, {_bytes(size_bytes)}"
        case Release(buffer, form):
            return f"release {_FORMS[form]}{describe_task(buffer)}"
        case ReleaseForeign(size_bytes):
            return f"release a foreign buffer of {_bytes(size_bytes)}"
        case ReleaseNothing():
            return "release nothing"
        case Lose(buffer):
            return f"lose {describe_task(buffer)}"
        case Construct(size_bytes, max_single_bytes):
            return f"make a pool of {_bytes(size_bytes)}, largest buffer {max_single_bytes}"
        case Elapse(to_ms):
            return f"let the clock reach {to_ms}"
        case _:
            return operation_name(operation)


def describe_memory_pool_outcome(operation: Operation, outcome: Outcome) -> str:
    """What came of an operation, its observables aside, for example ``granted``."""
    if isinstance(outcome.result, bool) and isinstance(operation, Allocate):
        return describe_events(outcome, "granted" if outcome.result else "refused", silence="")
    if outcome.result is not None:
        return describe_events(outcome, f"result {outcome.result}")
    return describe_events(outcome, silence="done")


def describe_memory_pool_configuration(configuration: MemoryPoolConfiguration) -> str:
    """What the pool of a case was made with."""
    if configuration.unbounded:
        return "an unbounded pool"
    admission = "strict" if configuration.strict else "non-strict"
    return (
        f"{_bytes(configuration.size_bytes)}, largest buffer {configuration.max_single_bytes}, "
        f"{admission}"
    )


def describe_memory_pool_profile(profile: MemoryPoolProfile) -> str:
    """The declared choices that a reader needs in order to follow a case."""
    return describe_choices(profile, ("release_validation", "zero_request"))


def describe_memory_pool_state(state: object) -> str:
    """The available bytes and the held buffers on one line; empty for another component's state."""
    if not isinstance(state, MemoryPoolState):
        return ""
    names = sorted(state.held, key=lambda name: (len(name), name))
    held = ", ".join(f"{describe_task(name)} {state.held[name]}" for name in names[:_MOST_NAMES])
    if len(names) > _MOST_NAMES:
        held += f" and {len(names) - _MOST_NAMES} more"
    words = f"clock {state.now_ms}; {state.available_bytes} available; held: {held or 'nothing'}"
    if state.spell_began_ms is not None:
        words += f"; dry since {state.spell_began_ms}"
    return words


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count} bytes"


WORDS = ComponentWords(
    describe_memory_pool_operation,
    describe_memory_pool_outcome,
    describe_memory_pool_configuration,
    describe_memory_pool_profile,
    describe_memory_pool_state,
)
"""The words of this component."""
